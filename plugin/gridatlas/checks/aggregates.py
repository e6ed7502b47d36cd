"""Printed aggregates against the mean of their parts."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from gridatlas.analyse import choose
from gridatlas.checks.findings import CheckResult
from gridatlas.checks.printed import half_unit, plain, short
from gridatlas.checks.reading import Account, Sheet, ends_of, points_of
from gridatlas.checks.words import cells_text, is_are, many, of_values
from gridatlas.problems import listed
from gridatlas.study import Cell, Levels, Point, Study

Part = Callable[[Levels, Point], Cell | None]


def check_aggregates(
    account: Account, part: Part, blame: str = "The aggregate or one of its parts is wrong"
) -> list[CheckResult]:
    """Printed aggregates against the mean of their printed parts, within what rounding allows."""
    looked: list[Levels] = []
    findings = []
    untested: dict[Levels, list[Point]] = {}
    fine, count, widest = 0, 0, Decimal(0)
    for sheet in account.sheets:
        for index, factor in enumerate(account.study.facets):
            if not factor.level(sheet.levels[index]).aggregate:
                continue
            looked.append(sheet.levels)
            others = [
                (*sheet.levels[:index], level.key, *sheet.levels[index + 1 :])
                for level in factor.levels
                if not level.aggregate
            ]
            off, tested = [], 0
            for point, _, value in sheet.cells():
                cells = [part(levels, point) for levels in others]
                parts = [cell.value for cell in cells if cell and cell.value is not None]
                if len(parts) < len(others):
                    untested.setdefault(sheet.levels, []).append(point)
                    continue
                tested += 1
                # All times the number of parts: a division by 3 would be rounded.
                count = len(parts)
                total = sum(parts, Decimal(0))
                room = count * half_unit(value) + sum(map(half_unit, parts), Decimal(0))
                widest = max(widest, room / count)
                if abs(count * value - total) > room:
                    shown = listed(map(plain, parts), 8)
                    off.append((point, f"{plain(value)} ({shown} give {short(total / count)})"))
            fine += tested - len(off)
            if off:
                findings.append(
                    account.finding(
                        "aggregate",
                        sheet.levels,
                        [point for point, _ in off],
                        f"{of_values(len(off), tested)} not the mean of {len(others)} parts: "
                        f"{cells_text(account.study, off)}",
                        f"{blame}; or it isn't their plain mean.",
                        f"Certain, if it is: rounding explains {short(widest)} at most.",
                    )
                )
    if not looked:
        return []
    tested = fine + sum(len(finding.cells) for finding in findings)
    if not tested:
        statement = "No aggregate can be checked: parts of each are absent."
        return [
            account.result(
                "aggregate", looked, statement, "", outcome="not testable", untested=untested
            )
        ]
    statement = (
        f"{fine} of {many(tested, 'printed aggregate')} {is_are(fine)} the mean of {count} printed "
        f"parts, within what rounding allows ({short(widest)})."
    )
    if untested:
        number = sum(map(len, untested.values()))
        statement += f" {number} more can't be checked: a part is absent."
    strength = (
        f"An aggregate that is off by more than {short(2 * widest)} shows, and so does a part "
        f"that is off by more than {short(2 * count * widest)}. Smaller mistakes may not, and "
        "several can cancel out."
    )
    return [account.result("aggregate", looked, statement, strength, findings, untested=untested)]


def check_shown_aggregates(study: Study) -> list[CheckResult]:
    """Shown aggregates whose own reading has other parts than those that are shown."""
    readings = {reading.id: reading for reading in study.readings}
    wanted: dict[Levels, set[Point]] = {}
    for index, factor in enumerate(study.facets):
        if len(study.accounts) < 2 or not any(level.aggregate for level in factor.levels):
            continue
        for levels, point in dict.fromkeys(at for one in study.accounts for at in one.cells):
            if not factor.level(levels[index]).aggregate:
                continue
            shown = choose(study, levels, point)
            if shown.value is None:
                continue
            for level in factor.levels:
                at = (*levels[:index], level.key, *levels[index + 1 :]), point
                own = readings[shown.reading].cells.get(at)
                if level.aggregate or own is None or own.value is None:
                    continue
                if choose(study, *at).value not in (None, own.value):
                    wanted.setdefault(levels, set()).add(point)
    sheets = tuple(
        Sheet(
            levels,
            tuple(
                tuple((at, choose(study, levels, at) if at in points else None) for at in row)
                for row in points_of(study)
            ),
        )
        for levels, points in wanted.items()
    )
    # A note: that readings disagree is told where they are compared.
    account = Account(study, "", sheets, "note", ends_of(study))
    blame = "The shown values come from readings that disagree"
    return check_aggregates(account, lambda levels, point: choose(study, levels, point), blame)
