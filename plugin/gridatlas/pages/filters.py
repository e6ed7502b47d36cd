"""What templates call: numbers, cells, outcomes and counts in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from gridatlas.analysis.statements import Verdict
from gridatlas.assessment.profiles import cell_method
from gridatlas.assessment.reruns import VERDICTS, in_words
from gridatlas.assessment.uncertainty import (
    DifferenceUncertainty,
    Ends,
    GridUncertainty,
    Uncertainty,
    as_pairs,
)
from gridatlas.charts.binning import mark_key
from gridatlas.charts.description import cell_labels, cell_names, higher_lower, over, without_value
from gridatlas.claims import Judged
from gridatlas.claims import Verdict as Outcome
from gridatlas.data.levels import slug
from gridatlas.model.format import (
    between,
    cell_text,
    format_difference,
    format_measured,
    format_p,
    format_value,
    in_p,
    is_are,
    many,
    mean_decimals,
    spoken_unit,
    spread_words,
    value_with_unit,
)
from gridatlas.model.problems import join_names
from gridatlas.model.study import Factor, Level, Point, Progress, Reading, Study, inline
from gridatlas.pages.lines import opening
from gridatlas.pages.trust import SecondReading
from gridatlas.table.study_table import UNKNOWN, Grid
from gridatlas.table.summary import Summary, summarise

LISTED_UP_TO = 20
"""Levels of a factor up to which a sentence lists them all."""
CELLS_NAMED = 3
"""Cells of one value up to which a page names them all."""


def _value(value: Decimal | None, study: Study) -> str:
    if value is None:
        return "–"
    text = format_measured(value, study.metric.decimals or 0)
    return value_with_unit(text, study.metric.unit)


def _points(value: Decimal | float | None, study: Study) -> str:
    """A spread or range: of percentages, in percentage points."""
    if value is None:
        return "–"
    text = format_value(value, study.metric.decimals or 0)
    return value_with_unit(text, study.metric.unit, difference=True)


def _mean_difference(value: Decimal, study: Study) -> str:
    text = format_difference(value, mean_decimals(study))
    return value_with_unit(text, study.metric.unit, difference=True)


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


def _date(text: str) -> str:
    """A date in words: `23 November 2026`."""
    year, month, day = map(int, text.split("-"))
    return f"{day} {_MONTHS[month - 1]} {year}"


def _and(texts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    parts = list(texts)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _levels_text(factor: Factor) -> str:
    """The levels' labels: `500, 1000, 2000`; of very many `0 to 999, 1,000 levels`."""
    labels = [level.label for level in factor.levels]
    if len(labels) <= LISTED_UP_TO:
        return ", ".join(labels)
    return f"{labels[0]} to {labels[-1]}, {len(labels):,} levels"


def _point_anchor(grid: Grid, point: Point) -> str:
    study = grid.study
    return cell_anchor(grid, (study.x.level(point[0]), study.y.level(point[1])))


def _trials_text(grid: Grid) -> str:
    """The trials behind each published value of a grid: `150`, `30 to 150` or `not known`."""
    numbers = np.unique(grid.trials[grid.columns.value.defined]).tolist()
    if not numbers or UNKNOWN in numbers:
        return "not known"
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"


OUTCOMES = {"true": "holds", "false": "doesn't hold", "undecidable": "can't be decided"}
VERDICT_WORDS: dict[Verdict, str] = {
    "holds": "Holds",
    "holds-within-noise": "Holds as printed, within noise",
    "holds-untested": "Holds as printed, untested",
    "undecided": "Can't be decided",
    "false": "Doesn't hold",
    "contrary-shown": "Doesn't hold, and the contrary is shown",
}
"""Verdicts on statements, the kindest first."""
NOT_CHECKABLE, WRONG = "Not checkable", "Wrong expression"


def claim_outcome(claim: Judged) -> str:
    """The verdict on a claim, in words: `Doesn't hold`."""
    if claim.entry.not_checkable:
        return NOT_CHECKABLE
    if claim.verdict is None:
        return WRONG
    # Claims of `judge` alone have only their arithmetic.
    return VERDICT_WORDS[claim.tested or BY_ARITHMETIC[claim.verdict.outcome]]


def _verdict_text(verdict: Outcome) -> str:
    """`holds`, or `holds on the 8 of 20 cells that it gives` where a reading has only these."""
    text = OUTCOMES[verdict.outcome]
    if verdict.given is None:
        return text
    given, of = verdict.given
    return f"{text} on the {given:,} of {of:,} cells that it gives"


BY_ARITHMETIC: Mapping[str, Verdict] = {
    "true": "holds-untested",
    "false": "false",
    "undecidable": "undecided",
}
ORDER = (WRONG, *reversed(VERDICT_WORDS.values()), NOT_CHECKABLE)
"""Verdicts in the order of lists, the worst first."""
TO_LOOK_AT = ORDER[:4]
"""Those that pages list first, and levels' pages alone."""
CONTRADICTED = ORDER[1:3]
"""Those that say that a statement is wrong."""


