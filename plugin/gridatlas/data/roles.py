"""What factors mean for tests: as `study.yml` says, in words of today or of old, else a guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from gridatlas.analysis.roles import Guess, guess_roles
from gridatlas.model.schema import REPEAT, Role, StudyFile
from gridatlas.model.study import Factor, Reading

MOST_COMPARED = 6
"""Levels of a choice up to which each pair has a picture of its differences."""


def compared(file: StudyFile, factors: Mapping[str, Factor]) -> tuple[str, ...]:
    """Facets whose levels are compared with each other: choices among a few."""
    chosen = [
        facet
        for facet in file.facets
        if file.roles.get(facet) == "choice"
        and facet not in file.baseline
        and len(factors[facet].levels) <= MOST_COMPARED
    ]
    return tuple(dict.fromkeys([*file.compare, *chosen]))


def roles_of(
    file: StudyFile, factors: Mapping[str, Factor], readings: Iterable[Reading]
) -> dict[str, Role]:
    """The role of each factor, and of what tells the rows of a cell apart.

    An axis of which nothing is written is a choice unless its name says otherwise: a number that is
    only given, not chosen, looks like any other. A facet whose levels have items of their own, or
    a mean, has several tests of the same thing.
    """
    written: dict[str, Role] = {}
    if file.axes is not None:
        axis: Role = "condition" if file.axes == "conditions" else "choice"
        written |= {name: axis for name in (file.x, file.y) if name}
    choices = (*file.baseline, *file.compare)
    written |= dict.fromkeys(choices, "choice")
    if file.replicates:
        written[file.replicates] = "replicate"
    if file.repeats and not any(name not in factors for name in file.roles):
        written[REPEAT] = "replicate"
    written |= file.roles
    guessed = _guessed(factors, readings, written)
    axes = (name for name in (file.x, file.y) if name and guessed.get(name) == "condition")
    has_mean = (
        name
        for name in file.facets
        if guessed.get(name) in ("choice", "condition")
        and any(level.aggregate or level.items for level in factors[name].levels)
    )
    return guessed | dict.fromkeys(axes, "choice") | dict.fromkeys(has_mean, "block") | written


def _guessed(
    factors: Mapping[str, Factor], readings: Iterable[Reading], written: Mapping[str, Role]
) -> dict[str, Role]:
    """Proposals for the factors of which nothing is written, from the first reading."""
    first = next((reading.cells for reading in readings if len(reading.cells.columns)), None)
    if first is None or factors.keys() <= written.keys():
        return {}
    rows = np.flatnonzero(first.columns.value.known)
    grid, point = np.divmod(rows, first.size)
    axes = {first.y.id: point // len(first.x.levels), first.x.id: point % len(first.x.levels)}
    facets = [name for name in factors if name not in axes]
    codes = {}
    for name, factor in factors.items():
        of = axes.get(name)
        if of is None:
            at = facets.index(name)
            places = np.array([factor.place(levels[at]) for levels in first.grids], np.intp)
            of = places[grid]
        codes[name] = of
    names = {name: [level.label for level in factor.levels] for name, factor in factors.items()}
    value = first.columns.value.floats[rows]
    roles = {name: role_of(guess) for name, guess in guess_roles(names, codes, value).items()}
    # A label may say what an abbreviation doesn't.
    unclear = {factors[name].label: name for name, role in roles.items() if role == "condition"}
    by_label = guess_roles(
        {label: names[name] for label, name in unclear.items()},
        {label: codes[name] for label, name in unclear.items()},
        value,
    )
    return roles | {unclear[label]: role_of(guess) for label, guess in by_label.items()}


def role_of(guess: Guess) -> Role:
    """A guess as a role: who makes a facet of metrics, or of parts of the data, compares them."""
    match guess.role:
        case "choice" | "condition" | "block" | "replicate" | "item" | "progress":
            return guess.role
        case _:
            return "choice"
