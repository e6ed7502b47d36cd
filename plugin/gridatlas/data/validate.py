"""Check a study's files against each other and make one frozen `Study` of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import product

from gridatlas.data.columns import check_columns, corrected, factor_ids, typos
from gridatlas.data.levels import check_levels, read_factor
from gridatlas.data.match_runs import match_runs
from gridatlas.data.names import ProblemsOf, check_names
from gridatlas.data.reader import StudySource
from gridatlas.data.roles import compared, roles_of
from gridatlas.data.rows import MOST_POINTS_PER_ROW, most_points, read_readings
from gridatlas.data.tables import Table
from gridatlas.model.format import SMALL
from gridatlas.model.limits import allow, excess, limits
from gridatlas.model.problems import Problem
from gridatlas.model.study import NO_AXIS, Factor, Point, Reading, Region, Study
from gridatlas.table.decimals import middle


def validate(source: StudySource) -> tuple[Study | None, list[Problem]]:
    """Check everything; the study is None where its factors don't fit together.

    Cells with a problem are left out of the study, and the problem says so; all others stand.
    """
    misspelled = typos(source)
    meant = corrected(source, misspelled) if misspelled else source
    problems = [*(typo.problem(source) for typo in misspelled), *check_names(meant)]
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
    many = _check_numbers(source, tables.values())
    if many:
        return None, [*problems, many]
    for factor_id in factor_ids(source):
        factors[factor_id], found = read_factor(source, factor_id, tables.values())
        problems += found
    problems += check_levels(source, factors)
    if any(problem.severity == "problem" for problem in problems if problem.file == source.name):
        return None, problems
    readings, found = read_readings(source, factors, tables)
    problems += found
    sparse = _check_points(source, factors, tables, readings)
    if sparse:
        return None, [*problems, sparse]
    runs, found = match_runs(source, factors, readings)
    problems += found
    file = source.file
    study = Study(
        id=source.id,
        title=file.title,
        summary=file.summary,
        source=file.source,
        metric=file.metric.model_copy(update={"decimals": _decimals(file.metric, readings)}),
        x=factors[file.x],
        y=factors[file.y] if file.y else NO_AXIS,
        facets=tuple(factors[facet] for facet in file.facets),
        baseline=file.baseline,
        compare=compared(file, factors),
        trials=file.trials,
        readings=readings,
        reconcile=file.reconcile,
        regions=_regions(source),
        folder=source.name.rpartition("/")[0],
        claims=file.claims,
        claim_lines=_lines(source, "claims"),
        accepted=file.accepted,
        accepted_lines=_lines(source, "accepted"),
        reproduce=file.reproduce,
        runs=runs,
        authors=file.authors,
        terms=file.terms,
        license=file.license or "",
        roles=roles_of(file, factors, readings),
        cells=file.cells,
        colour=file.colour,
        alike=file.alike,
        spread=file.spread,
        former=file.former,
        former_lines=_lines(source, "former"),
        agreement=file.agreement,
        agreement_lines=_lines(source, "agreement"),
        history=file.history,
        see_also=file.see_also,
        see_also_lines=_lines(source, "see_also", "study"),
    )
    return study, problems


def _regions(source: StudySource) -> tuple[Region, ...]:
    return tuple(
        Region(region.label, frozenset(_points(source, region.boxes)))
        for region in source.file.regions
    )


def _check_numbers(source: StudySource, tables: Iterable[Table]) -> Problem | None:
    """A factor of which a table has more levels than a limit allows."""
    fix = "name another factor"
    for table, factor_id in product(tables, factor_ids(source)):
        number = table.kinds(factor_id)
        many = excess("levels", number, "levels", table.name, None, factor_id, fix)
        if many:
            return many
    return None


def _lines(source: StudySource, name: str, *keys: str) -> tuple[int, ...]:
    """Lines of the entries of a list in `study.yml`, or of a key in each."""
    entries = getattr(source.file, name)
    return tuple(source.line(name, index, *keys) or 1 for index in range(len(entries)))


def _check_points(
    source: StudySource,
    factors: Mapping[str, Factor],
    tables: Mapping[str, Table],
    readings: Iterable[Reading],
) -> Problem | None:
    """Axes of which a table has hardly any point, such as numbers of rows or times."""
    file = source.file
    nx = len(factors[file.x].levels)
    ny = len(factors[file.y].levels) if file.y else 1
    grids = len({levels for reading in readings for levels in reading.table.grids})
    rows = sum(len(table.lines) for table in tables.values())
    if grids * nx * ny <= most_points(tables.values()):
        return None
    times = f"{grids:,} grids of " if grids > 1 else ""
    return ProblemsOf(source).problem(
        "too-many-cells",
        ("x",),
        f"{times}{nx:,} × {ny:,} cells, and {rows:,} rows",
        values={
            "most": limits().cells,
            "per_row": MOST_POINTS_PER_ROW,
            "x": file.x,
            "y": file.y,
            "allow": allow("cells"),
        },
    )


def _points(source: StudySource, boxes: Iterable[Mapping[str, Iterable[str]]]) -> Iterable[Point]:
    for box in boxes:
        axes = (source.file.x, source.file.y)
        yield from product(*(dict.fromkeys(box[axis]) if axis else ("",) for axis in axes))


def _decimals(metric: object, readings: Iterable[Reading]) -> int:
    """Decimals to show: as `study.yml` says, else the most that a value has.

    These are at most 4, or as many as give the smallest values four digits.
    """
    named = getattr(metric, "decimals", None)
    if isinstance(named, int):
        return named
    columns = [reading.table.columns.value for reading in readings]
    size = Decimal(repr(middle(columns)))
    most = 4 if size >= SMALL else 3 - size.adjusted()
    return min(most, max((column.most_places for column in columns), default=0))
