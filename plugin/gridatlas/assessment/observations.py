"""The shown values of a study as observations in long form, as the analysis takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain

import numpy as np

from gridatlas.analysis.design import in_logs
from gridatlas.analysis.table import Codes, Factor, Floats, Metric, Table
from gridatlas.model import study as model
from gridatlas.model.study import STATES, Outcomes, Reading, Study, inline
from gridatlas.table.choose import choose
from gridatlas.table.coded import Coded
from gridatlas.table.items import outcomes_in, share_scale
from gridatlas.table.study_table import ABSENT, Columns, StudyTable

MOST_PRINTED = 6
"""Decimals that somebody prints; a program's floats have more."""
MOST_OUTCOMES = 2_000_000
"""Outcomes up to which they are tested item by item; more are tested as counts."""
ITEM = "item"
"""The factor of the items whose outcomes are known."""
FAILED = [STATES.index(state) for state in ("failed", "oom")]


def observations(study: Study, shown: StudyTable | None = None) -> Table:
    """What was measured, a row per value: of cells with repeats, one of each.

    Args:
        shown: The chosen cells, as `choose` gives them; aggregates count where there is nothing
            else.
    """
    table = choose(study) if shown is None else shown
    at, columns, levels = each_row(study, table)
    failed = np.isin(columns.state, FAILED)
    rows = np.flatnonzero(columns.value.defined | failed)
    at, columns = at[rows], columns[rows]
    failed = failed[rows]
    by_item = None if _repeats(study) else _by_item(study, table, at, columns)
    if by_item is not None:
        of, items, shares = by_item
        at, columns, failed = at[of], columns[of], failed[of]
    codes, factors = _places(study, table, at), {}
    for factor in (*study.varied, *study.facets):
        factors[factor.id] = _factor(study, factor)
    for name, column in levels.items():
        keys = column[rows].merged()
        codes[name] = keys.codes.astype(np.intp)
        label = re.sub(r"_\d$", "", name).replace("_", " ")
        factors[name] = Factor(label, tuple(keys.kinds), study.roles.get(name, "replicate"))
    value, k, n = columns.value.floats, None, None
    if by_item is not None:
        codes[ITEM], value = items.codes.astype(np.intp), shares
        factors[ITEM] = Factor("question", tuple(items.kinds), "item")
    else:
        trials = columns.n.astype(float)
        by_grid = [study.trials_at(levels) or 0 for levels in table.grids]
        if any(by_grid):
            here = np.array(by_grid, float)[at // max(1, table.size)]
            trials = np.where(trials > 0, trials, here)
        trials[trials <= 0] = np.nan
        n = trials if np.isfinite(trials).any() else None
        k = _successes(study, columns, trials)
    runs, metric = study.cells == "runs", _metric(study, columns)
    return Table(
        factors, codes, value, metric, n, k, failed, runs, None if by_item else _items(study)
    )


def _items(study: Study) -> dict[str, float] | None:
    """How many items each block has, where only their counts are known."""
    for facet in study.facets:
        if study.trials and facet.id == study.trials.items and study.roles.get(facet.id) == "block":
            return {level.label: float(level.items) for level in facet.levels if level.items}
    return None


def works_in_logs(study: Study, shown: StudyTable) -> bool:
    """Whether the values of a study are compared by their ratios, as far as these tell."""
    columns = shown.columns
    values = columns.value.floats[columns.value.defined]
    counted = study.trials is not None or bool((columns.n > 0).any())
    return not counted and in_logs(_metric(study, columns), values)


def _metric(study: Study, columns: Columns) -> Metric:
    about = study.metric
    return Metric(
        about.name,
        about.unit,
        about.better,
        about.scale,
        about.decimals if columns.value.most_places <= MOST_PRINTED else None,
        float(about.range[1]) if about.range else (100.0 if about.unit == "%" else None),
        None if study.alike is None else float(study.alike),
    )


def _repeats(study: Study) -> bool:
    """Whether replicates speak for others, so that items are only averaged."""
    several = (
        sum(level.aggregate is None for level in facet.levels) > 1
        for facet in study.facets
        if study.roles.get(facet.id) == "replicate"
    )
    repeated = any(reading.repeats is not None for reading in study.accounts)
    return repeated or any(several) or ITEM in study.roles


def _by_item(
    study: Study, table: StudyTable, at: Codes, columns: Columns
) -> tuple[Codes, Coded[str], Floats] | None:
    """The rows with an entry for each of their items, the items, and what each gave.

    None unless the runs of all values have their outcomes.
    """
    scale = share_scale(study)
    if not study.runs or scale is None:
        return None
    failed = Outcomes(("",), (1,), (0,))
    found = [
        outcomes_in(study, place, run) if defined else failed
        for place, run, defined in zip(
            table.places(at), columns.run, columns.value.defined.tolist(), strict=True
        )
    ]
    given = [of for of in found if of is not None]
    sizes = [len(of.items) for of in given]
    if len(given) < len(found) or sum(sizes) > MOST_OUTCOMES:
        return None
    rows = np.repeat(np.arange(len(at)), sizes)
    correct, samples = (
        np.array([*chain.from_iterable(getattr(of, name) for of in given)], float)
        for name in ("correct", "samples")
    )
    shares = np.where(columns.value.defined[rows], scale * correct / samples, np.nan)
    return rows, Coded.of(chain.from_iterable(of.items for of in given)), shares


def each_row(study: Study, table: StudyTable) -> tuple[Codes, Columns, Mapping[str, Coded[str]]]:
    """Places in the shown table, what is known at each, and what tells rows of a cell apart."""
    repeated = [reading for reading in study.accounts if reading.repeats is not None]
    present = table.columns.state != ABSENT
    parts_of = [any(level.aggregate for level in study.levels_of(of)) for of in table.grids]
    measured = present & ~np.repeat(np.array(parts_of, bool), table.size)
    has_parts = table.columns.value.defined[measured].any()
    shown = np.flatnonzero(measured if has_parts else present)
    if not repeated:
        return shown, table.columns[shown], {}
    names = dict.fromkeys(name for each in repeated for name in _levels(each))
    single = ~table.columns.reading.are({each.id for each in repeated}.__contains__)[shown]
    parts = [table.columns[shown[single]]]
    places = [shown[single]]
    keys = {name: [Coded.constant("1", len(places[0]))] for name in names}
    for reading in repeated:
        own = _places_in(table, reading)
        rows = np.flatnonzero(own >= 0)
        rows = rows[table.columns.reading[own[rows]].are(reading.id.__eq__)]
        assert reading.repeats is not None
        parts.append(reading.repeats.columns[rows])
        places.append(own[rows])
        for name in names:
            of = _levels(reading).get(name)
            keys[name].append(Coded.constant("1", len(rows)) if of is None else of[rows])
    levels = {name: Coded.joined(of) for name, of in keys.items()}
    return np.concatenate(places), Columns.joined(parts), levels


def _levels(reading: Reading) -> Mapping[str, Coded[str]]:
    return reading.repeats.levels if reading.repeats else {}


def _places_in(table: StudyTable, reading: Reading) -> Codes:
    """The place in the shown table of each row of a reading with repeats; −1 without one."""
    assert reading.repeats is not None
    own = reading.cells
    grid = np.array([table.index.get(levels, -1) for levels in own.grids], np.intp)
    of, point = np.divmod(reading.repeats.at, max(1, own.size))
    return np.where(grid[of] < 0, -1, grid[of] * table.size + point)


def _places(study: Study, table: StudyTable, at: Codes) -> dict[str, Codes]:
    """The level of each row, by factor."""
    grid, point = np.divmod(at, max(1, table.size))
    y, x = np.divmod(point, len(study.x.levels))
    places: dict[str, Codes] = {study.x.id: x}
    if study.y.id:
        places[study.y.id] = y
    for index, facet in enumerate(study.facets):
        of = np.array([facet.place(levels[index]) for levels in table.grids], np.intp)
        places[facet.id] = of[grid]
    return places


def _factor(study: Study, factor: model.Factor) -> Factor:
    numbers = [level.number for level in factor.levels if level.aggregate is None]
    as_floats = tuple(float(level.number or 0) for level in factor.levels)
    baseline = study.baseline.get(factor.id)
    return Factor(
        inline(factor.label),
        tuple(level.label for level in factor.levels),
        study.roles.get(factor.id, "choice"),
        as_floats if None not in numbers else None,
        None if baseline is None else factor.place(baseline),
        frozenset(place for place, level in enumerate(factor.levels) if level.aggregate),
        {level.label: level.in_text for level in factor.levels if level.in_text},
    )


def _successes(study: Study, columns: Columns, n: Floats) -> Floats | None:
    """Successes of each row: as given, else those that are printed as its value."""
    scale = share_scale(study)
    if scale is None or not np.isfinite(n).any():
        return None
    value = columns.value.floats
    k = np.rint(value / scale * n)
    off = np.abs(k / n * scale - value)
    printed = off <= 0.5 * 10.0 ** -columns.value.places.astype(float) + 1e-9 * scale
    derived = np.where(printed & (k >= 0) & (k <= n), k, np.nan)
    return np.where(columns.successes >= 0, columns.successes, derived)
