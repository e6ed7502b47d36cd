#!/usr/bin/env python3
"""Simulate studies whose truth is known: how often answers assert what isn't so, and find what is.

  python tools/simulate_answers.py                      all kinds, 200 studies each
  python tools/simulate_answers.py -n 60 --only seeds   some of them
  python tools/simulate_answers.py --planted            planted effects
  python tools/simulate_answers.py --random -n 3000     random designs; with --planted with effects

With `--into FILE` the table also takes the place of that of the same options in a page.

A study is drawn by the generator of its kind, from a seed of its own. Nothing differs in those of
`NULL`: any assertion is false. Those of `PLANTED` have one effect.
"""

# Kinds have a line each.
# ruff: noqa: E501

from __future__ import annotations

import argparse
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import random_designs
from gridatlas.analysis.answers import analyse
from gridatlas.analysis.design import prepare
from gridatlas.analysis.said import Assertion
from gridatlas.analysis.table import Factor, Metric, Table
from gridatlas.statistics.estimates import wilson

Random = np.random.Generator
Drawn = tuple[Table, tuple[str, ...]]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def names(label: str, count: int, role: str = "choice", **more: Any) -> Factor:
    levels = tuple(f"{label} {LETTERS[at % 26]}{at // 26 or ''}" for at in range(count))
    return Factor(label, levels, role, **more)


def numbers(label: str, count: int, role: str = "choice") -> Factor:
    return Factor(
        label, tuple(map(str, range(1, count + 1))), role, tuple(map(float, range(count)))
    )


def table(values: np.ndarray, factors: Mapping[str, Factor], metric: Metric, **more: Any) -> Table:
    """Columns of the cells that aren't nan; `k` and `n` are arrays like the values."""
    there = np.nonzero(np.isfinite(values))
    arrays = {
        key: np.broadcast_to(of, values.shape)[there] if isinstance(of, np.ndarray) else of
        for key, of in more.items()
    }
    codes = dict(zip(factors, there, strict=True))
    return Table(factors, codes, values[there], metric, **arrays)


SCORE = Metric("Accuracy", "%", "higher", None, 1, 100.0)
LOSS = Metric("Loss", "", "lower", "linear", 4)
LATENCY = Metric("Latency", "ms", "lower", None, 3)


def missing(values: np.ndarray, share: float, random: Random) -> np.ndarray:
    return np.where(random.random(values.shape) < share, np.nan, values) if share else values


# --- counts ---------------------------------------------------------------------------------------


def counts(
    random: Random, models: int = 1, benchmarks: int = 1, axes: tuple[int, int] | None = None,
    items: int | None = None, samples: int | None = None, share: float | None = None,
    unequal: bool = False, copied: float = 0.0, lost: float = 0.0, effect: np.ndarray | float = 0.0,
    stem: str = "",
) -> Drawn:  # fmt: skip
    """Models × two settings × benchmarks; all cells of a benchmark are asked its items."""
    a, b = axes or (int(random.integers(3, 7)), int(random.integers(3, 6)))
    shape = (models, a, b, benchmarks)
    effect = np.broadcast_to(np.asarray(effect, float), shape)
    k, n = np.zeros(shape), np.zeros(shape)
    hard = random.choice([0.0, 1.5])
    many = items or int(random.choice([30, 100, 300, 1000]))
    each = samples or int(random.choice([1, 5]))
    for at in range(benchmarks):
        count = int(random.integers(20, 1000)) if unequal else many
        middle = share or random.uniform(0.25, 0.75)
        base = np.log(middle / (1 - middle)) + random.normal(0, hard, count)
        p = 1 / (1 + np.exp(-base))
        p = np.clip(p + effect[..., at, None] / 100, 0.001, 0.999)
        drawn = random.binomial(each, p)
        if copied:
            same = random.random((*shape[:3], count)) < copied
            drawn = np.where(same, drawn[:1, :1, :1], drawn)
        k[..., at], n[..., at] = drawn.sum(axis=-1), count * each
    labels = names(stem or "benchmark", benchmarks, "block")
    kinds = {"model": names("model", models), "x": numbers("x", a), "y": numbers("y", b)}
    factors = {**kinds, "benchmark": labels}
    values = missing(np.round(100 * k / n, 1), lost, random)
    facets = tuple(name for name in ("model", "benchmark") if len(factors[name].levels) > 1)
    return table(values, factors, SCORE, k=k, n=n), facets


