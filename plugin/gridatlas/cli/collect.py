"""The command `gridatlas collect`."""

from __future__ import annotations

from pathlib import Path

import click

from gridatlas.cli.shared import data_option


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@data_option
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
