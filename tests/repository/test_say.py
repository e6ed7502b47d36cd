"""The tool that finds where a sentence is written."""

import subprocess
import sys

from builders import REPOSITORY


def test_a_sentence_is_found_by_what_is_not_filled_in() -> None:
    sentence = "A second reading gives other numbers in 24 of 32 cells."
    command = [sys.executable, str(REPOSITORY / "tools" / "say.py"), sentence]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "gridatlas/pages/words.py" in done.stdout.splitlines()[0]
