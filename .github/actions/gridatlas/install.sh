#!/usr/bin/env bash
# Installs Grid Atlas: by REQUIREMENTS, or as it is in the repository of this action. Never by its
# name alone: nobody of the project owns that name on PyPI.
# CONSTRAINTS is a file with the versions of all packages; from the repository of this action, their
# hashes hold too, if it has them. Both files may be absent ("").
set -euo pipefail

extras="mkdocs,notebooks,parquet"
if [ -n "$REQUIREMENTS" ]; then
  wanted=(--requirement "$REQUIREMENTS")
else
  root=$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)
  if ! grep -q '^name = "gridatlas"$' "$root/pyproject.toml" 2>/dev/null; then
    echo "::error::Say what to install: this copy of the action isn't in the repository of" \
      "Grid Atlas. Give it requirements: requirements.txt."
    exit 2
  fi
  if grep --quiet --no-messages -- --hash=sha256: "$CONSTRAINTS"; then
    exec bash "$root/.github/scripts/install_hashed.sh" python "$CONSTRAINTS" "$extras" "$root"
  fi
  wanted=("${root}[$extras]")
fi
if [ -n "$CONSTRAINTS" ]; then
  wanted+=(--constraint "$CONSTRAINTS")
fi
python -m pip install --quiet --disable-pip-version-check "${wanted[@]}"
