"""Tables in Parquet: the same texts as a CSV file of them would have."""

import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from builders import HEAD, write_study

from gridatlas.data.reader import read_study
from gridatlas.data.validate import validate
from gridatlas.model.problems import Problem

NAME = "data/demo/cells.parquet"


@pytest.fixture
def folder(tmp_path):
    readings = "readings: [{id: paper, file: cells.parquet}]\n"
    return write_study(tmp_path / "demo", HEAD + readings, None)


def _read(folder):
    source, problems = read_study(folder, "data/demo")
    assert source is not None
    return source, problems


def _values(folder, values):
    pq.write_table(pa.table({"value": values}), folder / "cells.parquet")
    source, problems = _read(folder)
    assert problems == []
    return [*source.tables["paper"].column("value")]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([47.3, 0.1, 100], pa.float32()), ["47.3", "0.1", "100.0"]),
        (pa.array([47.3, 0.1, 100], pa.float64()), ["47.3", "0.1", "100.0"]),
        (pa.array([500, 1], pa.int64()), ["500", "1"]),
        (pa.array([Decimal("47.30")], pa.decimal128(6, 2)), ["47.30"]),
        (pa.array(["r1-qwen", "größe"]), ["r1-qwen", "größe"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([47.3, None], pa.float64()), ["47.3", ""]),
        (pa.array([500, None], pa.int64()), ["500", ""]),
        (pa.array(["a", None]), ["a", ""]),
        (pa.array([None, None], pa.float32()), ["", ""]),
        (pa.array([None, "a", "", None]), ["", "a", "", ""]),
        (pa.array([0.0, -0.0, 0.0]), ["0.0", "-0.0", "0.0"]),
        (pa.array([["a"], None, ["a"]]), ["['a']", "", "['a']"]),
        # A float32 is 47.29999923706055, and no one printed that.
        (pa.array([47.3, None], pa.float32()), ["47.3", ""]),
    ],
)
def test_values_are_the_texts_that_were_meant(folder, values, texts):
    assert _values(folder, values) == texts


def test_row_groups_are_one_table(folder):
    groups = [
        pa.table({"value": pa.array(values, pa.float64())}) for values in ([], [1, 2], [2, 3])
    ]
    with pq.ParquetWriter(folder / "cells.parquet", groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group)
    source, problems = _read(folder)
    assert problems == []
    assert [*source.tables["paper"].column("value")] == ["1.0", "2.0", "2.0", "3.0"]
    assert [*source.tables["paper"].lines] == [1, 2, 3, 4]


def test_a_table_is_read_without_pandas(folder):
    pq.write_table(pa.table({"value": [1.5, None, 1.5]}), folder / "cells.parquet")
    code = (
        "import sys; from pathlib import Path; from gridatlas.data.tables import read_table; "
        "found, _ = read_table(Path(sys.argv[1]), 'cells'); "
        "print(*found.column('value'), 'pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(folder / "cells.parquet")]
    assert subprocess.check_output(command, text=True) == "1.5  1.5 False\n"


def test_rows_are_counted_from_one(folder):
    columns = {"rate": [0.1, 0.2], "depth": [1, 1], "value": [10.5, None], "state": [None, "oom"]}
    pq.write_table(pa.table(columns), folder / "cells.parquet")
    source, problems = _read(folder)
    assert problems == []
    assert source.tables["paper"].columns == ("rate", "depth", "value", "state")
    assert [*source.tables["paper"].rows()] == [("0.1", "1", "10.5", ""), ("0.2", "1", "", "oom")]
    assert [*source.tables["paper"].lines] == [1, 2]
    study, problems = validate(source)
    assert problems == []
    cells = study.readings[0].table
    assert {point: (cell.value, cell.state, cell.line) for (_, point), cell in cells.items()} == {
        ("0.1", "1"): (Decimal("10.5"), "ok", 1),
        ("0.2", "1"): (None, "oom", 2),
    }


def test_without_pyarrow_the_extra_is_named(folder, monkeypatch):
    pq.write_table(pa.table({"rate": [1]}), folder / "cells.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    source, problems = _read(folder)
    assert source.tables == {}
    assert problems == [
        Problem(
            kind="no-parquet",
            file=NAME,
            found="a Parquet file, and pyarrow is not installed",
            expected="the extra parquet",
            fix='pip install "/path/to/grid-atlas[parquet]", or save the table as CSV',
        )
    ]


@pytest.mark.parametrize(
    "content", [b"", b"rate,depth,value\n0.1,1,10\n", b"PAR1" + b"\xff" * 100 + b"PAR1"]
)
def test_a_broken_file_is_a_problem(folder, content):
    (folder / "cells.parquet").write_bytes(content)
    source, problems = _read(folder)
    assert source.tables == {}
    assert [(problem.kind, problem.file, problem.expected) for problem in problems] == [
        ("not-parquet", NAME, "a Parquet file")
    ]
    # The same text on every machine.
    assert str(folder) not in problems[0].found


def test_a_file_cut_off_in_the_middle_is_a_problem(folder):
    pq.write_table(pa.table({"rate": list(range(1000))}), folder / "cells.parquet")
    whole = (folder / "cells.parquet").read_bytes()
    (folder / "cells.parquet").write_bytes(whole[: len(whole) // 2])
    _, problems = _read(folder)
    assert [problem.kind for problem in problems] == ["not-parquet"]


def test_a_file_without_rows_is_a_problem(folder):
    pq.write_table(pa.table({"rate": pa.array([], pa.float64())}), folder / "cells.parquet")
    source, problems = _read(folder)
    assert source.tables == {}
    assert problems == [
        Problem(
            kind="empty-table",
            file=NAME,
            found="no rows",
            expected="at least one row",
            fix="add rows, or remove this reading",
        )
    ]
