"""How good the checks of one reading are: planted mistakes that they catch, and false alarms.

Plants mistakes at every cell of dynts-window-ratio, with and without the documents that its values
were typed from.

Also simulates studies like it: two models, four benchmarks with 150, 150, 200 and 990
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
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

from gridatlas.checks import Finding, check_study
from gridatlas.data.reader import read_study
from gridatlas.data.validate import validate
from gridatlas.model.schema import Aggregate, Metric, ReadingEntry, Trials
from gridatlas.model.study import Cell, Factor, Level, Levels, Point, Reading, Study
from gridatlas.table.study_table import StudyTable
from legitimate import legitimate

EXAMPLES = """
examples:
  python tools/measure_checks.py                      print the tables, from 1,000 studies
  python tools/measure_checks.py --studies 100        faster and coarser
  python tools/measure_checks.py --out measured.md    write them to a file
"""
SEED = 20260118
REPOSITORY = Path(__file__).parents[1]
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
DESIGN_KINDS = (
    "decimals", "repeated-row", "repeated-column", "constant-run", "copied-replicate", "fractions",
)  # fmt: skip
PLACES: Mapping[str, int] = {"tens": 0, "ones": 1, "tenths": 3}

Values = dict[tuple[Levels, Point], Decimal]
Mistake = Callable[[random.Random, Values, Levels, Point], Values | None]
"""The values with a mistake at a cell; None where it can't be made there."""


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
    x, y = factor("ratio", plain(RATIOS)), factor("local_window", plain(WINDOWS))
    facets = (
        factor("model", plain(tuple(RATES))),
        factor("benchmark", (*benchmarks, average)),
    )
    readings = []
    for name, averages in (("parts", False), ("averages", True)):
        cells = {
            (levels, point): Cell(value, "ok", name)
            for (levels, point), value in values.items()
            if (levels[1] == "average") == averages
        }
        entry = ReadingEntry(id=name, file=f"{name}.csv")
        readings.append(Reading(name, name, entry, StudyTable.of(facets, x, y, cells)))
    return Study(
        id="simulated",
        title="Simulated",
        summary="",
        source=None,
        metric=Metric(name="Pass@1", unit="%", range=(Decimal(0), Decimal(100)), decimals=1),
        x=x,
        y=y,
        facets=facets,
        baseline={},
        compare=(),
        trials=Trials(items="benchmark", samples=SAMPLES),
        readings=tuple(readings),
        reconcile="primary",
        folder="simulated",
    )


# --- mistakes -----------------------------------------------------------------------------------