def by_item(
    random: Random, models: int = 1, items: int = 100, own: float = 0.0, effect: np.ndarray | float = 0.0
) -> Drawn:  # fmt: skip
    shape = (models, 4, 4, items)
    base = random.normal(0, 1.5, items) + random.normal(0, own, (models, 1, 1, items))
    p = 1 / (1 + np.exp(-base))
    p = np.clip(
        p + np.broadcast_to(np.asarray(effect, float), shape[:3])[..., None] / 100, 0.001, 0.999
    )
    values = 100.0 * random.binomial(4, np.broadcast_to(p, shape)) / 4
    factors = {"model": names("model", models), "x": numbers("x", 4), "y": numbers("y", 4),
               "item": names("item", items, "item")}  # fmt: skip
    return table(values, factors, Metric("Accuracy", "%", "higher", None, None, 100.0)), (
        ("model",) if models > 1 else ()
    )


# --- replicates -----------------------------------------------------------------------------------


def runs(
    random: Random, seeds: int, lost: float = 0.0, axes: tuple[int, int] = (4, 4),
    effect: np.ndarray | float = 0.0, smooth: float = 0.0, noise: float = 1.0, decimals: int | None = 3,
) -> Drawn:  # fmt: skip
    """Each cell a training run of its own, with luck of the seed that all share."""
    a, b = axes
    values = 50 + random.normal(0, 1, (1, 1, seeds)) + random.normal(0, noise, (a, b, seeds))
    slope = np.linspace(-1, 1, a)[:, None, None] * random.normal(0, smooth, (1, 1, seeds))
    values = values + slope + np.asarray(effect, float)
    factors = {"lr": numbers("learning rate", a), "wd": numbers("weight decay", b),
               "seed": names("seed", seeds, "replicate")}  # fmt: skip
    metric = Metric("Accuracy", "%", "higher", None, decimals, 100.0)
    values = values if decimals is None else np.round(values, decimals)
    return table(missing(values, lost, random), factors, metric, cells_are_runs=True), ()


def shared_luck(
    random: Random, seeds: int, settings: int = 3, choices: bool = False, lost: float = 0.0,
    effect: Sequence[float] = (), smooth: float = 0.0, decimals: int = 1, size: tuple[int, int] = (5, 4),
    fixed: bool = False, luck: float | None = None,
) -> Drawn:  # fmt: skip
    """Models evaluated at all conditions; the luck of a model and seed is that of all its cells."""
    a, b = size
    shape = (settings, a, b, seeds)
    of = luck if luck is not None else random.uniform(0.5, 5)
    values = 50 + random.normal(0, of, (settings, 1, 1, seeds)) + random.normal(0, 1, shape)
    values = values + random.normal(0, 1, (1, 1, 1, seeds))
    values = values + np.linspace(-1, 1, a)[:, None, None] * random.normal(
        0, smooth, (settings, 1, 1, seeds)
    )
    if effect:
        values = values + np.asarray(effect, float)[:, None, None, None]
    if fixed:
        values[0] = values[:, 0] = 50 + random.normal(0, 0.1)
    role = "choice" if choices else "condition"
    factors = {"setting": names("setting", settings, baseline=None if choices else 0),
               "x": numbers("x", a, role), "y": numbers("y", b, role),
               "seed": names("seed", seeds, "replicate")}  # fmt: skip
    values = missing(np.round(values, decimals), lost, random)
    metric = Metric("Accuracy", "%", "higher", None, decimals, 100.0)
    return table(values, factors, metric), ("setting", "x", "seed")


