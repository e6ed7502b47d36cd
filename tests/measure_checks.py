"""How good the checks of one reading are: planted mistakes that they catch, and false alarms.

Simulates studies like dynts-window-ratio: two models, four benchmarks with 150, 150, 200 and 990
trials per cell, 4 × 5 cells, binomial counts printed as percentages with one decimal, and their
printed averages. Each mistake is planted alone into each simulated study. It counts as caught where
a check gives a problem that it didn't give before.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

from gridatlas.checks import Finding, check_study
from gridatlas.schema import Aggregate, Metric, ReadingEntry, Trials
from gridatlas.study import Cell, Factor, Level, Levels, Point, Reading, Study

EXAMPLES = """
examples:
  python tests/measure_checks.py                      print the tables, from 1,000 studies
  python tests/measure_checks.py --studies 100        faster and coarser
  python tests/measure_checks.py --out measured.md    write them to a file
"""
SEED = 20260118
RATIOS = ("0.1", "0.2", "0.3", "0.4", "0.5")
WINDOWS = ("500", "1000", "2000", "3000")
SAMPLES = 5
BENCHMARKS: Mapping[str, tuple[str, int]] = {
    "aime24": ("AIME24", 30),
    "aime25": ("AIME25", 30),
    "amc23": ("AMC23", 40),
    "gpqa_d": ("GPQA_D", 198),
}
# Pass@1 of each model on each benchmark, about as in the paper; the same in all cells of a grid.
RATES: Mapping[str, tuple[float, float, float, float]] = {
    "r1-llama": (0.44, 0.27, 0.87, 0.46),
    "r1-qwen": (0.46, 0.36, 0.87, 0.46),
}
PLACES: Mapping[str, int] = {"tens": 0, "ones": 1, "tenths": 3}

Values = dict[tuple[Levels, Point], Decimal]
Mistake = Callable[[random.Random, Values, Levels], Values]


# --- simulated studies --------------------------------------------------------------------------


def simulate(rng: random.Random) -> Values:
    """The printed values of one study, without a mistake."""
    values: Values = {}
    for model, rates in RATES.items():
        counts = []
        for (benchmark, (_, items)), rate in zip(BENCHMARKS.items(), rates, strict=True):
            n = items * SAMPLES
            weights = _weights(n, rate)
            for point in _points():
                (k,) = rng.choices(range(n + 1), cum_weights=weights)
                counts.append((point, Fraction(100 * k, n)))
                values[(model, benchmark), point] = _printed(Fraction(100 * k, n))
        for point in _points():
            parts = [share for at, share in counts if at == point]
            values[(model, "average"), point] = _printed(sum(parts, Fraction(0)) / len(parts))
    return values


_WEIGHTS: dict[tuple[int, float], list[float]] = {}


def _weights(n: int, rate: float) -> list[float]:
    """Cumulative chances of 0, …, n successes."""
    if (n, rate) not in _WEIGHTS:
        logs = math.log(rate), math.log(1 - rate)
        _WEIGHTS[n, rate] = list(
            accumulate(
                math.exp(math.log(math.comb(n, k)) + k * logs[0] + (n - k) * logs[1])
                for k in range(n + 1)
            )
        )
    return _WEIGHTS[n, rate]


def _printed(share: Fraction) -> Decimal:
    exact = Decimal(share.numerator) / share.denominator
    return exact.quantize(Decimal("0.1"), ROUND_HALF_UP)


def _points() -> Iterator[Point]:
    for window in WINDOWS:
        for ratio in RATIOS:
            yield ratio, window


def as_study(values: Values) -> Study:
    """The values as a checked study: one reading of the parts, one of the averages."""

    def factor(name: str, levels: tuple[Level, ...]) -> Factor:
        return Factor(name, name.replace("_", " "), "", levels)

    def plain(names: tuple[str, ...]) -> tuple[Level, ...]:
        return tuple(Level(name, name, name) for name in names)

    benchmarks = tuple(
        Level(key, label, key, items=items) for key, (label, items) in BENCHMARKS.items()
    )
    average = Level("average", "Average", "average", aggregate=Aggregate(by="mean").by)
    readings = []
    for name, averages in (("parts", False), ("averages", True)):
        cells = {
            (levels, point): Cell(value, "ok", name)
            for (levels, point), value in values.items()
            if (levels[1] == "average") == averages
        }
        readings.append(Reading(name, name, ReadingEntry(id=name, file=f"{name}.csv"), cells))
    return Study(
        id="simulated",
        title="Simulated",
        summary="",
        source=None,
        metric=Metric(name="Pass@1", unit="%", range=(Decimal(0), Decimal(100)), decimals=1),
        x=factor("ratio", plain(RATIOS)),
        y=factor("local_window", plain(WINDOWS)),
        facets=(
            factor("model", plain(tuple(RATES))),
            factor("benchmark", (*benchmarks, average)),
        ),
        baseline={},
        compare=(),
        trials=Trials(items="benchmark", samples=SAMPLES),
        readings=tuple(readings),
        reconcile="primary",
        folder="simulated",
    )


# --- mistakes -----------------------------------------------------------------------------------


def change_digit(place: int) -> Mistake:
    """Another digit at one place of one value; 0 to 99.9, and the first digit isn't 0."""

    def plant(rng: random.Random, values: Values, levels: Levels) -> Values:
        point = rng.choice([p for p in _points() if 10 <= values[levels, p] < 100])
        text = str(values[levels, point])
        digit = rng.choice([d for d in "0123456789"[place == 0 :] if d != text[place]])
        return values | {(levels, point): Decimal(text[:place] + digit + text[place + 1 :])}

    return plant


