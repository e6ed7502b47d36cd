"""Which columns are counts of trials and standard errors, and which stand beside the values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gridatlas.model.directions import words
from gridatlas_import.choose_metric import kind_of_spread, spread_of
from gridatlas_import.columns import Column, kind_of_count
from gridatlas_import.metric import MetricFound
from gridatlas_import.options import ImportOptions, Role
from gridatlas_import.search import Facts
from gridatlas_import.vocabulary import COUNTS

_IN_WORDS = {
    "sd": r"\bsd\b|\bstd|standard dev",
    "se": r"\bsem?\b|stderr|standard err",
    "ci95": "95",
}


def choose_counts(
    columns: Mapping[str, Column],
    asked: ImportOptions,
    roles: Mapping[str, Role],
    metric: str,
    about: MetricFound,
    notes: list[str],
) -> dict[str, str]:
    """The columns of n, successes and standard errors: those asked for, else by their names."""
    found: dict[str, str] = {}
    used = {asked.x, asked.y, *asked.facets, *asked.repeats, *roles, metric}
    called = "_".join(words(metric))
    for kind in COUNTS:
        if kind in asked.counts:
            if asked.counts[kind]:
                found[kind] = asked.counts[kind]
            continue
        own = {f"{called}_{end}" for end in ("stderr", "se", "sem") if kind == "stderr"}
        taken = used | {*found.values()}
        for name, column in columns.items():
            fits = "_".join(words(name)) in own or kind_of_count(name) == kind
            if name in taken or not fits or not column.is_metric_like:
                continue
            if kind == "stderr" and bool(column.percents) != bool(columns[metric].percents):
                notes.append(
                    f"{name} isn't read: {metric} and {name} don't both have percent signs; "
                    f"if they have one unit, add --stderr {name}"
                )
                continue
            found[kind] = name
            break
    guessed = "n" in found and "n" not in asked.counts and "successes" not in found
    if guessed and not about.proportion:
        notes.append(
            f"{found['n']} isn't read: {metric} isn't known to be a share of trials; "
            f"if it is, add --n {found['n']}"
        )
        del found["n"]
    return found


def columns_beside(
    facts: Facts,
    metric: str,
    roles: dict[str, Role],
    counts: Mapping[str, str],
    asked: ImportOptions,
    titles: Sequence[str],
) -> tuple[str, tuple[str, str]]:
    """The columns that say which runs failed and how values spread; they get their roles."""
    columns, kinds = facts.columns, facts.kinds
    state = next(
        (name for name, kind in kinds.items() if kind.kind == "state" and name not in roles), ""
    )
    if state and columns[state].level_count > 1:
        roles[state] = Role("state", state, columns[state].summary, "says how runs ended")
    spread = _spread(columns, metric, asked, counts)
    if spread[0] in roles and spread[0] not in (asked.spread, metric):
        spread = ("", "")
    if spread[0] and spread[0] != metric:
        why = f"the {spread[1] or 'spread'} of {metric}: its name"
        why = "as asked" if spread[0] == asked.spread else why
        roles[spread[0]] = Role("spread", spread[0], columns[spread[0]].summary, why)
    caption = "" if spread[1] or spread[0] != metric else spread_in(titles)
    return state, (spread[0], caption or spread[1])


def spread_in(titles: Sequence[str]) -> str:
    """What titles say that stands after a ±: sd, se or ci95; empty where they don't."""
    caption = " ".join(title.partition("±")[2] for title in titles)
    return next((kind for kind, words in _IN_WORDS.items() if re.search(words, caption, re.I)), "")


def _spread(
    columns: Mapping[str, Column], metric: str, asked: ImportOptions, counts: Mapping[str, str]
) -> tuple[str, str]:
    """Where the spread stands, in a column or within the metric's, and its kind."""
    if asked.spread is not None:
        found = (asked.spread, kind_of_spread(asked.spread)) if asked.spread else ("", "")
    elif columns[metric].margins:
        found = (metric, kind_of_spread(metric))
    else:
        found = ("", "") if "stderr" in counts else spread_of(columns, metric)
    return found[0], (asked.spread_kind or found[1]) if found[0] else ""
