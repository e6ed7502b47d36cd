"""What builds took, and how it is written: the tables of benchmarks/builds.md.

Plain functions; nothing here measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from figures import Goal, Parts, Setting, ratio, setting, table

PAGE = Path(__file__).parents[2] / "benchmarks" / "builds.md"

BUILDS: Mapping[str, str] = {
    "bare": "MkDocs and the theme alone",
    "charts": "mkdocs-charts-plugin",
    "warm": "Grid Atlas, warm",
    "cold": "Grid Atlas, cold",
}
"""The builds that are compared, in the order of the table."""
STEPS: Mapping[str, str] = {
    "start": "Start of Python, import of MkDocs and Grid Atlas",
    "load": "Load: read `study.yml` and tables",
    "validate": "Validate: cells, levels, aggregates",
    "analyse": "Analyse: checks, claims, statistics",
    "plan": "Chart: lay out what each heatmap shows",
    "chart": "Chart: draw with Vega, and bundle it",
    "page": "Page: templates, tables, downloads",
    "keep": "Build: hash the inputs, keep and unpack what was written",
    "build": "Build: tables and descriptions of whole studies",
    "host": "Host: MkDocs, its Markdown, theme and search",
}

WARM, WARM_LARGE = 1.15, 1.1
"""Goals: at most so many times as long as bare MkDocs, with 100 and with 1,000 grids;"""
MANY = 1000
"""Grids from which the second of them is meant;"""
COLD = 15
"""a page drawn at least so many times as quickly as mkdocs-jupyter makes one;"""
EDIT = 1.1
"""a rebuild of `mkdocs serve` at most so many times as long as bare MkDocs's;"""
CHECK = 0.6
"""seconds of `gridatlas check`;"""
GROWTH = 1.15
"""and how much a ratio may grow with the number of grids."""


@dataclass(frozen=True)
class Build:
    """One command in a process of its own.

    Attributes:
        what: A key of `BUILDS`, or what else was built.
        size: Of its input: grids or notebooks.
        wall: Seconds on the clock.
        processor: Seconds of one processor, with those of processes that it started.
        memory: At its most, in MB, of the process that took most.
    """

    what: str
    size: int
    wall: float
    processor: float
    memory: float


@dataclass(frozen=True)
class Edit:
    """One edited cell while `mkdocs serve` runs.

    Attributes:
        what: A key of `BUILDS`.
        number: From 1; the first one loads libraries.
        wall: Seconds of the rebuild, as MkDocs says them.
        processor: Seconds of the processor from the edit to the end of the rebuild.
        drawn: Heatmaps that were drawn.
    """

    what: str
    number: int
    wall: float
    processor: float
    drawn: int


@dataclass(frozen=True)
class Large:
    """A command on a study that is large in one way.

    Attributes:
        command: `check`, `cold` or `warm`.
        site: Bytes of the site's pages and files of the study; 0 where none was built.
    """

    what: str
    command: str
    wall: float
    processor: float
    memory: float
    page: int = 0


@dataclass(frozen=True)
class Import:
    """A table, imported or only read with pandas.

    Attributes:
        command: `import` or `pandas`.
    """

    what: str
    command: str
    wall: float
    processor: float
    memory: float


@dataclass(frozen=True)
class Steps:
    """Seconds in each step of one build, by the keys of `STEPS`."""

    what: str
    spent: Mapping[str, float]


# --- sums ---------------------------------------------------------------------------------------


def of(builds: Iterable[Build], what: str, size: int) -> Build:
    """The median of each figure over the runs of one build.

    Raises:
        ValueError: there is none.
    """
    here = [build for build in builds if (build.what, build.size) == (what, size)]
    if not here:
        raise ValueError(f"no build of {what} with {size}")
    return Build(
        what,
        size,
        median(measured.wall for measured in here),
        median(measured.processor for measured in here),
        median(measured.memory for measured in here),
    )


def times(builds: Iterable[Build], what: str, size: int) -> int:
    """How often a build was measured."""
    return sum((build.what, build.size) == (what, size) for build in builds)


