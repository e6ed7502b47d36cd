"""Check a study's files against each other and make one frozen `Study` of them."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import cast

from gridatlas.data.match_runs import fit_runs
from gridatlas.data.reader import StudySource
from gridatlas.data.rows import (
    OPTIONAL_COLUMNS,
    check_columns,
    factor_ids,
    read_readings,
    too_long,
)
from gridatlas.data.tables import Table
from gridatlas.data.typos import corrected, typos
from gridatlas.model.format import places_of
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import (
    MOST_TRIALS,
    PAGE_FILES,
    PLACEHOLDER,
    RESERVED_FACETS,
    FactorEntry,
    LevelEntry,
    level_key,
    level_number,
)
from gridatlas.model.study import (
    Factor,
    Level,
    Point,
    Reading,
    Region,
    Study,
)

RESERVED_FACTORS = (
    *OPTIONAL_COLUMNS,
    *("interval_high", "interval_low", "may_be_best", "reading", "study", "value"),
)
"""Names of columns, of keys in the downloads, and of arguments of `grid()` in claims."""
MOST_POINTS, MOST_POINTS_PER_ROW = 1_000_000, 100
"""Points of all grids of a study: x × y of a table whose rows are hardly any of them."""
_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def validate(source: StudySource) -> tuple[Study | None, list[Problem]]:
    """Check everything; the study is None where its factors don't fit together.

    Cells with a problem are left out of the study, and the problem says so; all others stand.
    """
    misspelled = typos(source)
    meant = corrected(source, misspelled) if misspelled else source
    problems = [*(typo.problem(source) for typo in misspelled), *_check_names(meant)]
    if misspelled:
        problems += [
            problem for table in source.tables.values() for problem in check_columns(meant, table)
        ]
    if problems:
        return None, problems
    tables: dict[str, Table] = {}
    for reading_id, table in source.tables.items():
        found = check_columns(source, table)
        problems += found
        if not any(problem.severity == "problem" for problem in found):
            tables[reading_id] = table
    if not tables:
        return None, problems
    factors = {}
    for factor_id in factor_ids(source):
        factors[factor_id], found = _factor(source, factor_id, tables.values())
        problems += found
    problems += _check_files(source, factors)
    problems += _check_trials(source, factors)
    problems += _check_replicates(source, factors)
    problems += _check_levels(source, factors)
    if any(problem.severity == "problem" for problem in problems if problem.file == source.name):
        return None, problems
    readings, found = read_readings(source, factors, tables)
    problems += found
    sparse = _check_points(source, factors, tables, readings)
    if sparse:
        return None, [*problems, sparse]
    runs, found = fit_runs(source, factors, readings)
    problems += found
    file = source.file
    study = Study(
        id=source.id,
        title=file.title,
        summary=file.summary,
        source=file.source,
        metric=file.metric.model_copy(update={"decimals": _decimals(file.metric, readings)}),
        x=factors[file.x],
        y=factors[file.y],
        facets=tuple(factors[facet] for facet in file.facets),
        baseline=file.baseline,
        compare=file.compare,
        trials=file.trials,
        readings=readings,
        reconcile=file.reconcile,
        regions=tuple(
            Region(region.label, frozenset(_points(source, factors, region.boxes)))
            for region in file.regions
        ),
        folder=source.name.rpartition("/")[0],
        claims=file.claims,
        claim_lines=tuple(source.line("claims", at) or 1 for at in range(len(file.claims))),
        accepted=file.accepted,
        accepted_lines=tuple(
            source.line("accepted", index) or 1 for index in range(len(file.accepted))
        ),
        reproduce=file.reproduce,
        runs=runs,
        license=file.license or "",
        replicates=file.replicates or "",
        former=file.former,
        former_lines=tuple(source.line("former", at) or 1 for at in range(len(file.former))),
        agreement=file.agreement,
        agreement_lines=tuple(
            source.line("agreement", at) or 1 for at in range(len(file.agreement))
        ),
        see_also=file.see_also,
        see_also_lines=tuple(
            source.line("see_also", at, "study") or 1 for at in range(len(file.see_also))
        ),
    )
    return study, problems


# --- study.yml against itself -------------------------------------------------------------------


@dataclass(frozen=True)
class _In:
    """Makes problems that lie in one `study.yml`."""

    source: StudySource

    def problem(
        self,
        kind: str,
        path: Sequence[str | int],
        found: str,
        expected: str | None = None,
        fix: str | None = None,
        values: Mapping[str, object] | None = None,
    ) -> Problem:
        name, line, column = self.source.name, self.source.line(*path), ".".join(map(str, path))
        return Problem.of(
            kind, name, found, line, column, expected=expected, fix=fix, values=values
        )

    def unknown(
        self, kind: str, path: Sequence[str | int], name: str, what: str, valid: Iterable[str]
    ) -> Problem:
        valid = list(valid)
        near = nearest(name, valid)
        if level_number(name) is not None:
            near = None
        fix = f"write {near} instead of {name}" if near else f"use one of them, or remove {name}"
        if not valid:
            fix = f"remove {name}"
        expected = f"{what}: {join_names(valid, 30)}" if valid else f"{what}; there is none"
        return self.problem(kind, path, quote(name), expected, fix)


def _check_names(source: StudySource) -> list[Problem]:
    """The folder's name, the factors' names, and every key that names a facet or a reading."""
    return [
        *_check_ids(source),
        *_check_references(source),
        *_check_reading_ids(source),
        *_check_arguments(source),
    ]


def _check_ids(source: StudySource) -> list[Problem]:
    file, here = source.file, _In(source)
    ids = factor_ids(source)
    problems = []
    found = f"the folder {quote(source.id)}"
    if source.id in PAGE_FILES:
        expected = f"none of {join_names(PAGE_FILES)}, which are the files of pages"
        problems.append(here.problem("bad-id", (), found, expected))
    if not _ID.fullmatch(source.id):
        expected = "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
        problems.append(here.problem("bad-id", (), found, expected))
    for factor_id, times in Counter(ids).items():
        if times > 1:
            path = ("facets" if factor_id in file.facets else "y",)
            found = f"{quote(factor_id)} {times} times"
            problems.append(here.problem("repeated-factor", path, found))
    for index, facet in enumerate(file.facets):
        if facet in RESERVED_FACETS:
            values = {"names": join_names(RESERVED_FACETS), "facet": facet}
            problems.append(
                here.problem("reserved-facet", ("facets", index), quote(facet), values=values)
            )
    problems += [
        here.problem(
            "reserved-column",
            ("x" if factor_id == file.x else "y" if factor_id == file.y else "facets",),
            quote(factor_id),
            values={"names": join_names(RESERVED_FACTORS, 30)},
        )
        for factor_id in ids
        if factor_id in RESERVED_FACTORS
    ]
    if file.metric.column in (*ids, *OPTIONAL_COLUMNS, "reading"):
        problems.append(
            here.problem(
                "duplicate-column",
                ("metric", "column"),
                quote(file.metric.column),
                "a column of its own",
                "name the column that holds the metric",
            )
        )
    if file.metric.range and file.metric.range[0] >= file.metric.range[1]:
        low, high = file.metric.range
        problems.append(
            here.problem(
                "wrong-value",
                ("metric", "range"),
                f"[{low}, {high}]",
                "the lowest and then the highest value",
                "swap the two",
            )
        )
    return problems


def _check_references(source: StudySource) -> list[Problem]:
    file, here = source.file, _In(source)
    ids = factor_ids(source)
    problems = [
        here.unknown("unknown-factor", ("factors", factor), factor, "a factor of this study", ids)
        for factor in file.factors
        if factor not in ids
    ]
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("baseline", facet), facet) for facet in file.baseline
    ]
    named += [(("compare", index), facet) for index, facet in enumerate(file.compare)]
    if file.trials:
        named.append((("trials", "items"), file.trials.items))
    if file.replicates is not None:
        named.append((("replicates",), file.replicates))
    problems += [
        here.unknown("unknown-factor", path, facet, "a facet of this study", file.facets)
        for path, facet in named
        if facet not in file.facets
    ]
    return problems


def _check_reading_ids(source: StudySource) -> list[Problem]:
    here = _In(source)
    ids = [reading.id for reading in source.file.readings]
    problems = []
    for index, reading in enumerate(source.file.readings):
        if reading.id in ids[:index]:
            path = ("readings", index, "id")
            problems.append(here.problem("repeated-reading", path, quote(reading.id)))
        if reading.derived_from and reading.derived_from not in ids:
            path = ("readings", index, "derived_from")
            problems.append(
                here.unknown("unknown-reading", path, reading.derived_from, "a reading", ids)
            )
    return problems + _check_agreement(source)


def _check_agreement(source: StudySource) -> list[Problem]:
    """The pairs of readings whose agreement is pinned."""
    here, ids = _In(source), [reading.id for reading in source.readings]
    problems = []
    for index, entry in enumerate(source.file.agreement):
        path = ("agreement", index, "readings")
        problems += [
            here.unknown("unknown-reading", path, name, "a reading", ids)
            for name in dict.fromkeys(entry.readings)
            if name not in ids
        ]
        if entry.readings[0] == entry.readings[1]:
            found, expected = f"{quote(entry.readings[0])} twice", "two different readings"
            problems.append(
                here.problem("wrong-value", path, found, expected, "name another reading")
            )
        if entry.same > entry.of:
            path = ("agreement", index, "same")
            found = f"{entry.same} of {entry.of} cells"
            expected = "at most as many as both have"
            problems.append(here.problem("wrong-value", path, found, expected, "swap the two"))
    return problems


def _check_arguments(source: StudySource) -> list[Problem]:
    """The template of the command that measures a cell again."""
    if source.file.reproduce is None:
        return []
    here, path = _In(source), ("reproduce", "args")
    args = source.file.reproduce.args
    ids = factor_ids(source)
    if {"{", "}"} & set(PLACEHOLDER.sub("", args)):
        found, expected = "a brace that belongs to none", "braces only around a factor: {factor}"
        return [here.problem("wrong-value", path, found, expected, "correct or remove the brace")]
    try:
        shlex.split(args)
    except ValueError:
        found, expected = "a quote without its other one", "arguments as a shell reads them"
        return [here.problem("wrong-value", path, found, expected, "close the quote")]
    named = list(dict.fromkeys(PLACEHOLDER.findall(args)))
    problems = [
        here.unknown("unknown-factor", path, name, "a factor of this study", ids)
        for name in named
        if name not in ids
    ]
    problems += [
        here.problem(
            "wrong-value",
            path,
            f"no {{{axis}}}",
            "the levels of both axes, which tell cells apart",
            f"add {{{axis}}} where the script takes it",
        )
        for axis in (source.file.x, source.file.y)
        if axis not in named
    ]
    return problems + _check_margin(source)


def _check_margin(source: StudySource) -> list[Problem]:
    """A margin as wide as the metric's range would call everything the same."""
    file = source.file
    margin = file.reproduce.margin if file.reproduce else None
    ends = file.metric.range or ((Decimal(0), Decimal(100)) if file.metric.unit == "%" else None)
    if margin is None or ends is None or 2 * margin < ends[1] - ends[0]:
        return []
    found, expected = str(margin), f"less than half the metric's range of {ends[0]} to {ends[1]}"
    path = ("reproduce", "margin")
    return [_In(source).problem("wrong-value", path, found, expected, "write a smaller margin")]


