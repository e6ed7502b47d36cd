"""The archive of a study: the same bytes for the same data, and everything in it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable

import pytest
import yaml
from site_builds import SITE_URL, Build, Project

pytestmark = pytest.mark.usefixtures("base")

REPEATED = (
    "format: 1\ntitle: Repeated\nsummary: Each cell twice.\nlicense: CC-BY-4.0\nx: rate\n"
    "metric: {name: Accuracy, better: higher}\nfacets: [model]\nroles: {seed: replicate}\n"
    "authors: [A. Author]\nsource: {title: A report, year: 2026}\n"
)
ROWS = [
    f"{model},{rate},{seed},{rate * seed}" for model in "ab" for rate in (1, 2) for seed in (1, 2)
]


def packed(build: Build, study: str) -> dict[str, str]:
    content = (build.site / f"studies/{study}/data.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name.partition("/")[2]: archive.read(name).decode() for name in archive.namelist()}


def test_everything_of_a_study_is_in_one_file(tiny: Callable[..., Project]) -> None:
    project = tiny(site_url=SITE_URL)
    project.write("data/repeated/study.yml", REPEATED)
    project.write("data/repeated/cells.csv", "\n".join(["model,rate,seed,value", *ROWS, ""]))
    build = project.built("--strict")
    files = packed(build, "repeated")
    assert [*files] == [
        *("README.txt", "cells.csv", "runs.csv", "study.yml"),
        *("answers.json", "checks.json", "CITATION.cff"),
    ]
    assert files["study.yml"] == REPEATED
    assert files["cells.csv"] == (build.site / "studies/repeated/cells.csv").read_text()
    runs = [*csv.DictReader(io.StringIO(files["runs.csv"]))]
    given = [",".join(run[name] for name in ("model", "rate", "seed", "value")) for run in runs]
    assert given == ROWS
    assert json.loads(files["answers.json"])[0]["page"] == "studies/repeated/"
    assert {check["reading"] for check in json.loads(files["checks.json"])} == {"cells"}
    cited = yaml.safe_load(files["CITATION.cff"])
    assert cited["authors"] == [{"name": "A. Author"}]
    assert (cited["title"], cited["license"]) == ("Repeated", "CC-BY-4.0")
    assert cited["url"] == f"{SITE_URL}studies/repeated/"
    assert "Source: A report, 2026" in files["README.txt"]
    first = (build.site / "studies/repeated/data.zip").read_bytes()
    assert (project.built("--strict").site / "studies/repeated/data.zip").read_bytes() == first


def test_no_page_lists_more_than_six_downloads_of_a_study(tiny: Callable[..., Project]) -> None:
    page = tiny().built().page("studies/tiny/")
    outside = [
        link for link in page.select("article a[download]") if not link.find_parent("details")
    ]
    assert 0 < len(outside) <= 6
