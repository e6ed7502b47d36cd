"""The JSON Schema of `study.yml`, with what the source says of each key."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection
from typing import Any

from gridatlas.model.schema import Entry, StudyFile

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def models() -> list[type[Entry]]:
    """The parts of the file in their order in the source, the file itself last."""
    return Entry.__subclasses__()


def json_schema(findings: Collection[str]) -> dict[str, Any]:
    """The JSON Schema that editors complete and check `study.yml` with.

    Args:
        findings: All kinds of findings.
    """
    schema = StudyFile.model_json_schema()
    parts = {**schema["$defs"], StudyFile.__name__: schema}
    for model in models():
        for key, text in key_texts(model, findings).items():
            keys = parts[model.__name__]["properties"]
            keys[key]["description"] = _LINK.sub(r"\1", text)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Grid Atlas study, data format 1",
    }
    return head | {key: value for key, value in schema.items() if key != "title"}


def key_texts(model: type[Entry], findings: Collection[str]) -> dict[str, str]:
    """What is said of each key of a part."""
    *others, last = (f"`{kind}`" for kind in sorted(findings))
    listed = f"{', '.join(others)} or {last}"
    texts = attribute_docstrings(model)
    return {key: text.replace("{findings}", listed) for key, text in texts.items()}


def attribute_docstrings(class_: type) -> dict[str, str]:
    """The text below each attribute of a class, in a line; attributes without one are left out."""
    [tree] = ast.parse(inspect.getsource(class_)).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        match before, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found
