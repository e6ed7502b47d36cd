"""What pages lead with: the whole sentence, for studies of every kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridatlas.assessment.answers.answer import (
    Answer,
    Evidence,
    grade_of,
    overview_answer,
    told_once,
)
from gridatlas.assessment.answers.blocks import Blocks
from gridatlas.assessment.answers.questions import Part
from gridatlas.assessment.answers.study import answers_of, grid_answers
from gridatlas.assessment.answers.together import together
from gridatlas.checks import check_study
from gridatlas.data.reader import read_study
from gridatlas.data.validate import validate
from gridatlas.table.choose import analyse
from gridatlas.table.grids import Results
from gridatlas_review.lead import values_changed

Value = Callable[..., object]
Files = dict[str, str]
ACCURACY = {"name": "Accuracy", "better": "higher", "unit": "%", "range": [0, 100], "decimals": 1}
LOSS = {"name": "Loss", "better": "lower", "decimals": 3}
RATES, DEPTHS = ["0.1", "0.2", "0.3", "0.4"], ["1", "2", "3", "4", "5"]
TESTS = {f"test{number}": 30 for number in range(1, 9)}


def study(**keys: Any) -> str:
    """A study.yml; JSON is YAML."""
    head = {"format": 1, "title": "A demo", "metric": ACCURACY, "x": "rate", "y": "depth"}
    return json.dumps(head | keys)


def cells(axes: Mapping[str, Iterable[str]], **columns: Value) -> str:
    """A table with a row per combination of levels; a column is a function of the levels."""
    rows = [",".join([*axes, *columns])]
    for levels in product(*axes.values()):
        given = [column(*levels) for column in columns.values()]
        if given[0] is not None:
            rows.append(",".join(map(str, [*levels, *given])))
    return "\n".join(rows) + "\n"


def files(yml: str, csv: str, **more: str) -> Files:
    return {"study.yml": yml, "cells.csv": csv, **more}


def noise(*names: object) -> float:
    """A number about 0 with standard deviation 1, the same for the same names."""
    seed = list("|".join(map(str, names)).encode())
    return float(np.random.default_rng(seed).normal())


def percent(share: float, n: int) -> str:
    """A share as a count of n trials is printed."""
    return f"{100 * round(min(1, max(0, share)) * n) / n:.1f}"


GRID = {"rate": RATES, "depth": DEPTHS}
MODELS = {"model": ["a", "b"], **GRID}


def benchmarks(number: int, *models: str, effect: float = 0.0, **more: Any) -> Files:
    """Models on benchmarks of 30 items with 5 samples; `effect` is the first one's slope."""
    tests = [f"test{at}" for at in range(1, number + 1)]
    facets = {"model": list(models), "benchmark": tests}
    levels = [{"id": test, "items": 30} for test in tests]
    keys = {
        "facets": list(facets),
        "factors": {"benchmark": {"levels": levels}},
        "trials": {"items": "benchmark", "samples": 5},
    }

    def value(model: str, test: str, rate: str, depth: str) -> str:
        slope = effect * float(rate) if model == models[0] else 0
        return percent(0.5 + slope + 0.02 * noise(model, test, depth, rate), 150)

    return files(study(**keys | more), cells({**facets, **GRID}, value=value))


def seeds(number: int, effect: float, *, better: str = "lower", **more: Any) -> Files:
    """Losses of trainings with and without something, with several seeds."""
    names = [str(seed + 1) for seed in range(number)]
    keys = {
        "metric": LOSS | {"better": better},
        "facets": ["warmup", "seed"],
        "replicates": "seed",
        "baseline": {"warmup": "without"},
        "cells": "runs",
        "factors": {
            "warmup": {"levels": ["without", "with"]},
            "seed": {"levels": [*names, {"id": "mean", "aggregate": {"by": "mean"}}]},
        },
    }

    def value(warmup: str, seed: str, rate: str, depth: str) -> str:
        shift = effect if warmup == "with" else 0
        return f"{2 + shift + 0.01 * noise(warmup, seed, rate, depth):.3f}"

    axes = {"warmup": ["without", "with"], "seed": names, **GRID}
    return files(study(**keys | more), cells(axes, value=value))


def steady_seeds() -> Files:
    """Shares of 200 trials: something adds one in nearly all cells of each of three seeds."""
    names = ["1", "2", "3"]
    facets = {"warmup": ["without", "with"], "seed": names}
    keys: dict[str, Any] = {
        "facets": list(facets),
        "replicates": "seed",
        "baseline": {"warmup": "without"},
    }
    keys["factors"] = {"seed": {"levels": [*names, {"id": "mean", "aggregate": {"by": "mean"}}]}}

    def value(warmup: str, seed: str, rate: str, depth: str) -> str:
        added = warmup == "with" and (seed, rate, depth) != ("3", "0.1", "1")
        return f"{50 + 0.5 * added:.1f}"

    table = cells({**facets, **GRID}, value=value, n=lambda *_: 200)
    return files(study(**keys), table)


def one_grid(value: Value, **more: Any) -> Files:
    return files(study(**more), cells(GRID, value=value))


