"""YAML as plain values with the line of each key; numbers stay exact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

import yaml

from gridatlas.data.text import unprintable
from gridatlas.model.limits import NotRead, beyond, excess, limits
from gridatlas.model.problems import Problem, quote

KeyPath = tuple[str | int, ...]


class _Yaml(yaml.SafeLoader):
    """YAML's core schema: only true/false are booleans, and dates stay text."""


_Yaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith((":bool", ":timestamp"))]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _first, _words in (("t", "true"), ("f", "false"), ("T", "True"), ("F", "False")):
    _Yaml.yaml_implicit_resolvers.setdefault(_first, []).append(
        ("tag:yaml.org,2002:bool", re.compile(f"^{_words}$"))
    )


def _not_plain(found: str, fix: str, line: int) -> NotRead:
    """The refusal of a YAML file that is well formed and still not taken."""
    return NotRead("not-yaml", found, "each key once, plain values", fix, line)


def _too_many(line: int) -> NotRead:
    found = f"more than {limits().study_values:,} values"
    fix = "put the cells into a table beside it, and write aliases out"
    return beyond("study_values", found, "values, aliases written out", fix, line)


def _refuse_many(text: str) -> None:
    """Refuse a text of too many values before they are composed: each takes a kilobyte."""
    events = yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    nodes = (event for event in events if isinstance(event, yaml.NodeEvent))
    for event in islice(nodes, limits().study_values, None):
        raise _too_many(event.start_mark.line + 1 if event.start_mark else 1)


def parse_yaml(text: str, name: str) -> tuple[Any, dict[KeyPath, int], list[Problem]]:
    """Parse YAML into plain values (numbers exact, as int or Decimal) and the line of each key."""
    lines: dict[KeyPath, int] = {}
    fix = "put the cells into a table beside it, and leave out what isn't read"
    long = excess("study_characters", len(text), "characters", name, fix=fix)
    if long:
        return None, lines, [long]
    try:
        loader = _Yaml(text)
        if len(text) > limits().study_values:
            _refuse_many(text)
        node = loader.get_single_node()
        budget = iter(range(limits().study_values))
        tree = None if node is None else _value(node, (), lines, budget, frozenset())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = error.problem or "a line that is not YAML"
        fix = "check the indentation, colons and quotes of this line and the one above"
        line = mark.line + 1 if mark else 1
        return None, lines, [Problem("not-yaml", name, found, "YAML", fix, line=line)]
    except yaml.YAMLError as error:
        found = str(error).split("\n")[0]
        return None, lines, [Problem("not-yaml", name, found, "YAML", "save it as plain text")]
    except (ValueError, OverflowError):
        # PyYAML hands the code of an escape to chr() as it is.
        line = loader.get_mark().line + 1
        found, fix = "an escape beyond Unicode", "correct the escape in double quotes"
        return None, lines, [Problem("not-yaml", name, found, "YAML", fix, line=line)]
    except RecursionError:
        line = loader.get_mark().line + 1
        found, fix = "values nested too deeply", "flatten the file"
        return None, lines, [Problem("not-yaml", name, found, "a study's few levels", fix, line)]
    except NotRead as refused:
        return None, lines, [refused.problem(name)]
    return tree, lines, []


def _value(
    node: yaml.Node,
    path: KeyPath,
    lines: dict[KeyPath, int],
    budget: Iterator[int],
    around: frozenset[int],
) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if next(budget, None) is None:
        raise _too_many(line)
    if id(node) in around:
        raise _not_plain("an alias to a value that contains it", "write the value out", line)
    around = around | {id(node)}
    if not isinstance(node, yaml.ScalarNode) and not node.tag.endswith((":map", ":seq")):
        raise _not_plain(f"a value tagged {quote(node.tag)}", "remove the tag", line)
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, (*path, index), lines, budget, around)
            for index, item in enumerate(node.value)
        ]
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise _not_plain("a key that is a list or a mapping", "use a plain key", key_line)
            key = _joined(str(key_node.value))
            _refuse_long(key, key_line)
            if key in mapping:
                found = f"the key {quote(key)} again; first on line {lines[(*path, key)]}"
                raise _not_plain(found, "keep one of them", key_line)
            lines[(*path, key)] = key_line
            mapping[key] = _value(value_node, (*path, key), lines, budget, around)
        return mapping
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    text = _joined(str(node.value))
    at = node.start_mark.line + 1
    _refuse_long(text, at)
    if unprintable(text):
        raise _not_plain(f"a control character in {quote(text)}", "remove it", at)
    kind = node.tag.rsplit(":", 1)[-1]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind in ("int", "float"):
        try:
            number = Decimal(text.replace("_", ""))
        except ArithmeticError:
            return text  # 0x1f, 1:30 and .inf are numbers in YAML 1.1 only
        plain = number == number.to_integral_value() and kind == "int"
        return int(number) if plain and len(text) < 40 else number
    if kind in ("str", "timestamp"):
        return text
    raise _not_plain(f"a value tagged {quote(node.tag)}", "remove the tag", at)


def _joined(text: str) -> str:
    """A text whose pairs of escapes, as JSON has them beyond the first 65,536, are characters."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _refuse_long(text: str, line: int) -> None:
    if len(text) > limits().text_characters:
        found = f"a text of {len(text):,} characters, {quote(text, 40)}"
        fix = "shorten it (is a quote not closed?)"
        raise beyond("text_characters", found, "characters", fix, line)
