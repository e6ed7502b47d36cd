"""What is printed of data holds no command of GitHub's runner, and no template of a site generator.

The runner reads `##[command]` anywhere in a line, and `::command::` where a line begins with it.
"""

import contextlib
import csv
import html
import io
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import site_builds
from amount import amount
from builders import write_study
from click.testing import CliRunner
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import gridatlas
from gridatlas.cli.main import main
from gridatlas.meter import report
from gridatlas.model.inert import AS_HTML, AS_JSON, get_logger, without_commands
from gridatlas.model.problems import DataProblems
from gridatlas_reproduce.runner.errors import CannotRun

PIECES = [
    "::",
    ":",
    "##[",
    "#",
    "[",
    "]",
    "error",
    "x",
    " ",
    "{{",
    "{%",
    "{#",
    "{",
    "\\",
    "é",
    "\xa0",
]
BREAKS = ["\n", "\r", "\r\n", "\u2028", "\t", "\x1b[31m"]
hostile = st.lists(st.sampled_from([*PIECES, *BREAKS]), min_size=1, max_size=12).map("".join)
printed = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
few = settings(max_examples=amount(4, 1_000), phases=[Phase.explicit, Phase.generate])
WORST = ["::error::x", "##[error]x", "###[a ##[b", " ::x", "{{ 7 * 7 }} {% x %} {# x #}", "x\n::y"]


def commands(text: str) -> list[str]:
    """The lines that the runner would take for commands."""
    lines = re.split(r"[\n\r]", text)
    return [line for line in lines if "##[" in line or line.strip().startswith("::")]


@given(hostile)
def test_no_text_holds_a_command(text: str) -> None:
    made = without_commands(text)
    assert commands(made) == []
    back = re.sub(r"\\x(3a|23)", lambda found: chr(int(found[1], 16)), made)
    assert back == text
    if not commands(text) and "\x1b" not in text:
        assert made == text


@given(hostile)
def test_what_programs_read_stays_the_same(text: str) -> None:
    for written in (json.dumps(text), json.dumps([text], indent=1, ensure_ascii=False)):
        made = without_commands(written, AS_JSON)
        assert commands(made) == []
        assert json.loads(made) == json.loads(written)
    escaped = html.escape(text)
    made = without_commands(escaped, AS_HTML)
    assert commands(made) == []
    assert html.unescape(made) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error file=x::y", r"\x3a:error file=x::y"),
        ("  ::debug::y", r"  \x3a:debug::y"),
        ("\x1b[31m::debug::y", "\x1b[31m\\x3a:debug::y"),
        ("a\r::debug::y", "a\r\\x3a:debug::y"),
        ("a ##[error]b ###[c", r"a \x23#[error]b #\x23#[c"),
        ("a::b #[c] ## [d", "a::b #[c] ## [d"),
    ],
)
def test_what_was_there_can_be_read(text: str, shown: str) -> None:
    assert without_commands(text) == shown


def study_of(text: str, other: str) -> Mapping[str, Any]:
    """A study with texts wherever any may be, and a fault that quotes them."""
    return {
        "format": 1, "title": text, "summary": other, "x": "rate", "y": "depth",
        "facets": ["model"], "metric": {"name": text, "unit": other[:20]},
        "factors": {"model": {"label": other, "levels": [
            {"id": "small", "label": text}, {"id": "large", "label": f"{other} "}]}},
        "readings": [{"id": "one", "file": "cells.csv", "label": text}],
        "claims": [{"text": text, "check": f"grid(model={other!r}).max > 1"},
                   {"text": other, "not_checkable": text}],
        f"{text} key": other,
    }  # fmt: skip


def cells_of(text: str, other: str, value: int) -> str:
    file = io.StringIO()
    rows = [
        ["rate", "depth", "model", "value", "note"],
        [1, 1, "small", value, other],
        [2, 1, "small", 3, text],
        [1, 1, text, 4, ""],
        [2, 1, "large", text, other],
    ]
    csv.writer(file).writerows(rows)
    return file.getvalue()