def per_page(builds: Sequence[Build]) -> Build:
    """One more notebook: the difference between many of them and one, divided by how many more.

    Raises:
        ValueError: two numbers of notebooks weren't measured.
    """
    sizes = sorted({build.size for build in builds if build.what == "jupyter"})
    if len(sizes) != 2:
        raise ValueError("expected mkdocs-jupyter with two numbers of notebooks")
    single, many = (of(builds, "jupyter", size) for size in sizes)
    more = sizes[1] - sizes[0]
    return Build(
        "jupyter",
        1,
        (many.wall - single.wall) / more,
        (many.processor - single.processor) / more,
        many.memory,
    )


# --- words --------------------------------------------------------------------------------------


def seconds(value: float) -> str:
    """Two decimals below ten seconds, then one."""
    return f"{value:.{2 if value < 10 else 1}f} s"


def megabytes(value: float) -> str:
    return f"{value:,.0f} MB"


# --- build time ---------------------------------------------------------------------------------


def build_table(builds: Sequence[Build], grids: int) -> str:
    """The tools side by side."""
    bare = of(builds, "bare", grids)
    rows = []
    for what, label in BUILDS.items():
        runs = of(builds, what, grids)
        rows.append(
            [
                label,
                seconds(runs.processor),
                ratio2(runs.processor, bare.processor),
                seconds(runs.wall),
                seconds(runs.processor / grids),
                megabytes(runs.memory),
            ]
        )
    page = per_page(builds)
    rows.append(
        [
            "mkdocs-jupyter, one more page",
            seconds(page.processor),
            "",
            seconds(page.wall),
            seconds(page.processor),
            megabytes(page.memory),
        ]
    )
    head = [
        f"{grids:,} grids, one page each",
        "Processor",
        "× MkDocs",
        "Clock",
        "Per page",
        "Memory",
    ]
    return table(head, rows)


def ratio2(value: float, other: float) -> str:
    """How many times as much, with two decimals: goals are that near to one another."""
    return f"{value / other:.2f}×" if value < 10 * other else ratio(value, other)


def build_goals(builds: Sequence[Build], grids: int, most: int) -> list[Goal]:
    """Whether warm and cold builds are as quick as was aimed at."""
    found = []
    sizes = ((grids, WARM), (most, WARM_LARGE)) if most >= MANY else ((grids, WARM),)
    for size, goal in sizes:
        bare, warm = of(builds, "bare", size), of(builds, "warm", size)
        found.append(
            Goal(
                f"A warm build of {size:,} grids takes {ratio2(warm.processor, bare.processor)} "
                f"the time of MkDocs alone (goal: {goal:g}×)",
                warm.processor <= goal * bare.processor,
            )
        )
    cold, page = of(builds, "cold", grids), per_page(builds)
    times_as = page.processor / (cold.processor / grids)
    on_clock = page.wall / (cold.wall / grids)
    found.append(
        Goal(
            f"A cold page takes 1/{times_as:.0f} of the processor's time of mkdocs-jupyter's, and "
            f"1/{on_clock:.0f} of its time on the clock (goal: 1/{COLD})",
            min(times_as, on_clock) >= COLD,
        )
    )
    return found


def edit_table(edits: Sequence[Edit]) -> str:
    """The first edited cell, and later ones."""
    rows = []
    for what in ("bare", "warm"):
        for label, here in (
            ("first", [edit for edit in edits if edit.what == what and edit.number == 1]),
            ("later", [edit for edit in edits if edit.what == what and edit.number > 1]),
        ):
            drawn = sorted({measured.drawn for measured in here})
            rows.append(
                [
                    f"{BUILDS[what]}, {label} edit{'s' if label == 'later' else ''}",
                    seconds(median(measured.processor for measured in here)),
                    seconds(median(measured.wall for measured in here)),
                    " or ".join(map(str, drawn)),
                ]
            )
    return table(["`mkdocs serve`", "Processor", "Clock", "Heatmaps drawn"], rows)


