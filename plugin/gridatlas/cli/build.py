"""The command `gridatlas build`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from gridatlas.cli.serve import build_site, config_option, host_option
from gridatlas.cli.shared import NothingWritten, data_option, echo, limit_option
from gridatlas.hosts.reporting import not_written
from gridatlas.model.addresses import is_below
from gridatlas.model.format import many
from gridatlas.model.inert import AS_JSON
from gridatlas.model.problems import Problem, join_names, only_problems, truncate_list

if TYPE_CHECKING:
    from gridatlas.hosts.folder import FolderChanges

LISTED = 20
"""Files that are named one by one."""


@click.command()
@click.pass_context
@data_option
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write pages to: the docs folder of a site, or any folder.",
)
@click.option(
    "--site",
    "whole",
    is_flag=True,
    help="Build the site of this folder, as configured.",
)
@host_option
@config_option
@click.option("--strict", is_flag=True, help="With --site: fail on any problem.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["mkdocs", "markdown", "wiki"]),
    default="mkdocs",
    show_default=True,
    help="mkdocs for a site generator without the plugin, markdown for a repository, wiki for its "
    "wiki.",
)
@click.option(
    "--pages",
    default="studies",
    show_default=True,
    help="Folder of the pages in it.",
)
@click.option("--templates", type=click.Path(path_type=Path), help="Folder of your templates.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    default=Path(".cache/gridatlas"),
    show_default=True,
    help="Folder of the cache.",
)
@click.option("--url", default="", help="Address of the published site.")
@limit_option
@click.option(
    "--no-directory-urls",
    is_flag=True,
    help="For a site with use_directory_urls: false.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the changed files and the problems as JSON."
)
def build(
    context: click.Context,
    data: Path,
    into: Path | None,
    whole: bool,
    host: str | None,
    config_file: Path | None,
    strict: bool,
    form: str,
    pages: str,
    templates: Path | None,
    cache: Path,
    url: str,
    no_directory_urls: bool,
    as_json: bool,
) -> None:
    """Build the site (--site), or write the pages of all studies into a folder (--into).

    With --into, a build updates and removes only files that an earlier build wrote. A file of
    yours in the way is an error, and the build writes nothing.

    \b
    Exit status: 0 fine, 1 problems in the data (shown on the pages) or, with --site, no site
    built, 2 wrong usage.

    \b
    Examples:
      gridatlas build --site
      gridatlas build --into docs
      gridatlas build --into results --format markdown
      gridatlas build --data my/data --into docs --url https://example.org/atlas/
    """  # noqa: D301
    _refuse_mixed(context, whole)
    if whole:
        build_site(host, config_file, strict)
    assert into is not None
    # The other commands don't wait for what only this one needs.
    from gridatlas.build.markdown_export import SameName, for_repository, for_wiki, markdown_files
    from gridatlas.build.site import build as build_pages
    from gridatlas.hosts.folder import FolderError, pages_with_figures, write

    _refuse(data, into, pages)
    ending = "index.html" if no_directory_urls else ""
    try:
        site = build_pages(
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
        if form == "mkdocs":
            files = pages_with_figures(site, ending)
        else:
            files = markdown_files(site, for_wiki if form == "wiki" else for_repository)
        changes = write(files, into)
    except (FolderError, SameName) as error:
        raise NothingWritten(str(error)) from error
    problems = only_problems(site.problems)
    if as_json:
        echo(_as_json(changes, into, len(site.pages), problems), AS_JSON)
        sys.exit(1 if problems else 0)
    for problem in truncate_list(problems):
        echo(problem, err=True)
    for line in _summary(changes, into, len(site.pages)):
        echo(line)
    sys.exit(1 if problems else 0)


_OF_SITE = {"host": "--host", "config_file": "--config-file", "strict": "--strict"}
_OF_FOLDER = {
    "data": "--data", "form": "--format", "pages": "--pages", "templates": "--templates",
    "cache": "--cache", "url": "--url", "no_directory_urls": "--no-directory-urls",
    "into": "--into", "as_json": "--json", "limit": "--limit",
}  # fmt: skip


def _refuse_mixed(context: click.Context, whole: bool) -> None:
    """Refuse options that mean nothing for what is built."""
    given = {
        name
        for name in (str(parameter.name) for parameter in context.command.params)
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    if whole:
        others = [option for name, option in _OF_FOLDER.items() if name in given]
        if others:
            raise click.UsageError(
                f"--site takes no {join_names(others)}: the site's configuration says it"
            )
        return
    others = [option for name, option in _OF_SITE.items() if name in given]
    if others:
        raise click.UsageError(f"{join_names(others)} goes with --site")
    if "into" not in given:
        raise click.UsageError(
            "name what to build: --site for the site of this folder, or --into FOLDER for pages "
            "in a folder, for example: gridatlas build --into docs"
        )


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