def own_seeds(random: Random, counts: Sequence[int], effect: float = 0.0) -> Drawn:
    """Models with seeds of their own, at 4 conditions."""
    total = sum(counts)
    values = np.full((len(counts), 4, total), np.nan)
    start = 0
    for at, count in enumerate(counts):
        luck = random.normal(effect if at == 0 else 0.0, 1, (1, count))
        values[at, :, start : start + count] = 50 + luck + random.normal(0, 0.5, (4, count))
        start += count
    factors = {"model": names("model", len(counts)), "x": numbers("x", 4, "condition"),
               "seed": names("seed", total, "replicate")}  # fmt: skip
    return table(np.round(values, 2), factors, Metric("Score", "", "higher", "linear", 2)), (
        "model",
        "x",
    )


def one_row(random: Random, seeds: int, levels: int, lost: float, ordered: bool = False) -> Drawn:
    values = 50 + random.normal(0, 1, (1, seeds)) + random.normal(0, 1, (levels, seeds))
    kind = numbers("rate", levels) if ordered else names("model", levels)
    factors = {"level": kind, "seed": names("seed", seeds, "replicate")}
    metric = Metric("Score", "", "higher", "linear", 3)
    return table(missing(np.round(values, 3), lost, random), factors, metric), ("seed",)


def optimizers(random: Random, seeds: int, runs: bool = True, effect: float = 0.0) -> Drawn:
    """Losses of optimizers × learning rate × batch size."""
    shape = (3, 5, 4, seeds)
    valley = 0.05 * (np.arange(5) - 2.0)[None, :, None, None] ** 2 * effect
    values = 3 + valley + random.normal(0, 0.05, shape) + random.normal(0, 0.02, (1, 1, 1, seeds))
    factors = {"optimizer": names("optimizer", 3), "lr": numbers("learning rate", 5),
               "bs": numbers("batch size", 4)}  # fmt: skip
    values = np.round(values, 4)
    if seeds > 1:
        factors["seed"] = names("seed", seeds, "replicate")
    else:
        values = values[..., 0]
    return table(values, factors, LOSS, cells_are_runs=runs), ("optimizer",)


# --- measurements, blocks -------------------------------------------------------------------------


def latency(random: Random, repeats: int) -> Drawn:
    shape = (4, 5, 4, repeats)
    values = np.exp(random.normal(2, 0.5) + random.normal(0, 0.05, shape))
    values = np.where(random.random(shape) < 0.05, values * random.uniform(1, 2, shape), values)
    factors = {"gpu": names("GPU", 4), "batch": numbers("batch", 5, "condition"),
               "length": numbers("length", 4, "condition")}  # fmt: skip
    # Repeats share their place.
    place = np.indices(shape)[:3].reshape(3, -1)
    codes = dict(zip(factors, place, strict=True))
    return Table(factors, codes, np.round(values, 3).ravel(), LATENCY), ("gpu",)


def sweep(random: Random) -> Drawn:
    """Runs that are each scored on three data sets, which share their luck."""
    luck = random.normal(0, 1, (5, 4, 1))
    values = 50 + random.normal(0, 5, (1, 1, 3)) + luck + random.normal(0, 0.3, (5, 4, 3))
    factors = {"lr": numbers("learning rate", 5), "wd": numbers("weight decay", 4),
               "dataset": names("dataset", 3, "block")}  # fmt: skip
    return table(np.round(values, 1), factors, SCORE, cells_are_runs=True), ("dataset",)


def one_axis(random: Random) -> Drawn:
    n = np.full(7, float(random.choice([100, 500, 2000])))
    k = random.binomial(n.astype(int), random.uniform(0.2, 0.8)).astype(float)
    factors = {"dropout": numbers("dropout", 7)}
    return table(np.round(100 * k / n, 1), factors, SCORE, k=k, n=n), ()


