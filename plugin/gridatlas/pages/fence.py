"""The fence ```` ```grid ````: what its body asks for, and the figures that it stands for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.heatmap import with_overrides
from gridatlas.charts.line import Axis, Line, draw_line, line_domain
from gridatlas.model.problems import join_names, nearest, printable, quote
from gridatlas.model.schema import level_key
from gridatlas.model.study import Factor, Grid, Level
from gridatlas.pages.figure import Figure, FigureRow
from gridatlas.pages.heatmaps import difference_figures, figures_of
from gridatlas.results.grids import Difference, Results, subtract

OPTIONS: Mapping[str, str] = {
    "scale": "own or shared",
    "delta": "a level, or the address of another grid of the study",
    "row": "a level of y",
    "column": "a level of x",
    "title": "a text",
    "caption": "a text",
    "compact": "yes or no",
}
"""The options of a fence, and what each takes."""

_OPTION = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$")
_YES = {"yes": True, "no": False}


class FenceError(Exception):
    """A fence that can't be shown.

    Attributes:
        line: Line of the body that is wrong, from 1; 0 for the fence as a whole.
    """

    def __init__(self, found: str, expected: str, fix: str, line: int = 0) -> None:
        self.found, self.expected, self.fix, self.line = found, expected, fix, line
        super().__init__(found)

    def told(self, place: str) -> str:
        """The error as it stands in a log, at a place such as `index.md:12`."""
        return (
            f"{place}: this grid can't be shown\n"
            f"  found:    {printable(self.found)}\n"
            f"  expected: {printable(self.expected)}\n"
            f"  fix:      {printable(self.fix)}"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A text of the body, and the line that it stands in, from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Fence:
    """What the body of a fence asks for."""

    addresses: tuple[Entry, ...]
    options: Mapping[str, Entry]

    def option(self, name: str) -> str:
        """An option's text; empty where it isn't given."""
        return self.options[name].text if name in self.options else ""

    def error(self, option: str, found: str, fix: str, expected: str = "") -> FenceError:
        """An error in the value of an option."""
        return FenceError(found, expected or OPTIONS[option], fix, self.options[option].line)


# --- the body -----------------------------------------------------------------------------------


def parse(body: str) -> Fence:
    """Read the body of a fence: addresses and options, one per line.

    Raises:
        FenceError: For an option that there isn't or that is given twice, and for a fence
            without an address.
    """
    addresses = []
    options: dict[str, Entry] = {}
    for number, line in enumerate(body.splitlines(), 1):
        text = line.strip()
        if not text:
            continue
        match = _OPTION.match(text)
        if match is None:
            addresses.append(Entry(text.strip("/"), number))
            continue
        name, value = match[1], _unquoted((match[2] or "").strip())
        if name not in OPTIONS:
            near = nearest(name, OPTIONS)
            raise FenceError(
                f"no option {quote(name)}" + (f"; did you mean {near}?" if near else ""),
                f"one of {join_names(OPTIONS)}",
                f"write {near} in its place" if near else "remove it",
                number,
            )
        if name in options:
            raise FenceError(
                f"the option {name} a second time",
                "each option once",
                f"remove one of the lines {options[name].line} and {number} of the fence",
                number,
            )
        if not value:
            raise FenceError(
                f"the option {name} without a value",
                OPTIONS[name],
                f"write it behind the colon, as in `{name}: …`, or remove the line",
                number,
            )
        options[name] = Entry(value, number)
    if not addresses:
        raise FenceError(
            "no address",
            "the address of a grid in the first line, such as study/level/level",
            "write it; the address of a heatmap is in its page's links, after #grid/",
        )
    return Fence(tuple(addresses), options)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


# --- what it stands for -------------------------------------------------------------------------


def figures(fence: Fence, known: Mapping[str, Assessment]) -> FigureRow:
    """The figures that a fence stands for.

    Args:
        known: The studies by their ids.

    Raises:
        FenceError: For an address, a level or a combination of options that there isn't.
    """
    chosen = [_grid(entry, known) for entry in fence.addresses]
    shared = _choice(fence, "scale", {"own": False, "shared": True})
    compact = _choice(fence, "compact", _YES)
    lines = [name for name in ("row", "column") if name in fence.options]
    several = [name for name in ("delta", *lines) if name in fence.options]
    if len(several) > 1:
        raise fence.error(
            several[1],
            f"{several[0]} and {several[1]} in one fence",
            f"write two fences, or remove {several[1]}",
            f"at most one of {join_names(('delta', 'row', 'column'))}",
        )
    if "title" in fence.options and len(chosen) > 1:
        raise fence.error(
            "title",
            f"one title for {len(chosen)} grids",
            "write a fence for each grid, or use caption",
            "a title for one grid",
        )
    if shared:
        _refuse_different_metrics(fence, chosen)
    if lines:
        found = _lines(fence, chosen, shared, compact)
    elif "delta" in fence.options:
        found = _deltas(fence, chosen, shared, compact)
    else:
        found = figures_of(chosen, shared, compact)
    return _titled(found, fence)


def _choice(fence: Fence, option: str, choices: Mapping[str, bool]) -> bool:
    text = fence.option(option) or next(word for word, meant in choices.items() if not meant)
    if text not in choices:
        near = nearest(text, choices) or next(iter(choices))
        raise fence.error(option, f"{option}: {printable(text)}", f"write `{option}: {near}`")
    return choices[text]


def _grid(entry: Entry, known: Mapping[str, Assessment]) -> tuple[Assessment, Grid]:
    study_id, _, rest = entry.text.partition("/")
    addresses = [f"{one}/{grid.address}" for one in known for grid in _grids(known[one])]
    if study_id not in known:
        near = difflib.get_close_matches(entry.text, addresses, 3, 0.5)
        study = nearest(study_id, known)
        raise FenceError(
            f"no study {quote(study_id)}" + (f"; did you mean {study}?" if study else ""),
            f"one of the studies {join_names(known)}" if known else "a study; there is none",
            _write(near) or "correct the address, or add the study",
            entry.line,
        )
    one = known[study_id]
    grid = _at(one.results, rest)
    if grid is None:
        own = [address for address in addresses if address.startswith(f"{study_id}/")]
        near = difflib.get_close_matches(entry.text, own, 3, 0.4) if rest else []
        facets = "/".join(facet.id for facet in one.study.facets)
        raise FenceError(
            f"no grid {quote(rest) if rest else 'named'} in the study {study_id}",
            f"{study_id}/{facets}, one of {len(own)} grids: {join_names(near or own, 3)}"
            if facets
            else study_id,
            _write(near or own[:1]),
            entry.line,
        )
    return one, grid


def _grids(known: Assessment) -> Iterable[Grid]:
    return known.results.grids.values()


def _write(addresses: Sequence[str]) -> str:
    return f"write {' or '.join(addresses)}" if addresses else ""


def _at(results: Results, address: str) -> Grid | None:
    """The grid at an address in slugs or level ids; of a study without facets, the one there is."""
    for levels, grid in results.grids.items():
        if address in (grid.address, "/".join(levels)) or (not address and not levels):
            return grid
    return None


def _refuse_different_metrics(fence: Fence, chosen: Sequence[tuple[Assessment, Grid]]) -> None:
    metrics = dict.fromkeys(
        f"{grid.study.metric.name} ({grid.study.metric.unit})" for _, grid in chosen
    )
    if len(metrics) > 1:
        raise fence.error(
            "scale",
            f"a shared scale for {join_names(metrics)}",
            "remove the line, or write a fence for each metric",
            "grids of one metric in one unit",
        )


# --- differences --------------------------------------------------------------------------------


def _deltas(
    fence: Fence, chosen: Sequence[tuple[Assessment, Grid]], shared: bool, compact: bool
) -> tuple[Figure, ...]:
    found = tuple(_difference(fence, known.results, grid) for known, grid in chosen)
    alone = found if shared else ()
    figures = difference_figures(alone) if alone else _each_alone(found)
    return tuple(replace(figure, compact=compact) for figure in figures)


def _each_alone(differences: Iterable[Difference]) -> tuple[Figure, ...]:
    return tuple(
        figure for difference in differences for figure in difference_figures((difference,))
    )


def _difference(fence: Fence, results: Results, grid: Grid) -> Difference:
    """A grid minus the one that the option `delta` names."""
    study, text = results.study, fence.option("delta")
    if "/" in text:
        other = _at(results, text.strip("/").removeprefix(f"{study.id}/"))
        if other is None:
            own = [grid.address for grid in results.grids.values()]
            near = difflib.get_close_matches(text.removeprefix(f"{study.id}/"), own, 3, 0.4)
            raise fence.error(
                "delta",
                f"no grid {quote(text)} in the study {study.id}",
                _write([f"{study.id}/{one}" for one in near or own[:1]]),
            )
    else:
        other = _neighbour(fence, results, grid)
    differing = [
        facet for facet, a, b in zip(study.facets, grid.levels, other.levels, strict=True) if a != b
    ]
    if len(differing) != 1:
        raise fence.error(
            "delta",
            f"{grid.address} and {other.address}, which differ in {len(differing)} facets"
            if differing
            else f"{grid.address} minus itself",
            "name a grid that differs from it in one facet",
            "two grids that differ in the level of one facet",
        )
    return subtract(grid, other, differing[0])


def _neighbour(fence: Fence, results: Results, grid: Grid) -> Grid:
    """The grid at the level that `delta` names, of the baseline's facet where that has it."""
    study, text = results.study, fence.option("delta")
    facets = sorted(study.facets, key=lambda facet: facet.id not in study.baseline)
    having = [(facet, level) for facet in facets if (level := _level(facet, text))]
    if not having:
        known = [level.key for facet in facets for level in facet.levels]
        near = nearest(text, known)
        raise fence.error(
            "delta",
            f"no level {quote(text)} in {study.id}" + (f"; did you mean {near}?" if near else ""),
            f"write {near} in its place" if near else "correct it",
            f"one of {join_names(known)}" if known else "a study with facets",
        )
    first = having[0][0]
    if len(having) > 1 and first.id not in study.baseline:
        raise fence.error(
            "delta",
            f"{quote(text)}, a level of {' and of '.join(facet.id for facet, _ in having)}",
            "write the address of the other grid in its place",
        )
    other = results.neighbour(grid, first.id, having[0][1].key)
    if other is None:
        raise fence.error(
            "delta",
            f"no grid like {grid.address} at {first.id} {printable(text)}",
            "name another level, or another grid",
        )
    return other


