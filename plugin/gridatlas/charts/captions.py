"""What a caption says of a view: its colours, what was tested in this very view, its marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gridatlas.analysis.words import listed
from gridatlas.charts.description import cell_labels
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.marks import marks_of
from gridatlas.model.format import difference_unit, is_are, spoken_unit
from gridatlas.model.study import Study, inline
from gridatlas.table.differences import Difference
from gridatlas.table.study_table import DISPUTED, Grid

if TYPE_CHECKING:
    from gridatlas.analysis.said import Assertion
    from gridatlas.charts.findings import Tests

MOST_NAMED = 3
"""Cells that a caption names one by one."""


def caption(
    study: Study,
    shown: Sequence[Grid | Difference],
    heatmaps: Sequence[Heatmap],
    kind: str,
    tests: Sequence[Tests],
    named: Iterable[Assertion],
    shows: str = "",
) -> str:
    """The sentences below the title of a view.

    Args:
        shown: What the heatmaps are of.
        kind: What colours stand for, see `charts.views.Kind`.
        tests: What was tested of each.
        named: What the headline asserts.
        shows: The difference of means that would probably have been found; empty where one was.
    """
    if not heatmaps:
        return ""
    found = [*_colours(study, shown, heatmaps, kind)]
    found += _chance(study, shown, heatmaps, tests, [*named], shows)
    found += _marks(shown, heatmaps)
    if any(heatmap.x_course for heatmap in heatmaps):
        mean = "geometric mean" if heatmaps[0].scale.log else "mean"
        found.append(f"Lines: {mean} of each column (up is more) and of each row (right is more).")
    found += dict.fromkeys(heatmap.note for heatmap in heatmaps if heatmap.note)
    across = f"Across: {inline(study.x.title)}."
    if study.second:
        down = "Up" if study.y.direction == "up" else "Down"
        across += f" {down}: {inline(study.y.title)}."
    return " ".join([*found, across])


def _colours(
    study: Study, shown: Sequence[Any], heatmaps: Sequence[Heatmap], kind: str
) -> Iterable[str]:
    metric, scale = study.metric, heatmaps[0].scale
    unit = difference_unit(metric.unit)
    if kind == "difference":
        first = shown[0]
        pairs = {of.levels for of in shown if of.facet}
        what = metric.name if len(pairs) != 1 else (
            f"{first.levels[1].label} minus {first.levels[0].label}"
        )  # fmt: skip
        if scale.log:
            name = what if len(pairs) != 1 else what.replace(" minus ", " as a ratio to ")
            yield f"{name}." if len(pairs) == 1 else f"Ratios of {inline(metric.name)}."
        else:
            of = "Difference of " if len(pairs) != 1 else ""
            yield f"{of}{what}{f', in {spoken_unit(unit)}' if unit else ''}."
    else:
        yield f"{metric.name}{f' in {spoken_unit(metric.unit)}' if metric.unit else ''}."
    if kind == "means":
        yield f"Colour: {heatmaps[0].measure}, one scale for the study."
    elif (kind == "values" and scale.falls) or (kind == "difference" and scale.falls):
        yield "Lower is better."
    if scale.log and kind == "values":
        yield "Log scale: equal steps of colour are equal ratios."


def _chance(
    study: Study,
    shown: Sequence[Any],
    heatmaps: Sequence[Heatmap],
    tests: Sequence[Tests],
    named: Sequence[Assertion],
    shows: str,
) -> Iterable[str]:
    """What was tested of the cells of this view; nothing where nothing was."""
    tested = [test for test in tests if test.cells]
    if not tested:
        return
    faded = "faded" in marks_of(heatmaps)
    outlined = "outline" in marks_of(heatmaps)
    untested = any(not test.cells for test in tests)
    is_full = all(test.passed for test in tested)  # then nothing else is faded
    if isinstance(shown[0], Difference):
        is_full = False
        passed = sum(len(test.passed) for test in tests)
        cells = sum(len(test.cells) for test in tests)
        if passed:
            seeds = study.replicates and any(
                of.second.names[[f.id for f in study.facets].index(study.replicates)].aggregate
                for of in shown
            )
            each = f" in each {inline(study.facet(study.replicates).label)}" if seeds else ""
            rest = "; faded: not" if faded else ""
            some = f"Full colour and bold: beyond chance{each} ({passed} of {cells} cells){rest}."
            every = f"Each of the {cells} cells is beyond chance{each}."
            yield every if passed == cells and not faded else some
        elif outlined:
            yield "What is outlined stands out only as a whole."
            yield "Faded: in one cell alone, the difference may be chance."
        else:
            yield "Faded: no difference here is shown to be beyond chance."
    else:
        beaten = [(of, test) for of, test in zip(shown, tests, strict=True) if test.passed]
        if beaten:
            yield from _sets(study, beaten, len(tested))
            if len(beaten) < len(tested):
                yield "Faded: no cell of the grid is shown to be worse than its best."
        elif outlined or named:
            block = next((f for f in study.facets if study.roles.get(f.id) == "block"), None)
            where = f"on one {inline(block.label)} alone" if block else "from cell to cell"
            yield from [f"{_outlined(study, named)} stands out only as a whole."] * outlined
            yield f"Faded: {where}, differences between settings may be chance."
        else:
            yield "Faded: no difference here is shown to be beyond chance."
    if shows and faded and not outlined and not any(test.passed for test in tests):
        yield f"A difference of {shows} or more between means would probably have been found."
    if untested and faded:
        means = all(_is_mean(of) for of, test in zip(shown, tests, strict=True) if not test.cells)
        what = "The average isn't" if means else "Some grids aren't"
        yield f"{what} tested cell by cell{', and faded' if is_full else ''}."


def _is_mean(of: Any) -> bool:
    grid = of.second if isinstance(of, Difference) else of
    return bool(grid.aggregate)


def _outlined(study: Study, named: Sequence[Assertion]) -> str:
    """`The column at 0.4`."""
    for each in named:
        if each.kind == "cell":
            return f"The setting {' × '.join(each.levels)}"
        for axis, word in ((study.x, "column"), (study.y, "row")):
            if each.factor == axis.id:
                return f"The {word} at {each.levels[0]}"
    return "What is outlined"


def _sets(study: Study, beaten: Sequence[tuple[Any, Tests]], tested: int) -> Iterable[str]:
    """How many cells may be the best, grid by grid where they are few."""
    ringed = [(of, test) for of, test in beaten if test.ring]
    if len(beaten) > 1:
        if ringed:
            yield "○ may be the best of its grid (95 %)."
        yield f"In {len(beaten)} of {tested} grids, cells are shown to be worse than the best."
        return
    [(of, test)] = beaten
    name = f" in {of.label}" if tested > 1 else ""
    number, cells = len(test.cells) - len(test.passed), len(test.cells)
    if test.ring:
        yield f"○ may be the best{name}: {number} of {cells}."
        return
    if number == 1:
        yield f"The {study.extreme} value{name} is shown to beat all others."
        return
    worse = [
        cell_labels(study.x.level(x), study.y.level(y)) for x, y in of.keys if (x, y) in test.passed
    ]
    named = f"; {listed(worse)} {is_are(len(worse))} worse" if len(worse) <= MOST_NAMED else ""
    yield f"{number} of {cells} may be the best{name}{named}."


def _marks(shown: Sequence[Any], heatmaps: Sequence[Heatmap]) -> Iterable[str]:
    """A sentence in the place of a mark that would be on most cells."""
    cells = alone = 0
    for of, heatmap in zip(shown, heatmaps, strict=True):
        if not isinstance(of, Difference) and heatmap.printed and not of.computed:
            disputed = int((of.columns.value.defined & (of.columns.state == DISPUTED)).sum())
            cells += len(heatmap.marks)
            alone += disputed - sum(bool(mark.corner) for mark in heatmap.marks)
    if alone * 2 > cells:
        yield f"{alone} of {cells} cells have one reading only."