def edit_goal(edits: Sequence[Edit]) -> Goal:
    """Whether a rebuild after an edit is as quick as was aimed at."""
    bare, ours = (
        median(edit.processor for edit in edits if edit.what == what and edit.number > 1)
        for what in ("bare", "warm")
    )
    return Goal(
        f"The rebuild after an edited cell takes {ratio2(ours, bare)} the time of MkDocs alone "
        f"(goal: {EDIT:g}×)",
        ours <= EDIT * bare,
    )


def check_goal(builds: Sequence[Build]) -> Goal:
    """Whether `gridatlas check` is as quick as was aimed at."""
    here = [build for build in builds if build.what == "check"]
    wall, processor = (
        median(getattr(measured, key) for measured in here) for key in ("wall", "processor")
    )
    return Goal(
        f"`gridatlas check` of this repository's data takes {seconds(processor)} of the processor, "
        f"{seconds(wall)} on the clock (goal: {CHECK:g} s)",
        processor <= CHECK,
    )


# --- growth -------------------------------------------------------------------------------------


def growth_table(builds: Sequence[Build]) -> str:
    """Time and memory by the number of grids."""
    rows = []
    for size in sizes_of(builds):
        bare, warm = (of(builds, what, size) for what in ("bare", "warm"))
        drawn = times(builds, "cold", size)
        cold = of(builds, "cold", size) if drawn else None
        rows.append(
            [
                f"{size:,}",
                seconds(bare.processor),
                seconds(warm.processor),
                ratio2(warm.processor, bare.processor),
                megabytes(bare.memory),
                megabytes(warm.memory),
                ratio2(warm.memory, bare.memory),
                seconds(cold.processor) if cold else "–",
                megabytes(cold.memory) if cold else "–",
            ]
        )
    head = [
        "Grids", "MkDocs", "Warm", "× MkDocs", "MkDocs, memory", "Warm, memory", "× MkDocs",
        "Cold", "Cold, memory",
    ]  # fmt: skip
    return table(head, rows)


def sizes_of(builds: Iterable[Build]) -> list[int]:
    """The numbers of grids that were built warm."""
    return sorted({build.size for build in builds if build.what == "warm"})


def growth_goals(builds: Sequence[Build]) -> list[Goal]:
    """Whether time and memory grow no faster than MkDocs's."""
    found = []
    for name, key in (("time", "processor"), ("memory", "memory")):
        ratios = {
            size: getattr(of(builds, "warm", size), key) / getattr(of(builds, "bare", size), key)
            for size in sizes_of(builds)
        }
        grown = max(
            (
                after / before
                for small, before in ratios.items()
                for large, after in ratios.items()
                if large > small
            ),
            default=1.0,
        )
        written = ", ".join(f"{times:.2f}× with {size:,}" for size, times in ratios.items())
        found.append(
            Goal(
                f"{name.capitalize()} against MkDocs alone: {written} grids; it grows by at most "
                f"{max(0.0, grown - 1):.0%} from one size to a larger one (goal: {GROWTH - 1:.0%})",
                grown <= GROWTH,
            )
        )
    return found


def large_table(found: Sequence[Large]) -> str:
    """Large studies."""
    rows = []
    for what in dict.fromkeys(measured.what for measured in found):
        cells = [what]
        for command in ("check", "cold", "warm"):
            here = [
                measured
                for measured in found
                if (measured.what, measured.command) == (what, command)
            ]
            if not here:
                cells.append("–")
                continue
            spent = seconds(median(measured.processor for measured in here))
            memory = megabytes(median(measured.memory for measured in here))
            cells.append(f"{spent}, {memory} ({len(here)}×)")
        page = max(measured.page for measured in found if measured.what == what)
        rows.append([*cells, f"{page / 1000:,.0f} kB" if page else "–"])
    return table(
        ["One study", "`gridatlas check` (runs)", "Cold (runs)", "Warm (runs)", "Pages, gzip"], rows
    )