def leaderboard(
    random: Random, models: int, benchmarks: int, groups: int = 0, lost: float = 0.0,
    effect: float = 0.0, stems: int = 0,
) -> Drawn:  # fmt: skip
    """Models × benchmarks; in groups they share what a model is good at."""
    spread = random.uniform(4, 12, benchmarks)
    rest = random.normal(0, 1, (models, benchmarks))
    if groups:
        of = np.arange(benchmarks) * groups // benchmarks
        rest = 0.95 * random.normal(0, 1, (models, groups))[:, of] + 0.31 * rest
    values = 55 + random.normal(0, 8, benchmarks) + spread * rest
    values[0] += effect
    blocks = names("benchmark", benchmarks, "block")
    if stems:
        levels = tuple(f"{LETTERS[at * stems // benchmarks] * 3}{at}" for at in range(benchmarks))
        blocks = Factor("benchmark", levels, "block")
    factors = {"model": names("model", models), "benchmark": blocks}
    return table(missing(np.round(values, 1), lost, random), factors, SCORE), ()


def grids(random: Random) -> Drawn:
    """3 models × 6 × 3 settings of single values, some missing."""
    values = missing(np.round(50 + random.normal(0, 2, (3, 6, 3)), 1), 0.1, random)
    factors = {"model": names("model", 3), "x": numbers("x", 6), "y": numbers("y", 3)}
    return table(values, factors, SCORE), ("model",)


def curves(random: Random, models: int, seeds: int) -> Drawn:
    steps = 12
    walk = random.normal(0, 1, (models, steps, seeds)).cumsum(axis=1)
    values = 40 + 20 * (1 - np.exp(-np.arange(steps) / 3))[None, :, None] + walk
    factors = {"model": names("model", models), "step": numbers("step", steps, "progress"),
               "seed": names("seed", seeds, "replicate")}  # fmt: skip
    if seeds == 1:
        values, factors = values[..., 0], {key: factors[key] for key in ("model", "step")}
    return table(np.round(values, 2), factors, SCORE), ("model",)


def whole_numbers(random: Random, blocks: bool) -> Drawn:
    shape = (3, 4, 4, 4 if blocks else 3)
    values = np.round(50 + random.normal(0, 0.6, shape) + random.normal(0, 4, (1, 1, 1, shape[3])))
    last = names("benchmark", 4, "block") if blocks else names("seed", 3, "replicate")
    factors = {"model": names("model", 3), "x": numbers("x", 4, "condition"),
               "y": numbers("y", 4, "condition"), "last": last}  # fmt: skip
    return table(values, factors, Metric("Score", "", "higher", "linear", 0, 100.0)), ("model",)


