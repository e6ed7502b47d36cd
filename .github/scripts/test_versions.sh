#!/usr/bin/env bash
# Runs the tests with the lowest or the newest versions of what pyproject.toml asks for; the lock is
# left out of it. VERSIONS is lowest or newest, PYTHON the Python to use; arguments go to pytest.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
case "$VERSIONS" in
  # What is asked for by others only, by whatever versions fit: their authors test that.
  lowest) resolution=lowest-direct ;;
  newest) resolution=highest ;;
  *) echo "VERSIONS is lowest or newest, not '$VERSIONS'" >&2; exit 2 ;;
esac
venv=build/$VERSIONS
"${PYTHON:-python3}" -m venv --clear "$venv"
# uv itself by its hash. It chooses the rest, which no lock has.
awk '/^[^ #]/ { ours = /^uv==/ } ours && !/^ *#/' requirements-hashed.lock > "$venv/uv.txt"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
  --requirement "$venv/uv.txt"
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --resolution "$resolution" \
  --editable ".[mkdocs,parquet]" --group test
"$venv/bin/python" tests/browser/install.py
# Golden sites have the bytes of the locked versions.
"$venv/bin/python" -m pytest --ignore tests/golden "$@"
