"""How far long work is: what loops report, and the line that a terminal shows."""

import io
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gridatlas.cli.main import main
from gridatlas.cli.progress import TerminalLine
from gridatlas.progress import REPORTS, listening, tracked


@pytest.fixture
def reports():
    found = []
    with listening(lambda *report: found.append(report)):
        yield found


def test_a_loop_reports_how_many_it_did(reports):
    assert [*tracked("abc", "letters")] == ["a", "b", "c"]
    assert reports == [("letters", done, 3) for done in range(4)]


def test_a_loop_of_many_reports_now_and_then(reports):
    total = 10 * REPORTS
    assert [*tracked(iter(range(total)), "rows", total)] == [*range(total)]
    assert [done for _, done, _ in reports] == [*range(0, total + 1, 10)]


def test_a_loop_that_is_left_ends_its_report(reports):
    for letter in tracked("abc", "letters"):
        if letter == "b":
            break
    assert [done for _, done, _ in reports] == [0, 1, 3]


@pytest.mark.parametrize("items", ["", "a"])
def test_of_one_nothing_is_reported(reports, items):
    assert [*tracked(items, "letters")] == [*items]
    assert reports == []


def test_more_items_than_were_counted_are_all_given(reports):
    assert [*tracked(iter(range(9)), "lines", 4)] == [*range(9)]


def test_without_a_listener_it_is_the_loop_alone():
    assert type(tracked([1, 2], "numbers")) is type(iter([1, 2]))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_is_shown_after_two_seconds_and_taken_away():
    stream, now = Terminal(), [0.0]
    line = TerminalLine(stream, lambda: now[0])
    for done in range(5):
        line("rows read", done, 4)
        if done < 4:
            line("cells", 0, 100)  # a loop within it
        now[0] += 1
    assert stream.getvalue() == (
        "\r\x1b[K[##########..........] 2 of 4 rows read, 1.0 per second, 2 s left"
        "\r\x1b[K[###############.....] 3 of 4 rows read, 1.0 per second, 1 s left"
        "\r\x1b[K"
    )


def test_what_is_done_at_once_shows_nothing():
    stream = Terminal()
    line = TerminalLine(stream, lambda: 0.0)
    for done in range(4001):
        line("rows read", done, 4000)
    line.clear()
    assert stream.getvalue() == ""


PROGRAM = """
import sys, gridatlas.cli.progress as progress
progress.SHOWN_AFTER = 0.0
from gridatlas.cli.main import main
main(["check", sys.argv[1]])
"""


def test_only_a_terminal_shows_it(tmp_path):
    result = CliRunner().invoke(main, ["new", str(tmp_path / "site")])
    assert result.exit_code == 0
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "site/data")]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    outer, inner = pty.openpty()
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=inner, text=True, check=True)
    os.close(inner)
    drawn = os.read(outer, 100_000).decode()
    os.close(outer)
    assert shown.stdout == piped.stdout
    assert " of 13 lines read" in drawn
    assert drawn.endswith("\r\x1b[K")
