"""Proposes what the columns of a table are: axes, facets, metric, repeats; each with its reason."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from gridatlas.analysis.roles import CONDITIONS, SETTINGS, is_named
from gridatlas.model.directions import words
from gridatlas.model.format import many
from gridatlas.model.problems import join_names
from gridatlas_import.choose_metric import choose_metric, unclear_outcome
from gridatlas_import.columns import Column, column_of, plain_name
from gridatlas_import.counts import choose_counts, columns_beside
from gridatlas_import.factors import explain_rest, notes_of_levels, why_factor
from gridatlas_import.filters import Filtered, filtered, mark_of, named_in, with_joined, wrong_names
from gridatlas_import.kinds import AXES, KindOfColumn, kinds_of, numbers_units
from gridatlas_import.metric import MetricFound, metric_of, speaks_of
from gridatlas_import.numerals import DecimalMark
from gridatlas_import.options import ROWS, ImportOptions, Role
from gridatlas_import.quantities import dimension, in_unit_of, spelled
from gridatlas_import.rows import CannotImport, RawTable, Reported, SeveralProblems, WrongUsage
from gridatlas_import.search import (
    JOINED,
    FactorSet,
    Facts,
    are_panels,
    choose_repeats,
    density,
    factor_sets,
)
from gridatlas_import.shape import direction_of
from gridatlas_import.vocabulary import (
    BENCHMARKS,
    CALENDAR,
    CONFIG_NAMESPACE,
    MODELED,
    SUBJECTS_OF_ROWS,
    TITLE_WORDS,
)

HIGHER = "higher_is_better"
"""The column that says which values are better."""
_TOLD = 3
"""Sets of factors that are told with their points."""


@dataclass(frozen=True)
class Proposal:
    """What the columns are.

    Attributes:
        y: Empty where there is one axis.
        repeats: Columns that number repeats; `rows` where they have no number.
        counts: Columns with n, successes and standard errors.
        keep: Levels that rows must have; the others are reported.
        left: The rows left out by `keep`.
        notes: What is worth a word.
        kinds: What each column may be.
        state: Column that says which runs failed.
        spread: Column with the spread of the metric, which is the metric's own where it stands
            after a ±, and its kind: sd, se, ci95, or empty where that isn't said.
        cells: Different cells that the rows are of.
        possible: Cells of all panels that have any.
        collisions: Rows beyond the first of one cell and repeat.
        headings: Columns whose levels were the headings of a wide table.
        points: What speaks for the choice, and for the next best ones.
    """

    columns: Mapping[str, Column]
    table: RawTable
    x: str
    y: str
    metric: str
    facets: tuple[str, ...]
    repeats: tuple[str, ...]
    counts: Mapping[str, str]
    taken: tuple[str, ...]
    keep: tuple[tuple[str, str], ...]
    left: tuple[Reported, ...]
    about: MetricFound
    mark: DecimalMark
    roles: tuple[Role, ...]
    notes: tuple[str, ...]
    kinds: Mapping[str, KindOfColumn] = field(default_factory=dict)
    state: str = ""
    spread: tuple[str, str] = ("", "")
    cells: int = 0
    possible: int = 0
    collisions: int = 0
    headings: tuple[str, ...] = ()
    points: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Facets, y and x: the columns that a cell is known by."""
        return (*self.facets, *filter(None, (self.y,)), self.x)

    @property
    def density(self) -> float:
        """The share of cells that have rows."""
        return self.cells / self.possible if self.possible else 0.0


def _of_means(column: Column, cells: int) -> int:
    """Decimals of means over repeats: those of the values, or as many as their luck allows."""
    numbers = column.floats[np.isfinite(column.floats)]
    luck = float(np.ptp(numbers)) / 4 * (cells / len(column.texts)) ** 0.5 if len(numbers) else 0.0
    return max(column.decimals, -math.floor(math.log10(luck)) if luck > 0 else 0)


