"""The plugin's options, for a host that doesn't read them: those of the MkDocs plugin."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gridatlas.hosts.sites.project import HostError
from gridatlas.model.problems import join_names, nearest, quote


@dataclass(frozen=True, slots=True)
class Options:
    """What stands at `gridatlas` in the plugins of a configuration; paths are below its folder.

    Their meaning is that of `GridAtlasConfig`.
    """

    data: str = "data"
    into: str = "studies"
    templates: str = ""
    cache: str = ".cache/gridatlas"
    strict: bool = False
    csp: bool = False
    prune_nav: bool = False
    compare_to: str = ""


def options_of(given: Any, config: Path) -> Options:
    """The options as a configuration gives them.

    Raises:
        HostError: For an option that there isn't, or a value of another kind.
    """
    if given is None:
        return Options()
    place = f"{config}, the plugin gridatlas"
    if not isinstance(given, dict):
        raise HostError(f"{place}: no options", "keys such as data", "write the options as keys")
    by_name = {field.name: field for field in fields(Options)}
    for name, value in given.items():
        if name not in by_name:
            near = nearest(str(name), by_name)
            raise HostError(
                f"{place}: no option {quote(str(name))}",
                f"one of {join_names(by_name)}",
                f"write {near} in its place" if near else "remove it",
            )
        kind = bool if by_name[name].default in (True, False) else str
        if value is not None and not isinstance(value, kind):
            expected = "true or false" if kind is bool else "a text"
            raise HostError(f"{place}: {name} is {value!r}", expected, "correct it")
    options = Options(**{name: value for name, value in given.items() if value is not None})
    if any(part in ("", ".", "..") for part in options.into.split("/")) or "\\" in options.into:
        raise HostError(
            f"{place}: into is {quote(options.into)}", "a folder of the site", "write studies"
        )
    return options
