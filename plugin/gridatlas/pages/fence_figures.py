"""The figures that a fence stands for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.kinds import all_plots
from gridatlas.charts.kinds.heatmap import with_overrides
from gridatlas.charts.kinds.line import Axis, Line, draw_line, line_domain
from gridatlas.model.problems import join_names, nearest, printable, quote
from gridatlas.model.schema import level_key
from gridatlas.model.study import Factor, Level
from gridatlas.pages.fence import Entry, Fence, FenceError, no_study, width
from gridatlas.pages.fence_plots import plots
from gridatlas.pages.figure import Figure, FigureRow
from gridatlas.pages.heatmaps import difference_figures, figures_of
from gridatlas.pages.multiples import multiples
from gridatlas.table.differences import Difference, subtract
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid


def figures(fence: Fence, assessments: Mapping[str, Assessment]) -> FigureRow:
    """The figures that a fence stands for.

    Args:
        assessments: The studies by their ids.

    Raises:
        FenceError: For an address, a level or a combination of options that there isn't.
    """
    kind, kinds = fence.option("as"), [*all_plots(), "delta", "studies"]
    if kind and kind not in kinds:
        raise fence.error(
            "as",
            f"as: {printable(kind)}",
            f"write `as: {nearest(kind, kinds) or kinds[0]}`",
            f"{', '.join(kinds[:-1])} or {kinds[-1]}",
        )
    _choice(fence, "compact", {"yes": True, "no": False})
    if kind and kind != "delta":
        return plots(fence, assessments, _grid)
    chosen = [_grid(entry, assessments) for entry in fence.addresses]
    shared = _choice(fence, "scale", {"own": False, "shared": True})
    compact = _choice(fence, "compact", {"yes": True, "no": False})
    lines = [name for name in ("row", "column") if name in fence.options]
    several = [name for name in ("delta", *lines) if name in fence.options]
    if kind and lines:
        raise fence.error(
            lines[0],
            f"{lines[0]} with as: {kind}",
            f"remove one of the lines as and {lines[0]}, or write two fences",
            f"{lines[0]} with no `as`",
        )
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
    if "colour" in fence.options:
        return _multiples(fence, chosen, compact)
    if lines:
        found = _lines(fence, chosen, shared, compact)
    elif "delta" in fence.options or kind == "delta":
        found = _deltas(fence, chosen, compact)
    else:
        found = figures_of(chosen, compact)
    return replace(_titled(found, fence), width=width(fence))


def _multiples(fence: Fence, chosen: Sequence[tuple[Assessment, Grid]], compact: bool) -> FigureRow:
    """Grids of one study beside each other, with one legend; the option says what colours mean."""
    others = [
        name for name in ("as", "scale", "delta", "row", "column", "width") if name in fence.options
    ]
    if others:
        raise fence.error(
            others[0],
            f"{others[0]} and colour in one fence",
            f"remove one of the lines {others[0]} and colour",
            f"{others[0]} with no `colour`",
        )
    evidence = _choice(fence, "colour", {"evidence": True, "value": False})
    assessment = chosen[0][0]
    if any(other is not assessment for other, _ in chosen):
        raise fence.error(
            "colour",
            "colour for grids of several studies",
            "write a fence for each study",
            "grids of one study",
        )
    grids = [grid for _, grid in chosen]
    row = multiples(assessment, grids, "", _shared_page(grids), plain=not evidence)
    figures = tuple(replace(figure, compact=compact) for figure in row.figures)
    if title := fence.option("title"):
        figures = tuple(replace(figure, name=title) for figure in figures)
    return replace(row, figures=figures, caption=fence.option("caption"))


def _shared_page(grids: Sequence[Grid]) -> str:
    """The page of the first facet's level that all grids share; the study's without one."""
    for facet, levels in zip(
        grids[0].study.facets, zip(*(grid.names for grid in grids), strict=True), strict=True
    ):
        if len(set(levels)) == 1:
            return f"{facet.id}/{levels[0].slug}"
    return ""


def _choice(fence: Fence, option: str, choices: Mapping[str, bool]) -> bool:
    text = fence.option(option) or next(word for word, meant in choices.items() if not meant)
    if text not in choices:
        near = nearest(text, choices) or next(iter(choices))
        raise fence.error(option, f"{option}: {printable(text)}", f"write `{option}: {near}`")
    return choices[text]


def _grid(entry: Entry, assessments: Mapping[str, Assessment]) -> tuple[Assessment, Grid]:
    study_id, _, rest = entry.text.partition("/")
    addresses = [
        f"{study_id}/{grid.address}"
        for study_id, assessment in assessments.items()
        for grid in assessment.results.grids.values()
    ]
    if study_id not in assessments:
        near = difflib.get_close_matches(entry.text, addresses, 3, 0.5)
        error = no_study(study_id, assessments, entry.line, "add a study")
        error.fix = _write(near or addresses[:1]) or error.fix
        raise error
    assessment = assessments[study_id]
    grid = _at(assessment.results, rest)
    if grid is None:
        own = [address for address in addresses if address.startswith(f"{study_id}/")]
        near = difflib.get_close_matches(entry.text, own, 3, 0.4) if rest else []
        facets = "/".join(facet.id for facet in assessment.study.facets)
        raise FenceError(
            f"no grid {quote(rest) if rest else 'named'} in the study {study_id}",
            f"{study_id}/{facets}, one of {len(own)} grids: {join_names(near or own, 3)}"
            if facets
            else study_id,
            _write(near or own[:1]),
            entry.line,
        )
    return assessment, grid


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
    fence: Fence, chosen: Sequence[tuple[Assessment, Grid]], compact: bool
) -> tuple[Figure, ...]:
    found = [
        (assessment, _difference(fence, assessment.results, grid)) for assessment, grid in chosen
    ]
    return difference_figures(found, compact)


def _difference(fence: Fence, results: Results, grid: Grid) -> Difference:
    """A grid minus the one that the option `delta` names, or the baseline's."""
    study, text = results.study, fence.option("delta")
    if not text:
        return _from_baseline(fence, results, grid)
    if "/" in text:
        other = _at(results, text.strip("/").removeprefix(f"{study.id}/"))
        if other is None:
            own = [grid.address for grid in results.grids.values()]
            near = difflib.get_close_matches(text.removeprefix(f"{study.id}/"), own, 3, 0.4)
            raise fence.error(
                "delta",
                f"no grid {quote(text)} in the study {study.id}",
                _write([f"{study.id}/{address}" for address in near or own[:1]]),
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


def _from_baseline(fence: Fence, results: Results, grid: Grid) -> Difference:
    """A grid minus the one at the level of the baseline, of the only facet that has one."""
    study = results.study
    facets = [facet for facet in study.facets if facet.id in study.baseline]
    if len(facets) != 1:
        raise fence.error(
            "as",
            f"as: delta, and {'several baselines' if facets else 'no baseline'} in {study.id}",
            "add the line `delta: …` with the level that is subtracted",
            "a study with one baseline, or the option delta",
        )
    base = study.baseline[facets[0].id]
    other = results.neighbour(grid, facets[0].id, base)
    if other is None or other is grid:
        raise fence.error(
            "as",
            f"as: delta for {grid.address}, "
            + ("which is the baseline" if other else "which the baseline has no grid like"),
            "name a grid at another level, or what is subtracted with `delta: …`",
            "a grid that isn't the baseline's",
        )
    return subtract(grid, other, facets[0])


def _neighbour(fence: Fence, results: Results, grid: Grid) -> Grid:
    """The grid at the level that `delta` names, of the baseline's facet where that has it."""
    study, text = results.study, fence.option("delta")
    facets = sorted(study.facets, key=lambda facet: facet.id not in study.baseline)
    having = [(facet, level) for facet in facets if (level := _level(facet, text))]
    if not having:
        keys = [level.key for facet in facets for level in facet.levels]
        near = nearest(text, keys)
        raise fence.error(
            "delta",
            f"no level {quote(text)} in {study.id}" + (f"; did you mean {near}?" if near else ""),
            f"write {near} in its place" if near else "correct it",
            f"one of {join_names(keys)}" if keys else "a study with facets",
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
        Line(grid, axis, _level_at(fence, axis, grid), assessment.uncertainty.of(grid))
        for assessment, grid in chosen
    ]
    domain = line_domain(lines)
    title = fence.option("title")
    shared = shared and len(lines) > 1
    return tuple(
        Figure(
            draw_line(line, domain if shared else line_domain([line]), title),
            line,
            together=len(lines) if shared else 1,
            compact=compact,
        )
        for line in lines
    )


def _level_at(fence: Fence, axis: Axis, grid: Grid) -> Level:
    factor = grid.study.y if axis == "row" else grid.study.x
    text = fence.option(axis)
    level = _level(factor, text)
    if level is None:
        keys = [level.key for level in factor.levels]
        near = nearest(text, keys)
        raise fence.error(
            axis,
            f"no level {quote(text)} of {factor.id}" + (f"; did you mean {near}?" if near else ""),
            f"write `{axis}: {near or keys[0]}`",
            f"one of {join_names(keys)}",
        )
    return level


def _level(factor: Factor, text: str) -> Level | None:
    """A level by its id, its number (0.10 is 0.1) or its label."""
    key = level_key(text)
    for level in factor.levels:
        if key == level.key or text in (level.slug, level.label):
            return level
    return None


# --- title and caption --------------------------------------------------------------------------


def _titled(figures: tuple[Figure, ...], fence: Fence) -> FigureRow:
    """The figures with the title and the caption of the fence.

    A caption of one figure stands in it, before what is said of its scale.
    """
    title = fence.option("title")
    if title and not figures[0].is_line:
        figures = tuple(
            replace(figure, name=title)
            if figure.plot
            else replace(figure, chart=with_overrides(figure.heatmap, title))
            for figure in figures
        )
    if len(figures) > 1:
        return FigureRow("", figures, fence.option("caption"))
    return FigureRow("", (replace(figures[0], caption=fence.caption),))