Kind = tuple[Callable[..., Drawn], dict[str, Any]]
NULL: dict[str, Kind] = {
    "counts, one grid": (counts, {}),
    "counts, 2 models, 1 benchmark": (counts, {"models": 2}),
    "counts, 2 models, 2 benchmarks": (counts, {"models": 2, "benchmarks": 2}),
    "counts, 2 models, 4 benchmarks": (counts, {"models": 2, "benchmarks": 4}),
    "counts, 3 models, 8 benchmarks": (counts, {"models": 3, "benchmarks": 8}),
    "counts, unequal n, 5 % missing": (counts, {"models": 2, "benchmarks": 4, "unequal": True, "lost": 0.05}),
    "counts, shares of 98 %": (counts, {"models": 2, "benchmarks": 4, "share": 0.98}),
    "counts, half of the draws copied": (counts, {"models": 2, "benchmarks": 4, "copied": 0.5}),
    "items, one grid": (by_item, {}),
    "items, 2 models × item": (by_item, {"models": 2, "own": 1.0}),
    "runs, 3 seeds": (runs, {"seeds": 3}),
    "runs, 5 seeds, 5 % missing": (runs, {"seeds": 5, "lost": 0.05}),
    "runs, 15 seeds": (runs, {"seeds": 15}),
    "luck shared, 3 seeds": (shared_luck, {"seeds": 3}),
    "luck shared, 5 seeds, 4 settings": (shared_luck, {"seeds": 5, "settings": 4}),
    "loss, one run each": (optimizers, {"seeds": 1, "runs": False}),
    "loss, 3 seeds, tuned": (optimizers, {"seeds": 3}),
    "latency with outliers, one run": (latency, {"repeats": 1}),
    "latency with outliers, 3 repeats": (latency, {"repeats": 3}),
    "sweep on 3 data sets, luck shared": (sweep, {}),
    "one axis of 7, counts": (one_axis, {}),
    "leaderboard 12 × 20": (leaderboard, {"models": 12, "benchmarks": 20}),
    "leaderboard 40 × 6": (leaderboard, {"models": 40, "benchmarks": 6}),
    "own seeds, 2 × 3": (own_seeds, {"counts": (3, 3)}),
    "own seeds, 2 × 6": (own_seeds, {"counts": (6, 6)}),
    "own seeds, 3 × 5": (own_seeds, {"counts": (5, 5, 5)}),
    "own seeds, 5 and 3": (own_seeds, {"counts": (5, 3)}),
    "own seeds, 10 and 3": (own_seeds, {"counts": (10, 3)}),
    "own seeds, 20 and 3": (own_seeds, {"counts": (20, 3)}),
    "own seeds, 12 and 6": (own_seeds, {"counts": (12, 6)}),
    "missing: 5 seeds, 10 %": (shared_luck, {"seeds": 5, "lost": 0.1}),
    "missing: one row, 12 seeds × 4 models, 20 %": (one_row, {"seeds": 12, "levels": 4, "lost": 0.2}),
    "missing: one row, 12 × 4 numbers, 30 %": (one_row, {"seeds": 12, "levels": 4, "lost": 0.3, "ordered": True}),
    "missing: one row, 30 × 3, 30 %": (one_row, {"seeds": 30, "levels": 3, "lost": 0.3}),
    "missing: 8 models × 12 benchmarks, 20 %": (leaderboard, {"models": 8, "benchmarks": 12, "lost": 0.2}),
    "missing: 3 × 6 × 3 cells, 10 %": (grids, {}),
    "settings as choice, luck shared: 2 × 2 seeds": (shared_luck, {"seeds": 2, "settings": 2, "choices": True, "size": (5, 5)}),
    "settings as choice, luck shared: 2 × 3": (shared_luck, {"seeds": 3, "settings": 2, "choices": True, "size": (5, 5)}),
    "settings as choice, luck shared: 3 × 3": (shared_luck, {"seeds": 3, "settings": 3, "choices": True, "size": (5, 5)}),
    "settings as choice, luck shared: 3 × 5": (shared_luck, {"seeds": 5, "settings": 3, "choices": True, "size": (5, 5)}),
    "12 models × 2 groups of 8 alike": (leaderboard, {"models": 12, "benchmarks": 16, "groups": 2}),
    "12 models × 5 groups of 4 alike": (leaderboard, {"models": 12, "benchmarks": 20, "groups": 5}),
    "30 models × 6 groups of 2 alike": (leaderboard, {"models": 30, "benchmarks": 12, "groups": 6}),
    "2 models × 4 groups of 3, alike by name": (leaderboard, {"models": 2, "benchmarks": 12, "groups": 4, "stems": 4}),
    "curves, 2 models, one run": (curves, {"models": 2, "seeds": 1}),
    "curves, 2 models, 3 seeds": (curves, {"models": 2, "seeds": 3}),
    "curves, 4 models × 5 seeds": (curves, {"models": 4, "seeds": 5}),
    "integers: 3 seeds": (whole_numbers, {"blocks": False}),
    "integers: 4 benchmarks": (whole_numbers, {"blocks": True}),
    "integers: counts with n = 8": (counts, {"models": 2, "items": 8, "samples": 1}),
    "a baseline measured once: 3 seeds": (shared_luck, {"seeds": 3, "fixed": True}),
    "a baseline measured once: 5 seeds": (shared_luck, {"seeds": 5, "fixed": True}),
    "smooth trends of their own, runs, 3 seeds": (runs, {"seeds": 3, "smooth": 0.5}),
    "smooth trends of their own, runs, 5 seeds": (runs, {"seeds": 5, "smooth": 1.0}),
    "smooth trends of their own, conditions, 3 seeds": (shared_luck, {"seeds": 3, "smooth": 1.0}),
}  # fmt: skip


