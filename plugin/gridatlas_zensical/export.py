"""`gridatlas build --into`: the pages of all studies in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from gridatlas.build.site import build
from gridatlas.cli.shared import NothingWritten, echo
from gridatlas.hosts.reporting import not_written
from gridatlas.model.addresses import is_below
from gridatlas.model.format import many
from gridatlas.model.inert import AS_JSON
from gridatlas.model.problems import Problem, join_names, only_problems, truncate_list
from gridatlas_zensical.into import FolderChanges, FolderError, pages_with_figures, write

LISTED = 20
"""Files that are named one by one."""


def build_into(
    data: Path,
    into: Path,
    pages: str,
    templates: Path | None,
    cache: Path,
    url: str,
    ending: str,
    as_json: bool,
) -> int:
    """Write the pages into a folder, and print what changed.

    Args:
        pages: Folder of the pages in it.
        url: Address of the published site; empty where it isn't known.
        ending: What the address of a page has in the place of `index.md`.

    Returns:
        The exit status: 1 with problems in the data.

    Raises:
        NothingWritten: Where it can't be written.
        UsageError: For folders that don't fit.
    """
    _refuse(data, into, pages)
    try:
        site = build(
            data,
            into=pages,
            templates=templates,
            cache=cache,
            address=f"{url.rstrip('/')}/" if url else "",
            ending=ending,
        )
    except OSError as error:
        state = f"nothing was written; {into} is as it was"
        raise NothingWritten(not_written(error, cache, state)) from error
    try:
        changes = write(pages_with_figures(site, ending), into)
    except FolderError as error:
        raise NothingWritten(str(error)) from error
    problems = only_problems(site.problems)
    if as_json:
        echo(_as_json(changes, into, len(site.pages), problems), AS_JSON)
        return 1 if problems else 0
    for problem in truncate_list(problems):
        echo(problem, err=True)
    for line in _summary(changes, into, len(site.pages)):
        echo(line)
    return 1 if problems else 0


def _refuse(data: Path, into: Path, pages: str) -> None:
    if not data.is_dir():
        raise click.UsageError(
            f"there is no folder {data}; name the folder that has one folder per study, "
            "for example: gridatlas build --data data --into docs"
        )
    if into.resolve().is_relative_to(data.resolve()):
        raise click.UsageError(f"{into} lies in {data}: pages there would be taken for studies")
    if not is_below(pages):
        raise click.UsageError(f"--pages {pages}: name a folder such as studies, without ..")


def _as_json(changes: FolderChanges, into: Path, pages: int, problems: Iterable[Problem]) -> str:
    """What was written, by paths in the folder."""
    content = {
        "folder": into.as_posix(),
        "pages": pages,
        "added": changes.added,
        "changed": changes.changed,
        "removed": changes.removed,
        "kept": changes.left,
        "same": changes.same,
        "problems": [asdict(problem) for problem in problems],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def _summary(changes: FolderChanges, into: Path, pages: int) -> list[str]:
    """What was written, the changed files by name."""
    lines = []
    for word, paths in (
        ("added", changes.added),
        ("changed", changes.changed),
        ("removed", changes.removed),
    ):
        if 0 < len(paths) <= LISTED:
            lines += [f"{word}  {(into / path).as_posix()}" for path in paths]
    for path in changes.left:
        lines.append(f"kept  {(into / path).as_posix()}: it was changed since it was written")
    counts = {
        "added": len(changes.added),
        "changed": len(changes.changed),
        "removed": len(changes.removed),
        "as before": changes.same,
    }
    total = join_names(f"{number:,} {word}" for word, number in counts.items() if number)
    return [*lines, f"{many(pages, 'page')} and their files are in {into.as_posix()}: {total}"]
