"""Each study as a data set: schema.org in its page, and Croissant in a file."""

import csv
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import site_builds
from expected import TRAINED, is_former
from hostile import hostile
from site_builds import DYNTS, GRPO, SITE_URL, Build, Project

with warnings.catch_warnings():
    # Its dependencies escape characters in ways that newer Pythons warn of.
    warnings.simplefilter("ignore")
    import mlcroissant

# Of a library that mlcroissant uses.
pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")

STUDIES = [DYNTS, GRPO, *TRAINED]


def _dataset(build: Build, page: str) -> dict[str, Any]:
    blocks = build.page(page).select('head script[type="application/ld+json"]')
    assert len(blocks) == 1
    return json.loads(str(blocks[0].string))


def _croissant(build: Build, study: str) -> tuple[dict[str, Any], mlcroissant.Dataset]:
    """What the file says, and as its library reads it, with the files of this build."""
    file = build.site / f"studies/{study}/croissant.json"
    mapping = {"cells.csv": str(file.with_name("cells.csv"))}
    return json.loads(file.read_text("utf-8")), mlcroissant.Dataset(file, mapping=mapping)


def _faults(dataset: mlcroissant.Dataset) -> list[str]:
    """What the library has against it, but for what a study may not say: nothing is made up."""
    unsaid = ("datePublished", "license", "version", "creator", "url", "citeAs")
    issues = dataset.metadata.ctx.issues
    return [
        *issues.errors,
        *(warning for warning in issues.warnings if not any(x in warning for x in unsaid)),
    ]


