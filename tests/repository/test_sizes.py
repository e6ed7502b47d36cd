"""Functions and modules stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from builders import REPOSITORY

PACKAGES = REPOSITORY / "plugin"
MODULES = sorted(PACKAGES.rglob("*.py"))
LONGEST_FUNCTION, LONGEST_MODULE = 80, 500
"""Lines, with docstrings."""


def functions(source: str) -> Iterator[tuple[str, int]]:
    """The name of every function, and how many lines it has."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGES).as_posix()


def test_lines_of_functions_are_counted() -> None:
    source = (
        "def f():\n    pass\nclass C:\n    async def g(self):\n        def h(): ...\n        h()"
    )
    assert set(functions(source)) == {("f", 2), ("g", 3), ("h", 1)}


def test_no_function_is_longer_than_a_screen() -> None:
    longest = {
        f"{name_of(path)}: {name}": lines
        for path in MODULES
        for name, lines in functions(path.read_text("utf-8"))
        if lines > LONGEST_FUNCTION
    }
    assert longest == {}


def test_no_module_is_too_long() -> None:
    longer = {
        name_of(path)
        for path in MODULES
        if len(path.read_text("utf-8").splitlines()) > LONGEST_MODULE
    }
    assert longer == set()
