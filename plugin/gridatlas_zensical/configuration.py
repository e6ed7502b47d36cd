"""The configuration of a Zensical project: read as Zensical reads it, and written with more in it.

It is changed as YAML nodes: what we don't know in it, such as tags, stays as it is.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import yaml

from gridatlas.hosts.sites import HostError


def read(path: Path) -> yaml.MappingNode:
    """A configuration, with those that it inherits.

    Raises:
        HostError: Where it can't be read.
    """
    try:
        if path.suffix == ".toml":
            return _toml(path)
        node = yaml.compose(path.read_text("utf-8-sig"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise HostError(f"{path}: {error}", "a file in UTF-8", "correct it") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        found = getattr(error, "problem", None) or "no YAML"
        raise HostError(f"{place}: {found}", "YAML", "correct that line") from error
    if not isinstance(node, yaml.MappingNode):
        raise HostError(f"{path}: no keys", "keys such as site_name", "begin it with site_name")
    parent = get(node, "INHERIT")
    if parent is None:
        return node
    node.value = [pair for pair in node.value if pair[0].value != "INHERIT"]
    return _merged(read(path.parent / str(values(parent))), node)


def _toml(path: Path) -> yaml.MappingNode:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise HostError(f"{path}: {error}", "TOML", "correct it") from error
    return mapping(content.get("project", content))


def _merged(parent: yaml.MappingNode, child: yaml.MappingNode) -> yaml.MappingNode:
    """Two configurations as Zensical takes them for one: its lists follow those of the parent."""
    for key, value in child.value:
        theirs = get(parent, key.value)
        if isinstance(theirs, yaml.MappingNode) and isinstance(value, yaml.MappingNode):
            _merged(theirs, value)
        elif isinstance(theirs, yaml.SequenceNode) and isinstance(value, yaml.SequenceNode):
            theirs.value += value.value
        else:
            put(parent, key.value, value)
    return parent


def get(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """What a mapping has under a key; None where there is none."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in reversed(pairs) if name.value == key), None)


def put(node: yaml.MappingNode, key: str, value: object) -> None:
    """Set a key of a mapping to a node, or to what becomes one."""
    new = value if isinstance(value, yaml.Node) else nodes(value)
    node.value = [pair for pair in node.value if pair[0].value != key]
    node.value.append((nodes(key), new))


def nodes(value: object) -> yaml.Node:
    """Values as YAML nodes."""
    node = yaml.compose(yaml.safe_dump(value, sort_keys=False), Loader=yaml.SafeLoader)
    assert node is not None
    return node


def mapping(value: dict[str, Any]) -> yaml.MappingNode:
    """A mapping as a YAML node."""
    node = nodes(value)
    assert isinstance(node, yaml.MappingNode)
    return node


def text(node: yaml.MappingNode) -> str:
    """The file of a configuration."""
    return str(yaml.serialize(node, Dumper=yaml.SafeDumper, allow_unicode=True))


# --- values -------------------------------------------------------------------------------------


class _Values(yaml.SafeLoader):
    """Values of nodes; what a tag names is never looked up, but for `!ENV`."""


def _environment(loader: _Values, node: yaml.Node) -> Any:
    """A variable of the environment: a name, or several, and the value where none is set."""
    found = (
        loader.construct_sequence(node, deep=True)
        if isinstance(node, yaml.SequenceNode)
        else [loader.construct_scalar(node)]  # type: ignore[arg-type]
    )
    names, default = (found[:-1], found[-1]) if len(found) > 1 else (found, None)
    for name in names:
        if str(name) in os.environ:
            return yaml.safe_load(os.environ[str(name)])
    return default


def _untagged(loader: _Values, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_Values.add_constructor("!ENV", _environment)
_Values.add_multi_constructor("", _untagged)


def values(node: yaml.Node | None) -> Any:
    """What stands in a node, as Python has it; None for no node."""
    if node is None:
        return None
    loader = _Values("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()


def entries(node: yaml.Node | None) -> dict[str, Any]:
    """Names with their options: plugins or extensions, in a list or as keys."""
    found = values(node)
    if isinstance(found, dict):
        return {str(name): options for name, options in found.items()}
    named: dict[str, Any] = {}
    for entry in found if isinstance(found, list) else []:
        named |= entry if isinstance(entry, dict) else {str(entry): None}
    return named