# --- lines --------------------------------------------------------------------------------------


def _lines(
    fence: Fence, chosen: Sequence[tuple[Assessment, Grid]], shared: bool, compact: bool
) -> tuple[Figure, ...]:
    axis: Axis = "row" if "row" in fence.options else "column"
    lines = [
        Line(grid, axis, _level_at(fence, axis, grid), known.uncertainty.of(grid))
        for known, grid in chosen
    ]
    together = line_domain(lines)
    title = fence.option("title")
    shared = shared and len(lines) > 1
    return tuple(
        Figure(
            draw_line(line, together if shared else line_domain([line]), title),
            _line_caption(line, len(lines) if shared else 1),
            line,
            compact,
        )
        for line in lines
    )


def _level_at(fence: Fence, axis: Axis, grid: Grid) -> Level:
    factor = grid.study.y if axis == "row" else grid.study.x
    text = fence.option(axis)
    level = _level(factor, text)
    if level is None:
        known = [level.key for level in factor.levels]
        near = nearest(text, known)
        raise fence.error(
            axis,
            f"no level {quote(text)} of {factor.id}" + (f"; did you mean {near}?" if near else ""),
            f"write `{axis}: {near or known[0]}`",
            f"one of {join_names(known)}",
        )
    return level


def _level(factor: Factor, text: str) -> Level | None:
    """A level by its id, its number (0.10 is 0.1) or its label."""
    key = level_key(text)
    for level in factor.levels:
        if key == level.key or text in (level.slug, level.label):
            return level
    return None


