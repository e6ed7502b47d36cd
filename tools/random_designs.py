"""Studies of random designs whose truth is known, and what of an answer isn't true of them.

A design has any number of factors with any roles, levels, gaps, rounding, units, and luck of every
kind that its population allows. Its truth is an array of the means that its values scatter about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gridatlas.analysis.answers import Answer, analyse
from gridatlas.analysis.design import prepare
from gridatlas.analysis.said import Assertion
from gridatlas.analysis.table import Factor, Metric, Table

Random = np.random.Generator
Floats = np.ndarray
WORDS = re.findall("...", "oakelmfirashyewbayfigboxmayryesalteagumivynutpearuesowtanurn")
METRICS = [
    Metric("Accuracy", "%", "higher", None, None, 100.0),
    Metric("Loss", "", "lower", "linear"),
    Metric("Latency", "ms", "lower"),
    Metric("Score", "", "higher", "linear"),
]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study, the factors that have pages, and its truth.

    Attributes:
        truth: (level of each factor but replicates, items and progress), in the metric's unit or in
            logs: for other benchmarks where there are such.
        here: The same, with what these benchmarks have of their own.
    """

    table: Table
    facets: tuple[str, ...]
    axes: tuple[str, ...]
    truth: Floats
    here: Floats


def drawn(seed: tuple[int, ...], *, planted: bool, times: float = 1.0) -> Drawn:
    """A study of a random design; without `planted` nothing differs.

    Args:
        times: What planted effects are multiplied by.
    """
    random = np.random.default_rng(seed)
    factors = _varied(random)
    last = str(random.choice(["", "seed", "seed", "repeat", "block", "block", "item", "counts"]))
    if random.random() < 0.25 and last != "block":
        factors["block"] = _names(random, "benchmark", int(random.integers(2, 5)), "block")
    if last == "block":
        factors["block"] = _names(random, "benchmark", int(random.integers(3, 13)), "block")
    axes = tuple(factors)
    shape = tuple(len(factor.levels) for factor in factors.values())
    whose = _whose(np.random.default_rng((*seed, 1)), factors) if last == "seed" else []
    sides = int(np.prod([shape[at] for at in whose]))
    most = 11 if sides == 1 else 6
    units = {"seed": sides * int(random.integers(2, most)), "repeat": int(random.integers(2, 6)),
             "item": int(random.integers(5, 80))}.get(last, 1)  # fmt: skip
    truth = times * _effects(random, factors) if planted else np.zeros(shape)
    runs = last in ("", "seed") and bool(random.random() < 0.4)
    own = np.zeros(shape)
    if last == "block":
        own = random.uniform(0, 2) * _of_levels(random, factors, ["block"])
    values = truth + own + _common(random, factors, shape)
    values = values[..., None] + _luck(random, factors, shape, units, last, runs=runs)
    here = truth + own
    share = random.choice([0.0, 0.0, 0.05, 0.2])
    lost = random.random(values.shape) < share
    if whose:
        places = np.indices(values.shape)
        side = np.ravel_multi_index([*places[whose]], [shape[at] for at in whose])
        lost |= places[-1] % sides != side
    if last == "counts":
        return _counts(random, factors, axes, truth, lost[..., 0])
    metric = METRICS[int(random.integers(len(METRICS)))]
    decimals = int(random.integers(0, 4)) if random.random() < 0.5 else None
    if metric.unit == "ms":
        scale = random.choice([0.02, 0.1])
        values, truth, here = np.exp(3 + scale * values), scale * truth, scale * here
    else:
        values = 50 + values
    if decimals is not None:
        values = np.round(values, decimals + (metric.unit == "ms"))
        decimals += metric.unit == "ms"
    metric = Metric(metric.name, metric.unit, metric.better, metric.scale, decimals, metric.high)
    at = np.nonzero(~lost)
    codes = dict(zip(axes, at, strict=False))
    if last in ("seed", "item"):
        role = "replicate" if last == "seed" else "item"
        factors[last] = Factor(last, tuple(map(str, range(units))), role)
        codes[last] = at[-1]
    table = Table(factors, codes, values[at], metric, cells_are_runs=runs)
    facets = tuple(name for name in (*axes, "seed") if name in factors and random.random() < 0.7)
    return Drawn(table, facets, axes, truth, here)


def _names(random: Random, label: str, count: int, role: str) -> Factor:
    levels = tuple(f"{WORDS[at % 20]}{'' if at < 20 else at}" for at in range(count))
    base = int(random.integers(count)) if role == "choice" and random.random() < 0.3 else None
    return Factor(label, levels, role, None, base)


