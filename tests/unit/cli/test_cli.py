"""The command line: its helps, its forms of output, and its exit statuses."""

import json
import subprocess
import sys

import click
import pytest
from builders import HEAD, REPOSITORY, table, write_study
from click.testing import CliRunner

from gridatlas import __version__, registry
from gridatlas.checks import all_checks
from gridatlas.cli.main import main
from gridatlas.model.json_schema import json_schema


def _run(*arguments):
    return CliRunner().invoke(main, arguments, prog_name="gridatlas", catch_exceptions=False)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = "rate,depth,value,seed\n0.1,1,47.3%,1\n0.2,1,20,1\n"
    return write_study(tmp_path / "data/demo", cells=cells)


USAGE = "Usage: gridatlas check [OPTIONS] [DATA]\nTry 'gridatlas check --help' for help.\n\n"


@pytest.mark.parametrize("name", ["nowhere", "data/demo/study.yml"])
def test_what_is_no_folder_is_wrong_usage(data, name):
    result = _run("check", name)
    assert result.output == USAGE + (
        f"Error: there is no folder {name}; name the folder that has one folder per study, "
        "or create one: gridatlas import FILE, or gridatlas new\n"
    )
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "arguments", [["check", "--loud"], ["chekc"], ["check", "--format", "xml"], ["check", "a", "b"]]
)
def test_wrong_usage_is_exit_2(data, arguments):
    assert _run(*arguments).exit_code == 2


COMMANDS = [(), *((name,) for name in registry.found(registry.COMMANDS))]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("levles=5", 'no limit "levles"; did you mean levels?'),
        ("levels", 'levels is ""; write a whole number from 1, such as 5000'),
        ("levels=0", 'levels is "0"; write a whole number from 1, such as 5000'),
        ("levels=5k", 'levels is "5k"; write a whole number from 1, such as 5000'),
    ],
)
def test_a_wrong_limit_is_wrong_usage(data, limit, message):
    result = _run("check", "--limit", limit)
    assert result.exit_code == 2
    assert f"Error: Invalid value for '--limit': {message}\n" in result.output


def test_a_site_takes_limits_from_its_configuration(data):
    result = _run("build", "--site", "--limit", "levels=5")
    assert result.exit_code == 2
    assert "--site takes no --limit: the site's configuration says it" in result.output


def test_a_limit_holds_for_one_command(data):
    assert "[too-large]" in _run("check", "--limit", "file_bytes=9").output
    assert "[too-large]" not in _run("check").output


def test_there_are_commands():
    assert {("check",), ("schema",)} <= set(COMMANDS)
    loaded = [registry.load(registry.COMMANDS, name) for name in registry.found(registry.COMMANDS)]
    assert all(isinstance(command, click.Command) for command in loaded)


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "gridatlas")
def test_each_help_has_an_example(command, flag):
    result = _run(*command, flag)
    assert result.exit_code == 0
    heads = [line.strip() for line in result.output.splitlines()]
    assert "Examples:" in heads or "Example:" in heads
    start = next(i for i, head in enumerate(heads) if head in ("Examples:", "Example:"))
    assert heads[start + 1].startswith(" ".join(("gridatlas", *command)))


def test_the_examples_of_check_run(data):
    text = _run("check", "--help").output
    examples = [
        line.split() for line in text.splitlines() if line.startswith("    gridatlas check")
    ]
    assert len(examples) == 4
    for words in examples:
        arguments = ["data" if word == "my/data" else word for word in words[1:]]
        assert _run(*arguments).exit_code == 1


def test_answers_are_printed_where_asked_for(tmp_path):
    write_study(tmp_path / "data/demo", HEAD, table("rate,depth,value", "1,1,10", "2,1,10"))
    result = _run("check", str(tmp_path / "data"), "--verbose")
    assert result.exit_code == 0
    assert result.output.splitlines()[-2:] == [
        "demo/ [untestable] All 2 values are 10",
        "0 problems",
    ]
    assert "[untestable]" not in _run("check", str(tmp_path / "data")).output