def propose(table: RawTable, asked: ImportOptions, headings: Sequence[str] = ()) -> Proposal:
    """Say what each column is: the metric first, then counts, then factors.

    Args:
        headings: The columns whose levels were the headings of a wide table; the first is x.

    Raises:
        CannotImport: For names that the table doesn't have, numbers that can be read in two ways,
            or a table without a metric or axes.
    """
    facts, rows, mark = _looked_at(table, asked, headings)
    table, columns = rows.table, {**facts.columns}
    facts = replace(facts, columns=columns)
    roles: dict[str, Role] = {}

    def give(role: str, name: str, why: str) -> None:
        roles[name] = Role(role, name, columns[name].summary, why)

    for name, level in rows.keep:
        give("only", name, f"rows with {level}")
    for name in asked.ignore:
        give("not read", name, "as asked")
    if asked.spread:
        give("spread", asked.spread, "as asked")
    metric, why = _metric(facts, asked, table, roles)
    columns[metric], given = columns[metric].as_outcomes(), columns[metric]
    give("metric", metric, why)
    about = _about(columns, rows, asked, metric, columns[metric] is not given)
    if table.reading:
        give("reading", table.reading, "whose account it is")
    spreads = (column for name, column in columns.items() if facts.kind(name) == "spread")
    columns |= (converted := in_unit_of(columns[metric], spreads, table.units))
    notes = [note for note in table.notes if note.partition(": ")[0] not in converted]
    counts = choose_counts(columns, asked, roles, metric, about, notes)
    for kind, name in counts.items():
        give(kind, name, "as asked" if name == asked.counts.get(kind) else "its name")
    used = {asked.x, asked.y, *asked.facets, *asked.repeats, *roles}
    taken = tuple({"note"} & columns.keys() - used)
    for name in taken:
        give(name, name, "a column of the data format")
    settled = frozenset({*roles, *asked.repeats} - {ROWS})
    facts, (found, *others) = _factors(replace(facts, used=settled), asked)
    x, y, facets = _axes(facts, found, asked, headings, rows)
    factors = (x, *filter(None, (y,)), *facets)
    roles |= _roles_of_factors(facts, found.repeats, (x, y, *facets), asked, headings)
    state, spread = columns_beside(facts, metric, roles, counts, asked, table.titles)
    explain_rest(facts.columns, facts.kinds, roles, factors)
    for name, reason in table.left_out:
        roles.setdefault(name, Role("not read", name, "numbers or texts", reason))
    cells, possible = density(facts, x, y, facets, metric)
    if found.repeats and about.decimals is None:
        about = replace(about, decimals=_of_means(columns[metric], cells))
    if found.repeats == (ROWS,) and not asked.repeats:
        notes.append("rows of one cell are taken for its repeats; nothing numbers them")
    notes += _notes(facts, metric, spread, factors, bool(counts or found.repeats))
    return Proposal(
        columns=facts.columns,
        table=replace(table, columns={name: c.texts for name, c in facts.columns.items()}),
        x=x,
        y=y,
        metric=metric,
        facets=facets,
        repeats=found.repeats,
        counts=counts,
        taken=taken,
        keep=rows.keep,
        left=rows.left,
        about=about,
        mark=mark,
        roles=_ranked(roles.values()),
        notes=tuple(dict.fromkeys(notes)),
        kinds=facts.kinds,
        state=state,
        spread=spread,
        cells=cells,
        possible=possible,
        collisions=facts.collisions(factors, found.repeats),
        headings=tuple(headings),
        points=tuple(map(str, (found, *others)[:_TOLD])),
    )


def _looked_at(
    table: RawTable, asked: ImportOptions, headings: Sequence[str]
) -> tuple[Facts, Filtered, DecimalMark]:
    """The columns of the rows that are taken, with their kinds; and the decimal mark."""
    table = with_joined(table, named_in(asked))
    wrong = wrong_names(table, asked)
    if wrong:
        raise wrong[0] if len(wrong) == 1 else SeveralProblems(wrong)
    mark = asked.mark or mark_of(table)
    rows = filtered(table, asked, mark)
    table = rows.table
    columns = {name: column_of(table, name, mark) for name in table.columns}
    if asked.fill:
        columns = {name: _filled(column, asked.fill) for name, column in columns.items()}
    kinds = kinds_of(columns)
    for name in table.settings:
        if name in kinds and kinds[name].kind not in ("repeat", "empty"):
            why = "it names the rows" if table.wide else "a setting, as the logs say"
            kinds[name] = KindOfColumn("factor", why)
    free = () if asked.x or asked.y or headings or not columns.keys() >= AXES else sorted(AXES)
    given = (asked.x, asked.y, *headings, *asked.facets)
    varied = (name for name in free if name in columns and columns[name].level_count > 1)
    fixed = dict.fromkeys(name for name in (*given, *varied) if name and name in columns)
    apart = tuple(filter(None, (table.reading,)))
    return Facts(columns, kinds, table.origins, tuple(fixed), apart=apart), rows, mark