def printed_by(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


def folder_name(text: str) -> str:
    return re.sub(r"[/\0]", "-", text).strip(".")[:60] or "x"


def hostile_data(folder: Path, text: str, other: str) -> None:
    for state, value in (("before", 1), ("data", 2)):
        write_study(folder / state / "s", study_of(text, other), cells_of(text, other, value))
        fine = {key: value for key, value in study_of(text, other).items() if "key" not in key}
        write_study(folder / state / "t", fine, cells_of(text, other, value))
        write_study(folder / state / folder_name(text))


@few
@given(printed, printed)
def test_commands_print_none(text: str, other: str) -> None:
    check_all(text, other)


@pytest.mark.parametrize("text", WORST)
def test_commands_print_none_of_what_is_one(text: str) -> None:
    check_all(text, "##[x] ::y")


def check_all(text: str, other: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        hostile_data(folder, text, other)
        data = str(folder / "data")
        assert commands(printed_by("check", data, "--verbose")) == []
        as_json = printed_by("check", data, "--format", "json")
        assert commands(as_json) == []
        assert json.loads(as_json)["problems"]
        for line in printed_by("check", data, "--format", "github").splitlines():
            assert "##[" not in line
            assert not line.startswith("::") or re.match(r"::(error|notice) file=[^:]*::", line)
        check_diff(str(folder / "before"), data)
        check_import(folder, text, other)
        missing = printed_by(
            "collect", str(folder), "--data", data, "--study", folder_name(text), "--reading", text
        )
        assert commands(missing) == []


def check_diff(before: str, after: str) -> None:
    for form in ("markdown", "html", "json"):
        text = printed_by("diff", before, after, "--format", form)
        assert commands(text) == []
        if text.startswith("Error:"):
            continue  # Nothing can be read, on stderr.
        if form == "markdown":
            assert re.findall(r"\{[{%#]", text) == []
        if form == "json":
            json.loads(text)


def check_import(folder: Path, text: str, other: str) -> None:
    file = folder / f"{folder_name(text)}.csv"
    rows = [[f"{text} m", "lr", "acc", f"{other} c"], [text, 1, 50, other], [other, 2, 60, text]]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows(rows)
    into = ("--data", str(folder / "new"), "--no-site")
    as_json = printed_by("import", str(file), "--json")
    assert commands(as_json) == []
    json.loads(as_json)
    for options in (("--dry-run",), ("--yes", "--study", "a"), ("--metric", text, "--x", other)):
        assert commands(printed_by("import", str(file), *into, *options)) == []


@given(hostile)
def test_logs_and_errors_hold_none(text: str) -> None:
    log = get_logger("gridatlas")
    handler = logging.StreamHandler(io.StringIO())
    log.addHandler(handler)
    try:
        log.warning("%s: %s", text, text)
        log.warning(text)
    finally:
        log.removeHandler(handler)
    assert handler.stream.getvalue()
    assert commands(handler.stream.getvalue()) == []
    assert commands(str(CannotRun(text, text, text).format_message())) == []


@given(hostile)
@example(":\x1b[31m:warning::")
@example("#\x1b[31m#\x1b[0m[error]")
def test_scripts_report_none(text: str) -> None:
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream):
        report(text)
    assert commands(stream.getvalue()) == []


@pytest.mark.parametrize("text", WORST)
def test_errors_of_python_hold_none(tmp_path: Path, text: str) -> None:
    hostile_data(tmp_path, text, text)
    with pytest.raises(DataProblems) as raised:
        gridatlas.load(tmp_path / "data")
    assert commands(str(raised.value)) == []


def test_a_build_prints_none(tmp_path: Path) -> None:
    """Dear: MkDocs builds a site."""
    project = site_builds.make_project(tmp_path / "project", theme={"name": "mkdocs"})
    for number, text in enumerate(WORST):
        write_study(
            project.folder / f"data/s{number}", study_of(text, text), cells_of(text, text, 1)
        )
    done = project.built()
    assert "error]x" in done.log
    assert commands(done.log) == []
