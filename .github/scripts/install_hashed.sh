#!/usr/bin/env bash
# Installs Grid Atlas by the hashes of a lock: pip, what the package and some extras need, and then the
# package, which has no hash itself. A file that isn't in the lock, or isn't as it was, is refused.
#   install_hashed.sh PYTHON LOCK EXTRAS PACKAGE [GROUP]
# EXTRAS: mkdocs,parquet; PACKAGE: a file or folder; GROUP: of pyproject.toml, as `site`.
set -euo pipefail

python=$1 lock=$2 extras=$3 package=$4 group=${5:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
install=("$python" -m pip install --quiet --disable-pip-version-check)

# Older ones take no hashes from constraints.
awk '/^[^ #]/ { ours = /^pip==/ } ours && !/^ *#/' "$lock" > "$work/pip.txt"
"${install[@]}" --require-hashes --requirement "$work/pip.txt"
(cd "$root" && "$python" .github/scripts/dependencies.py ${extras//,/ }) > "$work/needed.txt"
# Wheels only: what builds another package would come without a hash.
"${install[@]}" --only-binary :all: --constraint "$lock" --requirement "$work/needed.txt"
if [[ $package != *.whl ]]; then
  "${install[@]}" --only-binary :all: --constraint "$lock" --group "$root/pyproject.toml:install"
fi
if [[ $group ]]; then
  "${install[@]}" --only-binary :all: --constraint "$lock" --group "$root/pyproject.toml:$group"
fi
# What it needs is there. Whatever it may ask for beyond that is an error, not a download.
"${install[@]}" --no-index --no-build-isolation "${package}[$extras]"