def test_the_version_is_said():
    assert _run("--version").output == f"gridatlas, version {__version__}\n"


def test_schema_prints_the_schema():
    result = _run("schema")
    assert json.loads(result.output) == json_schema(all_checks())
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "command",
    [("check",), ("diff", "data", "data"), ("import", "data/demo/cells.csv", "--dry-run")],
)
def test_json_is_short_for_its_format(data, command):
    long = _run(*command, "--format", "json")
    short = _run(*command, "--json")
    both = _run(*command, "--json", "--format", "json")
    assert json.loads(short.output) == json.loads(long.output) == json.loads(both.output)
    assert short.exit_code == long.exit_code
    other = _run(*command, "--json", "--format", "html" if command[0] == "diff" else "text")
    assert other.exit_code == 2
    assert "exclude each other" in other.output


def test_problems_as_json(data):
    result = _run("check", "--format", "json")
    assert json.loads(result.output) == {
        "problems": [
            {
                "kind": "unused-column",
                "file": "data/demo/cells.csv",
                "found": 'a column "seed", which is not read',
                "expected": "one of rate, depth, value, n, successes, stderr, state, note, place, "
                "run",
                "fix": "remove the column, or name it in study.yml as a factor",
                "line": 1,
                "column": "seed",
                "severity": "note",
            },
            {
                "kind": "not-a-number",
                "file": "data/demo/cells.csv",
                "found": '"47.3%"',
                "expected": "a number such as 47.3",
                "fix": "leave out the %; the unit is in study.yml",
                "line": 2,
                "column": "value",
                "severity": "problem",
            },
        ],
        "studies": [{"id": "demo", "title": "A demo", "grids": 1}],
    }
    assert result.exit_code == 1
    quiet = json.loads(_run("check", "--format", "json", "--quiet").output)
    assert [problem["kind"] for problem in quiet["problems"]] == ["not-a-number"]


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_shows_problems_in_colours(data, monkeypatch, no_color):
    monkeypatch.setenv("NO_COLOR", no_color)
    shown = CliRunner().invoke(main, ["check"], color=True).output
    plain = CliRunner().invoke(main, ["check"]).output
    refused = CliRunner().invoke(main, ["diff", "nowhere", "data"], color=True).output
    assert click.unstyle(shown) == plain
    assert (shown == plain) is bool(no_color)
    assert refused.startswith("Error: " if no_color else "\x1b[31mError:\x1b[0m ")
    if not no_color:
        colours = {"problem [": 31, "note [": 33, "1 problem": 31}
        for line, expected in zip(shown.splitlines(), plain.splitlines(), strict=True):
            colour = next((code for text, code in colours.items() if text in expected), None)
            assert line == (f"\x1b[{colour}m{expected}\x1b[0m" if colour else expected)


def test_problems_as_annotations_of_a_pull_request(data):
    result = _run("check", "--format", "github", "--quiet")
    assert result.output == (
        "::error file=data/demo/cells.csv,line=2,title=not-a-number::"
        'data/demo/cells.csv:2, "value": problem [not-a-number]%0A'
        '  found:    "47.3%25"%0A'
        "  expected: a number such as 47.3%0A"
        "  fix:      leave out the %25; the unit is in study.yml\n"
    )
    assert result.exit_code == 1
    assert _run("check", "--format", "github").output.startswith(
        "::notice file=data/demo/cells.csv,line=1,title=unused-column::"
    )


def test_a_study_that_is_right_is_exit_0(data):
    (data / "cells.csv").write_text("rate,depth,value\n0.1,1,47.3\n")
    result = _run("check")
    assert (
        result.output == "demo: 1 grid, 1 value, 1 reading; no difference is tested\n0 problems\n"
    )
    assert result.exit_code == 0


def test_our_own_studies_are_right_by_the_real_command():
    command = [sys.executable, "-c", "from gridatlas.cli import main; main()", "check", "--quiet"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
