"""Reading `study.yml` and tables: what stands in them, exactly, and where."""

import os
from decimal import Decimal

import pytest
from builders import write_study

from gridatlas.data.reader import nearest_line, read_study, study_folders
from gridatlas.data.tables import parse_csv
from gridatlas.data.yaml import parse_yaml
from gridatlas.model.problems import Problem

# --- YAML ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.10", Decimal("0.10")),
        ("47.0", Decimal("47.0")),
        ("-0.5", Decimal("-0.5")),
        ("1.5e+3", Decimal("1.5e+3")),
        ("500", 500),
        ("-3", -3),
        ("+1", 1),
        ("1_000", 1000),
        ("true", True),
        ("True", True),
        ("false", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("TRUE", "TRUE"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("No", "No"),
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 10:00:00", "2024-01-31 10:00:00"),
        ("1:30", "1:30"),
        ("0x1f", "0x1f"),
        (".inf", ".inf"),
        ("1e3", "1e3"),
        ("r1-qwen", "r1-qwen"),
        ('"0.10"', "0.10"),
        ("'true'", "true"),
        ('"\\ud83d\\ude00"', "😀"),  # as JSON has it
    ],
)
def test_yaml_scalars_are_taken_as_they_are_written(written, value):
    tree, _, problems = parse_yaml(f"key: {written}\n", "study.yml")
    assert problems == []
    # A Decimal equals an int, and True equals 1: the type and the digits count too.
    assert (repr(tree["key"]), type(tree["key"])) == (repr(value), type(value))


def test_yaml_numbers_keep_all_their_digits():
    digits = "0.1234567890123456789012345678901234567890"
    tree, _, _ = parse_yaml(f"a: {digits}\nb: {'9' * 60}\n", "study.yml")
    assert str(tree["a"]) == digits
    assert tree["b"] == Decimal("9" * 60)


def test_aliases_are_written_out():
    tree, _, problems = parse_yaml("a: &one [1, 2]\nb: *one\n", "study.yml")
    assert (tree, problems) == ({"a": [1, 2], "b": [1, 2]}, [])


def test_every_key_has_its_line():
    text = (
        "# A comment.\n"
        "title: A demo\n"
        "metric: {name: Accuracy,\n"
        "  column: value}\n"
        "\n"
        "factors:\n"
        "  rate:\n"
        "    levels:\n"
        "      - 0.1\n"
        "      - id: 0.2\n"
        "        label: two\n"
        "readings: [{id: paper, file: a.csv}, {id: second,\n"
        "  file: b.csv}]\n"
    )
    _, lines, problems = parse_yaml(text, "study.yml")
    assert problems == []
    assert lines == {
        (): 2,
        ("title",): 2,
        ("metric",): 3,
        ("metric", "name"): 3,
        ("metric", "column"): 4,
        ("factors",): 6,
        ("factors", "rate"): 7,
        ("factors", "rate", "levels"): 8,
        ("factors", "rate", "levels", 0): 9,
        ("factors", "rate", "levels", 1): 10,
        ("factors", "rate", "levels", 1, "id"): 10,
        ("factors", "rate", "levels", 1, "label"): 11,
        ("readings",): 12,
        ("readings", 0): 12,
        ("readings", 0, "id"): 12,
        ("readings", 0, "file"): 12,
        ("readings", 1): 12,
        ("readings", 1, "id"): 12,
        ("readings", 1, "file"): 13,
    }


def test_a_key_that_is_not_there_has_the_line_of_the_nearest_around_it():
    lines = {(): 1, ("metric",): 3, ("metric", "name"): 4}
    assert nearest_line(lines, ("metric", "name")) == 4
    assert nearest_line(lines, ("metric", "unit")) == 3
    assert nearest_line(lines, ("title",)) == 1
    assert nearest_line({}, ("title",)) is None


def test_an_escape_beyond_unicode_is_no_yaml():
    tree, _, problems = parse_yaml('format: 1\ntitle: "\\UFFFFFFFF"\n', "study.yml")
    assert tree is None
    assert [(problem.kind, problem.line) for problem in problems] == [("not-yaml", 2)]


# --- CSV ----------------------------------------------------------------------------------------


def test_a_table_is_taken_as_it_stands():
    text = 'rate,note\n0.10,"one, ""two"""\n\n" 0.2 ","three\nfour"\n0.3,\n'
    found, problems = parse_csv(text, "cells.csv")
    assert problems == []
    assert (found.name, found.columns) == ("cells.csv", ("rate", "note"))
    assert [[*texts] for texts in found.texts] == [
        ["0.10", "0.2", "0.3"],
        ['one, "two"', "three\nfour", ""],
    ]
    assert [*found.lines] == [2, 4, 6]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_row_of_a_long_table_has_the_line_that_it_begins_on(end):
    cells = ["a", f'"b{end}b"', f'"{end}{end}c"', "d", f'"{end}"', "e"]
    rows = [f"{number},{cell}" + end * (number % 7) for number, cell in enumerate(cells * 60)]
    found, problems = parse_csv(end.join(["number,text", *rows]), "cells.csv")
    assert problems == []
    assert found is not None
    lines, line = [], 2
    for row in rows:
        lines.append(line)
        line += row.count(end) + 1
    assert [*found.lines] == lines
    assert [*found.column("number")] == [str(number) for number in range(360)]


