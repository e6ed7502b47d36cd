"""Names that say nothing of what they name are not given: nouns of the field are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DENIED = frozenset(["one", "told", "kept", "mend", "aside", "there", "known", "anew", "said"])
FILES = sorted(
    path for folder in ("plugin", "tests", "docs", "data") for path in (ROOT / folder).rglob("*.py")
)


def assigned(source: str) -> Iterator[tuple[int, str]]:
    """Every name that Python source binds, with its line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


@pytest.mark.parametrize(
    "source",
    [
        "one = 1",
        "for one in range(3): pass",
        "[one for one in range(3)]",
        "def f(one): pass",
        "def f(*, one=1): pass",
        "lambda one: one",
        "class A:\n    one: int",
        "self.one = 1",
        "def one(): pass",
        "class one: pass",
        "import json as one",
        "with open('a') as one: pass",
        "try: pass\nexcept OSError as one: pass",
        "if one := 1: pass",
        "match 1:\n    case one: pass",
    ],
)
def test_each_kind_of_binding_is_seen(source: str) -> None:
    assert "one" in [name for _, name in assigned(source)]


def test_no_name_is_denied() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in FILES
        for line, name in assigned(path.read_text(encoding="utf-8"))
        if name.strip("_") in DENIED
    ] == []
