"""Simulates studies of which the truth is known: how often an answer asserts what isn't so."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from gridatlas.statistics import mean_difference, permutation
from gridatlas.statistics.differences import difference, holm, over_pages
from gridatlas.statistics.estimates import wilson

PAGE = Path(__file__).parents[2] / "benchmarks" / "measured-answers.md"
ALPHA = 0.05
PERMUTATIONS = 999
"""Enough for the share of small p-values; a site's own tests take 99,999."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """A study to simulate.

    Attributes:
        benchmarks: Their number, at least 1.
        levels: Of the axes, x and y.
        items: Of each benchmark.
        samples: Of each item in each cell.
        share: What is right on average.
        alike: Intra-class correlation of an item's samples over all cells: 0 where each sample has
            items of its own.
        by_setting: As `alike`, of an item's samples within a cell alone.
        by_level: As `alike`, of an item's samples at the same level of x.
        copied: Share of the samples that are those of the first cell.
        luck: Standard deviation of what a cell gets on all benchmarks, in standard errors.
        fewer: What the items of the first level of x are divided by.
        pages: Sibling pages, which answer the same questions of other draws.
        best: Points that the first cell is better by.
        level: Points that the cells at a middle level of x are better by.
        slope: Points that the last level of x is better by than the first.
        best_alone: Whether only the best setting of a single page is asked for.
    """

    benchmarks: int = 4
    levels: tuple[int, int] = (4, 5)
    items: int = 30
    samples: int = 5
    share: float = 0.5
    alike: float = 0.0
    by_setting: float = 0.0
    by_level: float = 0.0
    copied: float = 0.0
    luck: float = 0.0
    fewer: int = 1
    pages: int = 2
    best: float = 0.0
    level: float = 0.0
    slope: float = 0.0
    best_alone: bool = False


def shares(design: Design, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Observed shares (benchmark, x, y) of a page, and the trials behind each."""
    (columns, rows), items = design.levels, design.items
    shape = (design.benchmarks, columns, rows)
    expected = np.full(shape, design.share) + _effects(design) / 100
    if design.luck:
        error = np.sqrt(design.share * (1 - design.share) / (items * design.samples))
        expected += random.normal(0, design.luck * error, (1, columns, rows))
    expected = np.clip(expected, 0, 1)[..., None]
    quantile = _quantiles(design, (*shape, items), random)
    right = random.binomial(design.samples, _moved(design, expected, quantile)).astype(float)
    if design.copied:
        drawn = random.random((*shape, items)) < design.copied
        right = np.where(drawn, right[:, :1, :1], right)
    trials = np.full(shape, float(items * design.samples))
    counts = right.sum(axis=-1)
    if design.fewer > 1:
        some = items // design.fewer
        counts[:, 0] = right[:, 0, :, :some].sum(axis=-1)
        trials[:, 0] = some * design.samples
    return counts / trials, trials


