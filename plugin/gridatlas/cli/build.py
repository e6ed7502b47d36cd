"""The command `gridatlas build`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from gridatlas import registry
from gridatlas.cli.serve import build_site, config_option, host_option
from gridatlas.cli.shared import data_option, limit_option
from gridatlas.model.problems import join_names


@click.command()
@click.pass_context
@data_option
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write pages to: the docs folder of a site.",
)
@click.option(
    "--site",
    "whole",
    is_flag=True,
    help="Build the site of this folder.",
)
@host_option
@config_option
@click.option(
    "--strict/--no-strict",
    default=None,
    help="With --site: whether to fail on any problem. Default: as configured.",
)
@click.option(
    "--site-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --site: folder to build to. Default: as configured.",
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
    help="Pages that open from the disk; with --into, for a site with use_directory_urls: false.",
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
    strict: bool | None,
    site_dir: Path | None,
    pages: str,
    templates: Path | None,
    cache: Path,
    url: str,
    no_directory_urls: bool,
    as_json: bool,
) -> None:
    """Build the site (--site), or write the pages of all studies into a folder (--into).

    With --into, updates and removes only files that an earlier build wrote. A file of yours in the
    way is an error, and nothing is written.

    \b
    Exit status: 0 fine, 1 problems in the data (shown on the pages) or, with --site, no site
    built, 2 wrong usage.

    \b
    Examples:
      gridatlas build --site
      gridatlas build --into docs
      gridatlas build --data my/data --into docs --url https://example.org/atlas/
    """  # noqa: D301
    _refuse_mixed(context, whole)
    if whole:
        build_site(host, config_file, strict, site_dir, no_directory_urls)
    try:
        write = registry.load(registry.EXPORTS, "folder")
    except registry.Unusable as error:
        raise click.UsageError(f"--into: {error}") from error
    ending = "index.html" if no_directory_urls else ""
    sys.exit(write(data, into, pages, templates, cache, url, ending, as_json))


_OF_SITE = {
    "host": "--host", "config_file": "--config-file", "strict": "--strict",
    "site_dir": "--site-dir",
}  # fmt: skip
_OF_FOLDER = {
    "data": "--data", "pages": "--pages", "templates": "--templates",
    "cache": "--cache", "url": "--url", "into": "--into", "as_json": "--json", "limit": "--limit",
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
