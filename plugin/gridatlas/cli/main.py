"""The command `gridatlas`: exit 0 fine, 1 problems in the data (or changes), 2 wrong usage."""

from __future__ import annotations

import json

import click

from gridatlas import __version__
from gridatlas.cli.build import build
from gridatlas.cli.check import check
from gridatlas.cli.new import new
from gridatlas.cli.progress import progress_at_terminal
from gridatlas.cli.serve import serve
from gridatlas.model.json_schema import json_schema
from gridatlas_import.command import import_
from gridatlas_reproduce.command import collect
from gridatlas_review.command import diff


@click.group(context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, prog_name="gridatlas")
@click.pass_context
def main(context: click.Context) -> None:
    """Build, check and compare websites of experiment results.

    \b
    Examples:
      gridatlas new my-results     start a website with an example
      gridatlas import results.csv create a study from a table
      gridatlas check              check all studies in data/
      gridatlas serve              show the site, and reload it on changes
      gridatlas build --site       build the site
      gridatlas diff main HEAD     show what changed in the results
    """  # noqa: D301 (click reads the \\b)
    context.with_resource(progress_at_terminal())


@main.command()
def schema() -> None:
    """Print the JSON Schema of study.yml, for editors.

    \b
    Examples:
      gridatlas schema > study.v1.json
    """  # noqa: D301
    click.echo(json.dumps(json_schema(), indent=2))


for command in (new, import_, check, build, serve, collect, diff):
    main.add_command(command)