def _effects(design: Design) -> Floats:
    """Points that each cell differs by: (x, y)."""
    columns, rows = design.levels
    points = np.zeros((columns, rows))
    points[0, 0] += design.best
    points[columns // 2, :] += design.level
    return points + np.linspace(0, design.slope, columns)[:, None]


def _quantiles(design: Design, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    """Normal deviates of how hard an item is in a cell, of variance 1: (benchmark, x, y, item)."""
    benchmarks, columns, _, items = shape
    parts = [
        (design.alike, (benchmarks, 1, 1, items)),
        (design.by_setting, shape),
        (design.by_level, (benchmarks, columns, 1, items)),
    ]
    total = sum(weight for weight, _ in parts)
    if not total:
        return np.zeros((1, 1, 1, 1))
    deviates = sum(np.sqrt(weight / total) * random.normal(size=of) for weight, of in parts)
    return np.asarray(deviates)


def _moved(design: Design, expected: Floats, deviates: Floats) -> Floats:
    """The chance of a right sample per item: a beta law of the design's correlation."""
    correlation = design.alike + design.by_setting + design.by_level
    if not correlation:
        return expected + np.zeros((1, 1, 1, design.items))
    size = 1 / correlation - 1
    chances: Floats = special.betaincinv(
        np.clip(expected, 1e-6, 1 - 1e-6) * size,
        np.clip(1 - expected, 1e-6, 1 - 1e-6) * size,
        special.ndtr(deviates),
    )
    return chances


def questions(values: Floats, trials: Floats, seed: int) -> tuple[float, float, float]:
    """P-values of a page: is some setting the best, does x matter, does y."""
    benchmarks = len(values)
    if benchmarks > 1:
        flat = values.reshape(benchmarks, -1)
        best = permutation.best_over_replicates(flat, PERMUTATIONS, seed)
    else:
        best = permutation.best_by_counts((values * trials).round().ravel(), trials.ravel())
    axis = permutation.axis_over_replicates if benchmarks > 2 else permutation.axis_over_rows
    across = axis(values, PERMUTATIONS, seed)
    down = axis(values.transpose(0, 2, 1), PERMUTATIONS, seed)
    return best.p, across.p, down.p


def asserts(design: Design, seed: int) -> bool:
    """Whether an answer of any page of a simulated study asserts something."""
    random = np.random.default_rng(seed)
    pages = [questions(*shares(design, random), seed) for _ in range(design.pages)]
    if design.best_alone:
        return pages[0][0] <= ALPHA
    return any(p <= ALPHA for page in over_pages(pages) for p in page)


# --- level against level ------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two levels with the same 20 cells.

    Attributes:
        gap: Points that the first is better by.
        alike: As in `Design`, over the cells of both levels.
        by_level: As `alike`, within each level alone.
        copied: Share of the samples that are the same in all cells of their level.
    """

    gap: float = 0.0
    alike: float = 0.0
    by_level: float = 0.0
    copied: float = 0.0


TESTS = ("Fisher, Holm", "trials", "n = items", "flips, cells", "flips, items")


def differs(
    pair: Pair, seed: int, cells: int = 20, items: int = 30, samples: int = 5
) -> list[bool]:
    """Which of `TESTS` find a difference (for Fisher's, in some cell)."""
    random = np.random.default_rng(seed)
    design = Design(2, (1, cells), items, samples, alike=pair.alike, by_level=pair.by_level)
    first, second = _outcomes(pair, design, random)
    n = items * samples
    counts = [[(int(k), n) for k in outcomes.sum(axis=-1).tolist()] for outcomes in (first, second)]
    fisher = [difference(k1, n1, k2, n2).p for (k1, n1), (k2, n2) in zip(*counts, strict=True)]
    trials = mean_difference.with_p(mean_difference.counts_interval(*counts), "")
    by_items = mean_difference.with_p(mean_difference.counts_interval(*counts, items), "")
    cell_means = [(outcomes.sum(axis=-1) / n).tolist() for outcomes in (first, second)]
    item_means = [(outcomes.mean(axis=0) / samples).tolist() for outcomes in (first, second)]
    found = [
        min(holm(fisher)),
        trials.p,
        by_items.p,
        mean_difference.by_sign_flips(*cell_means, "cells").p,
        mean_difference.by_sign_flips(*item_means, "items").p,
    ]
    return [p <= ALPHA for p in found]


def _outcomes(pair: Pair, design: Design, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Right samples per (cell, item) of both levels, where they share what is hard in an item."""
    total = pair.alike + pair.by_level
    alone = (1, 1, 1, design.items)
    both = random.normal(size=alone)
    found = []
    for points in (pair.gap, 0.0):
        deviates = np.zeros(alone)
        if total:
            own = random.normal(size=alone)
            deviates = np.sqrt(pair.alike / total) * both + np.sqrt(pair.by_level / total) * own
        expected = np.full((1, 1, 1, 1), design.share + points / 100)
        chances = _moved(design, expected, deviates)[0, 0]
        shape = (design.levels[1], design.items, design.samples)
        right = random.random(shape) < chances[..., None]
        if pair.copied:
            same = random.random(shape[1:]) < pair.copied
            right = np.where(same, right[:1], right)
        found.append(right.sum(axis=-1).astype(float))
    return found[0], found[1]


def seeds_differ(gap: float, seed: int, deviation: float = 5.0) -> list[bool]:
    """Whether two levels of three seeds differ: by their trials, and by t over the seeds.

    They have 36 cells with 200 trials each, as the digits studies do.

    Args:
        deviation: Of the seeds' differences, in points.
    """
    random = np.random.default_rng(seed)
    cells, n, seeds = 36, 200, 3
    counts, means = [], []
    for points in (gap, 0.0):
        moved = 0.5 + (points + random.normal(0, deviation / np.sqrt(2), (seeds, 1))) / 100
        right = random.binomial(n, np.broadcast_to(moved, (seeds, cells)))
        counts.append([(int(k), n) for k in right.ravel().tolist()])
        means.append(right.mean(axis=1) / n)
    trials = mean_difference.with_p(mean_difference.counts_interval(*counts), "")
    over_seeds = mean_difference.by_seeds((means[0] - means[1]).tolist())
    return [trials.p <= ALPHA, over_seeds.p <= ALPHA]


# --- tables -------------------------------------------------------------------------------------

GRIDS = ((4, 5), (6, 6), (10, 10))
SAMPLING = ((30, 1), (30, 5), (198, 5))
"""Items, and samples of each: 30 to 990 trials."""
ALIKE = (0.0, 0.6)


def _mixed(base: Design, benchmarks: Sequence[int]) -> list[Design]:
    """A design in all sizes, with shared items and without."""
    sizes = product(benchmarks, GRIDS, SAMPLING, ALIKE)
    return [
        replace(base, benchmarks=number, levels=levels, items=items, samples=samples, alike=alike)
        for number, levels, (items, samples), alike in sizes
    ]


NULL: Mapping[str, list[Design]] = {
    "2 to 8 benchmarks; 4 × 5, 6 × 6, 10 × 10; n 30 to 990": _mixed(Design(), (2, 3, 4, 8)),
    "one grid, same sizes": _mixed(Design(), (1,)),
    "4 benchmarks, item × setting": [Design(alike=0.3, by_setting=0.3)],
    "4 benchmarks, item × level of an axis": [Design(alike=0.3, by_level=0.3)],
    "2 benchmarks, item × level of an axis, a twentieth": [
        Design(benchmarks=2, alike=0.57, by_level=0.03)
    ],
    "half of the draws copied between cells": [Design(copied=0.5)],
    "shares of 2 %": [Design(share=0.02)],
    "shares of 98 %": [Design(share=0.98)],
    "n of one column ÷ 2": [Design(fewer=2)],
    "n of one column ÷ 10": [Design(fewer=10)],
    "*best* alone, luck of a run shared by benchmarks, 1 × noise": [
        Design(luck=1.0, pages=1, best_alone=True)
    ],
}
PAIRS: Mapping[str, Pair] = {
    "nothing differs, independent": Pair(),
    "nothing differs, shared items": Pair(alike=0.6),
    "nothing differs, shared items, half copied": Pair(alike=0.6, copied=0.5),
    "nothing differs, model × item, a tenth": Pair(alike=0.54, by_level=0.06),
    "gap of 3 points, shared items": Pair(gap=3, alike=0.6),
    "gap of 7 points, shared items": Pair(gap=7, alike=0.6),
}
POWER: Mapping[str, Design] = {
    "one cell + 10 points": Design(alike=0.6, best=10, pages=1),
    "one level of x, + 6 points": Design(alike=0.6, level=6, pages=1),
    "axis, 4 points": Design(alike=0.6, slope=4, pages=1),
}
POWER_BENCHMARKS = (1, 2, 4, 8)
SEED_GAPS = (0.0, 7.0, 20.0)


def share(successes: int, n: int) -> str:
    """A share in percent, with its 95 % interval: Wilson's."""
    interval = wilson(successes, n)
    return f"{100 * successes / n:.1f} ({100 * interval.low:.1f}–{100 * interval.high:.1f})"


Runs = Callable[[Callable[[int], object], int], list[object]]


def _null_table(studies: int, runs: Runs) -> list[str]:
    lines = ["| Nothing differs | Studies | Asserts something, % |", "|---|---:|---:|"]
    for name, designs in NULL.items():
        each = max(1, studies if len(designs) == 1 else studies * 7 // len(designs))
        found = [runs(partial(asserts, design), each) for design in designs]
        total = sum(map(sum, found))  # type: ignore[arg-type]
        lines.append(f"| {name} | {each * len(designs):,} | {share(total, each * len(designs))} |")
        _progress(lines[-1])
    return lines


def _pairs_table(studies: int, runs: Runs) -> list[str]:
    lines = [f"| 20 cells, 30 × 5 | {' | '.join(TESTS)} |", "|---|" + "---:|" * len(TESTS)]
    for name, pair in PAIRS.items():
        found = np.array(runs(partial(differs, pair), studies)).sum(axis=0)
        lines.append(f"| {name} | {' | '.join(share(int(k), studies) for k in found)} |")
        _progress(lines[-1])
    return lines


def _seeds_table(studies: int, runs: Runs) -> list[str]:
    lines = [
        "| Three seeds, s.d. 5 points; 36 cells, 100 × 2 | trials | t over seeds |",
        "|---|---:|---:|",
    ]
    for gap in SEED_GAPS:
        found = np.array(runs(partial(seeds_differ, gap), studies)).sum(axis=0)
        name = f"gap of {gap:g} points" if gap else "nothing differs"
        lines.append(f"| {name} | {' | '.join(share(int(k), studies) for k in found)} |")
        _progress(lines[-1])
    return lines


def _power_table(studies: int, runs: Runs) -> list[str]:
    head = " | ".join(
        "1 benchmark" if number == 1 else f"{number} benchmarks" for number in POWER_BENCHMARKS
    )
    lines = [f"| Something differs | {head} |", "|---|" + "---:|" * len(POWER_BENCHMARKS)]
    for name, design in POWER.items():
        cells = [
            share(sum(runs(partial(asserts, replace(design, benchmarks=number)), studies)), studies)  # type: ignore[arg-type]
            for number in POWER_BENCHMARKS
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        _progress(lines[-1])
    return lines


def _progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")


HEAD = """# How often an answer is wrong

Measured with `python tools/bench/simulation.py --studies {studies}`: studies in which nothing
differs, or by a known amount. Shares in %, with their 95 % intervals. Two sibling pages, four
benchmarks, 4 × 5 cells, 30 items with 5 samples each, half of which are right, unless a row
says otherwise; shared items have an intra-class correlation of 0.6. Where an item is harder for
one setting, level or model, that is half of this correlation, or the share that the row says.
Where no number of studies is given, a row has {studies:,}.
"""


def report(studies: int, runs: Runs) -> str:
    """The page, from so many simulated studies per row."""
    parts = [
        HEAD.format(studies=studies),
        "## Headlines that assert something\n",
        *_null_table(studies, runs),
        "\n## Level against level\n",
        *_pairs_table(studies, runs),
        "",
        *_seeds_table(studies, runs),
        "\n## Power\n",
        *_power_table(studies, runs),
    ]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Simulate, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--studies", type=int, default=2000, metavar="N", help="per row (default: %(default)d)"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:

        def runs(simulate: Callable[[int], object], studies: int) -> list[object]:
            return list(pool.map(simulate, range(studies), chunksize=50))

        page = report(given.studies, runs)
    if given.only_print:
        sys.stdout.write(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
