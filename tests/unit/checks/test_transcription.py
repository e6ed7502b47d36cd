"""Values compared with the document that they were typed from."""

from decimal import Decimal

import pytest
from builders import HEAD, table

from gridatlas.checks import check_study
from gridatlas.checks.document import parse_document

STUDY = (
    HEAD.replace("x: rate\ny: depth\n", "x: rate\ny: depth\nfacets: [model]\n")
    + """factors:
  rate: {label: Ratio, levels: [0.1, 0.2, 0.3]}
  depth: {label: Window, levels: [500, 1000]}
  model: {levels: [{id: r1-qwen, label: R1-Qwen}, {id: r1-llama, label: R1-Llama}]}
readings: [{id: figure, file: cells.csv, text: figure.md}]
"""
)
VALUES = {
    ("r1-qwen", "500"): ("42.7", "40.0", "45.3"),
    ("r1-qwen", "1000"): ("44.0", "47.3", "46.0"),
    ("r1-llama", "500"): ("31.3", "34.0", "35.3"),
    ("r1-llama", "1000"): ("32.0", "34.7", "32.7"),
}
BARS = """# R1-Qwen: the figure of 2026

| Window | Ratio 0.1 | Ratio 0.2 | Ratio 0.3 |
| :--- | ---: | ---: | ---: |
| **1000** | 44.0 | **47.3** | 46.0 |
| **500** | 42.7 | 40.0 | 45.3 |

* The trend: unlike R1-Llama it rises to 47.3.

# R1-Llama

| Window | Ratio 0.1 | Ratio 0.2 | Ratio 0.3 |
| :--- | ---: | ---: | ---: |
| **1000** | 32.0 | 34.7 | 32.7 |
| **500** | 31.3 | 34.0 | 35.3 |
"""
LISTS = """**1. R1-Qwen (left):**
* **Row 1 (Window 1000):** Values (Ratio 0.1 to 0.3): 44.0, **47.3**, 46.0. They rise.
* **Row 2 (Window 500):** Values: 42.7, 40.0, 45.3.
**2. R1-Llama (right):**
* **Row 1 (Window 1000):** Values: 32.0, 34.7, 32.7.
* **Row 2 (Window 500):** Values: 31.3, 34.0, 35.3.
"""
TURNED = """R1-Qwen
ratio | 500 | 1000
---|---|---
0.1 | 42.7 | 44.0
0.2 | 40.0 | 47.3
0.3 | 45.3 | 46.0

R1-Llama
ratio | 500 | 1000
---|---|---
0.1 | 31.3 | 32.0
0.2 | 34.0 | 34.7
0.3 | 35.3 | 32.7
"""
COMMAS = """R1-Qwen
window,ratio 0.3,ratio 0.2,ratio 0.1
500,45.3,40.0,42.7
1000,46.0,47.3,44.0
R1-Llama
window,ratio 0.3,ratio 0.2,ratio 0.1
500,35.3,34.0,31.3
1000,32.7,34.7,32.0
"""
SPACES = """left
  44.0  47.3  46.0
  42.7  40.0  45.3
right
  32.0  34.7  32.7
  31.3  34.0  35.3
"""
POINTS = "".join(
    f"### {model}\n"
    + "".join(
        f"- Ratio {x}, Window {y}: {value}\n"
        for y in ("500", "1000")
        for x, value in zip(("0.1", "0.2", "0.3"), VALUES[model.lower(), y], strict=True)
    )
    for model in ("R1-Qwen", "R1-Llama")
)
TABLES = {
    "bars": BARS,
    "lists": LISTS,
    "turned": TURNED,
    "commas": COMMAS,
    "spaces": SPACES,
    "points": POINTS,
}
PROSE = (
    "With window 500 R1-Qwen has 42.7 and 40.0 and 45.3, and with 1000 has 44.0, then 47.3, then "
    "46.0; the other one has 31.3 and 34.0 and 35.3, or 32.0 and 34.7 and 32.7."
)


def study_of(make_study, document, values=None, head=STUDY):
    rows = [
        f"{model},{x},{y},{value}"
        for (model, y), row in (VALUES | (values or {})).items()
        for x, value in zip(("0.1", "0.2", "0.3"), row, strict=True)
    ]
    return make_study(head, table("model,rate,depth,value", *rows), {"figure.md": document})


def of(study):
    (result,) = [result for result in check_study(study).results if result.kind == "transcription"]
    return result


@pytest.mark.parametrize("document", TABLES.values(), ids=TABLES)
def test_values_that_are_as_in_the_document_pass(make_study, document):
    result = of(study_of(make_study, document))
    assert (result.outcome, result.title, result.statement, result.findings) == (
        "passed",
        "Values against the document they were typed from",
        "12 of 12 values are the same as in figure.md: 12 compared cell by cell, 0 only searched "
        "for.",
        (),
    )
    assert result.strength == (
        "Detects a mistyped value, and a value in the wrong cell of a table that the check "
        "recognises. Doesn't detect a mistake in the document itself."
    )


