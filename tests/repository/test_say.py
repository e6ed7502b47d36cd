"""The tool that finds where a sentence is written."""

import subprocess
import sys

import pytest
from builders import REPOSITORY


def found(sentence: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(REPOSITORY / "tools" / "say.py"), sentence]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("R1-Qwen: No effect of ratio or window shown", "analysis/words.py"),
        ("All 20 printed averages match their parts.", "templates/trust.html.jinja"),
        ("A second reading gives other numbers in 24 of 32 cells.", "templates/lines.html.jinja"),
    ],
)
def test_a_sentence_is_found_by_what_is_not_filled_in(sentence: str, place: str) -> None:
    first, *_ = found(sentence).stdout.splitlines()
    assert place in first


def test_what_nobody_wrote_is_not_found() -> None:
    done = found("Zq xv kj.")
    assert (done.returncode, done.stdout) == (1, "")
