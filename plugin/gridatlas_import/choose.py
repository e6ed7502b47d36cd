"""The proposal, or the question where several are reasonable: long or wide, and how dense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

import numpy as np

from gridatlas.model.directions import words
from gridatlas.model.limits import check_limit
from gridatlas.model.problems import join_names, nearest
from gridatlas_import.columns import column_of
from gridatlas_import.filters import named_in, with_joined
from gridatlas_import.kinds import DATE, kinds_of
from gridatlas_import.metric import measured_in
from gridatlas_import.numerals import looks_like_number
from gridatlas_import.options import ROWS, ImportOptions
from gridatlas_import.paths import PART, text_columns
from gridatlas_import.propose import Proposal, collision, propose
from gridatlas_import.rows import CannotImport, RawTable, WrongUsage, importable, unknown
from gridatlas_import.search import CROSSED, JOINED, SPARSE, Facts, points_text
from gridatlas_import.shape import AVERAGES, SURE, WideForm, known_unit, labels_of, wide_form
from gridatlas_import.tidy import tidied
from gridatlas_import.unpivot import VALUE, long, named_form

LONGEST_TITLE = 100
"""Letters up to which what stands above a table may name its values; beyond, it is prose."""
MAX_CANDIDATES = 6
SORTED_FROM, RISING_FROM = 4, 20
"""Rows from which on their order is none by chance, and from which on lower ones lead."""
MIN_DENSITY = 0.2
"""Share of filled cells below which a person is asked."""
MANY_CELLS = 40
"""Cells from which on the share counts."""
_LEVELS_OR_QUANTITIES = (
    "its headings may be levels of one factor, or quantities of their own (--long)"
)

_TELLING = ("metric", "performance", "outcome", "cost")
"""Kinds of columns whose names say that they are results."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is proposed: one proposal, or several to choose from.

    Attributes:
        wide: Whether the headings of the proposal are levels.
        question: Why a person is asked; empty where there is one proposal.
    """

    candidates: tuple[Proposal, ...]
    wide: bool
    question: str = ""

    @property
    def proposal(self) -> Proposal | None:
        """The proposal; None where a person is asked."""
        return None if self.question else self.candidates[0]


def choose(table: RawTable, asked: ImportOptions) -> Choice:
    """The proposal for a table, or a question.

    Raises:
        CannotImport: Where nothing can be proposed, with the reason.
    """
    with importable(table.form):
        check_limit("columns", len(table.columns), "columns")
        check_limit("rows", len(table.places), "rows")
    table = with_joined(tidied(table), named_in(asked))
    if not table.places:
        raise CannotImport(
            f"{table.form} without a row of results", "at least one", "import another table"
        )
    named = {asked.x, asked.y, *asked.facets, *asked.repeats} - {None, ROWS, ""}
    split = None if named <= table.columns.keys() else split_names(table)
    if split is not None and named <= split.columns.keys():
        table = split
    wide = asked.wide
    table, asked = _without_ignored(table, asked)
    own = [name for name in (asked.y, *asked.facets) if name and name in table.columns]
    if asked.columns:
        return Choice((_wide(table, _form_of(table, own, asked.columns), asked),), True)
    if wide:
        return Choice((_wide(table, named_form(table, own), asked),), True)
    # Only a table with a row per cell has columns of these names.
    if wide is False or table.logs or {asked.metric, asked.x} & table.columns.keys():
        return Choice((propose(table, asked),), False)
    form = wide_form(table, own)
    if form is not None and own and not set(own) <= set(form.rows):
        form = named_form(table, own)
    if form is not None and form.score >= SURE:
        return _weighed(_wide(table, form, asked), True, asked)
    try:
        proposal = propose(table, asked)
    except CannotImport:
        split = None if asked.complete else split_names(table)
        if split is not None:
            return choose(split, replace(asked, wide=False))
        if form is None:
            raise
        return Choice((_wide(table, form, asked),), True, _LEVELS_OR_QUANTITIES)
    if form is not None and not (asked.complete or _is_crossed(proposal)):
        return Choice((_wide(table, form, asked),), True, _LEVELS_OR_QUANTITIES)
    return _weighed(proposal, False, asked)


def _without_ignored(table: RawTable, asked: ImportOptions) -> tuple[RawTable, ImportOptions]:
    """A table without headings that aren't read; others' names are looked at with the roles."""
    gone = [name for name in asked.ignore if name in table.columns]
    if not gone or asked.wide is False:
        return table, asked
    columns = {name: texts for name, texts in table.columns.items() if name not in gone}
    left = (*table.left_out, *((name, "as asked") for name in gone))
    headings = {name: levels for name, levels in table.headings.items() if name not in gone}
    ignore = tuple(name for name in asked.ignore if name not in gone)
    table = replace(table, columns=columns, left_out=left, headings=headings)
    return table, replace(asked, ignore=ignore)


def _form_of(table: RawTable, own: Sequence[str], levels: Sequence[str]) -> WideForm:
    """How a table is read of which somebody names the headings that are levels.

    Raises:
        CannotImport: For a heading that the table doesn't have.
    """
    for name in levels:
        if name not in table.columns:
            raise unknown("--columns", name, table.columns, "headings among")
    columns = {name: column_of(table, name) for name in table.columns if name not in levels}
    labels = labels_of(columns, kinds_of(columns), levels, True)
    rows = [*own] or labels or [next(iter(columns), "")]
    left = tuple((name, "none of the columns") for name in columns if name not in rows)
    return WideForm(tuple(levels), tuple(filter(None, rows)), left)


def _is_crossed(proposal: Proposal) -> bool:
    """Whether a table with a row per cell is crossed by texts or named settings."""
    telling = [
        name
        for name in proposal.factors
        if proposal.kinds[name].strong or not proposal.columns[name].as_numbers
    ]
    return len(telling) >= 2 and proposal.density > 0.5 and not proposal.collisions


def _with_one_label(
    table: RawTable, form: WideForm, asked: ImportOptions
) -> tuple[RawTable, WideForm]:
    """A table whose rows are known by several columns as by one, where these aren't crossed."""
    names = [name for name in form.rows if name not in table.origins]
    if len(names) < 2 or asked.facets or asked.y:
        return table, form
    columns = {name: column_of(table, name) for name in names}
    distinct = [column.level_count for column in columns.values() if not column.are_sizes]
    if any(column.as_numbers for column in columns.values()) or len(table.places) in distinct:
        return table, form
    if Facts(columns, {}).density(names) >= SPARSE:
        return table, form
    joined = JOINED.join(names)
    rest = [name for name in form.rows if name in table.origins]
    left = (*form.left_out, *((name, "part of what identifies a row") for name in names))
    return with_joined(table, [("", joined)]), replace(form, rows=(joined, *rest), left_out=left)


