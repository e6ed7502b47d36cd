"""A reading's values against the document that they were typed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from gridatlas.checks.document import (
    Block,
    Document,
    NumberLine,
    Token,
    as_texts,
    levels_in,
    parse_document,
)
from gridatlas.checks.findings import CheckResult, Finding
from gridatlas.checks.reading import ReadingView, Sheet
from gridatlas.checks.register import check
from gridatlas.checks.words import cells_text, plain
from gridatlas.model.format import is_are, many
from gridatlas.model.problems import join_names
from gridatlas.model.study import Factor, Levels, Point, Reading, Study, inline

KIND = "transcription"
MOST_FOUND = 2 / 3
"""Share of a grid's rows that must be in the document, in their order, for others to differ."""

MOST_STEPS = 5_000_000
"""Comparisons of values with numbers up to which the nearest ones are looked for."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of the document, and its line."""

    value: Decimal
    line: int


Placed = Mapping[Point, Printed]
"""Numbers of a block by the points of the grid that they are for."""


def check_transcription(view: ReadingView, reading: Reading) -> list[CheckResult]:
    """Every value against the document, cell by cell where its tables are recognised."""
    if reading.document is None:
        return []
    document = parse_document(reading.document)
    name = reading.entry.text or ""
    sheets = [sheet for sheet in view.sheets if any(_typed(sheet))]
    placed, unplaced = _place(view.study, sheets, document)
    left = _numbers_left(document, placed)
    findings: list[Finding] = []
    total, by_cell, wrong = 0, 0, 0
    for sheet in sheets:
        values = dict(_typed(sheet))
        at = placed.get(sheet.levels, {})
        texts = _differing(values, at) | _missing(sheet, values, at, left, name)
        total += len(values)
        by_cell += sum(point in at for point in values)
        wrong += len(texts)
        findings += _findings(view, sheet, values, texts, at, name)
    if not total:
        return []
    statement = (
        f"{total - wrong:,} of {many(total, 'value')} {is_are(total - wrong)} the same as in "
        f"{name}: {by_cell:,} compared cell by cell, {total - by_cell:,} only searched for."
    )
    if unplaced:
        statement += (
            f" {many(len(unplaced), 'number')} of its tables {is_are(len(unplaced))} in no cell: "
            f"{join_names(as_texts(unplaced))}."
        )
    strength = (
        "Detects a mistyped value, and a value in the wrong cell of a table that the check "
        "recognises. Doesn't detect a mistake in the document itself."
    )
    looked = [sheet.levels for sheet in sheets]
    return [view.result(KIND, looked, statement, strength, findings)]


def _typed(sheet: Sheet) -> Iterator[tuple[Point, Decimal]]:
    """The values that were typed: not the means of repeats."""
    return sheet.values(computed=False)


def _findings(
    view: ReadingView,
    sheet: Sheet,
    values: Mapping[Point, Decimal],
    texts: Mapping[Point, str],
    placed: Placed,
    name: str,
) -> Iterator[Finding]:
    study = view.study
    points = [*chain.from_iterable(sheet.points)]
    wrong = [(point, texts[point]) for point in points if point in texts]
    if wrong:
        yield view.finding(
            KIND,
            sheet.levels,
            [point for point, _ in wrong],
            f"{len(wrong)} of {many(len(values), 'value')} {is_are(len(wrong))} not the same as in "
            f"{name}: {cells_text(study, wrong)}",
            "A value was mistyped, or typed into the wrong cell. Or the document has other numbers "
            "for these cells elsewhere.",
            "Certain: the two differ.",
        )
    absent = [
        (point, f"{plain(placed[point].value)} (line {placed[point].line})")
        for point in points
        if point in placed and point not in values
    ]
    if absent:
        yield view.finding(
            KIND,
            sheet.levels,
            [point for point, _ in absent],
            f"{name} has {many(len(absent), 'number')} for cells without a value: "
            f"{cells_text(study, absent)}",
            "These values may have been left out.",
            "Certain: the document has them.",
            note=True,
        )


def _differing(values: Mapping[Point, Decimal], placed: Placed) -> dict[Point, str]:
    return {
        point: f"{plain(value)} (line {placed[point].line} has {plain(placed[point].value)})"
        for point, value in values.items()
        if point in placed and placed[point].value != value
    }


# --- tables that are recognised -----------------------------------------------------------------


