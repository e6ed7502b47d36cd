"""Adds the plugin to the text of a mkdocs.yml, which otherwise stays as it is, byte by byte."""

from __future__ import annotations

import re

import yaml

PLUGIN = "gridatlas"


class CannotAdd(Exception):
    """A mkdocs.yml that has to be changed by hand.

    Attributes:
        fix: What to write.
    """

    def __init__(self, found: str, fix: str = "add this line to its plugins by hand: - gridatlas"):
        super().__init__(found)
        self.fix = fix


def with_plugin(text: str) -> str:
    """The text with the plugin in its list of plugins; the same text where it is there.

    Raises:
        CannotAdd: Where that can't be done safely.
    """
    body = text.removeprefix("\ufeff")
    top = _top(body)
    if _has_plugin(top):
        return text
    new = text[: len(text) - len(body)] + _with_plugin(body, top)
    # What was there is there still, and the plugin is all that came.
    after = _top(new.removeprefix("\ufeff"))
    if not _has_plugin(after) or _shape(after, without=True) != _shape(top, without=True):
        raise CannotAdd("plugins in a form that this command can't change")
    return new


def data_folder(text: str) -> str:
    """The folder of the studies: the plugin's option `data`, else `data`."""
    plugins = _plugins(_top(text.removeprefix("\ufeff")))
    for name, options in _entries(plugins):
        if name == PLUGIN and isinstance(options, yaml.MappingNode):
            for key, value in options.value:
                if key.value == "data" and isinstance(value, yaml.ScalarNode) and value.value:
                    return str(value.value).rstrip("/")
    return "data"


# --- what stands there ----------------------------------------------------------------------------


def _top(text: str) -> yaml.MappingNode:
    """The file as YAML nodes: tags such as `!ENV` are only looked at, never followed."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise CannotAdd(f"mkdocs.yml, which isn't YAML{line}", "correct it first") from None
    if not isinstance(node, yaml.MappingNode):
        raise CannotAdd("mkdocs.yml without keys", "begin it with: site_name: My results")
    return node


def _plugins(top: yaml.MappingNode) -> yaml.Node | None:
    found = [value for key, value in top.value if key.value == "plugins"]
    return found[-1] if found else None


def _entries(plugins: yaml.Node | None) -> list[tuple[str, yaml.Node | None]]:
    """The plugins' names with their options."""
    if isinstance(plugins, yaml.MappingNode):
        return [(str(key.value), value) for key, value in plugins.value]
    found: list[tuple[str, yaml.Node | None]] = []
    for entry in plugins.value if isinstance(plugins, yaml.SequenceNode) else ():
        if isinstance(entry, yaml.MappingNode):
            found += [(str(key.value), value) for key, value in entry.value]
        else:
            found.append((str(entry.value), None))
    return found


def _has_plugin(top: yaml.MappingNode) -> bool:
    return any(name == PLUGIN for name, _ in _entries(_plugins(top)))


def _in_flow(node: yaml.Node | None) -> bool:
    """Whether a node is written in brackets or braces."""
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _shape(node: yaml.Node, *, without: bool = False) -> object:
    """A node as plain data with its tags; at the top, without the plugin and its list if new."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(_shape(key), _shape(value)) for key, value in node.value]
        if without:
            pairs = [pair for pair in pairs if pair[0] != _key("plugins")]
            names = [entry for entry in _entries(_plugins(node)) if entry[0] != PLUGIN]
            others = [(name, None if value is None else _shape(value)) for name, value in names]
            return node.tag, pairs, others or [("search", None)]
        return node.tag, pairs
    if isinstance(node, yaml.SequenceNode):
        return node.tag, [_shape(entry) for entry in node.value]
    return node.tag, node.value


def _key(name: str) -> object:
    return "tag:yaml.org,2002:str", name


# --- the new text ---------------------------------------------------------------------------------


def _with_plugin(text: str, top: yaml.MappingNode) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    plugins = _plugins(top)
    if plugins is None:
        parent = [value.value for key, value in top.value if key.value == "INHERIT"]
        if parent:
            raise CannotAdd(
                f"no plugins of its own, since it inherits {parent[0]}",
                f"add the line - gridatlas to the plugins in {parent[0]}",
            )
        if _in_flow(top):
            raise CannotAdd("mkdocs.yml as one mapping in braces")
        body = text if text.endswith("\n") or not text else text + end
        if re.search(r"^(\.\.\.|---)\s*$", body.rstrip()[-3:], re.MULTILINE):
            raise CannotAdd("mkdocs.yml that ends with --- or ...")
        # Without a list MkDocs has the plugin search; with one it must be named.
        return f"{body}plugins:{end}  - search{end}  - {PLUGIN}{end}"
    if isinstance(plugins, yaml.ScalarNode):
        if plugins.value or plugins.tag != "tag:yaml.org,2002:null":
            raise CannotAdd("plugins that aren't a list")
        line_end = _line_end(text, plugins.start_mark.index)
        return _insert(text, line_end, f"  - {PLUGIN}", end)
    if text[plugins.start_mark.index : plugins.start_mark.index + 1] in "&*":
        raise CannotAdd("plugins with an anchor or an alias")
    last = plugins.value[-1] if plugins.value else None
    last = last[1] if isinstance(last, tuple) else last
    is_map = isinstance(plugins, yaml.MappingNode)
    if _in_flow(plugins):
        if last is None:
            at = text.index("{" if is_map else "[", plugins.start_mark.index) + 1
            return text[:at] + (f"{PLUGIN}: {{}}" if is_map else PLUGIN) + text[at:]
        at = last.end_mark.index
        return text[:at] + f", {PLUGIN}" + (": {}" if is_map else "") + text[at:]
    first = plugins.value[0]
    mark = first[0].start_mark if isinstance(first, tuple) else plugins.start_mark
    indent = " " * (mark.column if is_map else plugins.start_mark.column)
    at = _line_end(text, _last_index(text, plugins))
    return _insert(text, at, f"{indent}{PLUGIN}: {{}}" if is_map else f"{indent}- {PLUGIN}", end)


def _last_index(text: str, node: yaml.Node) -> int:
    """Index of the last character of a node that is no blank and no comment."""
    if isinstance(node, yaml.ScalarNode) or _in_flow(node) or not node.value:
        ends = node.end_mark.index
        while ends > node.start_mark.index and text[ends - 1].isspace():
            ends -= 1
        return max(ends - 1, 0)
    last = node.value[-1]
    if isinstance(last, tuple):
        key, value = last
        empty = isinstance(value, yaml.ScalarNode) and not value.value and not value.style
        return _last_index(text, key if empty else value)
    return _last_index(text, last)


def _line_end(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1


def _insert(text: str, at: int, line: str, end: str) -> str:
    before = text[:at]
    if before and not before.endswith("\n"):
        before += end
    return f"{before}{line}{end}{text[at:]}"