def _varied(random: Random) -> dict[str, Factor]:
    """One to four factors that are chosen or given."""
    factors: dict[str, Factor] = {}
    total = 1
    for at in range(int(random.integers(1, 5))):
        role = str(random.choice(["choice", "choice", "condition"]))
        ordered = random.random() < (0.5 if role == "choice" else 0.8)
        count = int(random.integers(2, 7))
        if not ordered and not factors and random.random() < 0.2:
            count = int(random.integers(8, 16))
        if total * count > 600:
            break
        total *= count
        label = f"{'size' if ordered else 'method'} {'abcd'[at]}"
        factor = _names(random, label, count, role)
        if ordered:
            numbers = tuple(map(float, range(1, count + 1)))
            factor = Factor(label, tuple(f"{number:g}" for number in numbers), role, numbers)
        factors[f"f{at}"] = factor
    return factors


def _whose(random: Random, factors: Mapping[str, Factor]) -> list[int]:
    """The places of factors whose levels have seeds of their own; mostly none."""
    if random.random() < 0.6:
        return []
    count = min(len(factors), int(random.integers(1, 3)))
    found = sorted(random.choice(len(factors), count, replace=False).tolist())
    sizes = [len(factor.levels) for factor in factors.values()]
    return found if np.prod([sizes[at] for at in found]) <= 24 else found[:1]


def _of_levels(random: Random, factors: Mapping[str, Factor], names: list[str]) -> Floats:
    """What the levels of each other factor have of their own at each level of these."""
    shape = [len(factor.levels) for factor in factors.values()]
    total = np.zeros(shape)
    for at, name in enumerate(factors):
        if name not in names:
            size = [n if k == at or key in names else 1 for k, (key, n) in
                    enumerate(zip(factors, shape, strict=True))]  # fmt: skip
            total = total + random.normal(0, 1, size)
    return total


def _common(random: Random, factors: Mapping[str, Factor], shape: tuple[int, ...]) -> Floats:
    """How hard each benchmark is."""
    if "block" not in factors:
        return np.zeros(shape)
    size = [n if name == "block" else 1 for name, n in zip(factors, shape, strict=True)]
    return np.broadcast_to(random.normal(0, 8, size), shape)


def _luck(
    random: Random, factors: Mapping[str, Factor], shape: tuple[int, ...], units: int, last: str,
    *, runs: bool,
) -> Floats:  # fmt: skip
    """Of units, by themselves and with levels of a factor or along it; and of single values."""
    noise = [
        lambda size: random.normal(0, 1, size),
        lambda size: random.standard_t(5, size),
        lambda size: random.exponential(1, size) - 1,
    ][int(random.choice([0, 0, 0, 1, 2]))]
    luck = noise((*shape, units)) * random.choice([0.3, 1.0, 2.0])
    if "block" in factors and runs:
        # A run's luck is that of all its benchmarks.
        at = list(factors).index("block")
        luck = 0.2 * luck + noise((*shape[:at], 1, *shape[at + 1 :], units))
    if last not in ("seed", "item"):
        return luck
    luck = luck + random.normal(0, 3, units)
    if runs:
        return luck
    for at, (name, factor) in enumerate(factors.items()):
        size = np.ones(len(shape) + 1, int)
        size[-1] = units
        if factor.numbers is None and random.random() < 0.6:
            size[at] = shape[at]
            luck = luck + random.uniform(0, 3) * random.normal(0, 1, size)
        elif factor.numbers is not None and random.random() < 0.3:
            along = np.linspace(-1, 1, shape[at]).reshape(
                [-1 if k == at else 1 for k in range(len(size))]
            )
            names = [k for k, (key, each) in enumerate(factors.items())
                     if each.numbers is None and key != name and each.role == "choice"]  # fmt: skip
            if names:
                size[names[0]] = shape[names[0]]
            luck = luck + along * random.uniform(0, 2) * random.normal(0, 1, size)
    return luck


def _effects(random: Random, factors: Mapping[str, Factor]) -> Floats:
    """Of one factor, of some, or of one setting."""
    shape = tuple(len(factor.levels) for factor in factors.values())
    truth = np.zeros(shape)
    able = [at for at, factor in enumerate(factors.values()) if factor.role != "block"]
    numbers = [at for at in able if list(factors.values())[at].numbers and shape[at] > 2]
    if len(numbers) >= 2 and random.random() < 0.25:
        place: list[int | slice] = [slice(None)] * len(shape)
        for at in numbers[:2]:
            place[at] = int(random.integers(shape[at]))
        truth[tuple(place)] = random.choice([-1, 1]) * random.uniform(1, 10)
        return truth
    several = 1 if random.random() < 0.6 else len(able)
    for at in random.permutation(able)[:several]:
        count = shape[at]
        one = np.eye(count)[random.integers(count)]
        along = np.linspace(-1, 1, count)
        hill = -((along - random.uniform(-1, 1)) ** 2)
        kinds = [one, random.normal(0, 1, count), along, hill]
        of = kinds[int(random.integers(4 if list(factors.values())[at].numbers else 2))]
        by = random.choice([-1, 1]) * random.uniform(0.5, 6)
        truth = truth + (by * of).reshape([-1 if k == at else 1 for k in range(len(shape))])
    return truth


