"""The command `gridatlas serve`, and the site of `gridatlas build --site`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from gridatlas.cli.shared import NothingWritten, echo
from gridatlas.hosts.sites import (
    Host,
    HostError,
    Project,
    find_project,
    host_named,
    host_names,
)
from gridatlas.progress import listening

host_option = click.option(
    "--host",
    type=click.Choice(host_names()),
    help="Site generator. Default: that of the configuration; for mkdocs.yml, the first installed.",
)
config_option = click.option(
    "--config-file",
    "-f",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration. Default: zensical.toml, properdocs.yml or mkdocs.yml in this folder.",
)


@click.command()
@host_option
@config_option
@click.option(
    "--address",
    "-a",
    default="127.0.0.1:8000",
    show_default=True,
    help="Address of the site.",
)
def serve(host: str | None, config_file: Path | None, address: str) -> None:
    """Show the site of this folder until Ctrl-C, and rebuild it on changes.

    Watches data, templates, pages and the theme. Prints problems in the data, and shows them.

    \b
    Exit status: 0 after Ctrl-C, 1 the site generator failed, 2 the site can't be shown.

    \b
    Examples:
      gridatlas serve
      gridatlas serve --address 127.0.0.1:8001
      gridatlas serve --host zensical
    """  # noqa: D301
    _run(host, config_file, lambda site, project: site.serve(project, address, _report))


def build_site(
    host: str | None, config_file: Path | None, strict: bool | None, to: Path | None, flat: bool
) -> None:
    """Build the site of this folder; ends the process with the command's status."""

    def build(site: Host, project: Project) -> int:
        where = replace(project, site=to and to.resolve(), flat=flat)
        return site.build(where, strict, _report)

    _run(host, config_file, build)


def _run(
    host: str | None, config_file: Path | None, action: Callable[[Host, Project], int]
) -> NoReturn:
    """Do something with the site of this folder, and end the process with its status."""
    try:
        project = find_project(config_file, host)
        with listening(None):  # hosts log what they do
            status = action(host_named(project.host), project)
    except HostError as error:
        raise NothingWritten(str(error)) from error
    sys.exit(1 if status else 0)


def _report(line: str) -> None:
    echo(line, err=True)
