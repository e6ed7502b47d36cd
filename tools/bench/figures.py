"""What was measured, and how it is written: figures.json, and the tables of benchmarks/pages.md.

Plain functions; nothing here measures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
PAGE = Path(__file__).parents[2] / "benchmarks" / "pages.md"

TOOLS: Mapping[str, str] = {
    "atlas": "Grid Atlas",
    "charts": "mkdocs-charts-plugin",
    "jupyter": "mkdocs-jupyter",
    "bare": "the theme alone",
}
"""The tools that are compared, in the order of the tables; the last draws no heatmap."""

SOONER = 3
"""Goal: how many times sooner heatmaps are visible than with mkdocs-charts-plugin,"""
LIGHTER = 3
"""how many times fewer bytes are transferred,"""
SHIFT = 0.01
"""the largest cumulative layout shift,"""
SCORE = 95
"""and the lowest score of Lighthouse in any category."""

CATEGORIES: Mapping[str, str] = {
    "performance": "Performance",
    "accessibility": "Accessibility",
    "best-practices": "Best practices",
    "seo": "SEO",
}


@dataclass(frozen=True)
class Load:
    """One cold load of a page.

    Attributes:
        tool: A key of `TOOLS`.
        heatmaps: Of the page.
        visible: Milliseconds until all of them were painted (without any: the first text).
        bytes: Transferred, with headers, after compression.
        requests: Answered.
        shift: Sum of all layout shifts.
        largest: Milliseconds until the largest contentful paint.
    """

    tool: str
    heatmaps: int
    visible: float
    bytes: int
    requests: int
    shift: float
    largest: float


@dataclass(frozen=True)
class Weight:
    """What a page of this repository's site weighs.

    Attributes:
        name: Of the page.
        path: Its address in the site.
        html: Bytes of the page itself, after compression, without headers.
        plain: The same before compression.
        bytes: Transferred for the page and all that it loads, after compression, with headers.
        requests: Answered.
    """

    name: str
    path: str
    html: int
    plain: int
    bytes: int
    requests: int


@dataclass(frozen=True)
class Part:
    """A part of a page, and how heavy it may be.

    Attributes:
        bytes: After compression with gzip.
        goal: At most so many.
    """

    name: str
    bytes: int
    goal: int


@dataclass(frozen=True)
class Score:
    """What Lighthouse said in one run; scores from 0 to 100, by the keys of `CATEGORIES`."""

    name: str
    path: str
    scores: Mapping[str, int]


@dataclass(frozen=True)
class Setting:
    """Under what something was measured.

    Attributes:
        date: Day, as in 2026-01-31.
        machine: Processor, memory and system.
        versions: Of the programs that matter, by name.
    """

    date: str
    machine: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Throttle:
    """What the browser is slowed down to."""

    mbit: float
    latency: float
    cpu: float


# --- sums ---------------------------------------------------------------------------------------


def medians(loads: Iterable[Load], tool: str, heatmaps: int) -> Load:
    """The median of each figure over the loads of one page.

    Raises:
        ValueError: there is none.
    """
    here = [load for load in loads if (load.tool, load.heatmaps) == (tool, heatmaps)]
    if not here:
        raise ValueError(f"no load of a page with {heatmaps} heatmaps by {tool}")
    return Load(
        tool,
        heatmaps,
        median(measured.visible for measured in here),
        round(median(measured.bytes for measured in here)),
        round(median(measured.requests for measured in here)),
        median(measured.shift for measured in here),
        median(measured.largest for measured in here),
    )


def spread(loads: Iterable[Load], tool: str, heatmaps: int) -> tuple[float, float]:
    """The soonest and the latest time until a page's heatmaps were visible."""
    times = [load.visible for load in loads if (load.tool, load.heatmaps) == (tool, heatmaps)]
    return min(times), max(times)


# --- words --------------------------------------------------------------------------------------


def seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s"


def kilobytes(count: int) -> str:
    """Thousands of bytes; one decimal below ten."""
    return f"{count / 1000:,.{0 if count >= 10_000 else 1}f} kB"


def ratio(value: float, other: float) -> str:
    """How many times as much one is as the other.

    Raises:
        ValueError: the other isn't above 0.
    """
    if other <= 0:
        raise ValueError(f"no ratio to {other}")
    return f"{value / other:.{1 if value < 100 * other else 0}f}×"