def _place(
    study: Study, sheets: Sequence[Sheet], document: Document
) -> tuple[dict[Levels, dict[Point, Printed]], list[Decimal]]:
    """Numbers of the document by grid and point, and those of its tables that are in no cell.

    A block is the grid that its heading names; of several, the one with most of its values.
    """
    named: dict[str, str] = {}
    possible = []
    for index, block in enumerate(document.blocks):
        named = named | _named(study, block)
        for sheet in sheets:
            at = dict(zip((facet.id for facet in study.facets), sheet.levels, strict=True))
            if any(at[facet] != key for facet, key in named.items()):
                continue
            values = dict(_typed(sheet))
            placed, labelled = _best_placement(study, block, values)
            same = sum(placed[p].value == v for p, v in values.items() if p in placed)
            both = sum(point in placed for point in values)
            # Alone by its heading and its labels, a block is the grid, whatever its values.
            sure = labelled and len(named) == len(study.facets)
            if both and (sure or 2 * same >= both):
                possible.append((sure, same, -index, sheet.levels, placed))
    placed_of: dict[Levels, dict[Point, Printed]] = {}
    used: set[int] = set()
    for _, _, index, levels, placed in sorted(
        possible, key=lambda candidate: candidate[:3], reverse=True
    ):
        grid = placed_of.setdefault(levels, {})
        if index not in used and not grid.keys() & placed.keys():
            used.add(index)
            grid.update(placed)
    taken = {
        (printed.line, printed.value) for grid in placed_of.values() for printed in grid.values()
    }
    unplaced = [
        number
        for block in document.blocks
        for line in block.lines
        if len(line.numbers) > 1
        for number in line.numbers
        if number is not None and (line.line, number) not in taken
    ]
    return placed_of, _without_labels(study, unplaced)


def _named(study: Study, block: Block) -> dict[str, str]:
    """The level of each facet that the words before a block name, the nearest first."""
    named = {}
    for facet in study.facets:
        for text in block.context:
            found = levels_in(text, facet)
            if len(found) == 1:
                named[facet.id] = found[0]
                break
    return named


def _without_labels(study: Study, numbers: Sequence[Decimal]) -> list[Decimal]:
    """Numbers that aren't levels of the axes: labels of rows and columns stand beside values."""
    levels = {level.number for factor in (study.x, study.y) for level in factor.levels}
    return [number for number in numbers if number not in levels]


def _best_placement(
    study: Study, block: Block, values: Mapping[Point, Decimal]
) -> tuple[dict[Point, Printed], bool]:
    """The block's numbers by point, as most of them are the values; whether labels say so."""
    best: tuple[int, bool, dict[Point, Printed]] = (-1, False, {})
    for placed, labelled in _placements(study, block):
        same = sum(placed[p].value == v for p, v in values.items() if p in placed)
        if same > best[0] or (same == best[0] and labelled > best[1]):
            best = same, labelled, placed
    return best[2], best[1]


def _placements(study: Study, block: Block) -> Iterator[tuple[dict[Point, Printed], bool]]:
    """The ways in which a block can be a grid: by its labels, else by its shape."""
    cells = _cells_by_label(study, block)
    if cells:
        yield cells, True
    for across, down, turned in ((study.x, study.y, False), (study.y, study.x, True)):
        for columns, by_header in _columns(block, across):
            for rows, by_label in _rows(block, down, len(columns)):
                placed = {
                    (y, x) if turned else (x, y): Printed(number, line.line)
                    for line, y in rows
                    for x, number in zip(columns, _values(line, len(columns)), strict=True)
                    if number is not None
                }
                yield placed, by_label and (by_header or columns == [*across.keys])


def _cells_by_label(study: Study, block: Block) -> dict[Point, Printed]:
    """Lines of one value, whose words name a level of each axis: `Ratio 0.1, Window 500: 40.0`."""
    placed = {}
    for line in block.lines:
        x, y = (levels_in(line.label, axis) for axis in (study.x, study.y))
        number = line.numbers[0]
        if len(line.numbers) == len(x) == len(y) == 1 and number is not None:
            placed[x[0], y[0]] = Printed(number, line.line)
    return placed


def _columns(block: Block, axis: Factor) -> Iterator[tuple[list[str], bool]]:
    """The levels of the columns: by the header, or all in their order or the other way round."""
    by_header = [levels_in(label, axis) for label in block.header]
    if by_header and all(len(found) == 1 for found in by_header):
        keys = [found[0] for found in by_header]
        if len(set(keys)) == len(keys):
            yield keys, True
            return
    keys = [*axis.keys]
    if len(keys) > 1:
        yield keys, False
        yield keys[::-1], False


