"""Legitimate studies of many designs: what their metric is, who wrote the numbers, how large."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal

from gridatlas.model.schema import Metric, ReadingEntry
from gridatlas.model.study import Cell, Factor, Level, Reading, Study
from gridatlas.table.study_table import StudyTable

Draw = Callable[[random.Random], float]
Write = Callable[[float], str]


def _share(n: int, low: float, high: float) -> Callable[[random.Random], Draw]:
    """Percentages of n trials, all with about the same chance."""

    def of_study(rng: random.Random) -> Draw:
        rate = rng.uniform(low, high)
        return lambda rng: 100 * sum(rng.random() < rate for _ in range(n)) / n

    return of_study


def _normal(mean: float, sd: float) -> Callable[[random.Random], Draw]:
    return lambda _: lambda rng: rng.gauss(mean, sd)


def _means(n: int, seeds: int) -> Callable[[random.Random], Draw]:
    share = _share(n, 0.3, 0.95)

    def of_study(rng: random.Random) -> Draw:
        draw = share(rng)
        return lambda rng: sum(draw(rng) for _ in range(seeds)) / seeds

    return of_study


def _decades(low: float, high: float) -> Callable[[random.Random], Draw]:
    return lambda _: lambda rng: 10 ** rng.uniform(low, high)


METRICS: Mapping[str, tuple[str, Callable[[random.Random], Draw]]] = {
    "share of 8": ("%", _share(8, 0.2, 0.8)),
    "share of 20": ("%", _share(20, 0.3, 0.9)),
    "share of 30": ("%", _share(30, 0.1, 0.9)),
    "share of 80, nearly all right": ("%", _share(80, 0.97, 0.999)),
    "share of 150": ("%", _share(150, 0.3, 0.9)),
    "share of 1000": ("%", _share(1000, 0.3, 0.95)),
    "mean over 3 seeds": ("%", _means(50, 3)),
    "mean over 4 seeds": ("%", _means(100, 4)),
    "mean over 10 seeds": ("%", _means(100, 10)),
    "error rate": ("%", _normal(0.5, 0.12)),
    "share of 1000, hardly any right": ("%", _share(1000, 0.002, 0.006)),
    "normal": ("%", _normal(70, 6)),
    "loss": ("", lambda _: lambda rng: 0.4 + abs(rng.gauss(0, 0.3))),
    "loss over decades": ("", _decades(-5, 1)),
    "time": ("ms", lambda _: lambda rng: rng.lognormvariate(3.6, 0.7)),
    "time over decades": ("s", _decades(-2, 4)),
    "about ten": ("s", _normal(12, 1.5)),
    "about a hundred": ("", _normal(96, 2)),
    "reward": ("", _normal(-150, 80)),
    "count": ("", lambda _: lambda rng: rng.randrange(40, 900)),
    "rating": ("", lambda _: lambda rng: rng.randrange(2, 11) / 2),
    "median of counts": (
        "",
        lambda _: lambda rng: rng.choice((2, 2, 2, 2, 2, 1)) * rng.randrange(40, 900) / 2,
    ),
}


def _float32(value: float) -> str:
    """As NumPy writes single precision: the fewest digits that give the same number."""
    (single,) = struct.unpack("f", struct.pack("f", value))
    digits = (f"{single:.{n}g}" for n in range(1, 10))
    shortest = next(
        text for text in digits if struct.pack("f", float(text)) == struct.pack("f", single)
    )
    return format(Decimal(shortest), "f")


def _trimmed(places: int) -> Write:
    def write(value: float) -> str:
        text = f"{value:.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    return write


WRITERS: Mapping[str, Write] = {
    "full floats": repr,
    "single precision": _float32,
    **{f"fixed, {n} decimals": (lambda v, n=n: f"{v:.{n}f}") for n in (0, 1, 2, 3, 4)},
    **{f"rounded, {n} decimals": (lambda v, n=n: repr(round(v, n))) for n in (1, 2, 3, 4, 6)},
    **{f"without zeros, {n} decimals": _trimmed(n) for n in (1, 2, 3)},
    **{f"{n} digits": (lambda v, n=n: format(Decimal(f"{v:.{n}g}"), "f")) for n in (3, 4)},
    **{f"{n} digits with zeros": (lambda v, n=n: f"{v:#.{n}g}".rstrip(".")) for n in (3, 4)},
    "six digits, as C++": lambda v: f"{v:g}",
}
SIZES = ((2, 2), (3, 3), (4, 1), (5, 4), (10, 2), (3, 12), (10, 10), (20, 20), (30, 1))
GRIDS = (1, 1, 2, 4, 8)


def legitimate(number: int, seed: str = "legitimate") -> tuple[str, Study]:
    """One of endlessly many studies without a mistake, with a name for messages."""
    rng = random.Random(f"{seed}/{number}")
    metric = rng.choice([*METRICS])
    writer = rng.choice([*WRITERS])
    (width, height), grids = rng.choice(SIZES), rng.choice(GRIDS)
    unit, of_study = METRICS[metric]
    draw, write = of_study(rng), WRITERS[writer]
    cells = {
        ((f"g{grid}",), (f"x{x}", f"y{y}")): Cell(Decimal(write(draw(rng))), "ok", "cells")
        for grid in range(grids)
        for y in range(height)
        for x in range(width)
    }

    def factor(name: str, size: int) -> Factor:
        keys = [f"{name}{i}" for i in range(size)]
        return Factor(name, name, "", tuple(Level(key, key, key) for key in keys))

    x, y, facets = factor("x", width), factor("y", height), (factor("g", grids),)
    table = StudyTable.of(facets, x, y, cells)
    study = Study(
        id="legitimate",
        title="Legitimate",
        summary="",
        source=None,
        metric=Metric(name=metric, unit=unit),
        x=x,
        y=y,
        facets=facets,
        baseline={},
        compare=(),
        trials=None,
        readings=(Reading("cells", "cells", ReadingEntry(id="cells", file="cells.csv"), table),),
        reconcile="primary",
        roles={"g": "replicate"} if grids > 1 else {},
        folder="legitimate",
    )
    return f"{number}: {metric}, {writer}, {grids} grids of {width} × {height}", study
