"""The command `gridatlas`: exit 0 fine, 1 problems in the data (or changes), 2 wrong usage."""

from __future__ import annotations

import json

import click

from gridatlas import __version__
from gridatlas.cli.build import build
from gridatlas.cli.check import check
from gridatlas.cli.collect import collect
from gridatlas.cli.diff import diff
from gridatlas.cli.import_ import import_
from gridatlas.cli.new import new
from gridatlas.cli.serve import serve
from gridatlas.model.json_schema import json_schema


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
      gridatlas serve              show the site, and show changes at once
      gridatlas build --site       build the site, with MkDocs, ProperDocs or Zensical
      gridatlas build --into docs  write the pages into a folder
      gridatlas schema             print the JSON Schema of study.yml
      gridatlas diff main HEAD     tell what changed in the results
      gridatlas collect runs/kv --study dynts-window-ratio --reading ours
                                   make a reading of what a run measured
    """  # noqa: D301 (click reads the \\b)


@main.command()
def schema() -> None:
    """Print the JSON Schema of study.yml, for editors that complete and check it.

    \b
    Examples:
      gridatlas schema > data/schema/study.v1.json
    """  # noqa: D301
    click.echo(json.dumps(json_schema(), indent=2))


for command in (new, import_, check, build, serve, collect, diff):
    main.add_command(command)
