"""The command `gridatlas diff`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from gridatlas.cli.shared import NothingWritten, echo, format_option, limit_option
from gridatlas.files.atomic import write_atomic
from gridatlas.hosts.reporting import not_written
from gridatlas.model.inert import AS_HTML, AS_JSON
from gridatlas.model.schema import CHANGES

ALL = "all"


def _kinds(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str] | None:
    if value is None:
        return None
    kinds = frozenset(part.strip() for part in value.split(","))
    if not kinds <= {*CHANGES, ALL}:
        raise click.BadParameter(f"name {', '.join(CHANGES)}, with commas between them, or {ALL}")
    return frozenset(CHANGES) if ALL in kinds else kinds


def _web_address(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https?://[^\s<>\"]+", value):
        raise click.BadParameter("name an address that begins with https://")
    return value


@click.command()
@click.argument("base")
@click.argument("head")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Data folder in git revisions.",
)
@format_option(
    ["markdown", "json", "html", "svg"],
    "markdown for a comment, json for programs, html for a page, svg for the grid that changed "
    "most.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write to. Default: standard output.",
)
@click.option(
    "--fail-on",
    metavar="KINDS",
    callback=_kinds,
    help="Exit with 1 only for these kinds, joined by commas: problems, checks, answers, meaning, "
    "removed, claims; or all.",
)
@limit_option
@click.option("--url", default="", callback=_web_address, help="Address of the site to link to.")
def diff(
    base: str,
    head: str,
    data: Path,
    form: str,
    out: Path | None,
    fail_on: frozenset[str] | None,
    url: str,
) -> None:
    """Show what changed in the results between BASE and HEAD.

    BASE and HEAD are folders of studies, or else git revisions, read without a checkout. With a
    BASE without studies, all results are new.

    \b
    Exit status: 0 no change, 1 changes, 2 BASE or HEAD can't be read. With --fail-on, 1 only for
    these kinds, unless a new entry of the study's history covers them.

    \b
    Examples:
      gridatlas diff main HEAD
      gridatlas diff origin/main data --fail-on all
      gridatlas diff v1.0 HEAD --format html --out changes.html
    """  # noqa: D301
    from gridatlas_review.compare import compare_snapshots, make_report
    from gridatlas_review.formats import to_json
    from gridatlas_review.markdown import to_markdown
    from gridatlas_review.snapshot import SnapshotError, load_base, load_snapshot
    from gridatlas_review.verdict import stops

    root = Path()
    try:
        snapshots = load_base(base, data, root, head), load_snapshot(head, data, root)
    except SnapshotError as error:
        raise NothingWritten(str(error)) from error
    changes = compare_snapshots(*snapshots)
    report = make_report(changes)
    if form == "json":
        text = to_json(changes, report, url)
    elif form == "markdown":
        text = to_markdown(report, url)
    elif form == "svg":
        from gridatlas_review.page import differences_svg

        text = differences_svg(changes)
    else:
        from gridatlas_review.page import changes_document

        text = changes_document(report, url)
    if out is None:
        echo(text, AS_JSON if form == "json" else AS_HTML, nl=False)
    else:
        try:
            write_atomic(out, text.encode())
        except OSError as error:
            state = f"the changes aren't written; {out} is as it was"
            raise NothingWritten(not_written(error, out, state)) from error
        echo(report.summary, err=True)
    found = stops(report.rows, fail_on) if fail_on else report.rows
    sys.exit(1 if found else 0)