def _factor(
    source: StudySource, factor_id: str, tables: Iterable[Table]
) -> tuple[Factor, list[Problem]]:
    entry = source.file.factors.get(factor_id, FactorEntry())
    entries = entry.levels
    if entries is None:
        keys = dict.fromkeys(
            level_key(text)
            for table in tables
            for text in dict.fromkeys(table.column(factor_id))
            if text and not too_long(text)
        )
        numbers = {key: level_number(key) for key in keys}
        if all(number is not None for number in numbers.values()):
            keys = dict.fromkeys(sorted(keys, key=lambda key: cast(Decimal, numbers[key])))
        entries = tuple(LevelEntry(id=key) for key in keys)
    problems = _mixed(source, factor_id, tables) if entry.levels is None else []
    levels = tuple(
        Level(
            key=entry.id,
            label=entry.label or entry.id,
            slug=slug(entry.id),
            number=level_number(entry.id),
            items=entry.items,
            aggregate=entry.aggregate.by if entry.aggregate else None,
        )
        for entry in entries
    )
    here = _In(source)
    keys_before: set[str] = set()
    labels_before: set[str] = set()
    slugs_before: dict[str, Level] = {}
    for index, level in enumerate(levels):
        path = ("factors", factor_id, "levels", index)
        if level.key in keys_before:
            problems.append(here.problem("repeated-level", path, f"{quote(level.key)} again"))
        elif level.label in labels_before:
            found = f"the label {quote(level.label)} again"
            problems.append(here.problem("same-label", path, found))
        elif level.slug in slugs_before:
            other = slugs_before[level.slug]
            found = f"{quote(level.key)} and {quote(other.key)}, both {quote(level.slug)}"
            problems.append(here.problem("same-address", path, found))
        keys_before.add(level.key)
        labels_before.add(level.label)
        slugs_before.setdefault(level.slug, level)
    label = entry.label or factor_id.replace("_", " ").capitalize()
    return Factor(factor_id, label, entry.unit, levels, entry.direction), problems


