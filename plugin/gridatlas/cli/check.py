"""The command `gridatlas check`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.cli.shared import coloured, echo, format_option, limit_option
from gridatlas.model.format import many
from gridatlas.model.inert import AS_JSON, without_commands
from gridatlas.model.problems import (
    ALIKE,
    More,
    Problem,
    join_names,
    only_problems,
    truncate_list,
)
from gridatlas.pages.words import undescribed


@click.command()
@click.argument("data", type=click.Path(path_type=Path), default="data")
@format_option(
    ["text", "json", "github"],
    "text for people, json for programs, github for annotations in GitHub Actions.",
)
@limit_option
@click.option("--quiet", "-q", is_flag=True, help="Print problems only.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=f"Print every problem, not only {ALIKE} of a kind per file.",
)
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Print what is not stated or explained, and the answer of each page with its evidence.",
)
def check(data: Path, form: str, quiet: bool, every: bool, verbose: bool) -> None:
    """Check every study in the folder DATA (default: data), and print all problems.

    \b
    Exit status: 0 no problem (notes don't count), 1 problems, 2 wrong usage.

    \b
    Examples:
      gridatlas check
      gridatlas check --quiet my/data
      gridatlas check --format github
      gridatlas check --verbose
    """  # noqa: D301
    if not data.is_dir():
        raise click.UsageError(
            f"there is no folder {data}; name the folder that has one folder per study, or create "
            "one: gridatlas import FILE, or gridatlas new"
        )
    assessments = load_data(data)
    problems = only_problems(assessments.problems)
    found = problems if quiet else assessments.problems
    if form == "json":
        echo(_as_json(assessments, found), AS_JSON)
    else:
        for problem in found if every else truncate_list(found):
            if form == "github":
                click.echo(annotation(problem))  # noqa: TID251 (a command)
            else:
                echo(_in_colours(problem))
        if not quiet:
            for line in assessments.summary():
                echo(line)
        if verbose:
            for line in (*_unsaid(assessments), *_answers(assessments)):
                echo(line)
        if not quiet:
            echo(coloured(many(len(problems), "problem"), "red" if problems else "green"))
    sys.exit(1 if problems else 0)


def _unsaid(assessments: Assessments) -> Iterator[str]:
    """What the studies don't state, and which of their names they don't explain."""
    for study_id, assessment in assessments.items():
        study = assessment.study
        absent = [key for key in ("authors", "license", "source") if not getattr(study, key)]
        if absent:
            yield f"{study_id}: not stated: {', '.join(absent)}"
        if names := undescribed(study):
            yield f"{study_id}: no description of {join_names(names)}"


def _answers(assessments: Assessments) -> Iterator[str]:
    """What each page leads with, its grade, and the reasons for it."""
    for study_id, assessment in assessments.items():
        for page, answer in assessment.answers.items():
            yield f"{study_id}/{page} [{answer.grade}] {answer.headline}"
            yield from (f"    {sentence}" for sentence in answer.evidence)


def _in_colours(problem: Problem | More) -> str:
    where, *more = str(problem).split("\n", 1)
    return "\n".join([coloured(where, "red" if problem.severity == "problem" else "yellow"), *more])


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
        for c in without_commands(text)
    )


def _as_json(assessments: Assessments, problems: Iterable[Problem]) -> str:
    studies = [
        {"id": result.study.id, "title": result.study.title, "grids": len(result.grids)}
        for result in assessments.results.values()
    ]
    content = {"problems": [asdict(problem) for problem in problems], "studies": studies}
    return json.dumps(content, ensure_ascii=False, indent=2)
