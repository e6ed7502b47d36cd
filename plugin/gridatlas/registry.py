"""What is found instead of listed: modules of a folder, and entry points of packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import groupby
from operator import attrgetter
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

COMMANDS = "gridatlas.commands"
"""Commands of `gridatlas`, by their names."""
COMPARE = "gridatlas.compare"
"""`base` loads what the studies are compared with, `history` plans the page of a study's history:
see `gridatlas.build.comparison`."""
HOSTS = "gridatlas.hosts"
"""Site generators, by the names of their modules; see `gridatlas.hosts.sites.Host`."""

EXPORTS = "gridatlas.exports"
"""`folder` writes the pages into a folder, for `gridatlas build --into`."""


IMPORTERS = "gridatlas.importers"
"""Modules that read files; see `gridatlas_import.importers`."""


class Unusable(LookupError):
    """What is asked for can't be had; the message says why, and of which packages."""


class NotBrought(Unusable):
    """No installed package brings it."""


class BroughtTwice(Unusable):
    """Several packages bring something of this name: which one is meant, nothing says."""


@cache
def _points(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    points = sorted(entry_points(group=group))
    return {name: [*same] for name, same in groupby(points, attrgetter("name"))}


def found(group: str) -> Mapping[str, EntryPoint]:
    """All that the installed packages bring for a group, by names, in their order."""
    return {name: points[0] for name, points in _points(group).items()}


def modules(folder: ModuleType) -> dict[str, ModuleType]:
    """The modules of a folder that is a registry, by names, in their order."""
    names = sorted(module.name for module in iter_modules(folder.__path__))
    return {name: import_module(f"{folder.__name__}.{name}") for name in names}


def load_all(group: str) -> dict[str, Any]:
    """Everything that the installed packages bring for a group, by names, in their order.

    Raises:
        Unusable: As `load`.
    """
    return {name: load(group, name) for name in found(group)}


def load(group: str, name: str) -> Any:
    """What a package brings.

    Raises:
        BroughtTwice: Where several packages bring it.
        NotBrought: Where no package brings it, or the one that would isn't there.
    """
    point = found(group).get(name)
    several = _points(group).get(name, ())
    if len(several) > 1:
        packages = " and ".join(sorted(brought.dist.name for brought in several if brought.dist))
        raise BroughtTwice(
            f'{packages} both bring the entry point "{name}" of {group}: remove one of them'
        )
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
