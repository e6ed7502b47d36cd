"""Hostile data folders end soon, in little memory, with a message and without a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from folders import FOLDERS
from forked import run

PROGRAM = str(Path(__file__).with_name("limited.py"))
MOST_BYTES = 500 * 10**6


@pytest.mark.parametrize("name", FOLDERS)
def test_a_hostile_folder_is_told(tmp_path: Path, name: str) -> None:
    case = FOLDERS[name]
    case.make(tmp_path)
    done = run([PROGRAM, *case.arguments], tmp_path, os.environ, timeout=60)
    assert case.says in done.stdout
    assert "Traceback" not in done.stdout
    assert done.returncode == case.status
    assert int(done.stdout.splitlines()[-1]) < MOST_BYTES
