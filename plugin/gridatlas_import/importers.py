"""What reads files: the modules of `readers/`, and those that other packages bring.

A module has `ENDINGS`, those of its files (of `a.csv.gz` that before `.gz`), and one or several of

- `read(file) -> RawTable`: the table of a file;
- `read_all(files) -> RawTable | None`: one of all files, which all have one of the endings; None
  where each is read by itself;
- `read_folder(folder) -> RawTable | None`: of what lies below a folder; None where it isn't its.

Where the endings don't decide, `recognise(file) -> bool` does. `BESIDE`, a pattern, matches names
of files that lie beside its own and aren't imported by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType

from gridatlas import registry
from gridatlas_import import readers
from gridatlas_import.files import File
from gridatlas_import.readers import delimited
from gridatlas_import.rows import CannotImport, RawTable

_WAYS = ("read", "read_all", "read_folder")


@cache
def importers() -> Sequence[ModuleType]:
    """All, those first that recognise their files: an ending alone says less.

    Raises:
        CannotImport: For a package's module that is none.
    """
    try:
        others = registry.load_all(registry.IMPORTERS)
    except registry.Unusable as error:
        raise CannotImport(str(error), "each importer once", "remove what pip list has") from error
    found = {**others, **registry.modules(readers)}
    for name, module in found.items():
        if not hasattr(module, "ENDINGS") or not any(hasattr(module, way) for way in _WAYS):
            raise CannotImport(
                f"the importer {name}, without ENDINGS, or without any of {', '.join(_WAYS)}",
                "both",
                "update or remove the package that brings it",
            )
    return sorted(found.values(), key=lambda module: not hasattr(module, "recognise"))


def having(way: str) -> Sequence[Callable[..., RawTable | None]]:
    """One of the ways to read, of all importers that have it."""
    return [getattr(module, way) for module in importers() if hasattr(module, way)]


def importer_of(file: File) -> ModuleType:
    """What reads a file: text with any other ending is taken for delimited."""
    for module in importers():
        if file.ending in module.ENDINGS and getattr(module, "recognise", lambda _: True)(file):
            return module
    return delimited
