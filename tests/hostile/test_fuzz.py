"""Bytes at which something was at fault once, mutations by chance, and those that atheris finds."""

from pathlib import Path

import pytest
from amount import SOAK, amount
from fuzz import FOUND, by_chance, look
from targets import TARGETS

FAULTS_FOUND = sorted(file for file in FOUND.glob("*/*") if file.is_file())


def test_what_was_found_is_kept_for_a_target() -> None:
    assert {file.parent.name for file in FAULTS_FOUND} <= set(TARGETS)
    assert FAULTS_FOUND


@pytest.mark.parametrize("file", FAULTS_FOUND, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_was_found_once_is_told(file: Path) -> None:
    target, _ = TARGETS[file.parent.name]
    target(file.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_are_told(name: str) -> None:
    """For seconds instead of a number of times with `make soak`, led where atheris is there."""
    found = look(name, 60) if SOAK else by_chance(name, amount(40, 0))
    assert found == []


@pytest.mark.parametrize("name", TARGETS)
def test_what_mutations_begin_from_is_fine(name: str) -> None:
    target, seeds = TARGETS[name]
    assert seeds
    for seed in seeds:
        target(seed)