def by_item(models: Iterable[str], *, same: bool) -> Files:
    """Models that one run asked 40 items in each cell: all the same, or each cell its own."""
    facets = {"model": list(models), "rate": RATES, "depth": ["1", "2"]}
    asked: list[list[str]] = []
    done, outcomes, successes = [], [], {}
    for levels in product(*facets.values()):
        model, rate, depth = levels
        name = "" if same else f"{rate}-{depth}-"
        items = [f"{name}q{at}" for at in range(40)]
        if items not in asked:
            asked.append(items)
        gain = 0.25 if model == "b" else 0.0
        random = np.random.default_rng(list("|".join(levels).encode()))
        correct = [int(at / 50 + gain + 0.3 * random.random() > 0.5) for at in range(40)]
        cell = dict(zip(facets, levels, strict=True))
        successes[levels] = sum(correct)
        done.append({"levels": cell, "done": 40, "of": 40})
        outcomes.append(
            {"cell": cell, "items": asked.index(items), "samples": 1, "correct": correct}
        )
    table = cells(
        facets,
        value=lambda *levels: f"{100 * successes[levels] / 40:.1f}",
        n=lambda *levels: 40,
        successes=lambda *levels: successes[levels],
        run=lambda *levels: "r-1",
    )
    manifest = {
        "format": 1, "run": "r-1", "study": "demo", "script": "s", "started": "2026-05-01",
        "cells": done,
    }  # fmt: skip
    return files(
        study(facets=["model"], compare=["model"]),
        table,
        **{
            "runs/r-1.json": json.dumps(manifest),
            "runs/r-1.outcomes.json": json.dumps({"run": "r-1", "items": asked, "cells": outcomes}),
        },
    )


def one_item() -> Files:
    """As `by_item`, of a single item: nothing tells how items differ."""
    made = by_item("ab", same=True)
    outcomes = json.loads(made["runs/r-1.outcomes.json"])
    outcomes["items"] = [["q0"]]
    for cell in outcomes["cells"]:
        cell["correct"] = cell["correct"][20:21]
    right = {tuple(cell["cell"].values()): cell["correct"][0] for cell in outcomes["cells"]}
    run = json.loads(made["runs/r-1.json"])
    for cell in run["cells"]:
        cell["done"] = cell["of"] = 1
    table = cells(
        {"model": "ab", "rate": RATES, "depth": ["1", "2"]},
        value=lambda *levels: 100 * right[levels],
        n=lambda *levels: 1,
        successes=lambda *levels: right[levels],
        run=lambda *levels: "r-1",
    )
    return made | {
        "cells.csv": table,
        "runs/r-1.json": json.dumps(run),
        "runs/r-1.outcomes.json": json.dumps(outcomes),
    }


def failed_first() -> Files:
    """Two benchmarks without a number of trials; no run of the first one ended."""
    text = "benchmark,rate,depth,value,state\n"
    for rate, depth in product(RATES[:2], DEPTHS[:2]):
        text += f"test1,{rate},{depth},,failed\ntest2,{rate},{depth},{rate},\n"
    factors = {
        "benchmark": {"levels": ["test1", "test2", {"id": "both", "aggregate": {"by": "mean"}}]}
    }
    return files(
        study(facets=["benchmark"], factors=factors, metric={"name": "Score", "better": "higher"}),
        text,
    )


def counted(value: Value, n: Value = lambda *_: 100, axes: Any = GRID, **keys: Any) -> Files:
    """A study with the number of trials of each cell."""
    return files(study(**keys), cells(axes, value=value, n=n))


def versus(gaps: Mapping[str, float], **keys: Any) -> Files:
    """Models on one grid with 200 trials in each cell, each better by some share."""
    axes = {"model": list(gaps), **GRID}
    return counted(
        lambda model, rate, depth: percent(
            0.5 + gaps[model] + 0.02 * noise(model, rate, depth), 200
        ),
        lambda *_: 200,
        axes,
        facets=["model"],
        **keys,
    )


def third_facet(name: str, effect: float = 0.3, **more: Any) -> Files:
    """Two models on two benchmarks, and three levels of something else."""
    facets = {"model": ["a", "b"], "benchmark": ["test1", "test2"], name: ["1", "2", "3"]}
    levels: list[object] = [*facets[name]]
    if "replicates" in more:
        levels.append({"id": "mean", "aggregate": {"by": "mean"}})
    keys = {
        "facets": list(facets),
        "factors": {
            "benchmark": {"levels": [{"id": test, "items": 30} for test in facets["benchmark"]]},
            name: {"levels": levels},
        },
        "trials": {"items": "benchmark", "samples": 5},
    }

    def value(model: str, test: str, other: str, rate: str, depth: str) -> str:
        slope = effect * float(rate) if model == "a" else 0
        return percent(0.5 + slope + 0.02 * noise(model, test, other, rate, depth), 150)

    return files(study(**keys | more), cells({**facets, **GRID}, value=value))


def losses(gaps: Mapping[str, float], **keys: Any) -> Files:
    """Levels whose loss differs by so much, each cell a run of its own."""
    axes = {"warmup": list(gaps), **GRID}
    return files(
        study(metric=LOSS, facets=["warmup"], cells="runs", **keys),
        cells(
            axes,
            value=lambda warmup, rate, depth: (
                f"{2 + gaps[warmup] + 0.01 * noise(warmup, rate, depth):.3f}"
            ),
        ),
    )


def second_reading(shift: float, **entry: Any) -> Files:
    """A reading in which b is better, and another one that gives b other values."""
    made = versus({"a": 0.0, "b": 0.1}, compare=["model"], readings=[
        {"id": "first", "file": "cells.csv"}, {"id": "second", "file": "second.csv"} | entry,
    ])  # fmt: skip
    axes = {"model": ["b"], **GRID}
    return made | {
        "second.csv": cells(
            axes,
            value=lambda model, rate, depth: percent(
                0.6 + shift + 0.02 * noise("second", rate, depth), 200
            ),
            n=lambda *_: 200,
        )
    }


def with_holes(made: Files, *lines: int) -> Files:
    rows = made["cells.csv"].splitlines()
    return made | {
        "cells.csv": "\n".join(row for at, row in enumerate(rows) if at not in lines) + "\n"
    }