def _claims_by_source(claims: Iterable[Judged]) -> list[tuple[str, list[Judged]]]:
    """Claims by their source; first the source of most that don't hold, in it first these."""
    groups: dict[str, list[Judged]] = {}
    for claim in claims:
        groups.setdefault(claim.entry.source or "", []).append(claim)
    found = [
        (source, sorted(group, key=lambda claim: ORDER.index(claim_outcome(claim))))
        for source, group in groups.items()
    ]
    return sorted(found, key=lambda entry: -len(_by_contradiction(entry[1])[0]))


def _by_contradiction(claims: Iterable[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Claims that don't hold, can't be decided or can't be read, and the others."""
    wrong: list[Judged] = []
    others: list[Judged] = []
    for claim in claims:
        (wrong if claim_outcome(claim) in TO_LOOK_AT else others).append(claim)
    return wrong, others


def _source_anchor(source: str) -> str:
    """Id of the statements of a reading; of those of the study itself without one."""
    return f"statements-{slug(source) if source else 'study'}"


def described_by(study: Study, claims: Iterable[Judged]) -> list[Reading]:
    """The machine-made descriptions that claims are sentences of, in the study's order."""
    sources = {claim.entry.source for claim in claims}
    return [
        reading
        for reading in study.readings
        if reading.entry.machine_made and reading.id in sources
    ]


def _claim_counts(claims: Iterable[Judged]) -> list[tuple[str, int]]:
    """How many claims have each outcome, most frequent first."""
    counts = Counter(map(claim_outcome, claims))
    return [(_of_several(verdict, n), n) for verdict, n in counts.most_common()]


def _of_several(verdict: str, number: int) -> str:
    """A verdict after its number: `holds as printed, untested`, of several `hold as printed, …`."""
    if verdict == NOT_CHECKABLE:
        return "can't be checked"
    text = verdict[0].lower() + verdict[1:]
    if number == 1:
        return text
    return {WRONG: "wrong expressions"}.get(
        verdict, text.replace("holds", "hold", 1).replace("doesn't hold", "don't hold", 1)
    )


def _untestable(grids: Iterable[Grid], uncertainty: Uncertainty) -> list[str]:
    """Why grids can't be tested, each reason once."""
    return list(dict.fromkeys(reason for grid in grids if (reason := uncertainty.of(grid).reason)))


def _interval_notes(grids: Iterable[Grid], uncertainty: Uncertainty) -> list[str]:
    """How the intervals of grids come about whose cells aren't tested, each way once."""
    notes = []
    for grid in grids:
        tests = uncertainty.of(grid)
        if tests.level is None and tests.cells:
            what = "an aggregate" if grid.aggregate else "a cell"
            if tests.replicates:
                what = f"a mean over {inline(grid.study.facet(grid.study.replicates).label)}"
            notes.append(f"The 95 % interval of {what} is {cell_method(tests)}.")
        if tests.has_ranges:
            notes.append(
                "Too few repeats have no interval: the range of their values is given instead."
            )
    return list(dict.fromkeys(notes))


def _same_items(grids: Iterable[Grid], uncertainty: Uncertainty) -> list[bool | None]:
    """Whether the cells of tested grids are asked the same items (None: unknown), each answer once.

    Grids whose cells are compared item by item are left out.
    """
    tests = (uncertainty.of(grid) for grid in grids)
    return list(dict.fromkeys(test.same_items for test in tests if not test.paired))


def _may_share_items(grids: Iterable[Grid], uncertainty: Uncertainty) -> bool:
    """Whether cells of some grid are asked the same items, as far as is known."""
    return any(uncertainty.of(grid).same_items is not False for grid in grids)


DIFFERING_LEVELS = 4
"""Levels whose readings differ up to which a sentence names each."""


def agreement_by_level(second: SecondReading) -> str:
    """`8 of 32 cells of R1-Qwen and all 40 of R1-Llama`; never two levels together."""
    if len(second.by_level) < 2:
        return f"{second.cells.passed:,} of {many(second.cells.of, 'shared cell')}"
    differ = [(label, cells) for label, cells in second.by_level if cells.failed]
    rest = [(label, cells) for label, cells in second.by_level if not cells.failed]
    texts = [
        f"{cells.passed:,} of {many(cells.of, 'cell')} of {label}"
        for label, cells in differ[:DIFFERING_LEVELS]
    ]
    if len(differ) > DIFFERING_LEVELS:
        texts.append(f"part of those of {len(differ) - DIFFERING_LEVELS:,} more")
    if len(rest) > 2:
        texts.append(f"all cells of {len(rest):,} others")
    else:
        texts += [f"all {cells.of:,} of {label}" for label, cells in rest]
    return _and(texts)


def in_units(progress: Progress) -> str:
    """How far a run is with a cell: `1 of 2 units of work`."""
    return f"{progress.done} of {many(progress.of, 'unit')} of work"


def significance(tested: DifferenceUncertainty) -> str:
    """In how many cells a difference is significant; that none is doesn't say that they are equal.

    A test of the cells together finds differences that none of the cells shows by itself.
    """
    if tested.reason:
        return f"Not testable: {tested.reason}."
    by = "a test paired by item" if tested.paired else "an unpaired test"
    if not tested.differ:
        cell = "the cell's" if tested.cells == 1 else "no single cell's"
        significant = "isn't significant" if tested.cells == 1 else "is significant"
        return f"By {by}, {cell} difference {significant} ({tested.test})."
    where = f"{tested.differ:,} of {many(tested.cells, 'cell')}"
    signs = [("higher", tested.higher), ("lower", tested.differ - tested.higher)]
    counts = ", ".join(f"{word} in {number:,}" for word, number in signs if number)
    return f"By {by}, the difference is significant in {where}: {counts} ({tested.test})."


def _cells_at(cells: Sequence[tuple[Level, Level]], summary: Summary) -> str:
    """The cells of one value, `8 × 7; 1 more`; those in dispute are marked unless all are."""
    every = all((x.key, y.key) in summary.disputed for x, y in cells)
    disputed = frozenset[Point]() if every else summary.disputed
    names = cell_names(cells[:CELLS_NAMED], disputed, cell_labels)
    more = len(cells) - CELLS_NAMED
    return "; ".join([*names, f"{more:,} more"] if more > 0 else names)


def _missing_of(grids: Iterable[Grid]) -> tuple[int, int]:
    """How many cells of some grids have no value, and how many cells there are."""
    defined = np.concatenate([grid.columns.value.defined for grid in grids])
    return int((~defined).sum()), len(defined)


def _intervals_at(tests: GridUncertainty, row: int) -> list[Ends | None]:
    """The intervals of a cell as trials, and as items."""
    return as_pairs(np.stack([tests.by_trials[row], tests.by_items[row]]))


def figure_anchor(grid: Grid) -> str:
    """Id of a grid's heatmap; its slash tells it from every heading's."""
    return f"grid/{grid.address}"


def cell_anchor(grid: Grid, point: tuple[Level, Level]) -> str:
    """Id of a cell in its grid's heatmap."""
    return f"{grid.address}/{mark_key(grid.study, *point)}"


def _urlsafe(url: str) -> Markup:
    """An address that can stand in a Markdown link: nothing in it ends the link."""
    return Markup(escape(quote(url, safe=":/?#@!&*+,;=%~-._"), quote=False))


def _css_string(text: str) -> Markup:
    """A text as the content of a CSS string: whatever isn't a letter or digit is escaped."""
    plain = (of if of.isascii() and of.isalnum() else f"\\{ord(of):x} " for of in text)
    return Markup("".join(plain))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "urlsafe": _urlsafe,
    "p_value": lambda p: "–" if p is None else format_p(p),
    "in_p": in_p,
    "decimals": format_value,
    "spoken_unit": spoken_unit,
    "between": between,
    "cell_method": cell_method,
    "value": _value,
    "points": _points,
    "many": many,
    "is_are": is_are,
    "mean_difference": _mean_difference,
    "and": _and,
    "date": _date,
    "inline": inline,
    "css_string": _css_string,
    "summary": summarise,
    "opening": opening,
}

GLOBALS: Mapping[str, Any] = {
    "version": version("gridatlas"),
    "join_names": join_names,
    "levels_text": _levels_text,
    "figure_anchor": figure_anchor,
    "point_anchor": _point_anchor,
    "cell_labels": cell_labels,
    "over": over,
    "cell_text": cell_text,
    "spread_words": spread_words,
    "verdicts": in_words,
    "all_verdicts": VERDICTS,
    "trials_text": _trials_text,
    "agreement_by_level": agreement_by_level,
    "claim_outcome": claim_outcome,
    "verdict_text": _verdict_text,
    "claim_counts": _claim_counts,
    "claims_by_source": _claims_by_source,
    "by_contradiction": _by_contradiction,
    "source_anchor": _source_anchor,
    "described_by": described_by,
    "outcome_words": OUTCOMES,
    "higher_lower": higher_lower,
    "without_value": without_value,
    "missing_of": _missing_of,
    "intervals_at": _intervals_at,
    "significance": significance,
    "may_share_items": _may_share_items,
    "tested_grids": lambda grids, of: [grid for grid in grids if of.of(grid).level is not None],
    "interval_notes": _interval_notes,
    "same_items": _same_items,
    "untestable": _untestable,
    "cell_anchor": cell_anchor,
    "cells_at": _cells_at,
}