_ENDINGS = ("best", "reproduced", "vl")
"""What stands between a grid's address and the ending of some of its files."""


def _check_files(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """Grids whose files would be another grid's: of the last facet's levels `a` and `a.best`."""
    here, facets = _In(source), source.file.facets
    levels = factors[facets[-1]].levels if facets else ()
    slugs = {level.slug: level for level in levels}
    return [
        here.problem(
            "same-address",
            ("factors", facets[-1], "levels", index),
            f"{quote(level.key)} beside {quote(slugs[stem].key)}, which has files of that name",
            "levels whose files differ",
            "rename one of them, in the tables too",
        )
        for index, level in enumerate(levels)
        for stem, _, ending in [level.slug.rpartition(".")]
        if ending in _ENDINGS and stem in slugs
    ]


def _mixed(source: StudySource, factor_id: str, tables: Iterable[Table]) -> list[Problem]:
    """A note where most levels are numbers and some are texts: `500x` may be a slip of the pen."""
    texts: dict[str, tuple[str, int]] = {}
    numbers: set[str] = set()
    for table in tables:
        column = table.column(factor_id)
        for text in dict.fromkeys(column):
            key = level_key(text) if text and not too_long(text) else ""
            if key and level_number(key) is None:
                texts.setdefault(key, (table.name, table.lines[column.index(text)]))
            elif key:
                numbers.add(key)
    if len(numbers) <= len(texts):
        return []
    by_value: list[str] = sorted(numbers, key=Decimal)
    return [
        Problem.of(
            "mixed-levels",
            name,
            quote(key),
            line,
            factor_id,
            severity="note",
            values={"factor": factor_id, "numbers": join_names(by_value)},
        )
        for key, (name, line) in texts.items()
    ]


def slug(key: str) -> str:
    """The form of a level's key in addresses; ids that every system can name a file by stay."""
    address = _address(key)[:100].rstrip(".")
    if address.partition(".")[0] in _DEVICES:
        address = f"level-{address}"[:100].rstrip(".")
    return address


_PORTS = (f"{port}{number}" for port in ("com", "lpt") for number in range(10))
_DEVICES = frozenset(["con", "prn", "aux", "nul", *_PORTS])
"""What Windows takes for a device, in either case and with any ending."""


def _address(key: str) -> str:
    if key in PAGE_FILES:
        return key.replace(".", "-")
    if _ID.fullmatch(key) and len(key) <= 100:
        return key
    if level_number(key) is not None and key.startswith("-"):
        return f"minus{key}"
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_.]+", "-", plain).strip("-._") or "level"


