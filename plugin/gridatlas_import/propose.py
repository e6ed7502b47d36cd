"""Proposes what the columns of a table are: axes, facets, metric, repeats; each with its reason."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from gridatlas.analysis.roles import CONDITIONS, SETTINGS, is_named
from gridatlas.model.directions import words
from gridatlas.model.format import many
from gridatlas.model.problems import join_names
from gridatlas_import.choose_metric import (
    choose_metric,
    unclear_outcome,
)
from gridatlas_import.columns import Column, plain_name
from gridatlas_import.counts import (
    better_in_files,
    choose_counts,
    columns_beside,
    taken_columns,
)
from gridatlas_import.factors import explain_rest, notes_of_levels, why_factor
from gridatlas_import.filters import (
    Filtered,
    filtered,
    mark_of,
    with_joined,
    without_unknown,
    wrong_names,
)
from gridatlas_import.kinds import KindOfColumn, kinds_of
from gridatlas_import.metric import MetricFound, metric_of, speaks_of
from gridatlas_import.numerals import DecimalMark
from gridatlas_import.options import ROWS, ImportOptions, Role
from gridatlas_import.roles import (
    JOINED,
    FactorSet,
    Facts,
    are_panels,
    choose_repeats,
    density,
    factor_set,
    fitting_set,
)
from gridatlas_import.rows import CannotImport, RawTable, Reported, SeveralProblems
from gridatlas_import.shape import direction_of
from gridatlas_import.vocabulary import BENCHMARKS, CONFIG_NAMESPACE, ENTITIES, MODELED, TITLE_WORDS

ENTITIES_OR_TASKS = ENTITIES | {"task", "tasks", "dataset", "benchmark"}
"""Words of columns that are an axis even with one level, where a person has chosen the rows."""


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
        spread_n: How many repeats a value is the mean of; None where it isn't said.
        cells: Different cells that the rows are of.
        possible: Cells of all panels that have any.
        collisions: Rows beyond the first of one cell and repeat.
        headings: Columns whose levels were the headings of a wide table.
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
    spread_n: int | None = None
    cells: int = 0
    possible: int = 0
    collisions: int = 0
    headings: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Facets, y and x: the columns that a cell is known by."""
        return (*self.facets, *filter(None, (self.y,)), self.x)

    @property
    def density(self) -> float:
        """The share of cells that have rows."""
        return self.cells / self.possible if self.possible else 0.0


def propose(table: RawTable, asked: ImportOptions, headings: Sequence[str] = ()) -> Proposal:
    """Say what each column is.

    Args:
        headings: The columns whose levels were the headings of a wide table; the first is x.

    Raises:
        CannotImport: For names that the table doesn't have, numbers that can be read in two ways,
            or a table without a metric or axes.
    """
    table = with_joined(table, asked)
    wrong = wrong_names(table, asked)
    if wrong:
        _raise_with_collisions(table, asked, headings, wrong)
    mark = asked.mark or mark_of(table)
    rows = filtered(table, asked, mark)
    columns = {name: Column(name, texts, mark) for name, texts in rows.table.columns.items()}
    if asked.fill:
        columns = {name: _filled(column, asked.fill) for name, column in columns.items()}
    return _Proposing(asked, rows, columns, mark, tuple(headings)).proposal()


def _filled(column: Column, level: str) -> Column:
    """A column of texts with a level where nothing stands; one of numbers as it is."""
    if column.is_metric_like or not column.filled:
        return column
    return Column(
        column.name, [text if text.strip() else level for text in column.texts], column.mark
    )


def _raise_with_collisions(
    table: RawTable, asked: ImportOptions, headings: Sequence[str], wrong: Sequence[CannotImport]
) -> None:
    """Raise what is wrong with names, and what else would be, so that one run tells all."""
    given = without_unknown(table, asked)
    try:
        if given.x and given.y and given != asked:  # else the names are known, and used twice
            proposal = propose(table, given, headings)
            if proposal.collisions:
                wrong = [*wrong, collision(proposal)]
    except CannotImport:
        pass  # it follows from the wrong names
    raise wrong[0] if len(wrong) == 1 else SeveralProblems(wrong)


