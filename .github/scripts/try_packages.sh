#!/usr/bin/env bash
# Installs the wheel and the sdist of dist/, each into an environment of its own, and builds a site
# with it, away from the repository. What the wheel brought is listed in build/sbom/ (CycloneDX).
# PYTHON is the Python to use.
set -euo pipefail
export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for package in "$root"/dist/*.whl "$root"/dist/*.tar.gz; do
  echo "Trying $(basename "$package")"
  rm -rf "$work"/*
  mkdir -p "$work/project/docs" "$work/project/data/tuning"
  "${PYTHON:-python3}" -m venv "$work/venv"
  "$root/.github/scripts/install_hashed.sh" "$work/venv/bin/python" \
    "$root/requirements-hashed.lock" mkdocs,parquet "$package"
  cd "$work/project"
  printf 'site_name: Tried\ntheme: {name: material, font: false}\nplugins: [gridatlas: {csp: true}]\n' > mkdocs.yml
  printf '# Home\n\nThe best is {{ grid().best.value }}.\n' > docs/index.md
  printf 'format: 1\ntitle: Tuning\nmetric: {name: Accuracy}\nx: rate\ny: batch\n' > data/tuning/study.yml
  printf 'rate,batch,value\n0.1,8,70\n0.2,8,72.5\n0.1,16,71\n0.2,16,69\n' > data/tuning/cells.csv
  "$work/venv/bin/gridatlas" check
  "$work/venv/bin/mkdocs" build --strict
  grep -q 'The best is .*72\.5' site/index.html
  grep -q 'ga-figure' site/studies/tuning/index.html
  test -s site/grids/tuning/grid.png
  test -s site/assets/gridatlas/vega-LICENSES.txt
  cd "$root"
  if [[ $package == *.whl ]]; then
    mkdir -p build/sbom
    sbom="build/sbom/$(basename "${package%%-py3*}").cdx.json"
    .venv/bin/cyclonedx-py environment "$work/venv" --pyproject pyproject.toml --mc-type library \
      --output-reproducible -o "$sbom"
    .venv/bin/python .github/scripts/bundled.py "$sbom" \
      "$work"/project/site/assets/gridatlas/vega-[0-9]*.js
  fi
done