def at(shape: tuple[int, ...], place: tuple[int | slice, ...], size: float) -> np.ndarray:
    effect = np.zeros(shape)
    effect[place] = size
    return effect


ALL = slice(None)


def level(benchmarks: int, size: float = 6.0, axes: tuple[int, int] = (5, 4), **more: Any) -> Kind:
    effect = at((1, *axes, benchmarks), (0, 1), size)
    return counts, {"benchmarks": benchmarks, "axes": axes, "effect": effect, **more}


def setting(benchmarks: int, size: float = 10.0, **more: Any) -> Kind:
    effect = at((1, 5, 4, benchmarks), (0, 1, 2), size)
    return counts, {
        "benchmarks": benchmarks,
        "axes": (5, 4),
        "effect": effect,
        "share": 0.5,
        **more,
    }


def model(benchmarks: int, **more: Any) -> Kind:
    effect = at((2, 6, 5, benchmarks), (0,), 3.0)
    return counts, {"models": 2, "benchmarks": benchmarks, "axes": (6, 5), "effect": effect, **more}  # fmt: skip


LEVEL, CELL, FIRST, TREND = ("level", "x"), ("cell", "x"), ("first", ""), ("trend", "lr")
THIRTY = {"items": 30, "samples": 5}
SLOPE = np.arange(5)[:, None, None]
PLANTED: dict[str, tuple[Kind, tuple[str, str], str]] = {
    "level +6, 30 × 5, 1 benchmark": (level(1, **THIRTY), LEVEL, "44/43/1"),
    "level +6, 30 × 5, 2 benchmarks": (level(2, **THIRTY), LEVEL, "81/80/1"),
    "level +6, 30 × 5, 4 benchmarks": (level(4, **THIRTY), LEVEL, "82/79/1"),
    "level +6, 30 × 5, 8 benchmarks": (level(8, **THIRTY), LEVEL, "100/100/0"),
    "level +6, 198 × 5, 1 benchmark": (level(1, items=198, samples=5), LEVEL, "100/100/0"),
    "level +6, 1,000 × 1, 4 benchmarks": (level(4, items=1000, samples=1), LEVEL, "99/97/0"),
    "level +10, 4 × 3, n = 1,000": (level(1, 10.0, (4, 3), items=1000, samples=1), LEVEL, "100/100/0"),
    "level +6, items 100 × 4": ((by_item, {"effect": at((1, 4, 4), (0, 1), 6.0)}), LEVEL, "88/88/2"),
    "level of 5 s.d., runs, 3 seeds": ((runs, {"seeds": 3, "effect": at((4, 4, 1), (1,), 5.0)}), ("level", "lr"), "95/87/0"),
    "cell +10, 30 × 5, 1 benchmark": (setting(1, **THIRTY), CELL, "7/6/0"),
    "cell +10, 30 × 5, 2 benchmarks": (setting(2, **THIRTY), CELL, "38/32/3"),
    "cell +10, 30 × 5, 4 benchmarks": (setting(4, **THIRTY), CELL, "69/64/1"),
    "cell +10, 30 × 5, 8 benchmarks": (setting(8, **THIRTY), CELL, "96/87/1"),
    "cell +10, 198 × 5": (setting(1, items=198, samples=5), CELL, "98/96/1"),
    "cell +10, items 100 × 4": ((by_item, {"effect": at((1, 4, 4), (0, 1, 2), 10.0)}), CELL, "74/58/4"),
    "cell of 5 s.d., runs, 5 seeds": ((runs, {"seeds": 5, "effect": at((4, 4, 1), (1, 2), 5.0)}), ("cell", "lr"), "100/82/0"),
    "model +3, 30 × 5, 1 benchmark": (model(1, **THIRTY), FIRST, "73/73/1"),
    "model +3, 30 × 5, 4 benchmarks": (model(4, **THIRTY), FIRST, "98/98/0"),
    "model +3, 198 × 5": (model(1, items=198, samples=5), FIRST, "100/100/0"),
    "model +3, items 100 × 4": ((by_item, {"models": 2, "effect": at((2, 4, 4), (0,), 3.0)}), FIRST, "97/97/1"),
    "setting +10, 3 seeds, luck shared": ((shared_luck, {"seeds": 3, "effect": (10.0, 0, 0), "luck": 2.0}), FIRST, "62/62/4"),
    "setting +6, 5 seeds, luck shared": ((shared_luck, {"seeds": 5, "effect": (6.0, 0, 0), "luck": 2.0}), FIRST, "78/78/3"),
    "trend of 3 a level, 3 seeds, runs": ((runs, {"seeds": 3, "axes": (5, 4), "effect": 3.0 * SLOPE, "noise": 5.0}), TREND, "89/86/4"),
    "trend of 2 a level, 4 benchmarks": ((counts, {"benchmarks": 4, "axes": (5, 4), **THIRTY, "effect": 2.0 * SLOPE[None]}), ("trend", "x"), "95/92/1"),
    "model +3 s.d., seeds of their own, 3 each": ((own_seeds, {"counts": (3, 3), "effect": 3.0}), FIRST, "57/57/-"),
    "model +3 s.d., seeds of their own, 10 and 3": ((own_seeds, {"counts": (10, 3), "effect": 3.0}), FIRST, "74/74/-"),
    "model +2 s.d., seeds of their own, 6 each": ((own_seeds, {"counts": (6, 6), "effect": 2.0}), FIRST, "84/84/-"),
    "model +2 s.d., seeds of their own, 12 and 6": ((own_seeds, {"counts": (12, 6), "effect": 2.0}), FIRST, "73/73/-"),
    "leaderboard 12 × 20, one model +12": ((leaderboard, {"models": 12, "benchmarks": 20, "effect": 12.0}), FIRST, "100/100/1"),
    "leaderboard 12 × 20, one model +8": ((leaderboard, {"models": 12, "benchmarks": 20, "effect": 8.0}), FIRST, "57/57/1"),
}  # fmt: skip