def _filled(column: Column, level: str) -> Column:
    """A column of texts with a level where nothing stands; one of numbers as it is."""
    if column.is_metric_like or not column.filled:
        return column
    return Column(
        column.name, [text if text.strip() else level for text in column.texts], column.mark
    )


def _about(
    columns: Mapping[str, Column], rows: Filtered, asked: ImportOptions, metric: str, outcomes: bool
) -> MetricFound:
    """Name, unit, range, direction and decimals of the metric.

    Args:
        outcomes: Whether its values are 1 for a success and 0 for none.
    """
    table = rows.table
    stated = columns[HIGHER].distinct if HIGHER in columns and HIGHER not in asked.ignore else ()
    higher = stated[0].lower() == "true" if len(stated) == 1 else None
    higher = direction_of((*table.wide, metric)) if higher is None else higher
    higher = True if higher is None and outcomes else higher
    name, unit = rows.metric or table.metric or metric, table.units.get(metric, "")
    spelled_units = [spelled(level) for name, level in rows.keep if name in table.keep]
    unit = unit or next((unit for unit in spelled_units if dimension(unit) != unit), "")
    signs = _signs(columns, table, metric)
    return metric_of(name, columns[metric], asked, higher, unit, signs)


def _signs(columns: Mapping[str, Column], table: RawTable, metric: str) -> list[str]:
    """Texts that may say which values are better: titles, then levels, then benchmarks."""
    others = [column for name, column in columns.items() if name != metric]
    # R1, R2 and R3 number what was measured.
    levels = (of.distinct[:60] for of in others if not (of.is_metric_like or numbers_units(of)))
    texts = [*dict.fromkeys(chain(table.wide, *levels))]
    spoken = {text: speaks_of(text) for text in texts if TITLE_WORDS & {*words(text)}}
    found = {better for better in spoken.values() if better}
    signs = [*table.titles]
    signs += [text for text, better in spoken.items() if better][:1] if len(found) == 1 else []
    benchmarks = [text for text in texts if BENCHMARKS.match(text) and not MODELED.match(text)]
    if len(benchmarks) > 1 and columns[metric].written and columns[metric].ends[0] >= 0:
        signs.append(f"accuracy on {benchmarks[0]}")
    return signs


def _roles_of_factors(
    facts: Facts,
    repeats: Sequence[str],
    names: Sequence[str],
    asked: ImportOptions,
    headings: Sequence[str],
) -> dict[str, Role]:
    """The roles of x, y, facets and repeats, with their reasons."""
    given = (asked.x, asked.y, *asked.facets, *asked.repeats)
    roles: dict[str, Role] = {}
    for at, name in enumerate(names):
        role, column = ("x", "y")[at] if at < 2 else "facet", facts.columns.get(name)
        if column is None:
            continue  # there is no y
        why = why_factor(column, role, facts.kinds[name], name in given)
        if role == "facet" and name in facts.origins and name not in asked.facets:
            why = "without it, several rows would have one cell"
        why = "its levels are the headings" if name in headings else why
        roles[name] = Role(role, name, column.summary, why)
    for name in repeats:
        if name != ROWS:
            kind = facts.kinds[name]
            why = kind.why if kind.kind == "repeat" else "it numbers repeats"
            why = "as asked" if name in given else why
            roles[name] = Role("repeats", name, facts.columns[name].summary, why)
    return roles


