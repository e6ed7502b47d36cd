"""Proposes what the columns of a table are: axes, facets, metric, repeats; each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gridatlas.importing.columns import (
    COUNTS,
    DIRECTION_COLUMNS,
    FACTORS,
    METRICS,
    NOT_STDERR,
    REPEATS,
    WEAK,
    WHEN,
    Column,
    kind_of_count,
    plain_name,
    words,
)
from gridatlas.importing.factors import (
    choose_factors,
    choose_repeats,
    explain_rest,
    notes_of_levels,
    why_factor,
)
from gridatlas.importing.metric import MetricFound, metric_of
from gridatlas.importing.numerals import (
    DecimalMark,
    are_plain_numbers,
    decimal_mark,
    is_absent,
    looks_like_number,
    marks_of,
)
from gridatlas.importing.options import ROWS, ImportOptions, Role
from gridatlas.importing.rows import CannotImport, RawTable, Reported
from gridatlas.model.problems import join_names, nearest


@dataclass(frozen=True)
class Proposal:
    """What the columns are.

    Attributes:
        repeats: Columns that number repeats; `rows` where they have no number.
        counts: Columns with n, successes and standard errors.
        keep: Levels that rows must have; the others are reported.
        left: The rows left out by `keep`.
        notes: What is worth a word.
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

    @property
    def factors(self) -> tuple[str, ...]:
        """Facets, y and x: the columns that a cell is known by."""
        return (*self.facets, self.y, self.x)


def propose(table: RawTable, asked: ImportOptions, headings: str = "") -> Proposal:
    """Say what each column is.

    Args:
        headings: The column whose levels were the headings of a wide table: x.

    Raises:
        CannotImport: For names that the table doesn't have, numbers that can be read in two ways,
            or a table without a metric or axes.
    """
    _check_names(table, asked)
    given = {asked.x, asked.y, *asked.facets}
    asked = replace(asked, x=asked.x or headings or None)
    mark = asked.mark or _mark(table)
    notes = list(table.notes)
    table, keep, left, metric_name = _filtered(table, asked, mark)
    columns = {name: Column(name, texts, mark) for name, texts in table.columns.items()}
    roles: dict[str, Role] = {}

    def give(role: str, name: str, why: str) -> None:
        roles[name] = Role(role, name, columns[name].summary, why)

    for name, level in keep:
        give("only", name, f"rows with {level}")
    for name in asked.ignore:
        give("not read", name, "as asked")
    metric, why = _metric(columns, asked, roles)
    give("metric", metric, why)
    higher_in_files = _better_in_files(columns, roles)
    about = metric_of(metric_name or metric, columns[metric], asked.about, higher_in_files)
    counts = _counts(columns, asked, roles, metric, about, notes)
    for kind, name in counts.items():
        asked_for = name == asked.counts.get(kind)
        give(kind, name, "as asked" if asked_for else "its name")
    taken = _taken(columns, asked, roles)
    for name in taken:
        give(name, name, "a column of the data format")
    x, y, facets = choose_factors(columns, asked, roles, table.origins)
    for name, role in ((x, "x"), (y, "y"), *((facet, "facet") for facet in facets)):
        why = why_factor(columns[name], role, name in given)
        give(role, name, "its levels are the headings" if name == headings else why)
    facets, repeats = choose_repeats(columns, asked, roles, (x, y), facets, table.origins)
    for name in facets:
        if name not in roles or roles[name].role not in ("facet",):
            give("facet", name, "without it, several rows would have one cell")
    for name in repeats:
        if name != ROWS:
            give("repeats", name, "as asked" if name in asked.repeats else "it numbers repeats")
    if repeats and about.decimals is None:
        # Means have no end of decimals; pictures show those that the values have.
        about = replace(about, decimals=columns[metric].decimals)
    explain_rest(columns, roles, (x, y, *facets))
    for name in (x, y, *facets):
        notes += notes_of_levels(columns[name])
    if columns[metric].margins:
        notes.append(
            f"{metric}: what stands after ± isn't read, since it may be a standard error or a "
            "standard deviation; it is kept as a note of the cell"
        )
    return Proposal(
        columns,
        table,
        x,
        y,
        metric,
        facets,
        repeats,
        counts,
        taken,
        keep,
        left,
        about,
        mark,
        _ranked(roles.values()),
        tuple(dict.fromkeys(notes)),
    )