def shift(value: float) -> str:
    """A layout shift, never rounded to a better one than it is: 0 only where nothing moved."""
    return "0" if value == 0 else "< 0.001" if value < 0.001 else f"{value:.3f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def between(page: str, name: str, text: str) -> str:
    """Put a text between a page's marks `<!-- name -->` and `<!-- /name -->`.

    Raises:
        ValueError: the page hasn't both of them, once each and in this order.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"expected {begin} and after it {end}, once each")
    return page[: page.index(begin)] + f"{begin}\n\n{text.strip()}\n\n" + page[page.index(end) :]


def times(count: int) -> str:
    return "one heatmap" if count == 1 else f"{COUNTED.get(count, count)} heatmaps"


COUNTED = {8: "eight"}


# --- tables -------------------------------------------------------------------------------------


def comparison(loads: Sequence[Load]) -> str:
    """The tools side by side, one table for each number of heatmaps."""
    parts = []
    for heatmaps in sorted({load.heatmaps for load in loads}):
        atlas = medians(loads, "atlas", heatmaps)
        rows = []
        for tool, label in TOOLS.items():
            here = medians(loads, tool, heatmaps)
            low, high = spread(loads, tool, heatmaps)
            rows.append(
                [
                    label,
                    f"{seconds(here.visible)} ({low / 1000:.2f} to {high / 1000:.2f})",
                    ratio(here.visible, atlas.visible),
                    kilobytes(here.bytes),
                    ratio(here.bytes, atlas.bytes),
                    str(here.requests),
                    shift(here.shift),
                    seconds(here.largest),
                ]
            )
        head = [
            f"Page with {times(heatmaps)}", "Visible", "× Grid Atlas", "Transferred",
            "× Grid Atlas", "Requests", "CLS", "LCP",
        ]  # fmt: skip
        parts.append(table(head, rows))
    return "\n".join(parts)


@dataclass(frozen=True)
class Goal:
    """One goal, and whether it is met."""

    text: str
    met: bool

    def __str__(self) -> str:
        return f"{self.text}: **{'met' if self.met else 'missed'}**."


def goals(loads: Sequence[Load]) -> list[Goal]:
    """What was aimed at, and what became of it; from the medians, the CLS from the worst load."""
    found = []
    for heatmaps in sorted({load.heatmaps for load in loads}):
        atlas, charts = (medians(loads, tool, heatmaps) for tool in ("atlas", "charts"))
        on = f"with {times(heatmaps)}"
        found += [
            Goal(
                f"Visible {ratio(charts.visible, atlas.visible)} sooner than with "
                f"mkdocs-charts-plugin {on} (goal: {SOONER}×)",
                charts.visible >= SOONER * atlas.visible,
            ),
            Goal(
                f"{ratio(charts.bytes, atlas.bytes)} fewer bytes {on} (goal: {LIGHTER}×)",
                charts.bytes >= LIGHTER * atlas.bytes,
            ),
        ]
    worst = max(load.shift for load in loads if load.tool == "atlas")
    found.append(Goal(f"Layout shift of at most {shift(worst)} (goal: {SHIFT})", worst <= SHIFT))
    return found


def floor(loads: Sequence[Load]) -> str:
    """How much of the time is the theme's, which no tool can save."""
    parts = []
    for heatmaps in sorted({load.heatmaps for load in loads}):
        atlas, charts, bare = (
            medians(loads, tool, heatmaps).visible for tool in ("atlas", "charts", "bare")
        )
        parts.append(
            f"with {times(heatmaps)}, Grid Atlas adds {seconds(max(0, atlas - bare))} and "
            f"mkdocs-charts-plugin {seconds(max(0, charts - bare))}"
        )
    return (
        "The theme alone shows its first text after the time in the last row, which no tool can "
        f"save. To that, {'; '.join(parts)}."
    )


def weights(found: Iterable[Weight]) -> str:
    """What pages of this site weigh."""
    return table(
        ["Page of this site", "HTML", "HTML with gzip", "All with gzip", "Requests"],
        [
            [
                f"{measured.name} (`{measured.path}`)",
                kilobytes(measured.plain),
                kilobytes(measured.html),
                kilobytes(measured.bytes),
                str(measured.requests),
            ]
            for measured in found
        ],
    )