def _metric(
    facts: Facts, asked: ImportOptions, table: RawTable, roles: Mapping[str, Role]
) -> tuple[str, str]:
    """The column of the values, and why.

    Raises:
        CannotImport: Where there is none.
    """
    columns = facts.columns
    if asked.metric:
        return asked.metric, "as asked"
    used = {*facts.fixed, *asked.repeats, *asked.counts.values(), *roles}
    if table.wide and "value" in columns and "value" not in used:
        return "value", "its name"
    found = choose_metric(columns, facts.kinds, used)
    if found is not None:
        return found
    outcome = unclear_outcome(columns)
    if outcome is not None:
        raise CannotImport(
            f"{outcome.name} with {join_names(outcome.distinct, 5)}, which aren't numbers",
            "a column of numbers, or of two outcomes such as pass and fail",
            "write 1 for a success and 0 for everything else",
        )
    raise WrongUsage(
        f"no column of numbers to be the metric, among {join_names(columns, 30)}",
        "a column with the values",
        "name it with --metric; where each column is a level of x, add --wide",
    )


def _factors(facts: Facts, asked: ImportOptions) -> tuple[Facts, Sequence[FactorSet]]:
    """The factors that are asked for, else sets of those that tell rows apart, best first."""
    if asked.facets and None not in (asked.x, asked.y):
        factors = (*filter(None, (asked.x, asked.y)), *asked.facets)
        return facts, [FactorSet(factors, asked.repeats or choose_repeats(facts, factors))]
    facts, found = factor_sets(facts, asked.repeats)
    return facts, found or [FactorSet(())]


def _axes(
    facts: Facts,
    found: FactorSet,
    asked: ImportOptions,
    headings: Sequence[str],
    rows: Filtered,
) -> tuple[str, str, tuple[str, ...]]:
    """X, y and facets among factors: numbers with the most levels first, then texts."""
    panels = are_panels(facts, found, headings) and asked.y is None and not asked.facets
    x = asked.x or (headings[0] if headings and not panels else None)
    free = [name for name in found.factors if name not in (x, asked.y, *asked.facets)]
    order = [*facts.columns]
    free.sort(
        key=lambda name: (
            x is None and name in headings,
            name not in ("x", "y"),
            name == "filter" and rows.table.logs is not None,
            not facts.columns[name].as_numbers or facts.kind(name) == "repeat",
            -facts.columns[name].level_count,
            order.index(name),
        )
    )
    missing = (x is None) + (asked.y is None)
    if len(free) < missing:
        free += _constant(facts, asked, (*free, x, asked.y))
    alone = len(free) == missing - 1 and asked.y is None
    if alone and _is_sweep(facts, x or free[0], asked, found.repeats):
        return x or free[0], "", asked.facets
    if len(free) < missing:
        raise _too_few(facts, (*filter(None, (x, asked.y)), *free), rows)
    chosen = free[:missing]
    # Programs that track settings sort them by name: their order means nothing.
    by_size = all(map(CONFIG_NAMESPACE.fullmatch, chosen))
    chosen.sort(
        key=lambda name: (
            not facts.columns[name].as_numbers,
            not CALENDAR & {*words(name)},
            -facts.columns[name].level_count if by_size else 0,
            order.index(name),
        )
    )
    x = x or chosen.pop(0)
    y = chosen.pop(0) if asked.y is None else asked.y
    return x, y, asked.facets or tuple(sorted(free[missing:], key=order.index))


SWEEP_FROM = 3
"""Levels of a number from which it alone is worth a line."""


def _is_sweep(facts: Facts, name: str, asked: ImportOptions, repeats: Sequence[str]) -> bool:
    """Whether one factor is enough: a number that alone tells rows apart, or what is named as x.

    A list of models, each with one result, says nothing that a grid shows better.
    """
    column = facts.columns[name]
    if asked.x == name:
        return True
    several = bool(repeats) or (column.as_numbers and column.level_count >= SWEEP_FROM)
    if facts.collisions((name, *asked.facets), repeats) or not several:
        return False
    first = facts.columns[next(iter(facts.columns))]
    named = not first.is_metric_like and first.level_count == facts.rows == first.filled
    digits = [len(value.normalize().as_tuple().digits) for value in column.values]
    measured = sum(number > 2 for number in digits) * 2 > len(digits)
    return not named or (not measured and is_named(plain_name(name), f"{SETTINGS}|{CONDITIONS}"))


