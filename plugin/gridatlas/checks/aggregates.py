"""Printed aggregates against the mean of their parts."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np

from gridatlas.checks.averages import FROM_SHARES, Average, Outliers, Part, average_of, outliers
from gridatlas.checks.findings import CheckResult, Finding
from gridatlas.checks.reading import ReadingView, Sheet, ends_of
from gridatlas.checks.register import check
from gridatlas.checks.words import CHANCE, cells_text, half_unit, odds_text, of_values, plain, short
from gridatlas.model.format import is_are, many
from gridatlas.model.problems import join_names
from gridatlas.model.study import Cell, Levels, Point, Study
from gridatlas.table.items import share_scale
from gridatlas.table.study_table import StudyTable

CellAt = Callable[[Levels, Point], Cell | None]


def check_aggregates(
    view: ReadingView,
    part: CellAt,
    blame: str = "The aggregate or one of its parts is wrong",
    compared: bool = True,
) -> list[CheckResult]:
    """Printed aggregates against the mean of their printed parts, within what rounding allows.

    Args:
        part: Gives the cell of a part.
        blame: What is wrong where one isn't that mean.
        compared: Whether they are also compared with how the others were computed.
    """
    tally = _compared(view, part, blame)
    looked, untested, widest = tally.looked, tally.untested, tally.widest
    findings = tally.findings
    if not looked:
        return []
    tested = tally.fine + sum(len(finding.cells) for finding in findings)
    if not tested:
        statement = "No aggregate can be checked: each lacks a part."
        return [
            view.result(
                "aggregate", looked, statement, "", outcome="not testable", untested=untested
            )
        ]
    statement = (
        f"{tally.fine} of {many(tested, 'printed aggregate')} {is_are(tally.fine)} the mean of "
        f"{many(tally.parts, 'printed part')}, within rounding ({short(widest)})."
    )
    if untested:
        number = sum(map(len, untested.values()))
        statement += f" {number} more can't be checked: a part is missing."
    apart = outliers(tally.averages) if compared else None
    if apart:
        statement += f" {apart.fitting} of {apart.tested} are also {apart.way}."
        findings += _outlier_findings(view, apart, tally.coarse)
    strength = (
        f"Detects an aggregate that is off by more than {short(2 * widest)}, and a part that is "
        f"off by more than {short(2 * tally.parts * widest)}. Smaller mistakes can go unnoticed, "
        "and several can cancel out."
    )
    return [view.result("aggregate", looked, statement, strength, findings, untested=untested)]


@dataclass
class _Tally:
    """What the aggregates of a reading give, each against the mean of its parts.

    Attributes:
        averages: All that have all their parts.
        coarse: Those that rounding doesn't explain.
        looked: The grids of aggregates.
        untested: Points at which a part is absent, by grid.
        fine: How many are the mean of their parts.
        parts: Of the last of them.
        widest: The most that rounding explains.
    """

    averages: list[Average] = field(default_factory=list)
    coarse: set[tuple[Levels, Point]] = field(default_factory=set)
    looked: list[Levels] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    untested: dict[Levels, list[Point]] = field(default_factory=dict)
    fine: int = 0
    parts: int = 0
    widest: Decimal = Decimal(0)


def _compared(view: ReadingView, part: CellAt, blame: str) -> _Tally:
    """Each aggregate of a reading against the mean of its parts."""
    tally = _Tally()
    for sheet in view.sheets:
        for index, factor in enumerate(view.study.facets):
            if not factor.level(sheet.levels[index]).aggregate:
                continue
            tally.looked.append(sheet.levels)
            others = [
                (*sheet.levels[:index], level.key, *sheet.levels[index + 1 :])
                for level in factor.levels
                if not level.aggregate
            ]
            off, tested = _off(view.study, sheet, others, part, tally)
            tally.fine += tested - len(off)
            if off:
                tally.findings.append(
                    view.finding(
                        "aggregate",
                        sheet.levels,
                        [point for point, _ in off],
                        f"{of_values(len(off), tested)} not the mean of "
                        f"{many(len(others), 'part')}: {cells_text(view.study, off)}",
                        f"{blame}. Or the aggregate isn't a plain mean.",
                        "Certain if it is a plain mean: rounding explains at most "
                        f"{short(tally.widest)}.",
                    )
                )
    return tally


def _off(
    study: Study, sheet: Sheet, others: Sequence[Levels], part: CellAt, tally: _Tally
) -> tuple[list[tuple[Point, str]], int]:
    """The aggregates of a grid that aren't the mean of their parts, and how many were tested.

    Args:
        others: The grids of the parts.
        tally: Takes what the tested ones give.
    """
    off, tested = [], 0
    scale = share_scale(study)
    for point, value in sheet.values():
        cells = [part(levels, point) for levels in others]
        parts = [cell.value for cell in cells if cell and cell.value is not None]
        if len(parts) < len(others):
            tally.untested.setdefault(sheet.levels, []).append(point)
            continue
        tested += 1
        # All times the number of parts: a division by 3 would be rounded.
        tally.parts = count = len(parts)
        total = sum(parts, Decimal(0))
        room = count * half_unit(value) + sum(map(half_unit, parts), Decimal(0))
        tally.widest = max(tally.widest, room / count)
        printed = [_part(study, *pair) for pair in zip(others, cells, strict=True)]
        tally.averages.append(average_of(sheet.levels, point, value, printed, scale))
        if abs(count * value - total) > room:
            tally.coarse.add((sheet.levels, point))
            shown = join_names(map(plain, parts), 8)
            off.append((point, f"{plain(value)} ({shown} give {short(total / count)})"))
    return off, tested


def _part(study: Study, levels: Levels, cell: Cell | None) -> Part:
    """A part with its number of trials, where it is a share of them as printed."""
    if cell is None or cell.value is None:
        raise ValueError("a part without a value")
    if cell.repeats > 1:
        return Part(cell.value)
    trials = cell.n if cell.n is not None else study.trials_at(levels)
    return Part(cell.value, trials, cell.successes)


def _outlier_findings(
    view: ReadingView, apart: Outliers, reported: Container[tuple[Levels, Point]]
) -> list[Finding]:
    """Aggregates that were computed in another way than the others.

    Args:
        reported: Those that aren't the mean of their parts by any rounding.
    """
    off: dict[Levels, list[Average]] = {}
    for average in apart.averages:
        if (average.levels, average.point) not in reported:
            off.setdefault(average.levels, []).append(average)
    findings = []
    for levels, averages in off.items():
        shown = [(average.point, _off_by(average, apart.way)) for average in averages]
        findings.append(
            view.finding(
                "aggregate",
                levels,
                [average.point for average in averages],
                f"{apart.fitting} of {apart.tested} aggregates are {apart.way}; "
                f"{'this one is' if len(averages) == 1 else 'these are'} not: "
                f"{cells_text(view.study, shown)}",
                "The aggregate or one of its parts is wrong. Or it was computed differently from "
                "the others.",
                _how_sure(apart),
            )
        )
    return findings


def _how_sure(apart: Outliers) -> str:
    if apart.chance is None:
        return (
            "Certain if it is the mean of its parts: it fits neither of the two ways in which the "
            "others can be computed."
        )
    return (
        "Chance that so many aggregates fit if they were computed differently: "
        f"{odds_text(apart.chance)}. The check reports chances below 1 in {1 / CHANCE}."
    )


def _off_by(average: Average, way: str) -> str:
    """`52.2 (its parts give 52.34, 0.14 off)`."""
    mean = average.printed_mean
    if way == FROM_SHARES:
        mean = (average.low + average.high) / 2
    off = abs(Fraction(average.value) - mean)
    given, distance = (short(Decimal(n.numerator) / n.denominator) for n in (mean, off))
    return f"{plain(average.value)} (its parts give {given}, {distance} off)"


def check_shown_aggregates(study: Study, chosen: StudyTable) -> list[CheckResult]:
    """Shown aggregates whose own reading has other parts than those that are shown.

    Args:
        chosen: The cells that are shown, without the aggregates computed from them.
    """
    readings = {reading.id: reading for reading in study.readings}
    wanted: dict[Levels, set[Point]] = {}
    for index, factor in enumerate(study.facets):
        if len(study.accounts) < 2 or not any(level.aggregate for level in factor.levels):
            continue
        for levels, point in dict.fromkeys(at for it in study.accounts for at in it.table):
            if not factor.level(levels[index]).aggregate:
                continue
            shown = chosen[levels, point]
            if shown.value is None:
                continue
            for level in factor.levels:
                at = (*levels[:index], level.key, *levels[index + 1 :]), point
                own = readings[shown.reading].table.get(at)
                if level.aggregate or own is None or own.value is None:
                    continue
                if chosen[at].value not in (None, own.value):
                    wanted.setdefault(levels, set()).add(point)
    xs, ys = [*study.x.keys], [*study.y.keys]
    points_of = {levels: [(x, y) in at for y in ys for x in xs] for levels, at in wanted.items()}
    sheets = tuple(
        Sheet(of, xs, ys, chosen.columns[chosen.rows(of)].at(np.where(at, np.arange(len(at)), -1)))
        for of, at in points_of.items()
    )
    # A note: that readings disagree is told where they are compared.
    view = ReadingView(study, "", sheets, "note", chosen, ends_of(study))
    blame = "The shown values come from readings that disagree"
    return check_aggregates(
        view, lambda levels, point: chosen.get((levels, point)), blame, compared=False
    )


@check(
    kind="aggregate",
    title="Printed aggregates against their parts",
    says="A printed mean that isn't the mean of its printed parts. Certain for a plain mean, but "
    "not which number is wrong.",
    passing="the mean of the parts, within rounding",
    order=10,
    of_shown=check_shown_aggregates,
)
def aggregates(view: ReadingView) -> list[CheckResult]:
    """A part that the reading doesn't have is the one that is shown."""
    return check_aggregates(view, view.part)