def test_the_line_of_a_row_that_never_ends_is_told_in_a_long_table():
    rows = "".join(f'{number},"a\nb"\n' for number in range(150))
    found, problems = parse_csv(f'number,text\n{rows}1,"never\nends\n', "cells.csv")
    assert found is None
    assert [(problem.kind, problem.line) for problem in problems] == [("not-csv", 302)]


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n"])
def test_a_table_without_a_header_is_a_problem(text):
    found, problems = parse_csv(text, "cells.csv")
    assert found is None
    assert len(problems) == 1


# --- files --------------------------------------------------------------------------------------


def test_a_study_is_read_with_the_lines_of_its_keys(read):
    source, problems = read("facets: [model]\n", "model,rate,depth,value\na,1,1,47.30\n")
    assert problems == []
    assert (source.id, source.name) == ("demo", "data/demo/study.yml")
    assert (source.line("facets"), source.line("facets", 0), source.line("metric", "unit")) == (
        6, 6, 3,
    )  # fmt: skip
    assert [(reading.id, reading.file) for reading in source.readings] == [("cells", "cells.csv")]
    assert [*source.tables["cells"].rows()] == [("a", "1", "1", "47.30")]
    assert [*source.tables["cells"].lines] == [2]


def _outside(file):
    return Problem(
        kind="file-outside",
        file="data/demo/study.yml",
        found=f'"{file}"',
        expected="a file in the study's own folder",
        fix="copy the file into the folder of this study",
        line=6,
        column="readings.file",
    )


def test_a_link_out_of_the_folder_is_not_followed(read, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("rate,depth,value\n1,1,1\n")
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "link.csv").symlink_to(secret)
    source, problems = read("readings: [{id: paper, file: link.csv}]\n")
    assert problems == [_outside("link.csv")]
    assert source.tables == {}


def test_a_linked_folder_is_not_followed_either(read, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "cells.csv").write_text("rate,depth,value\n1,1,1\n")
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "folder").symlink_to(tmp_path / "elsewhere")
    _, problems = read("readings: [{id: paper, file: folder/cells.csv}]\n")
    assert problems == [_outside("folder/cells.csv")]


def test_a_link_within_the_folder_is_followed(read, tmp_path):
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "link.csv").symlink_to("table.csv")
    source, problems = read(
        "readings: [{id: paper, file: link.csv}]\n",
        None,
        {"table.csv": "rate,depth,value\n1,1,1\n"},
    )
    assert problems == []
    assert [*source.tables["paper"].rows()] == [("1", "1", "1")]


@pytest.mark.parametrize(
    ("link", "name", "exists"),
    [
        ("demo", "data/demo", True),
        ("demo", "data/demo", False),
        ("demo/study.yml", "data/demo/study.yml", True),
        ("demo/study.yml", "data/demo/study.yml", False),
        ("demo/runs", "data/demo/runs/a.json", True),
        ("demo/runs/a.json", "data/demo/runs/a.json", True),
        ("demo/runs/a.json", "data/demo/runs/a.json", False),
    ],
)
def test_no_link_out_of_the_data_folder_is_followed(tmp_path, link, name, exists):
    folder = write_study(tmp_path / "data/demo", files={"runs/a.json": "not JSON"})
    outside = tmp_path / "outside"
    (tmp_path / "data" / link).rename(outside)
    (tmp_path / "data" / link).symlink_to(outside if exists else tmp_path / "nothing")
    assert study_folders(tmp_path / "data") == [folder]
    _, problems = read_study(folder, "data/demo")
    assert problems == [
        Problem(
            "file-outside",
            name,
            "a link that leads out of the data folder",
            "what is in the data folder",
            "replace it with what it points to",
        )
    ]


def test_a_data_folder_that_is_itself_a_link_is_read(tmp_path):
    write_study(tmp_path / "store/demo")
    (tmp_path / "data").symlink_to("store")
    source, problems = read_study(tmp_path / "data" / "demo", "data/demo")
    assert problems == []
    assert source is not None


def test_a_link_to_itself_is_a_problem(read, tmp_path):
    (tmp_path / "data" / "demo").mkdir(parents=True)
    os.symlink("cells.csv", tmp_path / "data" / "demo" / "cells.csv")
    _, problems = read()
    assert [problem.severity for problem in problems] == ["problem"]


def test_a_nul_in_the_name_of_a_file_is_a_problem(read):
    _, problems = read('readings: [{id: paper, file: "cells\\0.csv"}]\n')
    assert [(problem.file, problem.line) for problem in problems] == [("data/demo/study.yml", 6)]
