"""The command `gridatlas schema`."""

from __future__ import annotations

import json

import click

from gridatlas.cli.shared import echo


@click.command()
def schema() -> None:
    """Print the JSON Schema of study.yml, for editors.

    \b
    Examples:
      gridatlas schema > study.v1.json
    """  # noqa: D301
    from gridatlas.checks import all_checks
    from gridatlas.model.json_schema import json_schema

    echo(json.dumps(json_schema(all_checks()), indent=2))