@dataclass(frozen=True)
class _Proposing:
    """A table on the way to a proposal."""

    asked: ImportOptions
    rows: Filtered
    columns: dict[str, Column]
    mark: DecimalMark
    headings: tuple[str, ...]

    def proposal(self) -> Proposal:
        """The roles of all columns: the metric first, then counts, then factors."""
        asked, columns, table = self.asked, self.columns, self.rows.table
        notes = list(table.notes)
        kinds = kinds_of(columns)
        for name in table.settings:
            if name in kinds and kinds[name].kind not in ("repeat", "empty"):
                why = "it names the rows" if table.wide else "a setting, as the logs say"
                kinds[name] = KindOfColumn("factor", why)
        roles: dict[str, Role] = {}

        def give(role: str, name: str, why: str) -> None:
            roles[name] = Role(role, name, columns[name].summary, why)

        for name, level in self.rows.keep:
            give("only", name, f"rows with {level}")
        for name in asked.ignore:
            give("not read", name, "as asked")
        if asked.spread.column:
            give("spread", asked.spread.column, "as asked")
        metric, why = self._metric(kinds, roles)
        given = columns[metric]
        columns[metric] = given.as_outcomes()
        give("metric", metric, why)
        higher = better_in_files(columns, roles)
        higher = direction_of((*table.wide, metric)) if higher is None else higher
        higher = True if higher is None and columns[metric] is not given else higher  # 1 succeeded
        about = metric_of(
            self.rows.metric or table.metric or metric,
            columns[metric],
            asked.about,
            higher,
            table.units.get(metric, ""),
            self._signs(metric),
        )
        counts = choose_counts(columns, asked, roles, metric, about, notes)
        for kind, name in counts.items():
            give(kind, name, "as asked" if name == asked.counts.get(kind) else "its name")
        taken = taken_columns(columns, asked, roles)
        for name in taken:
            give(name, name, "a column of the data format")
        facts = Facts(columns, kinds, table.origins, self._fixed(), frozenset(roles))
        facts, found = self._factors(facts, notes)
        x, y, facets = self._axes(facts, found)
        roles |= self._roles_of_factors(facts, found, x, y, facets)
        state, spread = columns_beside(facts, metric, roles, counts, asked.spread)
        factors = (x, *filter(None, (y,)), *facets)
        explain_rest(facts.columns, facts.kinds, roles, factors)
        for name, reason in table.left_out:
            roles.setdefault(name, Role("not read", name, "numbers or texts", reason))
        sampled = bool(counts or found.repeats)
        valued = [number is not None for number in columns[metric].numbers]
        cells, possible = density(facts, x, y, facets, valued)
        if found.repeats and about.decimals is None:
            about = replace(about, decimals=columns[metric].decimals)
        return Proposal(
            facts.columns,
            replace(table, columns={name: found.texts for name, found in facts.columns.items()}),
            x,
            y,
            metric,
            facets,
            found.repeats,
            counts,
            taken,
            self.rows.keep,
            self.rows.left,
            about,
            self.mark,
            _ranked(roles.values()),
            tuple(dict.fromkeys((*notes, *_notes(facts, metric, spread, factors, sampled)))),
            facts.kinds,
            state,
            spread,
            asked.spread.n,
            cells,
            possible,
            facts.collisions(factors, found.repeats),
            self.headings,
        )

    def _signs(self, metric: str) -> list[str]:
        """Texts that may say which values are better: titles, then levels, then benchmarks."""
        table = self.rows.table
        others = [self.columns[name] for name in self.columns if name != metric]
        levels = (column.distinct[:60] for column in others if not column.is_metric_like)
        texts = [*dict.fromkeys(chain(table.wide, *levels))]
        spoken = {text: speaks_of(text) for text in texts if TITLE_WORDS & {*words(text)}}
        found = {better for better in spoken.values() if better}
        signs = [*table.titles]
        signs += [text for text, better in spoken.items() if better][:1] if len(found) == 1 else []
        benchmarks = [text for text in texts if BENCHMARKS.match(text) and not MODELED.match(text)]
        if len(benchmarks) > 1 and min(self.columns[metric].values, default=-1) >= 0:
            signs.append(f"accuracy on {benchmarks[0]}")
        return signs

    def _roles_of_factors(
        self, facts: Facts, found: FactorSet, x: str, y: str, facets: Sequence[str]
    ) -> dict[str, Role]:
        """The roles of axes, facets and repeats, with their reasons."""
        asked = self.asked
        given = (asked.x, asked.y, *asked.facets)
        roles: dict[str, Role] = {}
        axes = [(name, role) for name, role in ((x, "x"), (y, "y")) if name]
        for name, role in (*axes, *((facet, "facet") for facet in facets)):
            column = facts.columns[name]
            why = why_factor(column, role, facts.kinds[name], name in given)
            if role == "facet" and name in facts.origins and name not in asked.facets:
                why = "without it, several rows would have one cell"
            if name in self.headings:
                why = "its levels are the headings"
            roles[name] = Role(role, name, column.summary, why)
        for name in found.repeats:
            if name != ROWS:
                kind = facts.kinds[name]
                why = kind.why if kind.kind == "repeat" else "it numbers repeats"
                why = "as asked" if name in asked.repeats else why
                roles[name] = Role("repeats", name, facts.columns[name].summary, why)
        return roles

    def _fixed(self) -> tuple[str, ...]:
        asked = self.asked
        axes = [name for name in ("x", "y") if len(_distinct(self.columns, name)) > 1]
        free = () if asked.x or asked.y or self.headings else axes
        given = (asked.x, asked.y, *self.headings, *asked.facets, *free)
        return tuple(dict.fromkeys(name for name in given if name and name in self.columns))

    def _metric(
        self, kinds: Mapping[str, KindOfColumn], roles: Mapping[str, Role]
    ) -> tuple[str, str]:
        asked = self.asked
        if asked.metric:
            return asked.metric, "as asked"
        used = {*self._fixed(), *asked.repeats, *asked.counts.values(), *roles}
        if self.rows.table.wide and "value" in self.columns and "value" not in used:
            return "value", "its name"
        found = choose_metric(self.columns, kinds, used)
        outcome = unclear_outcome(self.columns) if found is None else None
        if outcome is not None:
            raise CannotImport(
                f"{outcome.name} with {join_names(outcome.distinct, 5)}, which aren't numbers",
                "a column of numbers, or of two outcomes such as pass and fail",
                "write 1 for a success and 0 for everything else",
            )
        if found is None:
            raise CannotImport(
                f"no column of numbers to be the metric, among {join_names(self.columns, 30)}",
                "a column with the values",
                "name it with --metric; where each column is a level of x, add --wide",
                usage=True,
            )
        return found

    def _factors(self, facts: Facts, notes: list[str]) -> tuple[Facts, FactorSet]:
        """The factors that are asked for, else those that tell rows apart."""
        asked = self.asked
        settled = {name for name in asked.repeats if name != ROWS}
        facts = replace(facts, used=facts.used | settled)
        axes = tuple(filter(None, (asked.x, asked.y)))
        settled_axes = asked.x is not None and asked.y is not None
        if asked.facets and settled_axes:
            found = FactorSet((*axes, *asked.facets), asked.repeats)
        elif settled_axes:
            found = fitting_set(facts, axes, asked.repeats)
        else:
            facts, found = factor_set(facts)
        if asked.repeats:
            return facts, replace(found, repeats=asked.repeats)
        if asked.facets:
            repeats = choose_repeats(facts, (*found.factors, *asked.facets))
            found = replace(found, repeats=repeats or found.repeats)
        if found.repeats == (ROWS,):
            notes.append("rows of one cell are taken for its repeats; nothing numbers them")
        return facts, found

    def _axes(self, facts: Facts, found: FactorSet) -> tuple[str, str, tuple[str, ...]]:
        """X, y and facets among factors: numbers with the most levels first, then texts."""
        asked = self.asked
        panels = are_panels(facts, found, self.headings) and asked.y is None and not asked.facets
        x = asked.x or (self.headings[0] if self.headings and not panels else None)
        free = [name for name in found.factors if name not in (x, asked.y, *asked.facets)]
        order = [*facts.columns]
        free.sort(
            key=lambda name: (
                x is None and name in self.headings,
                name not in ("x", "y"),
                name == "filter" and self.rows.table.logs is not None,
                not facts.columns[name].as_numbers or facts.kind(name) == "repeat",
                -len(facts.columns[name].distinct),
                order.index(name),
            )
        )
        missing = (x is None) + (asked.y is None)
        if len(free) < missing:
            free += _constant(facts, asked, (*free, x, asked.y))
        if (
            len(free) == missing - 1
            and asked.y is None
            and _is_sweep(facts, x or free[0], asked, found.repeats)
        ):
            return x or free[0], "", asked.facets
        if len(free) < missing:
            raise _too_few(facts, (*filter(None, (x, asked.y)), *free), self.rows)
        chosen = free[:missing]
        # Programs that track settings sort them by name: their order means nothing.
        by_size = all(map(CONFIG_NAMESPACE.fullmatch, chosen))
        chosen.sort(
            key=lambda name: (
                not facts.columns[name].as_numbers,
                -len(facts.columns[name].distinct) if by_size else 0,
                order.index(name),
            )
        )
        x = x or chosen.pop(0)
        y = chosen.pop(0) if asked.y is None else asked.y
        if asked.facets:
            return x, y, asked.facets
        rest = sorted(free[missing:], key=order.index)
        return x, y, tuple(rest)