def _notes(
    facts: Facts, metric: str, spread: tuple[str, str], factors: Sequence[str], sampled: bool
) -> list[str]:
    """What is worth a word of levels and margins, and of values without trials or repeats."""
    notes = [note for name in factors for note in notes_of_levels(facts.columns[name])]
    if spread == (metric, ""):
        notes.append(
            f"{metric}: what follows ± may be a standard deviation, a standard error or half "
            "of a 95 % interval; it is shown, and used where you say which: --spread-kind sd "
            "--spread-n 5, se or ci95"
        )
    if not sampled and not spread[0]:
        notes.append(
            "there is no column with trials, seeds or standard errors, so differences can't be "
            "tested; if one has another name: --n, --repeats or --stderr"
        )
    return notes


def _constant(facts: Facts, asked: ImportOptions, taken: Sequence[str | None]) -> list[str]:
    """Factors by their names that have one level: of x and y, and of rows that were chosen."""
    return [
        name
        for name, column in facts.columns.items()
        if name not in (*taken, *facts.used)
        and column.level_count == 1
        and (name in ("x", "y") or (asked.keep and SUBJECTS_OF_ROWS & set(words(name))))
    ]


def _too_few(facts: Facts, found: Sequence[str], taken: Filtered) -> CannotImport:
    """What is said where no grid can be made: which factor there is, and what is missing."""
    names = join_names(facts.columns, 30)
    if not found and taken.left:
        chosen = join_names(f"{name}={level}" for name, level in taken.keep)
        return WrongUsage(
            f"nothing that was varied in the {many(facts.rows, 'row')} with {chosen}; "
            f"{many(len(taken.left), 'other')} left out",
            "results of one experiment, in which two settings vary",
            "import the files of one experiment, such as one folder; or choose other rows with "
            "--only, and the axes with --x and --y",
        )
    if not found:
        what = f"no two columns to be the axes, among {names}: nothing that was varied"
    else:
        what = f"no two columns to be the axes, among {names}: only one factor varies, {found[0]}"
    rows = [
        name
        for name, column in facts.columns.items()
        if facts.kind(name) in ("factor", "plain")
        and not column.is_metric_like
        and column.level_count == facts.rows > 1
        and column.filled == len(column.texts)
    ]
    if rows:
        what += f"; there is one row per {rows[0]}"
    fix = "name them with --x and --y; where each column is a level of x, add --wide"
    if found:
        fix = (
            "import it together with results in which something else varies too, name the other "
            f"axis with --y, or take {found[0]} alone: --x {shlex.quote(found[0])} --y ''"
        )
    return WrongUsage(what, "two columns with levels, for x and y", fix)


def collision(proposal: Proposal) -> CannotImport:
    """What is said of several rows of one cell: in which column they differ."""
    columns = proposal.columns
    facts = Facts(columns, proposal.kinds)
    names = [name for name in (*proposal.factors, *proposal.repeats) if name != ROWS]
    most = int(np.bincount(np.unique(facts.codes(names), return_inverse=True)[1]).max())
    used = {*proposal.factors, *proposal.repeats, proposal.metric}
    helps = [
        name
        for name in columns
        if name not in used
        and JOINED not in name
        and proposal.kinds[name].kind in ("factor", "plain", "weak", "repeat")
        and not facts.collisions((*proposal.factors, name), proposal.repeats)
    ]
    option = "--facet"
    if helps and proposal.kinds[helps[0]].kind == "repeat":
        option = "--repeats"
    fix = f"add {option} {helps[0]}" if helps else "if they are repeats, add --repeats rows"
    what = f"up to {most} rows per cell"
    return WrongUsage(
        what + (f", which differ in {helps[0]}" if helps else ""), "one row per cell", fix
    )


def _ranked(roles: Iterable[Role]) -> tuple[Role, ...]:
    """Roles in the order in which people read them; what isn't read comes last."""
    order = (
        "x", "y", "metric", "facet", "only", "repeats", "n", "successes", "stderr", "spread",
        "state",
    )  # fmt: skip
    place = {role: at for at, role in enumerate(order)}
    last = len(order)
    return tuple(sorted(roles, key=lambda r: (r.role == "not read", place.get(r.role, last))))