def _line_caption(line: Line, together: int) -> str:
    cells = line.cells()
    known = [interval for _, _, interval in cells if interval]
    said = "Bars: 95 % intervals." if known else _why_without(line)
    gaps = [level.label for level, cell, _ in cells if cell.value is None]
    if gaps:
        said += f" No value at {line.along.label} {join_names(gaps)}."
    scale = f"Vertical axis shared by these {together} lines" if together > 1 else "Own axis"
    return f"{said} {scale}; it need not begin at 0.".strip()


def _why_without(line: Line) -> str:
    reason = line.uncertainty.reason
    return f"No intervals: {reason}." if reason else "No intervals are known."


# --- title and caption --------------------------------------------------------------------------


def _titled(figures: tuple[Figure, ...], fence: Fence) -> FigureRow:
    """The figures with the title and the caption of the fence.

    A caption of one figure stands in it, before what is said of its scale.
    """
    title, caption = fence.option("title"), fence.option("caption")
    if title and not figures[0].is_line:
        figures = tuple(
            replace(figure, chart=with_overrides(figure.heatmap, title)) for figure in figures
        )
    if not caption or len(figures) > 1:
        return FigureRow("", figures, caption)
    caption = caption if caption[-1] in ".!?" else f"{caption}."
    return FigureRow("", (replace(figures[0], caption=f"{caption} {figures[0].caption}"),))
