"""Logs of Inspect as they are written: `.eval` (ZIP) and `.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas.model.problems import quote
from gridatlas_import.json_values import parse_json
from gridatlas_import.logs.zip_members import Members, members_of
from gridatlas_import.rows import CannotImport

FORM = "logs of Inspect"
ENDING = ".eval"
VERSION = "2"
"""Of the form of logs (`version` in their header) that is read here."""


@dataclass(frozen=True, slots=True)
class InspectLog:
    """A log: what it says of the run, and of each sample.

    Attributes:
        name: The file's name in messages.
        header: `eval`, `plan`, `results`, `status`, `error`.
        samples: Per sample and epoch: id, epoch, target, scores.
        reductions: Per scorer and reducer, one value per item.
    """

    name: str
    header: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]]
    reductions: Sequence[Mapping[str, Any]]

    @property
    def eval(self) -> Mapping[str, Any]:
        """What was run."""
        return mapping(self.header.get("eval"))

    @property
    def status(self) -> str:
        """How it ended; `started` where it hasn't."""
        return str(self.header.get("status") or "started")

    @property
    def results(self) -> Mapping[str, Any]:
        """The scores of all samples together."""
        return mapping(self.header.get("results"))


def is_inspect(tree: Any) -> bool:
    """Whether a JSON file is such a log."""
    return (
        isinstance(tree, Mapping)
        and isinstance(tree.get("eval"), Mapping)
        and "task" in tree["eval"]
        and "version" in tree
        and "status" in tree
    )


def read_eval(path: Path, name: str) -> InspectLog:
    """A log that is a ZIP file.

    Raises:
        CannotImport: For a file that is none, is damaged, or of another version.
    """
    with members_of(path, name) as members:
        header = _member(members, "header.json")
        if header is None:
            return _unfinished(members, name)
        log = mapping(header)
        _check_version(log, name)
        if str(log.get("status")) != "success":
            return InspectLog(name, log, (), ())
        samples = _member(members, "summaries.json")
        reductions = _member(members, "reductions.json")
        return InspectLog(name, log, _objects(samples), _objects(reductions))


def read_tree(tree: Mapping[str, Any], name: str) -> InspectLog:
    """A log that is a JSON file.

    Raises:
        CannotImport: For one of another version.
    """
    _check_version(tree, name)
    return InspectLog(name, tree, _objects(tree.get("samples")), _objects(tree.get("reductions")))


def _unfinished(members: Members, name: str) -> InspectLog:
    """A log without a header, which is written last: of its journal, how far the run came."""
    start = _member(members, "_journal/start.json")
    if not isinstance(start, Mapping):
        raise CannotImport(
            f"{name}: a ZIP file without header.json and _journal/start.json",
            "a log of Inspect",
            "name the folder with the logs",
        )
    _check_version(start, name)
    samples: list[Mapping[str, Any]] = []
    for member in members.names("_journal/summaries/"):
        samples += _objects(_member(members, member))
    return InspectLog(name, {**start, "status": "started"}, samples, ())


def _member(members: Members, member: str) -> Any:
    text = members.text(member)
    return None if text is None else parse_json(text, f"{members.name}:{member}")


def _check_version(tree: Mapping[str, Any], name: str) -> None:
    version = str(tree.get("version"))
    if version != VERSION:
        raise CannotImport(
            f"{name}: version {quote(version, 20)} of Inspect's logs",
            f"version {VERSION}",
            "update gridatlas, or write the log again: inspect log convert",
        )


def mapping(tree: Any) -> Mapping[str, Any]:
    """An object of JSON; an empty one for anything else."""
    return tree if isinstance(tree, Mapping) else {}


def _objects(tree: Any) -> Sequence[Mapping[str, Any]]:
    return [part for part in tree if isinstance(part, Mapping)] if isinstance(tree, list) else ()