# --- judging --------------------------------------------------------------------------------------


def drawn(label: str, kind: Kind, number: int) -> Drawn:
    make, options = kind
    return make(np.random.default_rng([zlib.crc32(label.encode()), number]), **options)


def false_pages(label: str, number: int) -> tuple[bool, bool, bool]:
    """Whether the front page asserts anything; plainly; and whether any page does."""
    study, facets = drawn(label, NULL[label], number)
    answers = analyse(prepare(study), facets)
    front = answers[None]
    clear = front.grade == "clear"
    return bool(front.assertions), clear, any(answer.assertions for answer in answers.values())


def judged(assertion: Assertion, planted: tuple[str, str]) -> str:
    """`named`, `part` or `wrong`; '' of what is true beside it."""
    kind, factor = planted
    levels, mine = assertion.levels, assertion.factor.split(" × ")
    if kind == "first":
        if assertion.kind not in ("pair", "block", "best"):
            return "wrong"
        return "named" if levels[0].endswith(" a") else "wrong"
    if factor not in mine:
        # A cell lies on a level of the other axis too.
        other = kind == "cell" and assertion.kind in ("level", "best", "peak", "differ", "trend")
        return (
            "part"
            if other and (assertion.kind not in ("level", "best") or levels[0] == "3")
            else "wrong"
        )
    if kind == "trend":
        ends = assertion.kind in ("best", "level") and levels[0] in ("1", "5")
        return "named" if assertion.kind == "trend" or ends else "part"
    if kind == "cell" and assertion.kind == "cell":
        return "named" if levels == ("2", "3") else "wrong"
    if assertion.kind == "cell":
        return "wrong"
    if assertion.kind in ("best", "level") or len(set(levels)) == 1:
        right = levels[0] == "2"
        return ("named" if kind == "level" else "part") if right else "wrong"
    if assertion.kind == "peak":
        return "part" if int(levels[0]) <= 2 <= int(levels[1]) else "wrong"
    return "part"


