"""The columns of this repository's studies, with roles as the importer will set them."""

import csv
from dataclasses import replace
from functools import cache

import numpy as np
from builders import REPOSITORY

from gridatlas.analysis.table import Factor, Metric, Table
from gridatlas.assessment.pipeline import load_study
from gridatlas.statistics.estimates import successes_from

DATA = REPOSITORY / "data"


def columns(
    folder,
    roles,
    *,
    metric="",
    labels=None,
    levels=None,
    baseline=None,
    trials=lambda facets: float("nan"),
):
    """The shown values of a study that were printed; factors in the order of the roles."""
    results = load_study(DATA / folder, folder, lambda done: None, None).results
    study = results.study
    varied = [*study.facets, study.x, study.y]
    rows, values, n, k = [], [], [], []
    for facets, grid in results.grids.items():
        if grid.computed:
            continue
        for x, y, cell in grid.points():
            if cell.value is None:
                continue
            keys = [*facets, x.key, y.key]
            rows.append([of.place(key) for of, key in zip(varied, keys, strict=True)])
            count = float(cell.n or trials(facets))
            found = cell.successes
            if found is None and np.isfinite(count):
                found = successes_from(cell.value, int(count), study.metric.decimals or 0)
            values.append(float(cell.value))
            n.append(count)
            k.append(np.nan if found is None else found)
    places = {factor.id: at for at, factor in enumerate(varied)}
    factors = {}
    for name, role in roles.items():
        factor = varied[places[name]]
        keys = [level.key for level in factor.levels]
        ordered = role != "replicate" and all(key.replace(".", "").isdigit() for key in keys)
        factors[name] = Factor(
            (labels or {}).get(name, factor.label.lower()),
            tuple((levels or {}).get(level.label, level.label) for level in factor.levels),
            role,
            tuple(map(float, keys)) if ordered else None,
            factor.place(baseline[name]) if baseline and name in baseline else None,
            frozenset(factor.place(level.key) for level in factor.levels if level.aggregate),
        )
    codes = {name: np.array([row[places[name]] for row in rows]) for name in roles}
    about = study.metric
    return Table(
        factors,
        codes,
        np.array(values),
        Metric(metric or about.name, about.unit, about.better, None, about.decimals, 100.0),
        np.array(n, float),
        np.array(k, float),
    )


@cache
def dynts():
    items = {"aime24": 30, "aime25": 30, "amc23": 40, "gpqa_d": 198}
    return columns(
        "dynts-window-ratio",
        {"model": "choice", "ratio": "choice", "local_window": "choice", "benchmark": "block"},
        labels={"local_window": "window"},
        trials=lambda facets: 5 * items.get(facets[1], float("nan")),
    )


@cache
def digits(k):
    levels = {
        "After GRPO": "GRPO",
        "Greedy": "0",
        "Sampled at 0.6": "0.6",
        "Sampled at 1.0": "1",
        "Seed 1": "1",
        "Seed 2": "2",
        "Seed 3": "3",
    }
    roles = {
        "x_digits": "condition",
        "y_digits": "condition",
        "setting": "choice",
        "temperature": "condition",
        "seed": "replicate",
    }
    labels = {"setting": "setting", "temperature": "temperature", "seed": "seed"}
    name = {1: "Accuracy", 8: "Pass@8"}[k]
    return columns(
        f"digits-pass-{k}",
        roles,
        metric=name,
        labels=labels,
        levels=levels,
        baseline={"setting": "before"},
    )


@cache
def published():
    """The reading that has most of the three grids, without the row that it can't place."""
    with (DATA / "grpo-digits/cells.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["value"]]
    settings = ["before", "after_t125", "after_t100"]
    digit = tuple(map(str, range(1, 11)))
    numbers = tuple(map(float, digit))
    factors = {
        "x": Factor("digits of x", digit, "condition", numbers),
        "y": Factor("digits of y", digit, "condition", numbers),
        "setting": Factor(
            "setting", ("Before GRPO", "GRPO at 1.25", "GRPO at 1.0"), "choice", None, 0
        ),
    }
    codes = {
        "x": np.array([int(row["x_digits"]) - 1 for row in rows]),
        "y": np.array([int(row["y_digits"]) - 1 for row in rows]),
        "setting": np.array([settings.index(row["setting"]) for row in rows]),
    }
    values = np.array([float(row["value"]) for row in rows])
    return Table(factors, codes, values, Metric("Score", "", decimals=0, high=100.0))


def without(table, name, level):
    """The rows of all other levels of a factor."""
    retained = table.codes[name] != level
    return replace(
        table,
        codes={key: codes[retained] for key, codes in table.codes.items()},
        value=table.value[retained],
        n=None if table.n is None else table.n[retained],
        k=None if table.k is None else table.k[retained],
    )