def change_digit(place: int) -> Mistake:
    """Another digit at one place of the value; 0 to 99.9, and the first digit isn't 0."""

    def plant(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
        if not 10 <= values[levels, point] < 100:
            return None
        text = str(values[levels, point])
        digit = rng.choice([d for d in "0123456789"[place == 0 :] if d != text[place]])
        return values | {(levels, point): Decimal(text[:place] + digit + text[place + 1 :])}

    return plant


def swap_digits(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """Two neighbouring digits of the value swapped: 47.3 written as 74.3 or as 43.7."""
    text = str(values[levels, point])
    if len(text) != 4:
        return None
    tens, ones, _, tenths = text
    changed = [f"{ones}{tens}.{tenths}", f"{tens}{tenths}.{ones}"]
    other = [wrong for wrong in changed if wrong != text]
    return values | {(levels, point): Decimal(rng.choice(other))} if other else None


def swap_cells(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """The value swapped with that of any other cell of the grid."""
    return _swapped(values, levels, point, rng.choice([p for p in _points() if p != point]))


def swap_neighbours(
    rng: random.Random, values: Values, levels: Levels, point: Point
) -> Values | None:
    """The value swapped with the next one in its row."""
    x, y = point
    at = RATIOS.index(x) + 1
    return _swapped(values, levels, point, (RATIOS[at], y)) if at < len(RATIOS) else None


def _swapped(values: Values, levels: Levels, point: Point, other: Point) -> Values | None:
    if values[levels, point] == values[levels, other]:
        return None
    swap = {(levels, point): values[levels, other], (levels, other): values[levels, point]}
    return values | swap


def swap_rows(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    other = rng.choice([y for y in WINDOWS if y != point[1]])
    turn = {point[1]: other, other: point[1]}
    changed = values | {
        (levels, (x, y)): values[levels, (x, turn[y])] for x in RATIOS for y in turn
    }
    return changed if changed != values else None


def shift_column(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """Each value of the column one row further, and the last one first."""
    x = point[0]
    column = [values[levels, (x, y)] for y in WINDOWS]
    moved = zip(WINDOWS, column[-1:] + column[:-1], strict=True)
    changed = values | {(levels, (x, y)): value for y, value in moved}
    return changed if changed != values else None


def copy_row(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """The row written over another."""
    other = rng.choice([y for y in WINDOWS if y != point[1]])
    changed = values | {(levels, (x, other)): values[levels, (x, point[1])] for x in RATIOS}
    return changed if changed != values else None


def drop_decimal(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """47.3 written as 47."""
    return values | {(levels, point): Decimal(int(values[levels, point]))}


def take_from_another(
    rng: random.Random, values: Values, levels: Levels, point: Point
) -> Values | None:
    """The value of another benchmark in the place of this one's."""
    model, benchmark = levels
    others = {values[(model, name), point] for name in BENCHMARKS if name != benchmark}
    others.discard(values[levels, point])
    return values | {(levels, point): rng.choice(sorted(others))} if others else None


def move_average(rng: random.Random, values: Values, levels: Levels, point: Point) -> Values | None:
    """An average off by one unit of its last decimal."""
    if levels[1] != "average":
        return None
    return values | {(levels, point): values[levels, point] + rng.choice((-1, 1)) * Decimal("0.1")}


MISTAKES: Mapping[str, Mistake] = {
    **{f"one digit changed: {name}": change_digit(place) for name, place in PLACES.items()},
    "two digits swapped": swap_digits,
    "two cells swapped": swap_cells,
    "two neighbours swapped": swap_neighbours,
    "two rows swapped": swap_rows,
    "a column shifted by one": shift_column,
    "a row copied over another": copy_row,
    "one value's decimal left out": drop_decimal,
    "a value of another benchmark": take_from_another,
    "an average off by 0.1": move_average,
}


# --- counting -----------------------------------------------------------------------------------


def problems_of(study: Study) -> set[Finding]:
    return {finding for finding in check_study(study).findings if finding.severity == "problem"}


def measure(studies: int, seed: int = SEED) -> tuple[Counter[tuple[str, str, bool]], int]:
    """How often each mistake on each benchmark is caught, with averages or not; false alarms."""
    caught: Counter[tuple[str, str, bool]] = Counter()
    alarms = 0
    for number in range(studies):
        rng = random.Random(f"{seed}/{number}")
        values = simulate(rng)
        before = problems_of(as_study(values))
        alarms += bool(before)
        model = rng.choice(list(RATES))
        for name, mistake in MISTAKES.items():
            for benchmark in (*BENCHMARKS, "average"):
                changed = _planted(rng, mistake, values, (model, benchmark))
                if changed is None:
                    continue
                kinds = {finding.kind for finding in problems_of(as_study(changed)) - before}
                caught[name, benchmark, True] += bool(kinds)
                caught[name, benchmark, False] += bool(kinds - {"aggregate"})
    return caught, alarms


def false_alarms(studies: int) -> Counter[str]:
    """In how many legitimate studies of all designs a kind of finding is a problem."""
    kinds: Counter[str] = Counter()
    for number in range(studies):
        kinds.update({finding.kind for finding in problems_of(legitimate(number)[1])})
    return kinds


def _planted(rng: random.Random, mistake: Mistake, values: Values, levels: Levels) -> Values | None:
    """The mistake at a cell where it can be made; None where it can be made at none."""
    points = list(_points())
    rng.shuffle(points)
    return next((c for p in points if (c := mistake(rng, values, levels, p)) is not None), None)


@dataclass
class Planted:
    """How many mistakes of a kind were planted into DynTS, and how many of them are caught."""

    tries: int = 0
    without_document: int = 0
    with_document: int = 0


def measure_dynts(every: int = 1, seed: int = SEED) -> dict[str, Planted]:
    """Each mistake at every cell of DynTS where it can be made, or at every so many cells."""
    source, _ = read_study(REPOSITORY / "data/dynts-window-ratio", "data/dynts-window-ratio")
    assert source is not None
    study, _ = validate(source)
    assert study is not None
    study = replace(study, readings=study.readings[:3], claims=(), accepted=(), agreement=())
    values = {
        at: cell.value
        for reading in study.readings
        for at, cell in reading.table.items()
        if cell.value is not None
    }
    rng = random.Random(seed)
    before = problems_of(study)
    planted = {name: Planted() for name in MISTAKES}
    for name, mistake in MISTAKES.items():
        for levels, point in list(values)[::every]:
            changed = mistake(rng, values, levels, point)
            if changed is None:
                continue
            new = {of.kind for of in problems_of(_with_values(study, changed)) - before}
            planted[name].tries += 1
            planted[name].with_document += bool(new)
            planted[name].without_document += bool(new - {"transcription"})
    return planted


def _with_values(study: Study, values: Values) -> Study:
    readings = (
        replace(
            reading,
            table=StudyTable.of(
                study.facets,
                study.x,
                study.y,
                {at: cell._replace(value=values[at]) for at, cell in reading.table.items()},
            ),
        )
        for reading in study.readings
    )
    return replace(study, readings=tuple(readings))


def report(
    studies: int,
    caught: Counter[tuple[str, str, bool]],
    alarms: int,
    planted: Mapping[str, Planted],
    designs: Counter[str],
) -> str:
    """The measured shares as Markdown."""
    low, high = wilson(alarms, studies)
    worst = 100 * 1.96 * math.sqrt(0.25 / studies)
    command = "python tools/measure_checks.py"
    if studies != 1000:
        command += f" --studies {studies}"
    lines = [
        f"Measured with `{command}`: mistakes planted into {studies:,} simulated studies and into "
        "DynTS, one at a time. A mistake counts as caught where a check reports a new problem. "
        f"Each share of the simulated studies has a 95 % interval of ±{worst:.1f} points at most.",
        "",
        f"**False alarms**: {alarms} of {studies:,} clean studies had a problem "
        f"({100 * alarms / studies:.1f} %; 95 % interval {100 * low:.1f} to {100 * high:.1f} %). "
        f"Of {studies:,} legitimate studies of other designs (counts, floats, losses, times, means "
        "over seeds; rounded in many ways; 4 to 400 cells per grid), had one: "
        + "; ".join(f"{kind}, {designs[kind]}" for kind in DESIGN_KINDS)
        + ".",
        "",
        *_dynts_table(planted),
    ]
    titles = (
        (True, "Caught in simulated studies with printed averages, without documents"),
        (False, "The same without the check of the averages"),
    )
    for averages, title in titles:
        names = [f"{label} (n = {items * SAMPLES})" for label, items in BENCHMARKS.values()]
        keys = [*BENCHMARKS, *(["average"] if averages else [])]
        names += ["Average"] if averages else []
        lines += ["", f"**{title}**", "", f"| Mistake | {' | '.join(names)} |"]
        lines.append("|---|" + "---:|" * len(names))
        for mistake in MISTAKES:
            tried = [key for key in keys if _can_be_made(mistake, key)]
            shares = {
                key: f"{100 * caught[mistake, key, averages] / studies:.0f} %" for key in tried
            }
            if tried:
                cells = (shares.get(key, "–") for key in keys)
                lines.append(f"| {mistake} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _can_be_made(mistake: str, benchmark: str) -> bool:
    return MISTAKES[mistake] is not move_average or benchmark == "average"


def _dynts_table(planted: Mapping[str, Planted]) -> list[str]:
    total = Planted(
        *(
            sum(getattr(counts, name) for counts in planted.values())
            for name in ("tries", "without_document", "with_document")
        )
    )
    lines = [
        "**Caught in DynTS, planted at every cell where the mistake can be made**",
        "",
        "| Mistake | Planted | Without documents | With documents |",
        "|---|---:|---:|---:|",
    ]
    for name, counts in [*planted.items(), ("all", total)]:
        shares = (
            f"{100 * number / counts.tries:.1f} %"
            for number in (counts.without_document, counts.with_document)
        )
        if counts.tries:
            lines.append(f"| {name} | {counts.tries:,} | {' | '.join(shares)} |")
    return lines


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
    parser.add_argument(
        "--every", type=int, default=1, help="plant at every so many cells of DynTS (default: 1)"
    )
    options = parser.parse_args(arguments)
    if options.studies < 1:
        parser.error("--studies takes a number from 1, for example --studies 1000")
    if options.every < 1:
        parser.error("--every takes a number from 1, for example --every 10")
    start = time.process_time()
    text = report(
        options.studies,
        *measure(options.studies),
        measure_dynts(options.every),
        false_alarms(options.studies),
    )
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    print(f"{time.process_time() - start:.0f} s of one core", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
