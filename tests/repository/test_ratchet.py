"""What the ratchet counts, what it refuses, and that this repository is within its budgets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from builders import REPOSITORY, write_files

import ratchet

MODULE = '''\
"""What it is for."""

import dataclasses

# Why.
LIMIT = """
two lines
"""  # of text


@dataclasses.dataclass
class Point:
    """A place."""

    x: int
    """Along."""


class Named(Point):
    def f(self):
        return 1
'''
TEMPLATE = "{# What\nit shows #}\n<p>\n\n<!-- none -->\n</p>\n"
SCRIPT = "/* What\nit does */\n// Why\nlet a = 1;\n\na += 1; // two\n"
BUDGETS = """\
folders = ["plugin"]

[longest]
function = 10
module = 40

["plugin/a"]
code = {code}
modules = 1
records = 2
markup = 4
[total.all]
rooms = ["plugin/a"]
code = {total}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a room of 10 lines of code, in its first commit."""
    write_files(
        tmp_path,
        {
            "plugin/a/m.py": MODULE,
            "plugin/a/t.html.jinja": TEMPLATE,
            "plugin/a/s.js": SCRIPT,
            "decisions/0007-more.md": "",
            "tools/ratchet.toml": budgets(),
        },
    )
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def budgets(code: str = "10", total: str = "10") -> str:
    return BUDGETS.format(code=code, total=total)


def git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "-C", folder, *named, *words], check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--message", "m")


def run(folder: Path, *words: str) -> tuple[int, str]:
    script = REPOSITORY / "tools/ratchet.py"
    budget = folder / "tools/ratchet.toml"
    done = subprocess.run(
        [sys.executable, script, "--root", folder, "--budget", budget, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def too_large(*lines: str) -> tuple[int, str]:
    last = "Make it smaller, or raise the budget by a decision."
    return 1, "\n  ".join(["Too large:", *lines, last]) + "\n"


def test_code_modules_records_and_markup_are_counted(project: Path) -> None:
    found = ratchet.measure(project, ["plugin/a"])
    assert found == {"plugin/a": {"code": 10, "modules": 1, "records": 2, "markup": 4}}


def test_a_record_is_one_wherever_it_inherits_from_another() -> None:
    """Models of the schema inherit from one of ours, in another module."""
    found = [("Form", {"BaseModel"}), ("Metric", {"Strict"}), ("Strict", {"Form"}), ("C", {"Enum"})]
    assert ratchet.records(found) - ratchet.RECORDS == {"Form", "Metric", "Strict"}


def test_what_is_above_its_budget_is_named(project: Path) -> None:
    write_files(project, {"plugin/a/n.py": "a = 1\n", "plugin/b/o.py": ""})
    assert run(project) == too_large(
        "plugin/a: 11 code, 1 above its budget of 10",
        "plugin/a: 2 modules, 1 above its budget of 1",
        "all: 11 code, 1 above its budget of 10",
        "plugin/b/o.py is in no room of the budget",
    )


def test_long_functions_and_modules_are_named(project: Path) -> None:
    write_files(project, {"plugin/a/m.py": '"""M."""\n' * 31 + "def f():" + '\n    """F."""' * 10})
    assert run(project) == too_large(
        "plugin/a/m.py : 42 lines, more than 40", "plugin/a/m.py f: 11 lines, more than 10"
    )


def test_what_fell_is_written_of_sums_too(project: Path) -> None:
    write_files(
        project,
        {
            "plugin/a/m.py": "a = 1\n",
            "tools/ratchet.toml": budgets("10  # decision 7: more"),
        },
    )
    assert run(project, "--lower") == (0, "")
    text = (project / "tools/ratchet.toml").read_text("utf-8")
    assert text == budgets("1", total="1").replace("records = 2", "records = 0")


GROWN = {"plugin/a/m.py": MODULE + "a = 1\n"}


@pytest.mark.parametrize(
    ("remark", "fails"),
    [("", True), ("  # decision seven", True), ("  # decision 8: more", True),
     ("  # decision 7: more", False)],
)  # fmt: skip
def test_a_budget_rises_by_a_decision_that_is_there(
    project: Path, remark: str, fails: bool
) -> None:
    write_files(
        project,
        {**GROWN, "tools/ratchet.toml": budgets(f"11{remark}", total=f"11{remark}")},
    )
    refused = too_large(
        "plugin/a: the budget of code rose from 10 to 11",
        "total.all: the budget of code rose from 10 to 11",
        "all rooms: budgets of code rose from 10 to 11",
    )
    assert run(project, "--against", "HEAD") == (refused if fails else (0, ""))


def test_an_old_decision_lets_nothing_rise_again(project: Path) -> None:
    write_files(project, {"tools/ratchet.toml": budgets("10  # decision 7: more")})
    commit(project)
    write_files(project, {**GROWN, "tools/ratchet.toml": budgets("11  # decision 7: more")})
    assert "the budget of code rose from 10 to 11" in run(project, "--against", "HEAD")[1]


def test_a_renamed_room_gains_nothing(project: Path) -> None:
    """It has no past of its own, but all rooms have one together."""
    (project / "plugin/a").rename(project / "plugin/b")
    for number in (10, 11):
        text = budgets(str(number), total=str(number)).replace("plugin/a", "plugin/b")
        write_files(project, {"tools/ratchet.toml": text})
        status, output = run(project, "--against", "HEAD")
        assert status == (number > 10)
    assert "plugin/b: new, with a budget of 11 code for 10" in output
    assert "all rooms: budgets of code rose from 10 to 11" in output


def test_a_revision_that_cannot_be_read_is_an_error(project: Path) -> None:
    assert run(project, "--against", "origin/main") == (
        2,
        "origin/main can't be read here, so budgets can't be compared with it: fetch it "
        "(git fetch origin main)\n",
    )


def test_where_there_was_no_budget_nothing_rose(project: Path) -> None:
    git(project, "rm", "-q", "--cached", "tools/ratchet.toml")
    git(project, "commit", "-q", "--message", "m")
    assert run(project, "--against", "HEAD") == (0, "")