def import_table(found: Sequence[Import]) -> str:
    """Imports beside pandas, with the ratio of the times of the processor."""
    rows = []
    for what in dict.fromkeys(measured.what for measured in found):
        of = {
            command: [
                measured
                for measured in found
                if (measured.what, measured.command) == (what, command)
            ]
            for command in ("import", "pandas")
        }
        spent = {name: median(measured.processor for measured in here) for name, here in of.items()}
        memory = {name: median(measured.memory for measured in here) for name, here in of.items()}
        cells = [f"{seconds(spent[name])}, {megabytes(memory[name])}" for name in of]
        rows.append([what, *cells, ratio(spent["import"], spent["pandas"])])
    return table(["One table", "`gridatlas import`", "Read with pandas", "× pandas"], rows)


def steps_table(found: Sequence[Steps]) -> str:
    """Where the time goes, as shares of all of it."""
    kinds = dict.fromkeys(measured.what for measured in found)
    spent = {
        (kind, step): median(
            measured.spent.get(step, 0) for measured in found if measured.what == kind
        )
        for kind in kinds
        for step in STEPS
    }
    whole = {kind: sum(spent[kind, step] for step in STEPS) for kind in kinds}
    rows = [
        [
            label,
            *(
                f"{spent[kind, step]:.2f} s, {spent[kind, step] / whole[kind]:.0%}"
                for kind in kinds
            ),
        ]
        for step, label in STEPS.items()
    ]
    rows.append(["All", *(f"{whole[kind]:.2f} s" for kind in kinds)])
    return table(["Step", *kinds], rows)


# --- the page -----------------------------------------------------------------------------------


def _measured(figures: Mapping[str, Any]) -> str:
    return f"Measured {setting(Setting(**figures['setting']))}"


def builds_part(figures: Mapping[str, Any]) -> str:
    """Build time, as the page has it."""
    builds = [Build(**figure) for figure in figures["builds"]]
    grids, most = 100, max(sizes_of(builds))
    goals = [*build_goals(builds, grids, most), check_goal(builds)]
    count = times(builds, "warm", grids)
    return "\n\n".join(
        [
            f"Medians of {count} builds each.",
            build_table(builds, grids).strip(),
            "\n".join(f"- {goal}" for goal in goals),
            _measured(figures),
        ]
    )


def edits_part(figures: Mapping[str, Any]) -> str:
    """Rebuilds while serving, as the page has it."""
    edits = [Edit(**figure) for figure in figures["edits"]]
    count = max(edit.number for edit in edits) - 1
    return "\n\n".join(
        [
            f"Medians of {count} later edits.",
            edit_table(edits).strip(),
            f"- {edit_goal(edits)}",
            _measured(figures),
        ]
    )


def growth_part(figures: Mapping[str, Any]) -> str:
    """Growth, as the page has it."""
    builds = [Build(**figure) for figure in figures["builds"]]
    counts = ", ".join(f"{times(builds, 'warm', size)} of {size:,}" for size in sizes_of(builds))
    return "\n\n".join(
        [
            f"Medians; builds measured, warm and of MkDocs alone: {counts} grids.",
            growth_table(builds).strip(),
            "\n".join(f"- {goal}" for goal in growth_goals(builds)),
        ]
    )


def large_part(figures: Mapping[str, Any]) -> str:
    """Large studies, as the page has it."""
    found = [Large(**figure) for figure in figures["large"]]
    return f"{large_table(found).strip()}\n\n{_measured(figures)}"


def imports_part(figures: Mapping[str, Any]) -> str:
    """Imports, as the page has it."""
    found = [Import(**figure) for figure in figures["imports"]]
    count = sum(measured.what == found[0].what for measured in found) // 2
    return (
        f"Medians of {count} runs each, in processes of their own.\n\n"
        f"{import_table(found).strip()}\n\n{_measured(figures)}"
    )


def steps_part(figures: Mapping[str, Any]) -> str:
    """Where the time goes, as the page has it."""
    found = [Steps(**figure) for figure in figures["steps"]]
    count = len(found) // len({measured.what for measured in found})
    return (
        f"Medians of {count} builds each.\n\n{steps_table(found).strip()}\n\n{_measured(figures)}"
    )


PARTS: Parts = {
    "builds": ("builds", builds_part),
    "edits": ("edits", edits_part),
    "growth": ("builds", growth_part),
    "imports": ("imports", imports_part),
    "large": ("large", large_part),
    "steps": ("steps", steps_part),
}