def _counts(
    random: Random, factors: dict[str, Factor], axes: tuple[str, ...], truth: Floats, lost: Floats
) -> Drawn:
    """Successes of trials; all cells of a benchmark are as hard."""
    base = random.uniform(15, 85) + _common(random, factors, truth.shape)
    share = np.clip((base + truth) / 100, 0.01, 0.99)
    n = np.full(truth.shape, float(random.choice([30, 150, 1000])))
    if random.random() < 0.3:
        n = random.integers(20, 600, truth.shape).astype(float)
    k = random.binomial(n.astype(int), share).astype(float)
    at = np.nonzero(~lost)
    metric = Metric("Accuracy", "%", "higher", None, 1, 100.0)
    codes = dict(zip(axes, at, strict=True))
    table = Table(factors, codes, np.round(100 * k / n, 1)[at], metric, n[at], k[at])
    facets = tuple(name for name in axes if random.random() < 0.7)
    return Drawn(table, facets, axes, 100 * share, 100 * share)


# --- what isn't true ------------------------------------------------------------------------------


def judged(number: int, *, planted: bool) -> tuple[bool, bool, bool]:
    """Whether the front page asserts anything that isn't so, plainly; and whether any page does."""
    study = drawn((5, number), planted=planted)
    answers = analyse(prepare(study.table), study.facets)
    wrong = {page: untrue(study, page, answer) for page, answer in answers.items()}
    clear = any(said.grade == "clear" for said in wrong[None])
    return bool(wrong[None]), clear, any(wrong.values())


LARGE = 8.0
"""A difference of means that is larger than nearly all luck."""


def missed(number: int) -> bool | None:
    """Whether the front page asserts nothing beside effects ten times as large as others.

    Returns:
        None where no factor that is chosen has levels so far apart.
    """
    study = drawn((5, number), planted=True, times=10.0)
    scale = 1.0 if study.table.metric.unit != "ms" else 0.1
    chosen = [study.table.factors[name].role == "choice" for name in study.axes]
    every = {*range(len(chosen))}
    means = (study.truth.mean(axis=tuple(every - {at})) for at in every if chosen[at])
    if not any(np.ptp(of) > scale * LARGE for of in means):
        return None
    return not analyse(prepare(study.table))[None].assertions


def untrue(study: Drawn, page: tuple[str, int] | None, answer: Answer) -> list[Assertion]:
    """The assertions of a page's answer that aren't true."""
    return [said for said in answer.assertions if not _true(study, page, said)]


def _true(study: Drawn, page: tuple[str, int] | None, said: Assertion) -> bool:
    other_blocks = said.population.startswith("for other benchmarks")
    truth = study.truth if other_blocks else study.here
    if study.table.metric.unit == said.unit == "ms":
        truth = np.exp(3 + truth)
    axes = [*study.axes]
    factors = study.table.factors
    sign = 1 if study.table.metric.better == "higher" else -1
    fixed = dict([page] if page else [])
    names = said.factor.split(" × ")
    levels = [*said.levels]
    if said.kind == "block":
        fixed[names.pop()] = factors["block"].levels.index(levels.pop())
    for name, level in fixed.items():
        if name in axes:
            truth = truth.take(level, axes.index(name))
            axes.remove(name)
    at = tuple(k for k, name in enumerate(axes) if name not in names)
    means = truth.mean(axis=at)
    if [name for name in axes if name in names] != names:
        means = means.T
    if said.kind in ("interaction", "cell"):
        rest = means - means.mean(0) - means.mean(1, keepdims=True) + means.mean()
        if said.kind == "interaction":
            return bool(np.abs(rest).max() > 1e-9)
        place = tuple(
            factors[name].levels.index(level) for name, level in zip(names, levels, strict=True)
        )
        return bool(sign * rest[place] > 1e-9)
    places = [factors[names[0]].levels.index(level) for level in levels]
    return _of_axis(said, sign * means, places, sign)


def _of_axis(said: Assertion, means: Floats, places: list[int], sign: int) -> bool:
    """Whether it is true of the means of a factor's levels, higher being better."""
    tiny = 1e-9
    match said.kind:
        case "pair" | "block":
            return bool(means[places[0]] > means[places[1]] + tiny)
        case "best" if len(places) == 2:
            return bool(means[places[0]] > means[places[1]] + tiny)
        case "best":
            return bool(np.ptp(means) > tiny and means[places[0]] >= means.max() - tiny)
        case "level":
            rest = np.delete(means, places[0]).mean()
            return bool(sign * said.estimate * (means[places[0]] - rest) > tiny)
        case "peak":
            inside = means[places[0] : places[1] + 1].max()
            return bool(np.ptp(means) > tiny and inside >= means.max() - tiny)
        case "trend":
            steps = np.arange(len(means)) - (len(means) - 1) / 2
            return bool(sign * said.estimate * (means @ steps) > tiny)
        case _:
            return bool(np.ptp(means) > tiny)
