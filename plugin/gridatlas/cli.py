"""The command `gridatlas`: exit 0 fine, 1 problems in the data, 2 wrong usage."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gridatlas import __version__
from gridatlas.build import load_data
from gridatlas.problems import only_problems


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gridatlas")
def main() -> None:
    r"""Grids of experiment results as a results website that people can trust.

    \b
    Examples:
      gridatlas check              check all studies in data/
      gridatlas check my/data      check all studies in my/data/
      gridatlas schema             print the JSON Schema of study.yml
    """


@main.command()
@click.argument("data", type=click.Path(path_type=Path), default="data")
@click.option("--quiet", "-q", is_flag=True, help="Print problems only: no notes, no summary.")
def check(data: Path, quiet: bool) -> None:
    r"""Check every study in the folder DATA (default: data), and print all problems at once.

    \b
    Exit status: 0 no problem (notes are none), 1 problems, 2 wrong usage.

    \b
    Examples:
      gridatlas check
      gridatlas check --quiet my/data
    """
    if not data.is_dir():
        raise click.UsageError(
            f"there is no folder {data}; name the folder that has one folder per study, "
            "for example: gridatlas check data"
        )
    loaded = load_data(data)
    problems = only_problems(loaded.problems)
    for one in problems if quiet else loaded.problems:
        click.echo(one)
    if not quiet:
        for results in loaded.results:
            study = results.study
            cells = sum(
                cell.value is not None
                for grid in results.grids.values()
                for _, _, cell in grid.points()
            )
            click.echo(
                f"{study.id}: {_count(len(results.grids), 'grid')}, {_count(cells, 'value')}, "
                f"{_count(len(study.readings), 'reading')}"
            )
        click.echo(_count(len(problems), "problem"))
    sys.exit(1 if problems else 0)


@main.command()
def schema() -> None:
    """Print the JSON Schema of study.yml, for editors that complete and check it."""
    import json

    from gridatlas.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
