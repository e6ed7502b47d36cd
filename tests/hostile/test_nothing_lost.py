"""Whatever stands in a table, a reading or one side of a diff: it is shown, or told."""

import csv
import io
import json
import re
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from amount import amount
from builders import write_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from targets import HARMLESS_STUDY as STUDY

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.data.levels import slug
from gridatlas.model.problems import only_problems
from gridatlas.pages.exports import to_csv
from gridatlas.table.grids import readings_by_cell
from gridatlas_review.compare import compare_snapshots, make_report
from gridatlas_review.formats import to_json
from gridatlas_review.markdown import to_markdown
from gridatlas_review.page import changes_document
from gridatlas_review.snapshot import snapshot_of

SETTINGS = settings(
    max_examples=amount(40, 1500), deadline=None, suppress_health_check=list(HealthCheck)
)
HEAD = ["model", "rate", "depth", "value", "n", "successes", "state", "note"]
MODELS = st.sampled_from(["small", "large", "Small", "", "=1+1", "x" * 1001, "\u202e", "-1"])
RATES = st.sampled_from(["0.1", "0.10", "1e-1", "0.2", "", "1e999", "few", "e\u0301", "é"])
VALUES = st.sampled_from(["10", "47.30", "-1", "NaN", "", "1e301", "x", "101", "0"])
ROWS = st.lists(
    st.tuples(
        MODELS,
        RATES,
        st.sampled_from(["1", "2", "01"]),
        VALUES,
        st.sampled_from(["", "", "40", "0", "1e10"]),
        st.sampled_from(["", "", "4", "41"]),
        st.sampled_from(["", "", "ok", "oom", "disputed", "Ok"]),
        st.text(max_size=4) | st.sampled_from(["", '"', "a,b", "=x", "'=x", "\x85", "\ud7ff"]),
    ),
    max_size=8,
)


def table(rows: list[tuple[str, ...]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([HEAD, *rows])
    return text.getvalue()


def loaded(files: Mapping[str, str]) -> Assessments:
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name) / "demo", files)
        return load_data(Path(name), "data")


def lines_of(text: str) -> set[int]:
    """The lines at which the rows of a table begin, below the header."""
    reader = csv.reader(io.StringIO(text, newline=""))
    begins, line = set(), 1
    for values in reader:
        if values:
            begins.add(line)
        line = reader.line_num + 1
    return begins - {1}


@given(ROWS, st.sampled_from([None, "mean"]))
@SETTINGS
def test_each_row_is_a_cell_a_repeat_or_a_problem(
    rows: list[tuple[str, ...]], repeats: str | None
) -> None:
    text = table(rows)
    study = STUDY | ({"repeats": repeats} if repeats else {})
    found = loaded({"study.yml": json.dumps(study), "cells.csv": text})
    lines_with_problems = {
        problem.line for problem in found.problems if problem.file.endswith("cells.csv")
    }
    whole = [problem for problem in found.problems if problem.file.endswith("study.yml")]
    if not found:
        assert whole or lines_with_problems
        return
    [results] = found.results.values()
    [reading] = results.study.readings
    cells = sum(cell.repeats for cell in reading.table.values())
    if not repeats:
        shown = {cell.line for cell in reading.table.values()}
        assert lines_of(text) <= lines_with_problems | shown
    else:
        assert cells <= len(rows)
    for grid in results.grids.values():
        assert len(list(csv.reader(io.StringIO(to_csv(grid), newline="")))) > 1


SIDES = st.lists(
    st.tuples(
        st.sampled_from(["small", "large"]), st.sampled_from(["0.1", "0.2"]),
        st.sampled_from(["1", "2"]), st.sampled_from(["10", "10.0", "47.3", "", "0"]),
    ),
    unique_by=lambda row: row[:3],
    min_size=1,
    max_size=8,
)  # fmt: skip


def _side(rows: list[tuple[str, ...]], second: list[tuple[str, ...]], rule: str) -> Assessments:
    study: dict[str, Any] = STUDY | {
        "reconcile": rule,
        "readings": [{"id": "one", "file": "one.csv"}, {"id": "two", "file": "two.csv"}],
    }
    full = [(*row, "", "", "", "") for row in rows], [(*row, "", "", "", "") for row in second]
    files = {"one.csv": table(full[0]), "two.csv": table(full[1])}
    return loaded({"study.yml": json.dumps(study), **files})


RULES = st.sampled_from(["primary", "agreement", "median"])


@given(SIDES, SIDES, RULES)
@SETTINGS
def test_each_value_of_each_reading_is_told(
    first: list[tuple[str, ...]], second: list[tuple[str, ...]], rule: str
) -> None:
    found = _side(first, second, rule)
    if not found:  # no reading has a value
        assert only_problems(found.problems) or not any(row[3] for row in first + second)
        return
    [results] = found.results.values()
    values_by_reading: dict[tuple[str, ...], dict[str, Decimal | None]] = {}
    for levels, grid in results.grids.items():
        for (x, y, cell), accounts in zip(grid.points(), readings_by_cell(grid), strict=True):
            values = {reading.id: account.value for reading, account in accounts}
            values_by_reading[*levels, x.key, y.key] = values
            if cell.value is not None:
                assert cell.value in values.values() or rule == "median"
    for name, rows in (("one", first), ("two", second)):
        for model, rate, depth, value in rows:
            given_value = values_by_reading[model, rate, depth].get(name)
            assert given_value == (Decimal(value) if value else None)


@given(SIDES, SIDES, RULES)
@SETTINGS
def test_a_diff_tells_each_change_and_nothing_else(
    base: list[tuple[str, ...]], head: list[tuple[str, ...]], rule: str
) -> None:
    before, after = (
        snapshot_of(_side(rows, base, rule), "data", name, None)
        for name, rows in (("base", base), ("head", head))
    )
    changes_report = make_report(compare_snapshots(before, after))
    alike = {row[:3]: row[3] and Decimal(row[3]) for row in base} == {
        row[:3]: row[3] and Decimal(row[3]) for row in head
    }
    assert not make_report(compare_snapshots(before, before)).changed
    if alike and {row[3] for row in base} == {row[3] for row in head}:
        assert not changes_report.changed
    if not alike:
        assert changes_report.changed
    changes = compare_snapshots(before, after)
    assert json.loads(to_json(changes, changes_report, ""))
    assert to_markdown(changes_report, "")
    assert re.search("<html", changes_document(changes_report, ""), re.IGNORECASE)


@given(st.lists(st.text(min_size=1, max_size=6).filter(str.strip), min_size=2, unique=True))
@SETTINGS
def test_levels_have_addresses_of_their_own_or_are_told(levels: list[str]) -> None:
    rows = [(level, "0.1", "1", "10", "", "", "", "") for level in levels]
    found = loaded({"study.yml": json.dumps(STUDY), "cells.csv": table(rows)})
    if found.results:
        [results] = found.results.values()
        addresses = [grid.address for grid in results.grids.values()]
        assert len({address.lower() for address in addresses}) == len(addresses)
        assert all(address == slug(address) for address in addresses)
    else:
        assert only_problems(found.problems)