@pytest.mark.parametrize(
    ("values", "points"),
    [
        pytest.param(
            {("r1-qwen", "500"): ("42.7", "45.3", "40.0")},
            {("0.2", "500"), ("0.3", "500")},
            id="neighbours swapped",
        ),
        pytest.param(
            {
                ("r1-qwen", "500"): ("44.0", "40.0", "45.3"),
                ("r1-qwen", "1000"): ("42.7", "47.3", "46.0"),
            },
            {("0.1", "500"), ("0.1", "1000")},
            id="cells above one another swapped",
        ),
        pytest.param(
            {("r1-qwen", "1000"): ("44.0", "43.7", "46.0")}, {("0.2", "1000")}, id="digits swapped"
        ),
        pytest.param(
            {("r1-qwen", "1000"): ("44.0", "34.7", "46.0")}, {("0.2", "1000")}, id="of another grid"
        ),
    ],
)
@pytest.mark.parametrize("document", TABLES.values(), ids=TABLES)
def test_values_in_the_wrong_cell_are_found(make_study, document, values, points):
    (finding,) = of(study_of(make_study, document, values)).findings
    assert (finding.severity, finding.levels, set(finding.cells)) == (
        "problem",
        ("r1-qwen",),
        points,
    )


def test_a_value_that_was_typed_wrong_is_a_problem_with_its_place(make_study):
    checks = check_study(
        study_of(make_study, BARS, {("r1-llama", "500"): ("31.3", "43.0", "35.3")})
    )
    (problem,) = checks.problems
    assert str(problem) == (
        'data/demo/cells.csv:9, "value": problem [transcription]\n  found:    R1-Llama: 1 of 6 '
        "values is not the same as in figure.md: 43.0 (line 15 has 34.0) at ratio 0.2, window "
        "500\n  expected: the numbers of the document, each in its cell\n  fix:      correct the "
        "values; if the source has them so, add under accepted in study.yml: - {finding: "
        'transcription, at: {model: r1-llama, rate: 0.2, depth: 500}, because: "…"}'
    )


@pytest.mark.parametrize(
    ("row", "found"),
    [
        pytest.param(("42.7", "40.0", "45.3"), None, id="as it is"),
        pytest.param(
            ("42.7", "45.3", "40.0"),
            "2 of 6 values are not the same as in figure.md: 45.3 (line 1 has 40.0) at ratio 0.2, "
            "window 500; 40.0 (line 1 has 45.3) at ratio 0.3, window 500",
            id="neighbours swapped",
        ),
        pytest.param(
            ("42.7", "40.1", "45.3"),
            "1 of 6 values is not the same as in figure.md: 40.1 (line 1 has 40.0) at ratio 0.2, "
            "window 500",
            id="a digit is wrong",
        ),
    ],
)
def test_in_a_text_without_tables_values_are_searched_for_row_by_row(make_study, row, found):
    third = {("r1-qwen", "2000"): ("21.0", "22.0", "23.0")}
    text = PROSE + " With 2000 it has 21.0 and 22.0 and 23.0."
    head = STUDY.replace("[500, 1000]", "[500, 1000, 2000]")
    result = of(study_of(make_study, text, {("r1-qwen", "500"): row} | third, head))
    expected = found and found.replace("of 6", "of 9")
    assert [finding.found for finding in result.findings] == ([expected] if expected else [])
    if not found:
        assert result.statement == (
            "15 of 15 values are the same as in figure.md: 0 compared cell by cell, 15 only "
            "searched for."
        )


def test_numbers_that_are_in_no_cell_are_notes(make_study):
    """A cell without a row, a row with a number too many, and a table of something else."""
    lists = LISTS.replace("35.3.", "35.3, 99.1.") + "* Budget: 17, 18, 19.\n"
    rows = [
        f"r1-qwen,{x},{y},{value}"
        for y in ("500", "1000")
        for x, value in zip(("0.1", "0.2", "0.3"), VALUES["r1-qwen", y], strict=True)
    ]
    rows.remove("r1-qwen,0.2,500,40.0")
    rows += ["r1-llama,0.1,1000,32.0", "r1-llama,0.2,1000,34.7", "r1-llama,0.3,1000,32.7"]
    study = make_study(STUDY, table("model,rate,depth,value", *rows), {"figure.md": lists})
    checks = check_study(study)
    assert checks.problems == ()
    result = of(study)
    assert [(finding.severity, finding.found) for finding in result.findings] == [
        (
            "note",
            "figure.md has 1 number for cells without a value: 40.0 (line 3) at ratio 0.2, "
            "window 500",
        )
    ]
    assert result.statement == (
        "8 of 8 values are the same as in figure.md: 8 compared cell by cell, 0 only searched "
        "for. 7 numbers of its tables are in no cell: 31.3, 34.0, 35.3, 99.1, 17, 18, 19."
    )


def test_the_heading_names_the_grid_whatever_its_values(make_study):
    """All values of two grids swapped: each would be found in the other's table."""
    swapped = {
        (model, y): VALUES["r1-llama" if model == "r1-qwen" else "r1-qwen", y]
        for model, y in VALUES
    }
    findings = of(study_of(make_study, BARS, swapped)).findings
    assert [(finding.levels, len(finding.cells)) for finding in findings] == [
        (("r1-qwen",), 6),
        (("r1-llama",), 6),
    ]


def test_a_reading_without_a_document_has_no_result(make_study):
    study = make_study(HEAD, table("rate,depth,value", "1,1,2"))
    assert [result for result in check_study(study).results if result.kind == "transcription"] == []


def test_any_text_is_a_document():
    text = "| | |\n|-|\n,,,\n1e5 v1.2 3.4.5 −7 | - | n/a |\nAIME'24: 5\n| a | – | 3 |\n"
    document = parse_document(text)
    assert [value for _, value in document.numbers] == [Decimal(-7), Decimal(5), Decimal(3)]
