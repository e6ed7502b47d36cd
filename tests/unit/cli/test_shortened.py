"""Of thousands of problems of one kind the first are told, and how many more there are."""

import json

import pytest
from builders import write_study
from click.testing import CliRunner

from gridatlas.build.site import build
from gridatlas.cli.main import main
from gridatlas.model.problems import ALIKE, More, Problem, truncate_list

WRONG, RAGGED = 350, ALIKE + 1
MORE = f"data/demo/cells.csv: {WRONG - ALIKE} more problems like these [not-a-number]; "


def test_kinds_files_and_severities_are_counted_apart():
    def problem(kind, file, found):
        note = "note" if found == "n" else "problem"
        return Problem(kind, file, found, "e", "m", severity=note)  # type: ignore[arg-type]

    found = [problem(kind, file, name) for name in "1n23n" for kind in "ab" for file in ("x", "y")]
    truncated = truncate_list(found, 2)
    assert [entry.found for entry in truncated if isinstance(entry, Problem)] == [
        *"1111nnnn2222nnnn"
    ]
    assert [str(entry).partition(" like")[0] for entry in truncated if isinstance(entry, More)] == [
        f"{file}: 1 more problem" for _ in "ab" for file in ("x", "y")
    ]
    assert truncate_list(found, 3) == found


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {
        "format": 1,
        "title": "T",
        "metric": {"name": "M", "better": "higher"},
        "x": "x",
        "y": "y",
    }
    rows = [f"1,{number},bad\n" for number in range(WRONG)] + ["1,1\n"] * RAGGED
    write_study(tmp_path / "data/demo", content, "x,y,value\n1,1,5\n2,2,6\n" + "".join(rows))
    return tmp_path / "data"


def _checked(*arguments):
    return CliRunner().invoke(main, ["check", *arguments])


def test_check_tells_the_first_and_counts_the_rest(data):
    result = _checked()
    assert result.exit_code == 1
    assert result.output.count("problem [not-a-number]") == ALIKE
    assert MORE in result.output
    assert "cells.csv: 1 more problem like these [ragged-row]" in result.output
    assert result.output.endswith(f"\n{WRONG + RAGGED} problems\n")


def test_check_tells_all_where_it_is_asked_to(data):
    every = _checked("--all")
    assert every.exit_code == 1
    assert every.output.count("problem [not-a-number]") == WRONG
    assert "like these" not in every.output
    as_json = json.loads(_checked("--format", "json").output)
    assert len(as_json["problems"]) == WRONG + RAGGED
    annotations = _checked("--format", "github").output.splitlines()
    assert sum(line.startswith("::error ") for line in annotations) == 2 * ALIKE + 2
    assert any(line.startswith("::error file=data/demo/cells.csv,title=") for line in annotations)


def test_pages_count_all_and_tell_the_first(data):
    pages = {page.plan.path: page for page in build(data).pages}
    text = pages["studies/demo/checks/index.md"].figures["problems"]
    assert f"{WRONG + RAGGED} problems in the data" in text
    assert text.count("<li>") == 2 * ALIKE + 2
    assert f"{WRONG - ALIKE} more like these. <code>gridatlas check --all</code>" in text