def _ranked(roles: Iterable[Role]) -> tuple[Role, ...]:
    """Roles in the order in which people read them; what isn't read comes last."""
    order = ("x", "y", "metric", "facet", "only", "repeats", "n", "successes", "stderr")
    ranked = sorted(
        roles, key=lambda role: order.index(role.role) if role.role in order else len(order)
    )
    return tuple(sorted(ranked, key=lambda role: role.role == "not read"))


# --- names, decimal mark, rows --------------------------------------------------------------------


def _check_names(table: RawTable, asked: ImportOptions) -> None:
    named = [
        ("--x", asked.x),
        ("--y", asked.y),
        ("--metric", asked.metric),
        *(("--facet", name) for name in asked.facets),
        *(("--repeats", name) for name in asked.repeats if name != ROWS),
        *(("--ignore", name) for name in asked.ignore),
        *(("--only", name) for name, _ in asked.keep),
        *((f"--{kind}", name) for kind, name in asked.counts.items() if name),
    ]
    used: dict[str, str] = {}
    for option, name in named:
        if name is None:
            continue
        if name not in table.columns:
            near = nearest(name, table.columns)
            raise CannotImport(
                f"{option} {name}",
                f"one of the columns {join_names(table.columns, 30)}",
                f"write {option} {near}" if near else "correct the name",
                usage=True,
            )
        if name in used and {option, used[name]} != {"--only"}:
            raise CannotImport(
                f"{name} as {used[name]} and as {option}",
                "one meaning per column",
                "leave one of them out",
                usage=True,
            )
        used[name] = option


def _mark(table: RawTable) -> DecimalMark:
    """The decimal mark: of all columns in which everything looks like a number."""
    texts: list[str] = []
    for name in table.columns:
        column = set(table.columns[name])
        numbers = column
        if not are_plain_numbers(column):
            numbers = {text for text in column if looks_like_number(text)}
        if numbers and all(map(is_absent, column - numbers)):
            texts += sorted(text for text in numbers if not text.isdecimal())
    return decimal_mark(marks_of(texts), semicolons=table.semicolons)


def _filtered(
    table: RawTable, asked: ImportOptions, mark: DecimalMark
) -> tuple[RawTable, tuple[tuple[str, str], ...], tuple[Reported, ...], str]:
    """The rows that are taken, what they must have, the others, and the metric's name if any."""
    keep = dict(asked.keep)
    for name, level in table.keep.items():
        levels = set(table.columns[name]) if name not in keep else set()
        if level in levels and len(levels) > 1:
            keep[name] = level
    naming = [
        name for name in table.columns if plain_name(name) in ("metric", "metric_name", "measure")
    ]
    naming = [
        name for name in naming if name not in (asked.x, asked.y, asked.metric, *asked.facets)
    ]
    names = Column(naming[0], table.columns[naming[0]], mark) if naming else None
    names = None if names is None or names.is_metric_like or not names.distinct else names
    if names is not None and names.name not in keep and len(names.distinct) > 1:
        counted = Counter(names.levels)
        keep[names.name] = max(names.distinct, key=lambda level: counted[level])
    left: list[Reported] = []
    for name, level in keep.items():
        column = Column(name, table.columns[name], mark)
        if level not in column.distinct:
            near = nearest(level, column.distinct)
            raise CannotImport(
                f"--only {name}={level}",
                f"a level of {name}: {join_names(column.distinct, 20)}",
                f"write --only {name}={near}" if near else "correct the level",
                usage=True,
            )
        left += [
            Reported(place, f"{name} is {other or 'empty'}, not {level}")
            for place, other in zip(table.places, column.levels, strict=True)
            if other != level
        ]
        table = table.with_rows([row for row, other in enumerate(column.levels) if other == level])
    called = ""
    if names is not None:
        called = keep.get(names.name) or (names.distinct[0] if len(names.distinct) == 1 else "")
    return table, tuple(keep.items()), tuple(left), called