LONG = {
    "rate": {"label": "Share of the tokens of the context that the model keeps in its cache"},
    "depth": {"label": "Number of layers whose keys and values are shared with the one below"},
}
CASES: dict[str, Files] = {
    "a rate that matters in one of two models": benchmarks(
        4, "a", "b", effect=0.3, compare=["model"]
    ),
    "nothing but noise": benchmarks(4, "a", "b", compare=["model"]),
    "8 benchmarks": benchmarks(8, "a", "b", effect=0.1),
    "2 benchmarks": benchmarks(2, "a", "b", effect=0.6),
    "12 levels": benchmarks(3, *(f"m{at}" for at in range(12)), effect=0.6),
    "40 levels": benchmarks(3, *(f"m{at}" for at in range(40)), effect=0.0),
    "a highest value that is disputed": files(
        study(metric={"name": "Score", "better": "higher"}),
        "rate,depth,value,state\n0.1,1,40,\n0.1,2,55,\n0.2,1,94,disputed\n0.2,2,30,disputed\n",
    ),
    "one item": one_item(),
    "a benchmark without values": failed_first(),
    "more settings than are tested": counted(
        lambda rate, depth: 50 + (int(rate) + int(depth)) % 2,
        axes={"rate": [str(at) for at in range(51)], "depth": [str(at) for at in range(50)]},
    ),
    "missing cells": with_holes(benchmarks(4, "a", effect=0.3), 2, 22, 23),
    "long labels": benchmarks(
        4,
        "a",
        effect=0.3,
        factors={
            **LONG,
            "benchmark": {"levels": [{"id": f"test{at}", "items": 30} for at in range(1, 5)]},
        },
    ),
    "conditions, not a choice": benchmarks(4, "a", "b", effect=0.3, axes="conditions"),
    "loss, three seeds": seeds(3, -0.2),
    "loss, two seeds": seeds(2, -0.2),
    "loss, three seeds, nothing differs": seeds(3, 0.0),
    "loss, three seeds, alike": seeds(3, 0.0, alike=0.05),
    "seeds without n, and no runs": seeds(3, -0.2, cells=None),
    "one run per cell": one_grid(
        lambda rate, depth: f"{2 + 3 * float(rate) + 0.01 * noise(rate, depth):.3f}",
        metric=LOSS,
        cells="runs",
    ),
    "latency without n": files(
        study(metric={"name": "Latency", "unit": "ms", "better": "lower"}),
        cells({"rate": RATES, "depth": ["1"]}, value=lambda rate, depth: int(100 * float(rate))),
    ),
    "a needle in a haystack, all found": one_grid(
        lambda rate, depth: 10, metric={"name": "Score", "better": "higher", "range": [0, 10]}
    ),
    "a needle in a haystack, mostly found": one_grid(
        lambda rate, depth: 7 if (rate, depth) in {("0.4", "5"), ("0.4", "4")} else 10,
        metric={"name": "Score", "better": "higher", "range": [0, 10]},
    ),
    "no errors": one_grid(
        lambda rate, depth: 0, metric={"name": "Errors", "range": [0, 10], "better": "lower"}
    ),
    "all alike, in the middle": one_grid(lambda rate, depth: 47.5),
    "one cell with n": files(study(), "rate,depth,value,n\n0.1,1,45.0,160\n"),
    "one cell": files(study(), "rate,depth,value\n0.1,1,45.0\n"),
    "no value": files(study(), "rate,depth,value,state\n0.1,1,,failed\n"),
    "one grid without n": one_grid(lambda rate, depth: 40 + float(rate) + int(depth)),
    "one grid with n": counted(lambda rate, depth: percent(0.5 + 0.02 * noise(rate, depth), 100)),
    "one cell far above the others": counted(
        lambda rate, depth: "90.0" if (rate, depth) == ("0.2", "3") else "50.0"
    ),
    "two cells far above the others": counted(
        lambda rate, depth: "90.0" if (rate, depth) in {("0.2", "3"), ("0.4", "4")} else "50.0"
    ),
    "one axis": counted(
        lambda rate, depth: percent(0.3 + float(rate), 400),
        lambda *_: 400,
        {"rate": RATES, "depth": ["1"]},
    ),
    "very different numbers of trials": counted(
        lambda rate, depth: percent(0.5 + 0.02 * noise(rate, depth), 100),
        lambda rate, depth: 100 if rate == "0.1" else 1000,
    ),
    "two models": versus({"a": 0.0, "b": 0.1}, compare=["model"]),
    "two models that are alike": versus({"a": 0.0, "b": 0.0}, compare=["model"], alike=5),
    "three models against one": versus(
        {"base": 0.0, "a": 0.1, "b": -0.1, "c": 0.0}, baseline={"model": "base"}
    ),
    "seeds that agree about less than chance makes": steady_seeds(),
    "three facets, seeds": third_facet("seed", replicates="seed", compare=["model"]),
    "three facets, no seeds": third_facet("method", compare=["model"]),
    "three models with one another": versus({"a": 0.0, "b": 0.1, "c": 0.2}, compare=["model"]),
    "three models alike": versus({"a": 0.0, "b": 0.0, "c": 0.0}, compare=["model"]),
    "losses against one": losses(
        {"none": 0.0, "short": -0.2, "long": 0.3, "late": 0.0}, baseline={"warmup": "none"}
    ),
    "printed scores against one": files(
        study(
            metric={"name": "Score", "better": "higher"},
            facets=["model"],
            baseline={"model": "base"},
        ),
        "model,rate,depth,value,state\nbase,0.1,1,40,\nbase,0.1,2,55,\nbase,0.2,1,60,\n"
        "base,0.2,2,70,\na,0.1,1,50,\na,0.1,2,50,disputed\na,0.2,1,65,disputed\na,0.2,2,70,\n",
    ),
    "printed scores of two against one": files(
        study(
            metric={"name": "Score", "better": "higher"},
            facets=["model"],
            baseline={"model": "base"},
        ),
        "model,rate,depth,value\n"
        + "".join(
            f"{model},0.{at},1,{value}\n"
            for model, values in {"base": (4, 5), "a": (5, 7), "b": (6, 3)}.items()
            for at, value in enumerate(values, 1)
        ),
    ),
    "two models better than one": versus(
        {"base": 0.0, "a": 0.1, "b": 0.2}, baseline={"model": "base"}
    ),
    "outcomes by item, the same items": by_item("ab", same=True),
    "outcomes by item, each cell its own": by_item("ab", same=False),
    "a reading that says otherwise": second_reading(-0.1),
    "a reading that says the same": second_reading(0.01),
    "a reading that is only approximate": second_reading(-0.1, approximate=True),
    "a reading that states another range": second_reading(-0.1, stated_range=[{"range": [0, 20]}]),
}
EXPECTED: dict[str, dict[str, tuple[str, str]]] = {
    "a rate that matters in one of two models": {
        "": (
            "clear",
            "a: accuracy clearly rises with rate; "
            "b: no setting and no rate or depth shown to be better",
        ),
        "model": ("likely", "a likely scores higher than b, by 7.4 points"),
        "model/a": ("clear", "a: accuracy clearly rises with rate"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "benchmark/test1": ("likely", "test1: a likely scores higher than b, by 7.2 points"),
        "benchmark/test2": ("likely", "test2: a likely scores higher than b, by 8.2 points"),
    },
    "nothing but noise": {
        "": ("not-shown", "a: nothing shown to be better; b: nothing shown to be better"),
        "model": ("not-shown", "No difference shown between b and a"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "benchmark/test1": ("not-shown", "test1: no difference shown between b and a"),
        "benchmark/test2": ("not-shown", "test2: no difference shown between a and b"),
    },
    "8 benchmarks": {
        "": (
            "clear",
            "a: accuracy clearly rises with rate; "
            "b: no setting and no rate or depth shown to be better",
        ),
        "model/a": ("clear", "a: accuracy clearly rises with rate"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "benchmark/test1": (
            "not-shown",
            "test1, a: nothing shown to be better; test1, b: nothing shown to be better",
        ),
        "benchmark/test2": (
            "not-shown",
            "test2, a: nothing shown to be better; test2, b: nothing shown to be better",
        ),
        "benchmark/test3": (
            "not-shown",
            "test3, a: nothing shown to be better; test3, b: nothing shown to be better",
        ),
    },
    "2 benchmarks": {
        "": (
            "likely",
            "a: on these questions accuracy likely rises with rate; b: nothing shown to be better",
        ),
        "model/a": ("likely", "a: on these questions accuracy likely rises with rate"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "benchmark/test1": (
            "likely",
            "test1: on these questions rate likely matters in 1 of 2 cases: a",
        ),
        "benchmark/test2": (
            "likely",
            "test2: on these questions rate likely matters in 1 of 2 cases: a",
        ),
    },
    "12 levels": {
        "": ("not-shown", "No setting shown to be better in any of 12 cases"),
        "model/m0": ("not-shown", "m0: no setting and no rate or depth shown to be better"),
        "model/m1": ("not-shown", "m1: no setting and no rate or depth shown to be better"),
        "model/m2": ("not-shown", "m2: no setting and no rate or depth shown to be better"),
        "model/m3": ("not-shown", "m3: no setting and no rate or depth shown to be better"),
        "model/m4": ("not-shown", "m4: no setting and no rate or depth shown to be better"),
    },
    "40 levels": {
        "": ("not-shown", "No setting shown to be better in any of 40 cases"),
        "model/m39": ("not-shown", "m39: no setting and no rate or depth shown to be better"),
        "benchmark/test1": (
            "not-shown",
            "test1: no setting shown to be better in any of 40 cases",
        ),
    },
    "a highest value that is disputed": {
        "": ("untestable", "Score 54.8 on average; can't be tested"),
    },
    "one item": {"": ("likely", "b likely scores higher than a, by 50.0 points")},
    "a benchmark without values": {
        "": ("described", "No 2 settings have a value in each of 2 benchmarks"),
    },
    "more settings than are tested": {
        "": ("untestable", "Accuracy 50.5 % on average; can't be tested"),
    },
    "missing cells": {
        "": ("clear", "a: accuracy clearly rises with rate"),
        "model/a": ("clear", "a: accuracy clearly rises with rate"),
        "benchmark/test1": (
            "likely",
            "test1, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test2": (
            "likely",
            "test2, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test3": (
            "likely",
            "test3, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test4": (
            "likely",
            "test4, a: on these questions accuracy likely rises with rate",
        ),
    },
    "long labels": {
        "": ("clear", "a: accuracy clearly rises with rate"),
        "model/a": ("clear", "a: accuracy clearly rises with rate"),
        "benchmark/test1": (
            "likely",
            "test1, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test2": (
            "likely",
            "test2, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test3": (
            "likely",
            "test3, a: on these questions accuracy likely rises with rate",
        ),
        "benchmark/test4": (
            "likely",
            "test4, a: on these questions accuracy likely rises with rate",
        ),
    },
    "conditions, not a choice": {
        "": ("clear", "a: accuracy clearly rises with rate; b: no effect of rate or depth shown"),
        "model/a": ("clear", "a: accuracy clearly rises with rate"),
        "model/b": ("not-shown", "b: no effect of rate or depth shown"),
        "benchmark/test1": (
            "likely",
            "test1: on these questions rate likely matters in 1 of 2 cases: a",
        ),
        "benchmark/test2": (
            "likely",
            "test2: on these questions rate likely matters in 1 of 2 cases: a",
        ),
        "benchmark/test3": (
            "likely",
            "test3: on these questions rate likely matters in 1 of 2 cases: a",
        ),
    },
    "loss, three seeds": {
        "": ("clear", "with is clearly lower (better) than without, by 0.204"),
        "warmup/without": (
            "not-shown",
            "without: no setting and no rate or depth shown to be better",
        ),
        "warmup/with": ("clear", "with is clearly lower (better) than without, by 0.204"),
        "seed/1": ("likely", "1: with is likely lower (better) than without, by 0.203"),
        "seed/2": ("likely", "2: with is likely lower (better) than without, by 0.202"),
        "seed/3": ("likely", "3: with is likely lower (better) than without, by 0.207"),
    },
    "loss, two seeds": {
        "": ("untestable", "Loss 1.798 for with, 2.001 for without; can't be tested"),
        "warmup/without": ("untestable", "without: loss 2.001 on average; can't be tested"),
        "warmup/with": ("untestable", "Loss 1.798 for with, 2.001 for without; can't be tested"),
        "seed/1": ("likely", "1: with is likely lower (better) than without, by 0.203"),
        "seed/2": ("likely", "2: with is likely lower (better) than without, by 0.202"),
        "seed/mean": ("untestable", "Loss 1.798 for with, 2.001 for without; can't be tested"),
    },
    "loss, three seeds, nothing differs": {
        "": ("not-shown", "No difference shown between with and without"),
        "warmup/without": (
            "not-shown",
            "without: no setting and no rate or depth shown to be better",
        ),
        "warmup/with": ("not-shown", "No difference shown between with and without"),
        "seed/1": ("not-shown", "1: no difference shown between with and without"),
        "seed/2": ("not-shown", "2: no difference shown between with and without"),
        "seed/3": ("not-shown", "3: no difference shown between with and without"),
    },
    "loss, three seeds, alike": {
        "": ("not-shown", "with and without are alike within 0.05"),
        "warmup/without": (
            "not-shown",
            "without: no setting and no rate or depth shown to be better",
        ),
        "warmup/with": ("not-shown", "with and without are alike within 0.05"),
        "seed/1": ("not-shown", "1: with and without are alike within 0.05"),
        "seed/2": ("not-shown", "2: with and without are alike within 0.05"),
        "seed/3": ("not-shown", "3: with and without are alike within 0.05"),
    },
    "seeds without n, and no runs": {
        "": ("untestable", "Loss 1.797 for with, 2.001 for without; can't be tested"),
        "warmup/without": ("untestable", "without: loss 2.001 on average; can't be tested"),
        "warmup/with": ("untestable", "Loss 1.797 for with, 2.001 for without; can't be tested"),
        "seed/1": ("untestable", "1: loss 1.796 for with, 1.999 for without; can't be tested"),
        "seed/2": ("untestable", "2: loss 1.801 for with, 2.003 for without; can't be tested"),
        "seed/3": ("untestable", "3: loss 1.796 for with, 2.003 for without; can't be tested"),
    },
    "one run per cell": {
        "": ("likely", "On these runs loss likely rises with rate"),
    },
    "latency without n": {
        "": ("untestable", "Latency 25.0 ms on average; can't be tested"),
    },
    "a needle in a haystack, all found": {
        "": ("described", "All 20 cells score 10, the top of the scale"),
    },
    "a needle in a haystack, mostly found": {
        "": ("described", "18 of 20 cells reach 10, the top of the scale"),
    },
    "no errors": {
        "": ("described", "All 20 cells score 0, the bottom of the scale"),
    },
    "all alike, in the middle": {
        "": ("described", "All 20 cells score 47.5 %"),
    },
    "one cell with n": {
        "": ("described", "45.0 % (37.5 to 52.7)"),
    },
    "one cell": {
        "": ("described", "45.0 %"),
    },
    "no value": {
        "": ("described", "No values yet"),
    },
    "one grid without n": {
        "": ("untestable", "Accuracy 43.3 % on average; can't be tested"),
    },
    "one grid with n": {
        "": ("not-shown", "No setting and no rate or depth shown to be better"),
    },
    "one cell far above the others": {
        "": ("likely", "Rate 0.2 with depth 3 likely stands out"),
    },
    "two cells far above the others": {
        "": ("likely", "2 settings share the best value"),
    },
    "one axis": {
        "": ("likely", "Rate 0.4 likely stands out"),
    },
    "very different numbers of trials": {
        "": ("untestable", "Accuracy 50.1 % on average; can't be tested"),
    },
    "two models": {
        "": ("likely", "b likely scores higher than a, by 10.7 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "two models that are alike": {
        "": ("not-shown", "b and a are alike within 5 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "three models against one": {
        "": (
            "likely",
            "Beside base: a likely higher; b likely lower; no difference shown for c",
        ),
        "model/base": ("not-shown", "base: no setting and no rate or depth shown to be better"),
        "model/a": ("likely", "a likely scores higher than base, by 9.3 points"),
        "model/b": ("likely", "b likely scores lower than base, by 10.1 points"),
        "model/c": ("not-shown", "No difference shown between c and base"),
    },
    "seeds that agree about less than chance makes": {
        "": ("likely", "with likely scores higher than without, by 0.5 points"),
        "seed/1": ("not-shown", "1: no difference shown between with and without"),
    },
    "three facets, seeds": {
        "": (
            "likely",
            "a: accuracy likely rises with rate; "
            "b: no setting and no rate or depth shown to be better",
        ),
        "model": ("clear", "a clearly scores higher than b, by 8.0 points"),
        "model/a": ("likely", "a: accuracy likely rises with rate"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "benchmark": (
            "likely",
            "a: accuracy likely rises with rate; "
            "b: no setting and no rate or depth shown to be better",
        ),
        "benchmark/test1": (
            "likely",
            "test1, a: accuracy likely rises with rate; test1, b: nothing shown to be better",
        ),
        "benchmark/test2": (
            "likely",
            "test2, a: accuracy likely rises with rate; test2, b: nothing shown to be better",
        ),
        "seed": (
            "likely",
            "a: accuracy likely rises with rate; "
            "b: no setting and no rate or depth shown to be better",
        ),
        "seed/1": (
            "likely",
            "1, a: on these questions accuracy likely rises with rate; "
            "1, b: nothing shown to be better",
        ),
        "seed/2": (
            "likely",
            "2, a: on these questions rate and depth likely matter; "
            "2, b: nothing shown to be better",
        ),
        "seed/3": (
            "likely",
            "3, a: on these questions accuracy likely rises with rate; "
            "3, b: nothing shown to be better",
        ),
        "seed/mean": ("clear", "a clearly scores higher than b, by 8.0 points"),
    },
    "three facets, no seeds": {
        "": ("likely", "On these questions rate likely matters in 3 of 6 cases: a, 1; a, 2; a, 3"),
        "model": ("likely", "a likely scores higher than b, by 8.0 points"),
        "model/a": ("likely", "a: on these questions rate likely matters in 3 of 3 cases"),
        "model/b": ("not-shown", "b: no setting shown to be better in any of 3 cases"),
        "benchmark": (
            "likely",
            "On these questions rate likely matters in 3 of 6 cases: a, 1; a, 2; a, 3",
        ),
        "benchmark/test1": ("likely", "test1: a likely scores higher than b, by 8.3 points"),
        "benchmark/test2": ("likely", "test2: a likely scores higher than b, by 7.7 points"),
        "method": (
            "likely",
            "On these questions rate likely matters in 3 of 6 cases: a, 1; a, 2; a, 3",
        ),
        "method/1": (
            "likely",
            "1, a: on these questions accuracy likely rises with rate; "
            "1, b: nothing shown to be better",
        ),
        "method/2": (
            "likely",
            "2, a: on these questions rate and depth likely matter; "
            "2, b: nothing shown to be better",
        ),
        "method/3": (
            "likely",
            "3, a: on these questions accuracy likely rises with rate; "
            "3, b: nothing shown to be better",
        ),
    },
    "three models with one another": {
        "": ("likely", "b likely scores higher than a, c likely scores higher than a and b"),
        "model": ("likely", "b likely scores higher than a, c likely scores higher than a and b"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "model/c": ("not-shown", "c: no setting and no rate or depth shown to be better"),
    },
    "three models alike": {
        "": ("not-shown", "No difference shown between 3 levels"),
        "model": ("not-shown", "No difference shown between 3 levels"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
        "model/c": ("not-shown", "c: no setting and no rate or depth shown to be better"),
    },
    "losses against one": {
        "": (
            "likely",
            "Beside none: long likely higher (worse); short likely lower (better); "
            "none shown for late",
        ),
        "warmup": (
            "likely",
            "Beside none: long likely higher (worse); short likely lower (better); "
            "none shown for late",
        ),
        "warmup/none": ("not-shown", "none: no effect of rate or depth shown"),
        "warmup/short": ("likely", "short is likely lower (better) than none, by 0.195"),
        "warmup/long": ("likely", "long is likely higher (worse) than none, by 0.305"),
        "warmup/late": ("not-shown", "No difference shown between late and none"),
    },
    "printed scores against one": {
        "": ("untestable", "Score 58.8 for a, 56.3 for base; can't be tested"),
        "model": ("untestable", "Score 58.8 for a, 56.3 for base; can't be tested"),
        "model/base": ("untestable", "base: score 56.3 on average; can't be tested"),
        "model/a": ("untestable", "Score 58.8 for a, 56.3 for base; can't be tested"),
    },
    "printed scores of two against one": {
        "": ("untestable", "Score 4.5 base, 6.0 a and 4.5 b; can't be tested"),
    },
    "two models better than one": {
        "": ("likely", "a and b likely score higher than base, by 9.3 and 19.9 points"),
        "model/base": ("not-shown", "base: no setting and no rate or depth shown to be better"),
        "model/a": ("likely", "a likely scores higher than base, by 9.3 points"),
        "model/b": ("likely", "b likely scores higher than base, by 19.9 points"),
    },
    "outcomes by item, the same items": {
        "": ("clear", "b clearly scores higher than a, by 32.2 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "outcomes by item, each cell its own": {
        "": ("clear", "b clearly scores higher than a, by 32.2 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "a reading that says otherwise": {
        "": ("reading-dependent", "What differs depends on which reading is right"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "a reading that says the same": {
        "": ("likely", "b likely scores higher than a, by 10.7 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "a reading that is only approximate": {
        "": ("likely", "b likely scores higher than a, by 10.7 points"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
    "a reading that states another range": {
        "": ("reading-dependent", "What differs depends on which reading is right"),
        "model/a": ("not-shown", "a: no setting and no rate or depth shown to be better"),
        "model/b": ("not-shown", "b: no setting and no rate or depth shown to be better"),
    },
}


Assess = Callable[[Files], tuple[Results, Mapping[str, Answer]]]


@pytest.fixture
def assess(tmp_path: Path) -> Assess:
    """Write a study, check it, and answer its pages."""

    def assess(made: Files) -> tuple[Results, Mapping[str, Answer]]:
        folder = tmp_path / "data" / "demo"
        for name, text in made.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        source, problems = read_study(folder, "data/demo")
        assert source is not None, problems
        study, more = validate(source)
        assert study is not None, more
        assert [problem for problem in more if problem.severity == "problem"] == []
        results = analyse(study)
        return results, answers_of(results, check_study(study).results)

    return assess


@pytest.mark.parametrize("name", CASES)
def test_a_page_leads_with(assess: Assess, name: str) -> None:
    _, answers = assess(CASES[name])
    expected = EXPECTED[name]
    found = {page: (answers[page].grade, answers[page].sentence) for page in expected}
    assert found == expected
    assert all(len(answer.sentence) <= 90 for answer in answers.values())
    assert all(answer.page == page for page, answer in answers.items())


SURE = ("clear", "likely")


@pytest.mark.parametrize("name", CASES)
def test_what_is_asserted_has_a_test_and_no_p_stands_in_a_headline(
    assess: Assess, name: str
) -> None:
    _, answers = assess(CASES[name])
    for answer in answers.values():
        assert "p =" not in answer.sentence
        assert "significant" not in answer.sentence
        if answer.grade in SURE:
            assert answer.p is not None
            assert answer.p <= 0.05
            assert answer.test
            assert answer.evidence[0].scope
        if answer.grade in ("untestable", "described"):
            assert answer.p is None


EVIDENCE: dict[str, tuple[str, str, list[str]]] = {
    "a setting, an axis": (
        "missing cells",
        "model/a",
        [
            "Rate 0.4 has the highest mean on 4 of 4 benchmarks (on average 63.2 % against 52.1 % "
            "at 0.1; p < 0.001).",
            "Rate 0.4 with depth 1 ranks best of the 18 of 20 settings that every benchmark has "
            "(1.5 of 18 on average; p = 0.0037).",
        ],
    ),
    "level against level, wider scopes": (
        "outcomes by item, the same items",
        "",
        [
            "85.3 % against 53.1 %: +32.2 (+21.6 to +42.8) for questions of the kind, if items "
            "are independent (p < 0.001).",
            "+25.3 to +38.7 for these questions, if cells were sampled separately (p < 0.001).",
        ],
    ),
    "two seeds": (
        "loss, two seeds",
        "",
        ["2 seeds are too few. The difference by seed: \u22120.203 and \u22120.202."],
    ),
    "without n": (
        "one grid without n",
        "",
        [
            "The number of trials behind each value is unknown.",
            "The highest value, 45.4 % at rate 0.4 with depth 5, may be chance.",
        ],
    ),
    "a highest value that is disputed": (
        "a highest value that is disputed",
        "",
        [
            "The number of trials behind each value is unknown.",
            "The highest value, 94 at rate 0.2 with depth 1, is disputed; the highest undisputed "
            "is 55.",
        ],
    ),
    "the luckiest": (
        "one cell far above the others",
        "",
        [
            "Rate 0.2 with depth 3 has the best value of the 20 settings, 90.0 %, the luckiest, "
            "so probably too good (p < 0.001).",
            "Neither rate nor depth shows an effect beyond chance (p = 1, p = 1).",
        ],
    ),
    "seeds that differ from those that were measured": (
        "seeds that agree about less than chance makes",
        "",
        [
            "50.5 % against 50.0 %: +0.5 (+0.5 to +0.5) for other seeds, if seeds are "
            "independent (p < 0.001).",
            "For these questions nothing is shown: \u22120.8 to +1.8 (p = 0.45).",
        ],
    ),
    "nothing is shown, for any questions": (
        "nothing but noise",
        "benchmark/test1",
        [
            "49.8 % against 49.4 %: +0.4 (\u22122.1 to +2.9) for these questions, if cells were "
            "sampled separately (p = 1).",
            "For other questions nothing is shown either: \u221223.5 to +24.2 (p = 0.98).",
        ],
    ),
    "several levels that can't be tested, for one reason": (
        "printed scores of two against one",
        "",
        [
            "The number of trials behind each value is unknown.",
            "a: As printed, the value is higher in 2 of 2 cells and lower in 0.",
            "b: As printed, the value is higher in 1 of 2 cells and lower in 1.",
        ],
    ),
    "seeds, each the mean of its benchmarks": (
        "three facets, seeds",
        "model/a",
        [
            "Rate 0.4 has the highest mean on 3 of 3 seeds, each the mean of 2 benchmarks (on "
            "average 62.5 % against 53.3 % at 0.1; p = 0.0095).",
        ],
    ),
    "a seed counts once, with all its benchmarks": (
        "three facets, seeds",
        "model",
        [
            "57.9 % against 49.9 % over 2 benchmarks: +8.0 (+7.7 to +8.3) for other seeds, if "
            "seeds are independent (p < 0.001).",
            "+7.0 to +9.1 for these questions, if cells were sampled separately (p < 0.001).",
        ],
    ),
    "the same items in three methods are no more items": (
        "three facets, no seeds",
        "model",
        [
            "57.9 % against 49.9 % over 2 benchmarks and 3 levels of method: +8.0 (+7.0 to +9.1) "
            "for these questions, if cells were sampled separately (p < 0.001).",
            "For other questions nothing is shown: \u22129.2 to +24.3 (p = 0.38).",
        ],
    ),
    "printed values, some disputed": (
        "printed scores against one",
        "",
        [
            "The number of trials behind each value is unknown.",
            "As printed, the value is higher in 2 of 4 cells and lower in 1. Of the 4 cells 2 are "
            "disputed in either; without, it is higher in 1 of 2 cells and lower in 0.",
        ],
    ),
    "a rival": (
        "a reading that says otherwise",
        "",
        [
            "Under the shown reading: b likely scores higher than a, by 10.7 points.",
            "Under second: No difference shown between b and a.",
            "60.4 % against 49.7 %: +10.7 (+8.5 to +12.8) for these questions, if cells were "
            "sampled separately (p < 0.001).",
        ],
    ),
    "a reading that is no rival": (
        "a reading that is only approximate",
        "",
        [
            "60.4 % against 49.7 %: +10.7 (+8.5 to +12.8) for these questions, if cells were "
            "sampled separately (p < 0.001).",
            "Another reading (second) differs in 20 of 20 shared cells, by up to 19; it is only "
            "approximate, so it doesn't count against the shown one.",
        ],
    ),
}


@pytest.mark.parametrize("case", EVIDENCE)
def test_evidence(assess: Assess, case: str) -> None:
    name, page, sentences = EVIDENCE[case]
    _, answers = assess(CASES[name])
    assert [reason.sentence for reason in answers[page].evidence] == sentences


def test_siblings_make_an_answer_less_sure(assess: Assess) -> None:
    """Holm: the same values are asked of more pages, and then less is shown."""
    _, few = assess(benchmarks(3, "a", "b", effect=0.6))
    _, many = assess(benchmarks(3, *(["a"] + [f"m{at}" for at in range(12)]), effect=0.6))
    first, second = few["model/a"].p, many["model/a"].p
    assert first is not None
    assert second is not None
    assert first <= 0.05 < second


def test_more_levels_against_one_make_each_less_sure(assess: Assess) -> None:
    """Holm again: the same two levels, alone and beside two others."""
    gaps = {"base": 0.0, "a": 0.03}
    _, alone = assess(versus(gaps, baseline={"model": "base"}))
    _, others = assess(versus({**gaps, "b": 0.0, "c": 0.0}, baseline={"model": "base"}))
    assert (alone["model/a"].grade, others["model/a"].grade) == ("likely", "not-shown")
    assert others["model/a"].p == pytest.approx(3 * (alone["model/a"].p or 0))
    assert "correction" not in alone["model/a"].evidence[0].sentence
    interval = others["model/a"].evidence[0].interval
    assert interval is not None
    assert interval[0] > 0  # of one test alone
    assert others["model/a"].evidence[0].sentence.endswith(" after Holm's correction).")


def test_a_grid_alone_has_an_answer(assess: Assess) -> None:
    results, _ = assess(CASES["one cell far above the others"])
    [answer] = grid_answers(results).values()
    assert answer.sentence == "Rate 0.2 with depth 3 likely stands out"
    assert answer.cells == (((), ("0.2", "3")),)


def test_what_is_said_of_several_cases_is_as_sure_as_the_least_sure(assess: Assess) -> None:
    results, _ = assess(CASES["nothing but noise"])
    ask = Blocks(results.study, "one", ())
    parts = [Part("p", "A page", f"A page, a level with a long name {at}", ask) for at in range(3)]
    graded = dict(zip(parts, ("clear", "likely", "not-shown"), strict=True))
    answers = {
        id(part): Answer(
            "p",
            grade,  # type: ignore[arg-type]
            f"{part.label}: rate matters",
            (Evidence(part.label, p=0.001),),
            asserts=("x:up:",),
        )
        for part, grade in graded.items()
    }
    found = together(parts, answers, {})
    assert found.sentence == "A page: rate likely matters in 2 of 3 cases"
    assert found.grade == "likely"


def test_aggregates_are_not_asked(assess: Assess) -> None:
    results, _ = assess(CASES["loss, three seeds"])
    assert all("mean" not in levels for levels in grid_answers(results))


@pytest.mark.parametrize(
    ("p", "error", "capped", "grade"),
    [
        (0.004, 0.0, False, "clear"),
        (0.0049, 0.0002, False, "likely"),
        (0.004, 0.0, True, "likely"),
        (0.05, 0.0, False, "likely"),
        (0.0495, 0.001, False, "not-shown"),
        (0.06, 0.0, False, "not-shown"),
    ],
)
def test_near_a_threshold_the_weaker_grade_is_taken(
    p: float, error: float, capped: bool, grade: str
) -> None:
    assert grade_of(p, error, at_most_likely=capped) == grade


# --- several studies, two revisions -------------------------------------------------------------


def graded(*grades: str) -> dict[str, Answer]:
    return {f"Study {at}": Answer("", grade, "A sentence") for at, grade in enumerate(grades)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("grades", "sentence"),
    [
        ((), "No study yet"),
        (("likely",), "1 study: 1 with a likely effect"),
        (
            ("clear", "untestable", "clear"),
            "3 studies: 2 with a clear effect and 1 that can't be tested",
        ),
        (
            ("clear", "likely", "not-shown", "untestable", "described"),
            "5 studies: 1 clear, 1 likely, 1 not-shown, 1 untestable and 1 described",
        ),
    ],
)
def test_studies_are_counted_by_their_grades(grades: tuple[str, ...], sentence: str) -> None:
    answer = overview_answer(graded(*grades))
    assert (answer.grade, answer.sentence) == ("described", sentence)
    assert len(answer.evidence) == len(grades)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (["After GRPO, at 1.25", "After GRPO, at 1.0"], "After GRPO, at 1.25 and 1.0"),
        (["a 1", "a 2", "b 3"], "a 1, a 2 and b 3"),
        (["a", "a 2"], "a and a 2"),  # of the first nothing would be left
        (["warm-up 1", "warm-up 1"], "warm-up 1 and 1"),
        (["warm", "warmer"], "warm and warmer"),  # words, not letters
        (["a 1"], "a 1"),
        (["number of x's digits", "number of y's digits"], "number of x's and y's digits"),
        (["a b", "b"], "a b and b"),
    ],
)
def test_words_that_labels_begin_with_are_told_once(labels: list[str], text: str) -> None:
    assert told_once(labels) == text


REVISIONS: dict[str, tuple[Files, Files, str, str, str]] = {
    "the same": (
        CASES["two models"],
        CASES["two models"],
        "No value changed",
        "b likely scores higher than a, by 10.7 points.",
        "b likely scores higher than a, by 10.7 points.",
    ),
    "other values, another answer": (
        CASES["two models"],
        CASES["two models that are alike"],
        "20 of 40 values changed, and the answer with them",
        "b likely scores higher than a, by 10.7 points.",
        "b and a are alike within 5 points.",
    ),
    "a level more, the same answer": (
        CASES["two models"],
        CASES["two models"]
        | {"cells.csv": CASES["two models"]["cells.csv"] + "b,0.5,1,50.0,200\n"},
        "1 value added; the answer is the same",
        "b likely scores higher than a, by 10.7 points.",
        "b likely scores higher than a, by 10.7 points.",
    ),
}


@pytest.mark.parametrize("name", REVISIONS)
def test_two_revisions(assess: Assess, name: str) -> None:
    before, now, text, *sentences = REVISIONS[name]
    base, head = ((results, answers[""]) for results, answers in (assess(before), assess(now)))
    assert values_changed(base, head) == (text, sentences[0] == sentences[1])
    assert [f"{answer.sentence}." for _, answer in (base, head)] == sentences
