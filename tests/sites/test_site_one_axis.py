"""A study with one axis: pages, downloads, claims and comparisons have no second one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from builders import table, write_study
from click.testing import CliRunner

from gridatlas import load
from gridatlas.api import Studies
from gridatlas.build.site import Site, build
from gridatlas.cli.main import main
from gridatlas.model.lookup import UnknownName

STUDY = """\
format: 1
title: A sweep
metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100]}
x: rate
facets: [model]
compare: [model]
regions: [{label: Trained, boxes: [{rate: [0.1]}]}]
readings: [{id: first, file: a.csv}, {id: second, file: b.csv}]
claims:
  - {text: Best at 0.2., check: "grid(model='a').at(rate=0.2) >= grid(model='a').best.value"}
  - {text: Rises., check: "grid(model='b').trend('rate') > 0", holds: unknown}
"""
ROWS = ("a,0.1,40.0,100", "a,0.2,55.0,100", "a,0.3,52.0,100", "b,0.1,30.0,100", "b,0.2,41.0,100")
FILES = {
    "a.csv": table("model,rate,value,n", *ROWS),
    "b.csv": table("model,rate,value,n", *ROWS[:3], "b,0.1,31.0,100"),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one") / "data"
    write_study(folder / "sweep", STUDY, None, FILES)
    return folder


@pytest.fixture(scope="module")
def studies(data: Path) -> Studies:
    return load(data)


@pytest.fixture(scope="module")
def site(data: Path) -> Site:
    return build(data)


def test_no_page_speaks_of_a_second_axis(site: Site) -> None:
    pages = [page.whole() for page in site.pages]
    assert len(pages) > 5
    for page in pages:
        assert "Accuracy over rate and" not in page
        assert not re.search(r"Across: rate\. (Up|Down)", page)
        assert "Does either knob matter" not in page
        assert not re.search(r"(>| )× ?(<|$)|\\ ?Rate<|0\.1,[\"<]|, <|: , ", page)
    level = next(page for page in pages if "at each level of rate" in page)
    assert "Which setting?" not in level  # The line shows it.
    assert '"a/0.2"' in level  # a cell's address


def test_downloads_have_no_second_axis(site: Site) -> None:
    csv = site.files["grids/sweep/a.csv"]
    assert isinstance(csv, str)
    assert csv.splitlines()[:2] == [
        "model,rate,value,state,n,successes,stderr,note,place,run,reading",
        "a,0.1,40.0,ok,100,,,,,,first",
    ]
    content = json.loads(site.files["grids/sweep/a.json"])
    assert (content["x"]["id"], content["y"], content["profiles"]["y"]) == ("rate", None, [])
    assert content["cells"][0]["levels"] == {"rate": 0.1}
    answers = json.loads(site.files["grids/sweep/answers.json"])
    asserted = [of for answer in answers for of in answer["assertions"]]
    assert {of["factor"] for of in asserted} <= {"model", "rate"}
    croissant = json.loads(site.files["studies/sweep/croissant.json"])
    fields = [field["name"] for field in croissant["recordSet"][0]["field"]]
    assert fields[:3] == ["model", "rate", "value"]


def test_python_reads_a_cell_by_its_one_level(studies: Studies) -> None:
    study = studies["sweep"]
    grid = study.grid(model="a")
    assert str(grid.at(rate=0.2).value) == "55.0"
    assert str(study.at(model="a", rate=0.2).value) == "55.0"
    with pytest.raises(UnknownName, match="needs rate too"):
        grid.at()
    assert [*grid.frame()][:3] == ["model", "rate", "value"]
    assert "y" not in grid.chart().to_dict()["encoding"]
    assert str(grid).splitlines()[2:] == [
        "   0.1    0.2    0.3",
        "  40.0   55.0*  52.0",
        "across: Rate; * best",
    ]


def test_claims_and_checks_are_judged(studies: Studies, data: Path) -> None:
    result = CliRunner().invoke(main, ["check", str(data)])
    assert result.exit_code == 0, result.output
    outcomes = [
        judged.verdict and judged.verdict.outcome for judged in studies["sweep"].assessment.claims
    ]
    assert outcomes == ["true", "undecidable"]


def test_a_change_is_told_with_its_one_level(tmp_path: Path) -> None:
    for name, value in (("base", "40.0"), ("head", "71.0")):
        text = table("model,rate,value,n", ROWS[0].replace("40.0", value), *ROWS[1:])
        study = STUDY.partition("readings:")[0]
        write_study(tmp_path / name / "sweep", study, text)
    names = [str(tmp_path / name) for name in ("base", "head")]
    result = CliRunner().invoke(main, ["diff", *names, "--format", "markdown"])
    assert result.exit_code == 1, result.output
    assert "| rate | before → after |" in result.output
    assert "| 0.1 | 40.0 → 71.0 |" in result.output


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("{rate: [0.1]}", "{rate: [0.1], depth: [1]}", "the keys rate, depth"),
        (".at(rate=0.2)", ".at(rate=0.2, depth=1)", '"depth" is no axis here'),
        ("grid(model='b').trend('rate') > 0", "grid(model='b').row(1).all", "has one axis"),
    ],
)
def test_a_second_axis_is_refused(tmp_path: Path, old: str, new: str, found: str) -> None:
    write_study(tmp_path / "data/sweep", STUDY.replace(old, new), None, FILES)
    result = CliRunner().invoke(main, ["check", str(tmp_path / "data")])
    assert result.exit_code == 1
    assert found in result.output
