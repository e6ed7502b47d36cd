"""The command `gridatlas collect`."""

from __future__ import annotations

from pathlib import Path

import click

from gridatlas.cli.shared import data_option, echo, limit_option


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@data_option
@limit_option
@click.option("--study", required=True, metavar="ID", help="The study that the runs measured.")
@click.option("--reading", required=True, metavar="ID", help="The reading to write.")
@click.option("--label", metavar="TEXT", help="Name of the reading on pages.")
@click.option(
    "--pass-at",
    "k",
    type=click.IntRange(min=2),
    metavar="K",
    help="Count items, each right if any of its K samples is (pass@K). The study of the runs is in "
    "its see_also, with same_runs.",
)
def collect(
    runs: tuple[Path, ...], data: Path, study: str, reading: str, label: str | None, k: int | None
) -> None:
    """Create a reading from run results.

    RUN is the folder of a run, the --out of an evaluation script. Several may be parts of one run.
    Writes complete cells to DATA/<study>/<reading>.csv, next to rows of other runs, and the records
    to runs/. Lists incomplete cells, and prints the lines that study.yml lacks.

    \b
    Exit status: 0 fine, 1 records and study don't match, 2 wrong usage.

    \b
    Examples:
      gridatlas collect runs/kv-qwen --study dynts-window-ratio --reading ours
      gridatlas collect runs/part-1 runs/part-2 --study dynts-window-ratio --reading ours
      gridatlas collect runs/digits --data my/data --study digits --reading ours --label "Our run"
      gridatlas collect runs/digits --study digits-pass-8 --reading ours --pass-at 8
    """  # noqa: D301
    from gridatlas_reproduce.runner.collect import collect as lines

    for line in lines(runs, data, study, reading, label, k):
        echo(line)