def _check_points(
    source: StudySource,
    factors: Mapping[str, Factor],
    tables: Mapping[str, Table],
    readings: Iterable[Reading],
) -> Problem | None:
    """Axes of which a table has hardly any point, such as numbers of rows or times."""
    file = source.file
    nx, ny = len(factors[file.x].levels), len(factors[file.y].levels)
    grids = len({levels for reading in readings for levels, _ in reading.cells})
    rows = sum(len(table.lines) for table in tables.values())
    if grids * nx * ny <= max(MOST_POINTS, rows * MOST_POINTS_PER_ROW):
        return None
    times = f"{grids:,} grids of " if grids > 1 else ""
    return _In(source).problem(
        "too-many-cells",
        ("x",),
        f"{times}{nx:,} × {ny:,} cells, and {rows:,} rows",
        values={"most": MOST_POINTS, "per_row": MOST_POINTS_PER_ROW, "x": file.x, "y": file.y},
    )


def _check_trials(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """Items times samples, where both are in bounds on their own."""
    trials = source.file.trials
    if trials is None:
        return []
    items = max((level.items or 0 for level in factors[trials.items].levels), default=0)
    if items * trials.samples <= MOST_TRIALS:
        return []
    return [
        _In(source).problem(
            "wrong-value",
            ("trials", "samples"),
            f"{items:,} × {trials.samples:,} trials in a cell",
            f"at most {MOST_TRIALS:,}",
            "correct samples, or the items of the level",
        )
    ]


def _check_replicates(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """A facet that repeats the experiment has a mean, and levels that are the same experiment."""
    file, here, path = source.file, _In(source), ("replicates",)
    facet = file.replicates
    if facet is None:
        return []
    problems = []
    if not any(level.aggregate for level in factors[facet].levels):
        problems.append(
            here.problem(
                "wrong-value",
                path,
                f"{quote(facet)}, which has no aggregate",
                "a facet with a level that is the mean of the others",
                f"list the levels of {facet} under factors, and after them "
                "{id: mean, aggregate: {by: mean}}; or remove replicates",
            )
        )
    if file.trials and file.trials.items == facet:
        problems.append(
            here.problem(
                "wrong-value",
                path,
                f"{quote(facet)}, whose levels are asked different items (trials.items)",
                "a facet whose levels differ by chance only, such as training seeds",
                "name another facet, or remove replicates",
            )
        )
    return problems


def _check_levels(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """The levels that `baseline`, `regions` and `aggregate` name."""
    file, here = source.file, _In(source)
    problems = []
    for facet, key in file.baseline.items():
        levels = [level.key for level in factors[facet].levels]
        if levels and key not in levels:
            what = f"a level of {facet}"
            problems.append(here.unknown("unknown-level", ("baseline", facet), key, what, levels))
    problems += _check_stated_ranges(source, factors)
    for index, region in enumerate(file.regions):
        for number, box in enumerate(region.boxes):
            path = ("regions", index, "boxes", number)
            if set(box) != {file.x, file.y}:
                problems.append(
                    here.problem(
                        "wrong-value",
                        path,
                        f"the keys {join_names(box)}",
                        f"the keys {file.x} and {file.y}",
                        "list the levels that the box covers",
                    )
                )
                continue
            for axis, keys in box.items():
                levels = [level.key for level in factors[axis].levels]
                what = f"a level of {axis}"
                problems += [
                    here.unknown("unknown-level", (*path, axis), key, what, levels)
                    for key in keys
                    if key not in levels
                ]
    for facet in (file.x, file.y):
        for index, level in enumerate(factors[facet].levels):
            if level.aggregate:
                problems.append(
                    here.problem(
                        "wrong-value",
                        ("factors", facet, "levels", index, "aggregate"),
                        f"an aggregate on the axis {quote(facet)}",
                        "an aggregate level of a facet",
                        "remove aggregate here",
                    )
                )
    for facet in file.facets:
        sums = [level for level in factors[facet].levels if level.aggregate]
        if sums and len(sums) == len(factors[facet].levels):
            problems.append(
                here.problem(
                    "wrong-value",
                    ("factors", facet, "levels"),
                    "only aggregate levels",
                    "at least one level to aggregate",
                    "remove aggregate from one of them",
                )
            )
    return problems


def _check_stated_ranges(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    file, here = source.file, _In(source)
    problems = []
    for index, reading in enumerate(file.readings):
        for number, stated in enumerate(reading.stated_range):
            for facet, key in (stated.__pydantic_extra__ or {}).items():
                path = ("readings", index, "stated_range", number, facet)
                if facet not in file.facets:
                    what = "a facet of this study"
                    problems.append(here.unknown("unknown-factor", path, facet, what, file.facets))
                    continue
                keys = [level.key for level in factors[facet].levels]
                if keys and key not in keys:
                    what = f"a level of {facet}"
                    problems.append(here.unknown("unknown-level", path, key, what, keys))
    return problems


def _points(
    source: StudySource, factors: Mapping[str, Factor], boxes: Iterable[Mapping[str, Iterable[str]]]
) -> Iterable[Point]:
    for box in boxes:
        yield from product(*(dict.fromkeys(box[axis]) for axis in (source.file.x, source.file.y)))


def _decimals(metric: object, readings: Iterable[Reading]) -> int:
    """Decimals to show: as `study.yml` says, else the most that a value has, at most 4."""
    named = getattr(metric, "decimals", None)
    if isinstance(named, int):
        return named
    places = (
        places_of(cell.value)
        for reading in readings
        for cell in reading.cells.values()
        if cell.value is not None
    )
    return min(4, max(places, default=0))