def _rows(
    block: Block, axis: Factor, width: int
) -> Iterator[tuple[list[tuple[NumberLine, str]], bool]]:
    """Each line with its level: by the labels, or all in their order or the other way round."""
    whole = [line for line in block.lines if len(_values(line, width)) == width]
    if not whole:
        return
    labelled = [(line, _row_level(line, axis, width)) for line in whole]
    keys = [key for _, key in labelled if key]
    if keys and len(set(keys)) == len(keys):
        yield [(line, key) for line, key in labelled if key], True
        return
    keys = [*axis.keys]
    if len(whole) == len(block.lines) == len(keys):
        yield list(zip(whole, keys, strict=True)), False
        yield list(zip(whole, reversed(keys), strict=True)), False


def _row_level(line: NumberLine, axis: Factor, width: int) -> str | None:
    if len(line.numbers) > width:
        first = line.numbers[0]
        return next((level.key for level in axis.levels if level.number == first), None)
    found = levels_in(line.label, axis)
    if len(found) > 1:
        # "Row 1 (y = 3)": what follows the axis's name, else the last one.
        last = levels_in(line.label.casefold().rpartition(inline(axis.label).casefold())[2], axis)
        found = last if len(last) == 1 else found[:0]
    return found[0] if found else None


def _values(line: NumberLine, width: int) -> Sequence[Token]:
    """The numbers of a line without its label, where that is a number too."""
    return line.numbers[1:] if len(line.numbers) == width + 1 else line.numbers


# --- numbers that are only searched for ---------------------------------------------------------


def _numbers_left(document: Document, placed: Mapping[Levels, Placed]) -> list[tuple[int, Decimal]]:
    """The numbers of the document that are in no recognised table."""
    taken = Counter(
        (printed.line, printed.value) for grid in placed.values() for printed in grid.values()
    )
    left = []
    for number in document.numbers:
        if taken[number]:
            taken[number] -= 1
        else:
            left.append(number)
    return left


def _missing(
    sheet: Sheet,
    values: Mapping[Point, Decimal],
    placed: Placed,
    left: Sequence[tuple[int, Decimal]],
    name: str,
) -> dict[Point, str]:
    """Values that the document doesn't have, or not in the order of the grid's rows."""
    rest = {point: value for point, value in values.items() if point not in placed}
    if not rest:
        return {}
    numbers = [value for _, value in left]
    wanted = Counter(rest.values())
    have = Counter(numbers)
    missing = {
        point: f"{plain(value)} (not in {name})"
        for point, value in rest.items()
        if wanted[value] > have[value]
    }
    rows = [[(p, rest[p]) for p in row if p in rest] for row in sheet.points]
    rows = [row for row in rows if len(row) > 2]
    begin: dict[Decimal, list[int]] = {}
    for at, value in enumerate(numbers):
        begin.setdefault(value, []).append(at)
    apart = [row for row in rows if not _in_order([value for _, value in row], numbers, begin)]
    if len(apart) > (1 - MOST_FOUND) * len(rows):
        return missing
    searched = sum(map(len, apart)) * len(left) <= MOST_STEPS
    for row in apart:
        if searched:
            missing |= _unlike_nearest(row, left)
        else:
            missing |= {p: f"{plain(v)} ({name} has no such row)" for p, v in row}
    return missing


def _in_order(
    values: list[Decimal], numbers: Sequence[Decimal], begin: Mapping[Decimal, Sequence[int]]
) -> bool:
    """Whether values follow one another in the numbers, from the left or from the right."""
    return any(
        list(numbers[at : at + len(values)]) == order
        for order in (values, values[::-1])
        for at in begin.get(order[0], ())
    )


def _unlike_nearest(
    row: Sequence[tuple[Point, Decimal]], left: Sequence[tuple[int, Decimal]]
) -> dict[Point, str]:
    """Where a row differs from the numbers in the document that are most like it."""
    wanted = Counter(value for _, value in row)
    best: tuple[tuple[int, int], Sequence[tuple[int, Decimal]]] = (0, 0), ()
    for at in range(len(left) - len(row) + 1):
        window = left[at : at + len(row)]
        shared = (wanted & Counter(value for _, value in window)).total()
        for numbers in (window, window[::-1]):
            same = sum(value == other for (_, value), (_, other) in zip(row, numbers, strict=True))
            if (shared, same) > best[0]:
                best = (shared, same), numbers
    return {
        point: f"{plain(value)} (line {line} has {plain(other)})"
        for (point, value), (line, other) in zip(row, best[1], strict=False)
        if value != other
    }


@check(
    kind=KIND,
    title="Values against the document they were typed from",
    says="A value that differs from the [document](data-format.md#documents) it was typed from. "
    "Certain. The check doesn't detect a mistake in the document.",
    passing="the numbers of the document, each in its cell",
    order=90,
)
def transcription(view: ReadingView) -> list[CheckResult]:
    """What contradicts its document is wrong, whether or not it is shown."""
    return check_transcription(view.as_wrong, view.account)