def found(label: str, number: int) -> tuple[bool, bool, bool, bool]:
    """Whether the front page asserts anything, names what was planted, a part of it, or another."""
    kind, planted, _ = PLANTED[label]
    study, _ = drawn(label, kind, number)
    said = [judged(each, planted) for each in analyse(prepare(study))[None].assertions]
    named = "named" in said
    return bool(said), named, "part" in said and not named, "wrong" in said


def random_design(label: str, number: int, *, planted: bool) -> tuple[bool, ...]:
    """As `false_pages`, of a study of a random design."""
    return random_designs.judged(number, planted=planted)


def percent(count: int, total: int) -> str:
    interval = wilson(count, total)
    return f"{100 * count / total:.1f} ({100 * interval.low:.1f}–{100 * interval.high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-n", type=int, default=200, help="studies of each kind")
    parser.add_argument("--only", default="", help="kinds whose name has this")
    parser.add_argument("--planted", action="store_true", help="planted effects")
    parser.add_argument("--random", action="store_true", help="random designs instead of kinds")
    parser.add_argument("--into", type=Path, help="a page with the table of these options")
    options = parser.parse_args()
    kinds = [label for label in (PLANTED if options.planted else NULL) if options.only in label]
    judge: Callable[..., tuple[bool, ...]] = found if options.planted else false_pages
    if options.random:
        kinds, judge = ["random designs"], partial(random_design, planted=options.planted)
    heading = "asserted | named | part | wrong" if judge is found else "front | clear | any page"
    lines = [f"| kind | {heading} |", f"|---|{'---:|' * (heading.count('|') + 1)}"]
    print(*lines, sep="\n", flush=True)
    totals: Counter[int] = Counter()
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for label in kinds:
            rows = list(pool.map(partial(judge, label), range(options.n), chunksize=10))
            sums = [sum(column) for column in zip(*rows, strict=True)]
            totals.update(dict(enumerate(sums)))
            lines.append(f"| {label} | {' | '.join(percent(count, len(rows)) for count in sums)} |")
            print(lines[-1], flush=True)
    every = options.n * len(kinds)
    total = " | ".join(percent(totals[place], every) for place in sorted(totals))
    lines.append(f"| **all {every:,}** | {total} |")
    print(lines[-1])
    if options.into:
        words = "--random " * options.random + "--planted " * options.planted
        mark = f"<!-- {words}-n {options.n} {options.only}".rstrip() + " -->\n"
        block = re.compile(re.escape(mark) + r".*?(?=<!-- end -->)", re.DOTALL)
        table = "\n".join([mark, *lines, "", ""])
        page, put = block.subn(lambda _: table, options.into.read_text("utf-8"))
        if not put:
            parser.error(f"{options.into} has no line {mark.strip()}")
        options.into.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