def swap_cells(rng: random.Random, values: Values, levels: Levels) -> Values:
    while True:
        one, other = rng.sample(list(_points()), 2)
        if values[levels, one] != values[levels, other]:
            return values | {
                (levels, one): values[levels, other],
                (levels, other): values[levels, one],
            }


def swap_rows(rng: random.Random, values: Values, levels: Levels) -> Values:
    one, other = rng.sample(WINDOWS, 2)
    turn = {one: other, other: one}
    return values | {
        (levels, (x, y)): values[levels, (x, turn[y])] for x in RATIOS for y in (one, other)
    }


def shift_column(rng: random.Random, values: Values, levels: Levels) -> Values:
    """Each value of one column one row further, and the last one first."""
    while True:
        x = rng.choice(RATIOS)
        column = [values[levels, (x, y)] for y in WINDOWS]
        if len(set(column)) > 1:
            moved = zip(WINDOWS, column[-1:] + column[:-1], strict=True)
            return values | {(levels, (x, y)): value for y, value in moved}


def copy_row(rng: random.Random, values: Values, levels: Levels) -> Values:
    """One row written over another."""
    one, other = rng.sample(WINDOWS, 2)
    return values | {(levels, (x, other)): values[levels, (x, one)] for x in RATIOS}


def drop_decimal(rng: random.Random, values: Values, levels: Levels) -> Values:
    """47.3 written as 47."""
    point = rng.choice(list(_points()))
    return values | {(levels, point): Decimal(int(values[levels, point]))}


MISTAKES: Mapping[str, Mistake] = {
    **{f"one digit changed: {name}": change_digit(place) for name, place in PLACES.items()},
    "two cells swapped": swap_cells,
    "two rows swapped": swap_rows,
    "a column shifted by one": shift_column,
    "a row copied over another": copy_row,
    "one value's decimal left out": drop_decimal,
}


# --- counting -----------------------------------------------------------------------------------


def found(values: Values) -> set[Finding]:
    return {one for one in check_study(as_study(values)).findings if one.severity == "problem"}


def measure(studies: int, seed: int = SEED) -> tuple[Counter[tuple[str, str, bool]], int]:
    """How often each mistake on each benchmark is caught, with averages or not; false alarms."""
    caught: Counter[tuple[str, str, bool]] = Counter()
    alarms = 0
    for number in range(studies):
        rng = random.Random(f"{seed}/{number}")
        values = simulate(rng)
        before = found(values)
        alarms += bool(before)
        model = rng.choice(list(RATES))
        for name, mistake in MISTAKES.items():
            for benchmark in (*BENCHMARKS, "average"):
                new = found(mistake(rng, values, (model, benchmark))) - before
                caught[name, benchmark, True] += bool(new)
                caught[name, benchmark, False] += any(one.kind != "aggregate" for one in new)
    return caught, alarms


def report(studies: int, caught: Counter[tuple[str, str, bool]], alarms: int) -> str:
    """The measured shares as Markdown."""
    low, high = wilson(alarms, studies)
    worst = 100 * 1.96 * math.sqrt(0.25 / studies)
    command = "python tests/measure_checks.py"
    if studies != 1000:
        command += f" --studies {studies}"
    lines = [
        f"Measured with `{command}` on {studies:,} simulated studies. Each share has a 95 % "
        f"interval of ±{worst:.1f} points at most.",
        "",
        f"**False alarms**: {alarms} of {studies:,} clean studies had a problem "
        f"({100 * alarms / studies:.1f} %; 95 % interval {100 * low:.1f} to {100 * high:.1f} %).",
    ]
    titles = (
        (True, "Planted mistakes that are caught where the averages are printed"),
        (False, "The same without the check against the averages"),
    )
    for averages, title in titles:
        names = [f"{label} (n = {items * SAMPLES})" for label, items in BENCHMARKS.values()]
        keys = [*BENCHMARKS, *(["average"] if averages else [])]
        names += ["Average"] if averages else []
        lines += ["", f"**{title}**", "", f"| Mistake | {' | '.join(names)} |"]
        lines.append("|---|" + "---:|" * len(names))
        for mistake in MISTAKES:
            shares = [f"{100 * caught[mistake, key, averages] / studies:.0f} %" for key in keys]
            lines.append(f"| {mistake} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def wilson(successes: int, n: int) -> tuple[float, float]:
    """95 % interval of a share."""
    z, share = 1.96, successes / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - half) / (1 + z * z / n)), (middle + half) / (1 + z * z / n)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--out", type=Path, help="file for the tables (default: print them)")
    options = parser.parse_args(arguments)
    if options.studies < 1:
        parser.error("--studies takes a number from 1, for example --studies 1000")
    start = time.process_time()
    text = report(options.studies, *measure(options.studies))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    print(f"{time.process_time() - start:.0f} s of one core", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