# --- metric and counts ----------------------------------------------------------------------------


def _metric(
    columns: Mapping[str, Column], asked: ImportOptions, roles: Mapping[str, Role]
) -> tuple[str, str]:
    if asked.metric:
        return asked.metric, "as asked"
    used = {asked.x, asked.y, *asked.facets, *asked.repeats, *asked.counts.values(), *roles}
    candidates = [
        column
        for name, column in columns.items()
        if name not in used
        and column.is_metric_like
        and not kind_of_count(name)
        and plain_name(name) not in DIRECTION_COLUMNS
    ]
    if not candidates:
        raise CannotImport(
            f"no column of numbers to be the metric, among {join_names(columns, 30)}",
            "a column with the values",
            "name it with --metric; where each column is a level of x, add --wide",
            usage=True,
        )

    def score(column: Column) -> tuple[int, float, bool, int]:
        distinct = column.number_count / len(column.texts)
        return (
            _metric_name(column.name),
            distinct,
            column.is_fractional,
            list(columns).index(column.name),
        )

    # Of several that are named like metrics, the first: tables put what matters first.
    named = [candidate for candidate in candidates if score(candidate)[0] == 2]
    if named:
        best = named[0]
        why = "its name" + (
            f" (also: {join_names(column.name for column in named[1:])})" if named[1:] else ""
        )
    else:
        best = max(candidates, key=score)
        why = "a number with many distinct values"
    return best.name, why


def _metric_name(name: str) -> int:
    """How much a name is a metric's: 2 surely, 1 perhaps, 0 unknown, -1 something else's."""
    parts, whole = set(words(name)), plain_name(name)
    if NOT_STDERR.search(whole):
        return -1
    if METRICS & parts:
        return 1 if (FACTORS | REPEATS | WEAK) & parts else 2
    return -1 if (FACTORS | REPEATS) & parts or WHEN.search(whole) else 0


def _better_in_files(columns: Mapping[str, Column], roles: Mapping[str, Role]) -> bool | None:
    for name in DIRECTION_COLUMNS & columns.keys() - roles.keys():
        directions = {level.lower() for level in columns[name].distinct}
        if directions in ({"true"}, {"false"}):
            return directions == {"true"}
    return None


def _counts(
    columns: Mapping[str, Column],
    asked: ImportOptions,
    roles: Mapping[str, Role],
    metric: str,
    about: MetricFound,
    notes: list[str],
) -> dict[str, str]:
    found: dict[str, str] = {}
    used = {asked.x, asked.y, *asked.facets, *asked.repeats, *roles, metric}
    called = "_".join(words(metric))
    for kind in COUNTS:
        if kind in asked.counts:
            if asked.counts[kind]:
                found[kind] = asked.counts[kind]
            continue
        for name, column in columns.items():
            own = kind == "stderr" and "_".join(words(name)) in (
                f"{called}_stderr",
                f"{called}_se",
                f"{called}_sem",
            )
            if name in used or name in found.values() or not (own or kind_of_count(name) == kind):
                continue
            if not column.is_metric_like:
                continue
            if kind == "stderr" and bool(column.percents) != bool(columns[metric].percents):
                notes.append(
                    f"{name} isn't read: {metric} and {name} don't both have percent signs; "
                    f"if they have one unit, add --stderr {name}"
                )
                continue
            found[kind] = name
            break
    if (
        "n" in found
        and "n" not in asked.counts
        and not about.proportion
        and "successes" not in found
    ):
        notes.append(
            f"{found['n']} isn't read: {metric} isn't known to be a share of trials; "
            f"if it is, add --n {found['n']}"
        )
        del found["n"]
    return found


def _taken(
    columns: Mapping[str, Column], asked: ImportOptions, roles: Mapping[str, Role]
) -> tuple[str, ...]:
    used = {asked.x, asked.y, *asked.facets, *asked.repeats, *roles}
    return tuple(name for name in ("note",) if name in columns and name not in used)