def _wide(table: RawTable, form: WideForm, asked: ImportOptions) -> Proposal:
    table, form = _with_one_label(table, form, asked)
    found = long(table, form, None if asked.x in form.rows else asked.x)
    long_table = replace(found.table, titles=(*found.table.titles, *_best_first(table, form)))
    name = asked.metric
    if name and name not in long_table.columns and not nearest(name, long_table.columns):
        long_table = replace(long_table, metric=name)
        asked = replace(asked, metric=VALUE)
    elif not long_table.metric:
        said = {title: measured_in(title) for title in table.titles if len(title) <= LONGEST_TITLE}
        title = next(filter(said.get, said), "")
        name = said.get(title, "")
        if not name and known_unit(next(iter(said), "")):
            title = name = next(iter(said))
        note = "nothing says what the values are; name them with --metric"
        if name:
            note = f"what the values are is read from “{title}”; another name: --metric"
        long_table = replace(long_table, metric=name, notes=(*long_table.notes, note))
    proposal = propose(long_table, asked, found.headings)
    why = (f"headings as levels: {points_text(form.terms)}",) if form.terms else ()
    return replace(proposal, points=(*why, *proposal.points))


def _best_first(table: RawTable, form: WideForm) -> Iterator[str]:
    """What the order of rows by their average says: leaderboards begin with the best.

    Where few values rise, the best may as well stand last: a paper's own model below all others.
    """
    for name, _ in form.left_out:
        column = column_of(table, name)
        if not AVERAGES & {*words(name)} or not column.is_metric_like or "rank" in words(name):
            continue
        values = [Decimal(number) for number in column.numbers if number is not None]
        if len(values) >= SORTED_FROM and values == sorted(values, reverse=True):
            yield f"highest scores first, by {name}"
        elif len(values) >= RISING_FROM and values == sorted(values):
            yield f"lowest errors first, by {name}"


