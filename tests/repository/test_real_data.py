"""The studies of this repository hold the numbers that were read, and no others."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from builders import REPOSITORY, write_study

import gridatlas
from gridatlas.data.reader import read_study
from gridatlas.data.validate import validate
from gridatlas.model.schema import level_key
from gridatlas.model.study import Cell
from gridatlas.pages.exports import to_csv
from gridatlas.table.choose import analyse
from gridatlas.table.grids import Results

DOCUMENTS = json.loads(
    (REPOSITORY / "tests" / "fixtures" / "documents.json").read_text(encoding="utf-8")
)
"""What the documents print: study → grid → level of y → values from left to right."""
READINGS = {
    "dynts-window-ratio": ("r1-qwen", "r1-llama", "average"),
    "grpo-digits": ("healer-alpha",),
}
"""The readings that the documents are."""
DISPUTED = ("grpo-digits", "after_t125", "7")
"""The row of 11 values for 10 columns: which of them are the cells' can't be told."""


@pytest.fixture(scope="module")
def repository() -> dict[str, Results]:
    return gridatlas.load(REPOSITORY / "data")


@pytest.fixture(scope="module")
def studies(repository: dict[str, Results]) -> dict[str, Results]:
    """Those that the documents are about."""
    return {name: repository[name] for name in DOCUMENTS}


def _rows(results: Results) -> dict[str, dict[str, list[str | None]]]:
    """Values of all grids as printed, in the form of the documents."""
    return {
        grid.address: {
            y.key: [
                None if (value := grid.cell(x.key, y.key).value) is None else str(value)
                for x in results.study.x.levels
            ]
            for y in results.study.y.levels
        }
        for grid in results.grids.values()
    }


def test_there_are_as_many_grids_as_the_documents_print(studies: dict[str, Results]) -> None:
    counts = {
        (name, grid.aggregate): 0 for name in studies for grid in studies[name].grids.values()
    }
    for name, results in studies.items():
        for grid in results.grids.values():
            counts[name, grid.aggregate] += 1
    assert counts == {
        ("dynts-window-ratio", False): 8,
        ("dynts-window-ratio", True): 2,
        ("grpo-digits", False): 3,
    }


def _read(results: Results, grid: str, x: str, y: str) -> list[Cell]:
    """The cells that the documents' readings give at a point."""
    at = (tuple(grid.split("/")), (x, y))
    readings = {reading.id: reading for reading in results.study.readings}
    of = [readings[name] for name in READINGS[results.study.id]]
    return [reading.table[at] for reading in of if at in reading.table]


def _expected() -> dict[tuple[str, str, str, str], str | None]:
    """Value by study, grid, x and y; None in the disputed row."""
    expected = {}
    xs = {"dynts-window-ratio": ("0.1", "0.2", "0.3", "0.4", "0.5"),
          "grpo-digits": tuple(map(str, range(1, 11)))}  # fmt: skip
    for study, grids in DOCUMENTS.items():
        for grid, rows in grids.items():
            for y, values in rows.items():
                disputed = (study, grid, y) == DISPUTED
                assert len(values) == len(xs[study]) + disputed
                for x, value in zip(xs[study], values, strict=not disputed):
                    expected[study, grid, x, y] = None if disputed else value
    return expected


EXPECTED = _expected()


def test_every_number_of_the_documents_is_its_cells_value(studies: dict[str, Results]) -> None:
    assert len(EXPECTED) == 10 * 20 + 3 * 100
    for (study, grid, x, y), value in EXPECTED.items():
        cells = _read(studies[study], grid, x, y)
        printed = [None if cell.value is None else str(cell.value) for cell in cells]
        assert printed == [value], (study, grid, x, y)


def test_the_documents_readings_give_no_other_cell(studies: dict[str, Results]) -> None:
    given = {
        (study, "/".join(levels), *point)
        for study, results in studies.items()
        for reading in results.study.readings
        if reading.id in READINGS[study]
        for levels, point in reading.table
    }
    assert given == EXPECTED.keys()
    outside = [r.outside for s in studies.values() for r in s.study.readings
               if r.id in READINGS[s.study.id]]  # fmt: skip
    assert not any(outside)


def test_what_is_shown_is_what_the_documents_print(studies: dict[str, Results]) -> None:
    """But for cells where two other readings agree, and the row that they can't tell."""
    for (study, grid, x, y), value in EXPECTED.items():
        results = studies[study]
        levels = tuple(grid.split("/"))
        cell = results.grids[levels].cell(x, y)
        if value is not None and str(cell.value) == value:
            continue
        others = [
            other.value
            for reading in results.study.readings
            if reading.id not in READINGS[study]
            if (other := reading.table.get((levels, (x, y)))) is not None
        ]
        agreed = cell.value is not None and others.count(cell.value) >= 2
        assert agreed or (value is None and cell.state == "disputed"), (study, grid, x, y)


