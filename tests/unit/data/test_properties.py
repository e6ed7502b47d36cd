"""What holds for whatever stands in a file."""

import csv
import io
import json
import re
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest
from amount import amount
from builders import write_study
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gridatlas.charts.draw import draw_values
from gridatlas.charts.vegalite import specification
from gridatlas.data.levels import slug
from gridatlas.data.reader import read_study
from gridatlas.data.tables import (
    clean_cell,
    clean_column,
    guarded,
    guarded_column,
    parse_csv,
    unguarded,
)
from gridatlas.data.validate import validate
from gridatlas.data.yaml import parse_yaml
from gridatlas.model.schema import StudyFile, format_number, level_key, level_number
from gridatlas.table.choose import analyse

DECIMALS = st.builds(
    lambda digits, exponent, sign: Decimal((sign, tuple(map(int, str(digits))), exponent)),
    st.integers(min_value=0, max_value=10**40),
    st.integers(min_value=-60, max_value=60),
    st.sampled_from([0, 1]),
)
TEXT = st.text(st.characters(codec="utf-8"))
MARKUP = st.text(st.sampled_from(list("ab01.-:,;[]{}&*!|>?#%@`'\"\\ \t\n\r\ufeff\x00")))
"""Texts of the signs that mean something in YAML and CSV."""
PLAIN = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"]) | st.sampled_from('\n\r,"')
)
"""Texts without control characters, but for line ends."""


# --- levels -------------------------------------------------------------------------------------


@given(DECIMALS)
@example(Decimal("-0.0"))
@example(Decimal("1E+20"))
@example(Decimal("12345678901234567890123456789"))
def test_a_numbers_key_is_that_number(number):
    key = format_number(number)
    assert Decimal(key) == number
    assert level_number(key) == number
    assert format_number(Decimal(key)) == key


@given(DECIMALS)
def test_a_numbers_key_is_plain(number):
    key = format_number(number)
    assert set(key) <= set("-.0123456789")
    assert key != "-0"
    assert "." not in key or not key.endswith(("0", "."))
    assert not key.lstrip("-").startswith("0") or key.lstrip("-").partition(".")[0] == "0"


@given(DECIMALS, st.integers(0, 5))
def test_a_number_has_one_key_however_it_is_written(number, zeros):
    sign, digits, exponent = number.as_tuple()
    plain = f"{number:f}"
    longer = plain + ("" if "." in plain else ".") + "0" * zeros
    scientific = f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"
    written = [plain, f" {longer} ", scientific, str(number)]
    assert {level_key(text) for text in written} == {format_number(number)}


@given(TEXT)
@example("1e999")
@example("٣")
@example("NaN")
@example("0x1f")
def test_a_key_is_its_own_key(text):
    assume(text.strip())
    key = level_key(text)
    assert level_key(key) == key
    assert (level_number(key) is None) == (level_number(text.strip()) is None)


@given(TEXT.filter(lambda text: not text.strip()))
@example("")
def test_nothing_is_no_level(text):
    with pytest.raises(ValueError, match="not empty"):
        level_key(text)


@given(TEXT.map(str.strip).filter(bool))
@example("Con")
@example("nul.txt")
@example("x.")
@example("lpt1" + "." * 97)
def test_an_address_can_stand_in_every_path(text):
    address = slug(text)
    assert 1 <= len(address) <= 100
    assert set(address) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-")
    assert address[0] not in "._-"
    # Nor does Windows take it for a device.
    assert not re.fullmatch(r"(con|prn|aux|nul|(com|lpt)\d)(\..*)?|.*\.", address)
    assert slug(address) == address


# --- files --------------------------------------------------------------------------------------


def _are_problems(found):
    """Each is four lines that a terminal shows as they are, whatever stands in the data."""
    for problem in found:
        assert problem.kind
        assert problem.file
        lines = str(problem).split("\n")
        assert len(lines) == 4
        assert all(line.isprintable() for line in lines)


@given(st.lists(TEXT | st.sampled_from(["'=1", "''+2", "=3", " a ", "a", ""])), st.integers(1, 3))
def test_columns_are_cleaned_and_guarded_as_each_of_their_texts(texts, of):
    column = texts * of
    assert [*clean_column(column)] == [*map(clean_cell, column)]
    assert [*guarded_column(column)] == [*map(guarded, column)]


@given(TEXT | MARKUP)
@example("")
@example("\n")
@example('"')
@example("\ufeff")
def test_csv_never_raises(text):
    found, problems = parse_csv(text, "cells.csv")
    assert found is not None or problems
    _are_problems(problems)
    if found is not None:
        assert len(found.texts) == len(found.columns)
        assert {len(found.lines)}.issuperset(map(len, found.texts))
        assert [*found.lines] == sorted(set(found.lines))


