"""What a check of many rows costs beside reading and grouping them with pandas.

Each table is written in its ordinary form, full floats as programs print them, and with few
different values, which is the best case. Check and pandas run in turn, in processes of their own,
and the ratio is that of each pair. Last comes `gridatlas --help`, beside Python alone.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from measure_large import Spent, spent

EXAMPLES = """
examples:
  python tools/measure_columns.py                               a million rows: some minutes
  python tools/measure_columns.py --rows 100000 --rounds 1      a quick look
  python tools/measure_columns.py --out benchmarks/columns.md
"""
SEED = 20261124
CHECK = ["-c", "from gridatlas.cli import main; main()", "check", "-q"]
PANDAS = """\
import pandas
table = pandas.read_csv("data/study/cells.csv")
print(table.groupby([*table.columns[:-1]])["value"].mean().describe())
"""


@dataclass(frozen=True)
class Case:
    """A table: its columns of levels, how often each place is measured, and its values."""

    name: str
    sizes: tuple[int, ...]
    times: int
    value: Callable[[random.Random], str]


def full(rng: random.Random) -> str:
    return repr(rng.gauss(70, 6))


def few(rng: random.Random) -> str:
    return f"{rng.randrange(200) / 2:.1f}"


def cases(rows: int) -> Iterator[Case]:
    side = round(rows**0.5)
    repeated = round((rows / 100) ** 0.5)
    for value, said in ((full, "full floats"), (few, "200 different values")):
        yield Case(f"{side:,} × {side:,} cells, {said}", (side, side), 1, value)
        yield Case(f"{repeated} × {repeated} cells × 100 repeats, {said}",
                   (repeated, repeated), 100, value)  # fmt: skip
        yield Case(f"100 grids of 36 cells, {said}", (100, 6, 6), 1, value)


def write(case: Case, folder: Path) -> None:
    """The study of a case; repeats are averaged."""
    rng = random.Random(SEED)
    study = folder / "data/study"
    study.mkdir(parents=True)
    facets = "facets: [grid]\n" if len(case.sizes) == 3 else ""
    repeats = "repeats: mean\n" if case.times > 1 else ""
    (study / "study.yml").write_text(
        "format: 1\ntitle: Many rows\nmetric: {name: Score, better: higher}\n"
        f"x: first\ny: second\n{facets}{repeats}",
        "utf-8",
    )
    *grids, columns, rows = case.sizes
    names = [*(["grid"] if grids else []), "second", "first", "value"]
    with (study / "cells.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(names) + "\n")
        for grid in range(*grids or [1]):
            before = f"g{grid}," if grids else ""
            for y in range(rows):
                for x in range(columns):
                    for _ in range(case.times):
                        file.write(f"{before}{y},{x},{case.value(rng)}\n")


def measure(case: Case, rounds: int) -> list[str]:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(case, folder)
        pairs = [
            (spent(CHECK, folder), spent(["-c", PANDAS], folder))
            for _ in range(rounds + 1)  # the first one warms the disk
        ][1:]
    ratios = sorted(ours.seconds / theirs.seconds for ours, theirs in pairs)
    return [
        case.name,
        *(str(median(side)) for side in zip(*pairs, strict=True)),
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
    ]


def median(found: tuple[Spent, ...]) -> Spent:
    return Spent(statistics.median(one.seconds for one in found), max(one.memory for one in found))


def help_beyond_python(rounds: int) -> str:
    """Seconds of `gridatlas --help`, less those of Python that does nothing."""
    command = ["-c", "from gridatlas.cli import main; main()", "--help"]
    with tempfile.TemporaryDirectory() as name:
        found = [
            spent(command, Path(name)).seconds - spent(["-c", "pass"], Path(name)).seconds
            for _ in range(rounds + 1)
        ][1:]
    seconds = statistics.median(found)
    return f"`gridatlas --help` takes {seconds:.2f} s beyond Python's own start (goal: 0.15)."


def report(rows: list[list[str]], help_time: str, load: float) -> str:
    """The figures as Markdown."""
    head = ("Rows", "`gridatlas check`", "pandas: read and group", "Ratio of pairs (range)")
    lines = [
        "Measured with `python tools/measure_columns.py`: seconds of one processor, memory at its "
        "most. pandas reads the CSV and takes the mean of each place; the check reads it, checks "
        "it and says where each fault is. Goals: full floats at most 4 × and 450 MB; few values "
        "and small grids no worse than before. When it began, the machine had a load of "
        f"{load:.0f} on {os.cpu_count()} processors.",
        "",
        f"| {' | '.join(head)} |",
        "| :--- | ---: | ---: | ---: |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        help_time,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the large tables")
    parser.add_argument("--rounds", type=int, default=3, help="counted pairs of each")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    given = parser.parse_args()
    rows, (load, *_) = [], os.getloadavg()
    for case in cases(given.rows):
        rows.append(measure(case, given.rounds))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    text = report(rows, help_beyond_python(given.rounds), load)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