def test_the_disputed_row_has_no_value_and_quotes_what_was_read(
    studies: dict[str, Results],
) -> None:
    study, grid, y = DISPUTED
    cells = [_read(studies[study], grid, str(x), y)[0] for x in range(1, 11)]
    assert [(cell.value, cell.state) for cell in cells] == [(None, "disputed")] * 10
    quoted = '"' + ", ".join(DOCUMENTS[study][grid][y]) + '"'
    assert len(DOCUMENTS[study][grid][y]) == 11
    assert all(quoted in cell.note for cell in cells)


def test_nothing_is_computed_where_all_is_printed(studies: dict[str, Results]) -> None:
    assert [g.address for r in studies.values() for g in r.grids.values() if g.computed] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_downloads_together_are_the_study_again(
    studies: dict[str, Results], name: str, tmp_path: Path
) -> None:
    results = studies[name]
    text = (REPOSITORY / "data" / name / "study.yml").read_text(encoding="utf-8")
    keep = ("format", "title", "metric", "x", "y", "facets", "factors")
    head = {key: value for key, value in yaml.safe_load(text).items() if key in keep}
    tables = [to_csv(grid).split("\n", 1) for grid in results.grids.values()]
    assert len({head for head, _ in tables}) == 1
    cells = tables[0][0] + "\n" + "".join(rows for _, rows in tables)
    source, problems = read_study(write_study(tmp_path / name, head, cells), name)
    assert source is not None
    study, more = validate(source)
    assert study is not None
    assert {(problem.kind, problem.column) for problem in problems + more} == {
        ("unused-column", "reading")
    }
    again = analyse(study)
    assert _rows(again) == _rows(results)
    assert [
        (cell.state, cell.note, cell.place)
        for grid in again.grids.values()
        for _, _, cell in grid.points()
    ] == [
        (cell.state, cell.note, cell.place)
        for grid in results.grids.values()
        for _, _, cell in grid.points()
    ]


ALL = ("0", "0.6", "1")
SAMPLES = 8
MEASURED = {
    "digits-pass-1": (3 * 3 * 3 * 6 * 6, ALL, SAMPLES, None),
    "digits-pass-8": (3 * 2 * 3 * 6 * 6, ALL, SAMPLES, SAMPLES),
    "digits-rollout-temperature": (4 * 2 * 3 * 10 * 10, ("0", "1"), 4, None),
}
"""Cells of each study; temperatures and samples of its run, and of how many one right is enough."""


def test_all_else_was_measured_by_runs(repository: dict[str, Results]) -> None:
    assert repository.keys() - DOCUMENTS.keys() == MEASURED.keys()


@pytest.mark.parametrize("name", MEASURED)
def test_measured_cells_are_what_their_run_recorded(
    repository: dict[str, Results], name: str
) -> None:
    study = repository[name].study
    [reading], [run] = study.readings, study.runs.values()
    cells, temperatures, samples, pass_at = MEASURED[name]
    assert len(reading.table) == cells
    for at, cell in reading.table.items():
        outcomes = run.outcomes[at]
        assert (cell.run, cell.successes) == (run.id, sum(outcomes.correct)), at
        assert cell.n == sum(outcomes.samples), at
        share = 100 * Decimal(sum(outcomes.correct)) / sum(outcomes.samples)
        assert cell.value == share.quantize(Decimal("0.01")), at
        assert run.cells[at].complete
    assert (run.script, run.dirty, run.limit) == ("grpo_digits", False, None)
    manifest = json.loads(
        (REPOSITORY / "data" / name / "runs" / f"{run.id}.json").read_text(encoding="utf-8")
    )
    settings = manifest["settings"]
    assert tuple(level_key(level) for level in settings["temperatures"]) == temperatures
    assert (settings["samples"], manifest.get("pass_at")) == (samples, pass_at)


def test_both_metrics_are_of_the_same_answers(repository: dict[str, Results]) -> None:
    """Sampled, a problem has eight answers; greedily one, as more would be the same again."""
    of_answers, of_problems = (repository[f"digits-pass-{k}"].study for k in (1, SAMPLES))
    [first], [second] = of_answers.runs.values(), of_problems.runs.values()
    assert first.id == second.id
    assert second.outcomes.keys() == {at for at in first.outcomes if at[0][1] != "0"}
    for at, outcomes in first.outcomes.items():
        problems = 50 if at[1] == ("1", "1") else 100
        assert outcomes.samples == (1 if at[0][1] == "0" else SAMPLES,) * problems
        if at in second.outcomes:
            solved = second.outcomes[at]
            assert (solved.items, solved.samples) == (outcomes.items, (1,) * problems)
            assert solved.correct == tuple(int(right > 0) for right in outcomes.correct)
