"""What the source says of the attributes of a class, for people who don't read the source."""

from __future__ import annotations

import ast
import inspect


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
