"""What other packages bring, ours and others': entry points by group and name, loaded when used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

COMMANDS = "gridatlas.commands"
"""Commands of `gridatlas`, by their names."""
COMPARE = "gridatlas.compare"
"""`base` loads what the studies are compared with; see `gridatlas.build.comparison`."""
HOSTS = "gridatlas.hosts"
"""Site generators, by the names of their modules; see `gridatlas.hosts.sites.Host`."""

EXPORTS = "gridatlas.exports"
"""`folder` writes the pages into a folder, for `gridatlas build --into`."""


class NotBrought(LookupError):
    """No installed package brings what is asked for; the message names the package to install."""


@cache
def found(group: str) -> Mapping[str, EntryPoint]:
    """All that the installed packages bring for a group, by names, in their order."""
    return {point.name: point for point in sorted(entry_points(group=group))}


def load(group: str, name: str) -> Any:
    """What a package brings.

    Raises:
        NotBrought: Where no package brings it, or the one that would isn't there.
    """
    point = found(group).get(name)
    if point is None:
        raise NotBrought(f'no installed package has the entry point "{name}" of {group}')
    package = point.module.partition(".")[0]
    try:
        return point.load()
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise NotBrought(
            f'the entry point "{name}" of {group} needs {package}, which isn\'t installed'
        ) from error