def _weighed(proposal: Proposal, wide: bool, asked: ImportOptions) -> Choice:
    """The proposal, or a question where nearly all of its cells would be empty."""
    sparse = proposal.density < MIN_DENSITY and proposal.possible >= MANY_CELLS
    if not asked.complete and _is_guessed(proposal, asked):
        raise WrongUsage(
            f"rows that may be repeats of cells or single observations, by "
            f"{join_names(reversed(proposal.factors))}: no name says what was varied or measured",
            "a setting or a subject per axis, and a result",
            "name them with --x, --y and --metric",
        )
    if not sparse or asked.complete:
        if proposal.collisions and not (asked.complete or asked.skip):
            raise collision(proposal)
        return Choice((proposal,), wide)
    fewer = _with_fewer(proposal, asked) if not wide and len(proposal.factors) > 2 else []
    return Choice(
        (proposal, *fewer[: MAX_CANDIDATES - 1]),
        wide,
        f"{proposal.cells:,} of {proposal.possible:,} cells have a row: the settings weren't "
        "crossed, or were drawn at random",
    )


def _is_guessed(proposal: Proposal, asked: ImportOptions) -> bool:
    """Whether rows only look like repeats of cells: no name says what was varied or measured.

    A plan says it as well: cells with equally many rows, and one column that can be the result.
    """
    named = [name for name in proposal.factors if proposal.kinds[name].strong]
    told = named and proposal.kinds[proposal.metric].kind in _TELLING
    if proposal.repeats != (ROWS,) or asked.repeats or asked.metric or told or len(named) > 1:
        return False
    numbers = [
        name
        for name, kind in proposal.kinds.items()
        if kind.kind in ("number", "plain")
        and proposal.columns[name].is_metric_like
        and proposal.columns[name].level_count > 1
        and name not in proposal.factors
    ]
    codes = Facts(proposal.columns, proposal.kinds).codes(proposal.factors)
    _, times = np.unique(codes, return_counts=True)
    usual = Counter(times.tolist()).most_common(1)[0][1]
    planned = proposal.density >= CROSSED and usual >= CROSSED * len(times)
    return not planned or len(numbers) > 1


def split_names(table: RawTable) -> RawTable | None:
    """A table whose rows are named like `small_lr0.1_seed1`, with the parts as columns."""
    for name, texts in table.columns.items():
        if len(set(texts)) < 3 or all(map(looks_like_number, texts)) or not all(texts):
            continue
        if all(map(DATE.fullmatch, texts)):
            continue  # its parts would be called size and run
        parts = [*text_columns(texts, PART)]
        columns = {called: values for called, values, _ in parts if called not in table.columns}
        if len(parts) < 2 or len(columns) < len(parts):
            continue
        note = f"{join_names(columns)}: parts of {name}"
        return replace(table, columns={**table.columns, **columns}, notes=(*table.notes, note))
    return None


def _with_fewer(proposal: Proposal, asked: ImportOptions) -> list[Proposal]:
    """Proposals with two of the factors, whose other rows are repeats; the densest first."""
    pairs = combinations(reversed(proposal.factors), 2)
    given = replace(asked, metric=proposal.metric, facets=(), repeats=(ROWS,))
    found = [propose(proposal.table, replace(given, x=first, y=second)) for first, second in pairs]
    return sorted(found, key=lambda other: -other.density)