@given(st.lists(st.lists(PLAIN, min_size=2, max_size=2), min_size=2))
@example([["", ""], ["", "'@"]])
def test_a_table_that_python_writes_is_read_as_it_was(rows):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    found, problems = parse_csv(text.getvalue(), "cells.csv")
    assert problems == []
    assert found is not None
    # The apostrophe before what would be a formula isn't the text's.
    stripped = [tuple(unguarded(value.strip()) for value in row) for row in rows]
    assert [found.columns, *found.rows()] == stripped


@given(TEXT | MARKUP)
@example("")
@example("- &a [*a]")
@example('"\\UFFFFFFFF"')
@example('"\\uD800"')
@example("? [a]\n: b")
@example("!!int x")
@example("%YAML 3.0\n---\n")
def test_yaml_never_raises(text):
    tree, lines, problems = parse_yaml(text, "study.yml")
    assert tree is None or not problems
    _are_problems(problems)
    assert all(line >= 1 for line in lines.values())


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT | st.sampled_from(["rate", "depth", "model", "mean", "cells.csv", "small", "0.1"])
)  # fmt: skip
KEYS = st.sampled_from(
    sorted(
        {*StudyFile.model_fields, "rate", "depth", "model", "id", "label", "levels", "by", "file"}
        | {"aggregate", "name", "column", "range", "boxes", "url", "items", "samples", "decimals"}
    )
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
RIGHT = {
    "format": 1,
    "title": "T",
    "metric": {"name": "M", "better": "higher"},
    "x": "rate",
    "y": "depth",
}


def _check(study, cells):
    """Everything that `gridatlas check` does with a study, and its specification."""
    with tempfile.TemporaryDirectory() as name:
        source, problems = read_study(write_study(Path(name) / "demo", study, cells), "demo")
    if source is None:
        return problems
    checked, more = validate(source)
    if checked is not None:
        for grid in analyse(checked).grids.values():
            specification(draw_values(grid))
    return problems + more


@given(st.dictionaries(KEYS, TREES, max_size=5))
@example({"regions": [{"label": "r", "boxes": [{}]}]})
@example({"factors": {"rate": {"levels": [{"id": "0.1", "aggregate": {"by": "mean"}}]}}})
@example({"source": {"title": "T", "year": "1e9999"}})
@example({"readings": [{"id": "a", "file": "\x00"}]})
@example({"readings": [{"id": "a", "file": "x" * 5000}]})
@settings(max_examples=amount(200, 5_000))
def test_no_study_yml_is_a_traceback(tree):
    study = json.dumps(RIGHT | tree)
    _are_problems(_check(study, "model,rate,depth,value\nsmall,0.1,1,10\nlarge,0.2,1,20\n"))


NUMBERS = ["1", "1.0", "0.1", "-1", "47,3", "47.3%", "NaN", "inf", "1e30", "1e-30", "1e301", "1_0"]
WORDS = ["", "ok", "oom", "disputed", "done", "small", "Small", "x\ny", '"', "٣", "0" * 50]
VALUES = st.sampled_from([*NUMBERS, *WORDS]) | st.text(max_size=3)
COLUMNS = ["model", "rate", "depth", "value", "n", "successes", "stderr", "state", "note"]


@given(st.lists(st.lists(VALUES, min_size=9, max_size=9), max_size=6), st.booleans())
@example([["a", "1", "1", "1e30", "", "", "", "", ""]], False)
@example([["a", "1", "1", "1e30", "", "", "", "", ""]] * 2, True)
@settings(max_examples=amount(200, 5_000))
def test_no_table_is_a_traceback(rows, repeats):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([COLUMNS, *rows])
    study = RIGHT | {"facets": ["model"]} | ({"repeats": "mean"} if repeats else {})
    try:
        cells = text.getvalue()
        cells.encode()
    except UnicodeEncodeError:
        assume(False)
    _are_problems(_check(json.dumps(study), cells))


NAMES = st.text(max_size=5) | st.sampled_from(["rate", "depth", "value", "n", "a\nb", "\x1b[31m"])


@given(
    st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=2), max_size=2),
    st.lists(NAMES, min_size=1, max_size=5),
)
@example({"factors": {"a\nb": "c"}}, ["rate", "depth", "value"])
@example({"a\x1b[31m": {}}, ["rate", "depth", "value"])
@example({}, ["ra\nte", "depth", "\x1b[31mvalue"])
@example({}, ["rate", "depth", "value", "no\nte"])
@settings(max_examples=amount(200, 5_000))
def test_no_name_breaks_a_message(tree, columns):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([columns, ["1"] * len(columns)])
    _are_problems(_check(json.dumps(RIGHT | tree), text.getvalue()))