SWEEP_FROM = 3
"""Levels of a number from which it alone is worth a line."""


def _is_sweep(facts: Facts, name: str, asked: ImportOptions, repeats: Sequence[str]) -> bool:
    """Whether one factor is enough: a number that alone tells rows apart, or what is named as x.

    A list of models, each with its result, says nothing that a grid shows better.
    """
    column = facts.columns[name]
    if asked.x == name:
        return True
    several = column.as_numbers and len(column.distinct) >= SWEEP_FROM
    if facts.collisions((name, *asked.facets), repeats) or not several:
        return False
    first = facts.columns[next(iter(facts.columns))]
    named = not first.is_metric_like and len(first.distinct) == facts.rows == first.filled
    digits = [len(value.normalize().as_tuple().digits) for value in column.values]
    measured = sum(number > 2 for number in digits) * 2 > len(digits)
    return not named or (not measured and is_named(plain_name(name), f"{SETTINGS}|{CONDITIONS}"))


def _distinct(columns: Mapping[str, Column], name: str) -> Sequence[str]:
    return columns[name].distinct if name in columns else ()


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
        and len(column.distinct) == 1
        and (name in ("x", "y") or (asked.keep and ENTITIES_OR_TASKS & set(words(name))))
    ]


def _too_few(facts: Facts, found: Sequence[str], taken: Filtered) -> CannotImport:
    """What is said where no grid can be made: which factor there is, and what is missing."""
    names = join_names(facts.columns, 30)
    if not found and taken.left:
        chosen = join_names(f"{name}={level}" for name, level in taken.keep)
        return CannotImport(
            f"nothing that was varied in the {many(facts.rows, 'row')} with {chosen}; "
            f"{many(len(taken.left), 'other')} left out",
            "results of one experiment, in which two settings vary",
            "import the files of one experiment, such as one folder; or choose other rows with "
            "--only, and the axes with --x and --y",
            usage=True,
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
        and len(column.distinct) == facts.rows > 1
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
    return CannotImport(what, "two columns with levels, for x and y", fix, usage=True)


def collision(proposal: Proposal) -> CannotImport:
    """What is said of several rows of one cell: in which column they differ."""
    columns = proposal.columns
    facts = Facts(columns, proposal.kinds)
    most = max(_rows_per_cell(proposal))
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
    return CannotImport(
        what + (f", which differ in {helps[0]}" if helps else ""),
        "one row per cell",
        fix,
        usage=True,
    )


def _rows_per_cell(proposal: Proposal) -> list[int]:
    times: dict[tuple[str, ...], int] = {}
    names = [name for name in (*proposal.factors, *proposal.repeats) if name != ROWS]
    for key in zip(*(proposal.columns[name].levels for name in names), strict=True):
        times[key] = times.get(key, 0) + 1
    return [*times.values()]


def _ranked(roles: Iterable[Role]) -> tuple[Role, ...]:
    """Roles in the order in which people read them; what isn't read comes last."""
    order = (
        "x", "y", "metric", "facet", "only", "repeats", "n", "successes", "stderr", "spread",
        "state",
    )  # fmt: skip
    ranked = sorted(
        roles, key=lambda role: order.index(role.role) if role.role in order else len(order)
    )
    return tuple(sorted(ranked, key=lambda role: role.role == "not read"))
