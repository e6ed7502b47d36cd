"""The command `gridatlas`: exit 0 fine, 1 problems in the data (or changes), 2 wrong usage."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from gridatlas import __version__
from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.checks.words import many
from gridatlas.cli.build import build
from gridatlas.cli.import_ import import_
from gridatlas.cli.new import new
from gridatlas.files.atomic import write_atomic
from gridatlas.hosts.write_errors import not_written
from gridatlas.model.json_schema import json_schema
from gridatlas.model.problems import ALIKE, More, Problem, only_problems, truncate_list


@click.group(context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, prog_name="gridatlas")
def main() -> None:
    """Grids of experiment results as a results website that people can trust.

    \b
    Examples:
      gridatlas new my-results     begin a website with an example
      gridatlas import results.csv make a study of a table
      gridatlas check              check all studies in data/
      gridatlas check my/data      check all studies in my/data/
      gridatlas build --into docs  write the pages, for a host that runs no plugin
      gridatlas schema             print the JSON Schema of study.yml
      gridatlas diff main HEAD     tell what changed in the results
      gridatlas collect runs/kv --study dynts-window-ratio --reading ours
                                   make a reading of what a run measured
    """  # noqa: D301 (click reads the \\b)


main.add_command(new)
main.add_command(import_)


@main.command()
@click.argument("data", type=click.Path(path_type=Path), default="data")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, github for annotations in a pull request.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print problems only: no notes, no summary.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=f"Print every problem, also where one file has more than {ALIKE} of a kind.",
)
def check(data: Path, form: str, quiet: bool, every: bool) -> None:
    """Check every study in the folder DATA (default: data), and print all problems at once.

    Of more than 100 problems of one kind in one file the first 100 are printed, and how many more
    there are; --all prints each. --format json always has all.

    \b
    Exit status: 0 no problem (notes are none), 1 problems, 2 wrong usage.

    \b
    Examples:
      gridatlas check
      gridatlas check --quiet my/data
      gridatlas check --format github
    """  # noqa: D301
    if not data.is_dir():
        raise click.UsageError(
            f"there is no folder {data}; name the folder that has one folder per study, "
            "for example: gridatlas check data"
        )
    assessments = load_data(data)
    problems = only_problems(assessments.problems)
    found = problems if quiet else assessments.problems
    if form == "json":
        # Names of files may have half characters, which JSON writes as escapes.
        click.echo(_as_json(assessments, found).encode("utf-8", "backslashreplace"))
    else:
        for problem in found if every else truncate_list(found):
            click.echo(annotation(problem) if form == "github" else problem)
        if not quiet:
            for line in assessments.summary():
                click.echo(line)
            click.echo(many(len(problems), "problem"))
    sys.exit(1 if problems else 0)


main.add_command(build)


def annotation(problem: Problem | More) -> str:
    """A problem as a workflow command of GitHub Actions, which shows it at its line."""
    level = "error" if problem.severity == "problem" else "notice"
    place = {"file": problem.file, "line": problem.line, "title": problem.kind}
    fields = ",".join(
        f"{key}={_command(str(value), ':,')}" for key, value in place.items() if value is not None
    )
    return f"::{level} {fields}::{_command(str(problem))}"


def _command(text: str, also: str = "") -> str:
    """Text in a workflow command: line breaks and separators as percent codes."""
    coded = f"%\r\n{also}"
    return "".join(
        f"%{ord(c):02X}" if c in coded else c if c.isprintable() else f"\\x{ord(c):02x}"
        for c in text
    )


def _as_json(assessments: Assessments, problems: Iterable[Problem]) -> str:
    studies = [
        {"id": result.study.id, "title": result.study.title, "grids": len(result.grids)}
        for result in assessments.results.values()
    ]
    content = {"problems": [asdict(problem) for problem in problems], "studies": studies}
    return json.dumps(content, ensure_ascii=False, indent=2)


@main.command()
def schema() -> None:
    """Print the JSON Schema of study.yml, for editors that complete and check it.

    \b
    Examples:
      gridatlas schema > data/schema/study.v1.json
    """  # noqa: D301
    click.echo(json.dumps(json_schema(), indent=2))


@main.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Folder with one folder per study.",
)
@click.option("--study", required=True, metavar="ID", help="The study that was measured.")
@click.option("--reading", required=True, metavar="ID", help="The reading to write.")
@click.option("--label", metavar="TEXT", help="How pages shall call the reading.")
def collect(
    runs: tuple[Path, ...], data: Path, study: str, reading: str, label: str | None
) -> None:
    """Make a reading of what runs measured.

    RUN is the folder of a run (the --out of an evaluation script). Its complete cells become rows
    of DATA/<study>/<reading>.csv; cells that aren't complete stay absent, and are listed. Beside it
    runs/<run>.json says how each run was made and how far it is, and runs/<run>.outcomes.json has
    the outcome of each item. Rows of the reading that other runs measured are kept. What study.yml
    must say is printed if it isn't there.

    \b
    Exit status: 0 fine, 1 records or a study that don't fit, 2 wrong usage.

    \b
    Examples:
      gridatlas collect runs/kv-qwen --study dynts-window-ratio --reading ours
      gridatlas collect runs/part-1 runs/part-2 --study dynts-window-ratio --reading ours
      gridatlas collect runs/digits --data my/data --study digits --reading ours --label "Our run"
    """  # noqa: D301
    from gridatlas.reproduce.runner.collect import collect as lines

    for line in lines(runs, data, study, reading, label):
        click.echo(line)


KINDS = ("claims", "checks")
"""Kinds of changes that `--fail-on` takes: ids of sections."""
WITH_EITHER = frozenset({"problems", "readings-removed"})
"""Sections that count with either: what can't be read, or is gone, isn't checked, nor claimed."""


def _kinds(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str] | None:
    if value is None:
        return None
    kinds = frozenset(part.strip() for part in value.split(","))
    if not kinds <= set(KINDS):
        raise click.BadParameter(f"name {' or '.join(KINDS)}, or both with a comma between them")
    return kinds


def _web_address(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https?://[^\s<>\"]+", value):
        raise click.BadParameter("name an address that begins with https://")
    return value


@main.command()
@click.argument("base")
@click.argument("head")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="The data folder in the repository, for sides that are git revisions.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "html"]),
    default="markdown",
    show_default=True,
    help="markdown for a comment, json for programs, html for a page of its own.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write to, instead of the standard output.",
)
@click.option(
    "--fail-on",
    metavar="KINDS",
    callback=_kinds,
    help="Exit with 1 only for changes of these kinds: claims, checks, or both.",
)
@click.option(
    "--url", default="", callback=_web_address, help="Address of the built site, to link to."
)
def diff(
    base: str,
    head: str,
    data: Path,
    form: str,
    out: Path | None,
    fail_on: frozenset[str] | None,
    url: str,
) -> None:
    """Tell what changed in the results from BASE to HEAD.

    BASE and HEAD are folders with studies, or git revisions of the repository around the working
    folder. A folder is taken before a revision of the same name. Nothing is checked out. A BASE
    without a data folder, or without a study in it, counts as empty: all results are new then.

    \b
    Exit status: 0 nothing changed, 1 something did, 2 a side can't be compared. With --fail-on,
    1 only for these kinds, for a new problem in the data, and for a reading that was removed.

    \b
    Examples:
      gridatlas diff main HEAD
      gridatlas diff origin/main data --fail-on claims,checks
      gridatlas diff v1.0 HEAD --format html --out changes.html
    """  # noqa: D301
    from gridatlas.diff.compare import compare_snapshots
    from gridatlas.diff.formats import to_json, to_markdown
    from gridatlas.diff.sections import make_report
    from gridatlas.diff.snapshot import SnapshotError, load_base, load_snapshot

    root = Path()
    try:
        snapshots = load_base(base, data, root, head), load_snapshot(head, data, root)
    except SnapshotError as error:
        raise _Failed(str(error)) from error
    changes = compare_snapshots(*snapshots)
    report = make_report(changes)
    if form == "json":
        text = to_json(changes, report, url)
    elif form == "markdown":
        text = to_markdown(report, url)
    else:
        from gridatlas.pages.changes import changes_document

        text = changes_document(report, url)
    if out is None:
        click.echo(text.encode(), nl=False)
    else:
        try:
            write_atomic(out, text.encode())
        except OSError as error:
            state = f"the changes aren't written; {out} is as it was"
            raise _Failed(not_written(error, out, state)) from error
        click.echo(report.summary, err=True)
    found = {section.id for section in report.sections}
    fails = bool(found & (fail_on | WITH_EITHER)) if fail_on else report.changed
    sys.exit(1 if fails else 0)


class _Failed(click.ClickException):
    """An error that isn't one of the data: exit 2, which no change has."""

    exit_code = 2