def parts_table(found: Iterable[Part]) -> str:
    """What parts of pages weigh."""
    return table(
        ["Part of a page, with gzip", "Weighs", "Goal, at most", ""],
        [
            [
                measured.name,
                kilobytes(measured.bytes),
                kilobytes(measured.goal),
                "met" if measured.bytes <= measured.goal else "**missed**",
            ]
            for measured in found
        ],
    )


def scores(runs: Sequence[Score]) -> str:
    """The median scores of each page."""
    pages = dict.fromkeys((run.name, run.path) for run in runs)
    rows = []
    for name, path in pages:
        here = [run.scores for run in runs if run.path == path]
        cells = [str(round(median(measured[key] for measured in here))) for key in CATEGORIES]
        rows.append([f"{name} (`{path}`)", *cells])
    return table(["Page", *CATEGORIES.values()], rows)


def score_goal(runs: Sequence[Score]) -> Goal:
    """Whether each median is high enough."""
    low = min(
        median(run.scores[key] for run in runs if run.path == path)
        for path in {run.path for run in runs}
        for key in CATEGORIES
    )
    return Goal(f"Lowest median: {round(low)} (goal: {SCORE})", low >= SCORE)


def setting(found: Setting) -> str:
    """When and on what it was measured, as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return f"{found.date}, on {found.machine}; {versions}."


# --- the page -----------------------------------------------------------------------------------


def speed_part(figures: Mapping[str, Any]) -> str:
    """The comparison, as the page has it."""
    loads = [Load(**figure) for figure in figures["loads"]]
    throttle = Throttle(**figures["throttle"])
    rounds = len([load for load in loads if (load.tool, load.heatmaps) == ("atlas", 1)])
    return "\n\n".join(
        [
            f"Medians of {rounds} cold loads each, at {throttle.mbit:g} Mbit/s with "
            f"{throttle.latency:g} ms of latency, the processor {throttle.cpu:g}× slower "
            "(in brackets: the soonest and the latest load).",
            comparison(loads).strip(),
            "\n".join(f"- {goal}" for goal in goals(loads)),
            floor(loads),
            f"Measured {setting(Setting(**figures['setting']))}",
        ]
    )


def weight_part(figures: Mapping[str, Any]) -> str:
    """The pages' weights, as the page has them."""
    return weights(Weight(**figure) for figure in figures["weights"])


def weights_part(figures: Mapping[str, Any]) -> str:
    """The weight of parts of pages, as the page has it."""
    return parts_table(Part(**figure) for figure in figures["parts"])


def lighthouse_part(figures: Mapping[str, Any]) -> str:
    """The scores, as the page has them."""
    runs = [Score(**figure) for figure in figures["runs"]]
    count = len([run for run in runs if run.path == runs[0].path])
    return "\n\n".join(
        [
            f"Medians of {count} runs each.",
            scores(runs).strip(),
            f"- {score_goal(runs)}",
            f"Measured {setting(Setting(**figures['setting']))}",
        ]
    )


Parts = Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]]
"""Parts of a page: their marks, the key of figures.json, and what writes them."""

PARTS: Parts = {
    "speed": ("pages", speed_part),
    "weight": ("pages", weight_part),
    "weights": ("weights", weights_part),
    "lighthouse": ("lighthouse", lighthouse_part),
}


def with_figures(page: str, figures: Mapping[str, Any], parts: Parts = PARTS) -> str:
    """The page with the figures in all its parts."""
    for name, (key, write) in parts.items():
        if key in figures:
            page = between(page, name, write(figures[key]))
    return page


def keep(
    key: str, found: Mapping[str, Any], page: Path | None = None, parts: Parts = PARTS
) -> None:
    """Write what was measured into figures.json, and all tables into the page."""
    page = page or PAGE
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}
    figures[key] = {
        name: [asdict(entry) for entry in value] if isinstance(value, list) else asdict(value)
        for name, value in found.items()
    }
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page.write_text(with_figures(page.read_text("utf-8"), figures, parts), encoding="utf-8")