@pytest.mark.parametrize("study", STUDIES)
def test_croissant_is_valid_and_its_records_are_the_cells(atlas: Build, study: str) -> None:
    croissant, dataset = _croissant(atlas, study)
    assert _faults(dataset) == []
    records = list(dataset.records("cells"))
    with (atlas.site / f"studies/{study}/cells.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(records) == len(rows)
    fields = [field["name"] for field in croissant["recordSet"][0]["field"]]
    assert fields == list(rows[0])
    for record, row in zip(records, rows, strict=True):
        for name in fields:
            value = record[f"cells/{name}"]
            value = value.decode() if isinstance(value, bytes) else value
            if row[name] == "":
                assert value is None
            else:
                # pandas may be a last digit off.
                assert value == row[name] or float(value) == pytest.approx(
                    float(row[name]), rel=1e-15
                )


@pytest.mark.parametrize("study", STUDIES)
def test_all_cells_are_those_of_the_grids(atlas: Build, study: str) -> None:
    folder = atlas.site / f"grids/{study}"
    rows = (atlas.site / f"studies/{study}/cells.csv").read_text("utf-8").splitlines()
    heads, cells = set(), []
    for file in folder.rglob("*.csv"):
        if is_former(file.relative_to(atlas.site).as_posix()):
            continue
        head, *lines = file.read_text("utf-8").splitlines()
        heads.add(head)
        cells += lines
    assert {rows[0]} == heads
    assert sorted(rows[1:]) == sorted(cells)


@pytest.mark.parametrize("study", STUDIES)
def test_files_are_named_with_their_hashes(atlas: Build, study: str) -> None:
    croissant, _ = _croissant(atlas, study)
    paths = set()
    for file in croissant["distribution"]:
        path = file["contentUrl"].removeprefix(SITE_URL)
        assert path != file["contentUrl"]
        content = (atlas.site / path).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
        paths.add(path)
    files = (atlas.site / "grids" / study).rglob("*.*")
    tables = {file for file in files if file.name.endswith((".csv", ".json"))}
    others = (".vl.json", "answers.json")
    tables = {file for file in tables if not file.name.endswith(others)}
    expected = {file.relative_to(atlas.site).as_posix() for file in tables}
    expected = {path for path in expected if not is_former(path)}
    assert paths == expected | {f"studies/{study}/cells.csv"}


def test_a_study_s_page_says_what_its_data_is(atlas: Build) -> None:
    dataset = _dataset(atlas, f"studies/{DYNTS}/")
    assert dataset["description"].startswith("Pass@1 of two reasoning models that keep only")
    assert (dataset["@context"], dataset["@type"], dataset["url"]) == (
        *("https://schema.org", "Dataset"),
        f"{SITE_URL}studies/{DYNTS}/",
    )
    cited = dataset["citation"]
    assert (cited["url"], cited["datePublished"]) == ("https://arxiv.org/abs/2601.18383", "2026")
    assert [(of["name"], of.get("unitText")) for of in dataset["variableMeasured"]] == [
        *(("Pass@1", "%"), ("Ratio", None), ("Local window size", "tokens")),
        *(("Model", None), ("Benchmark", None)),
    ]
    [download] = dataset["distribution"]
    assert download["contentUrl"] == f"{SITE_URL}studies/{DYNTS}/cells.csv"
    cells = (atlas.site / f"studies/{DYNTS}/cells.csv").read_bytes()
    assert download["sha256"] == hashlib.sha256(cells).hexdigest()


def test_only_a_study_s_own_page_has_it(atlas: Build) -> None:
    with_it = {
        file.relative_to(atlas.site).as_posix()
        for file in atlas.site.rglob("*.html")
        if "application/ld+json" in file.read_text("utf-8")
    }
    assert with_it == {f"studies/{study}/index.html" for study in STUDIES}


def test_licence_and_authors_are_said_where_the_study_says_them(
    tiny: Callable[..., Project],
) -> None:
    project = tiny(site_url=SITE_URL)
    study = site_builds.TINY_STUDY + (
        "license: CC-BY-4.0\nsource: {title: A report, authors: [A. Author, B. Author]}\n"
    )
    project.write("data/tiny/study.yml", study)
    build = project.built("--strict")
    people = [{"@type": "Person", "name": name} for name in ("A. Author", "B. Author")]
    for dataset in (_dataset(build, "studies/tiny/"), _croissant(build, "tiny")[0]):
        assert dataset["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
        assert dataset["creator"] == people
    assert "@misc{tiny," in _croissant(build, "tiny")[0]["citeAs"]
    page = build.page("studies/tiny/")
    assert "Licence: CC-BY-4.0." in page.get_text()
    study = "Learning rate and batch size"
    for path, name in (("", ""), ("model/", ": Model"), ("model/large/", ": Large")):
        footer = build.page(f"studies/tiny/{path}").select_one(".ga-footer")
        assert footer
        own, source = (text.get_text() for text in footer.select("pre"))
        assert f"title = {{{{{study}{name}}}}}," in own
        assert f"url = {{{SITE_URL}studies/tiny/{path}}}," in own
        assert "author = {A. Author and B. Author}" in source


def test_a_study_without_source_and_address_says_no_more_than_there_is(
    tiny: Callable[..., Project],
) -> None:
    build = tiny().built()
    footer = build.page("studies/tiny/").select_one(".ga-footer")
    assert footer
    text = " ".join(footer.get_text().split())
    assert "Licence: not stated. Download everything (zip)" in text
    assert "Published" not in text
    assert "study.yml" not in text
    assert not {"url", "license", "creator", "citation"} & _dataset(build, "studies/tiny/").keys()
    croissant, _ = _croissant(build, "tiny")
    assert [file["contentUrl"] for file in croissant["distribution"][:2]] == [
        "cells.csv",
        "../../grids/tiny/small.csv",
    ]
    # All files are beside each other then.
    dataset = mlcroissant.Dataset(build.site / "studies/tiny/croissant.json")
    assert _faults(dataset) == []
    assert [record["cells/accuracy"] for record in dataset.records("cells")][:2] == [11.5, 12.5]


def test_strings_stay_strings(base: Path) -> None:
    build = hostile(base)
    pages = [path.parent for path in build.site.glob("studies/*/croissant.json")]
    assert len(pages) > 10
    for folder in pages:
        study = folder.name
        described = _dataset(build, f"studies/{study}/")
        croissant, dataset = _croissant(build, study)
        assert croissant["name"] == described["name"]
        assert _faults(dataset) == []
