"""Check `study.yml` against itself: the names in it, and what they refer to."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from gridatlas.data.columns import OPTIONAL_COLUMNS, factor_ids, repeat_columns
from gridatlas.data.reader import StudySource
from gridatlas.data.text import NAMEABLE, unnameable
from gridatlas.model.directions import says_lower
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import PAGE_FILES, PLACEHOLDER, RESERVED_FACETS, level_number

RESERVED_FACTORS = (
    *OPTIONAL_COLUMNS,
    *("interval_high", "interval_low", "may_be_best", "reading", "study", "value"),
)
"""Names of columns, of keys in the downloads, and of arguments of `grid()` in claims."""
ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")


@dataclass(frozen=True)
class ProblemsOf:
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
        """A problem at the key of `path`; see `Problem.of`."""
        name, line, column = self.source.name, self.source.line(*path), ".".join(map(str, path))
        return Problem.of(
            kind, name, found, line, column, expected=expected, fix=fix, values=values
        )

    def unknown(
        self, kind: str, path: Sequence[str | int], name: str, what: str, valid: Iterable[str]
    ) -> Problem:
        """The problem of a name that is none of the valid ones, with the nearest of these."""
        valid = list(valid)
        near = nearest(name, valid)
        if level_number(name) is not None:
            near = None
        fix = f"write {near} instead of {name}" if near else f"use one of them, or remove {name}"
        if not valid:
            fix = f"remove {name}"
        expected = f"{what}: {join_names(valid, 30)}" if valid else f"{what}; there is none"
        return self.problem(kind, path, quote(name), expected, fix)


def check_names(source: StudySource) -> list[Problem]:
    """The folder's name, the factors' names, and every key that names a facet or a reading."""
    return [
        *_check_ids(source),
        *_check_files(source),
        *_check_references(source),
        *_check_reading_ids(source),
        *_check_arguments(source),
    ]


def _check_files(source: StudySource) -> list[Problem]:
    """The files of readings and runs: whether every system can have them beside one another."""
    here, folder = ProblemsOf(source), source.name.rpartition("/")[0]
    named = [
        (here.problem("bad-id", ("readings", index, key), quote(name), NAMEABLE, _RENAME), name)
        for index, reading in enumerate(source.file.readings)
        for key, name in (("file", reading.file), ("text", reading.text))
        if name
    ]
    named += [
        (
            Problem.of("bad-id", f"{folder}/{file}", quote(file), expected=NAMEABLE, fix=_RENAME),
            file,
        )
        for file in (f"runs/{run}.json" for run in sorted(source.runs.names))
    ]
    problems, before = [], dict[str, str]()
    for problem, name in named:
        other = before.setdefault(name.lower(), name)
        if any(map(unnameable, name.split("/"))):
            problems.append(problem)
        elif other != name:
            found = f"{quote(name)} beside {quote(other)}"
            expected = "names that differ not only in case, which some systems don't tell apart"
            problems.append(replace(problem, found=found, expected=expected))
    return problems


_RENAME = "rename the file"


def _check_ids(source: StudySource) -> list[Problem]:
    file, here = source.file, ProblemsOf(source)
    ids = factor_ids(source)
    problems = []
    found = f"the folder {quote(source.id)}"
    if source.id in PAGE_FILES:
        expected = f"none of {join_names(PAGE_FILES)}, which are the files of pages"
        problems.append(here.problem("bad-id", (), found, expected))
    if not ID.fullmatch(source.id):
        expected = "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
        problems.append(here.problem("bad-id", (), found, expected))
    elif unnameable(source.id):
        problems.append(here.problem("bad-id", (), found, NAMEABLE))
    for factor_id, times in Counter(ids).items():
        if times > 1:
            path = ("facets" if factor_id in file.facets else "y",)
            found = f"{quote(factor_id)} {times} times"
            problems.append(here.problem("repeated-factor", path, found))
    for index, facet in enumerate(file.facets):
        if unnameable(facet):
            fix = "rename it, in the tables too; its name is that of a folder of pages"
            problems.append(here.problem("bad-id", ("facets", index), quote(facet), NAMEABLE, fix))
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
    if file.metric.better is None and says_lower(f"{file.metric.name} {file.metric.column}"):
        problems.append(here.problem("no-direction", ("metric",), quote(file.metric.name)))
    beside = file.spread.column if file.spread else ""
    if beside in (*ids, file.metric.column, "reading", *OPTIONAL_COLUMNS) and beside != "stderr":
        problems.append(
            here.problem(
                "duplicate-column",
                ("spread", "column"),
                quote(beside),
                "a column of its own",
                "name the column with the spread",
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
    file, here = source.file, ProblemsOf(source)
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
    valid = [*ids, *repeat_columns(source)]
    problems += [
        here.unknown("unknown-factor", ("roles", name), name, "a factor of this study", valid)
        for name in file.roles
        if name not in valid
    ]
    if file.replicates is not None:
        named.append((("replicates",), file.replicates))
    problems += [
        here.unknown("unknown-factor", path, facet, "a facet of this study", file.facets)
        for path, facet in named
        if facet not in file.facets
    ]
    return problems


def _check_reading_ids(source: StudySource) -> list[Problem]:
    here = ProblemsOf(source)
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
    here, ids = ProblemsOf(source), [reading.id for reading in source.readings]
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
    """The templates of the commands that measure a cell, and a whole grid, again."""
    file, reproduce = source.file, source.file.reproduce
    if reproduce is None:
        return []
    axes = tuple(filter(None, (file.x, file.y)))
    found = _check_template(source, "args", reproduce.args, factor_ids(source), axes)
    if reproduce.grid_args is not None:
        found += _check_template(source, "grid_args", reproduce.grid_args, file.facets, file.facets)
    return found + _check_margin(source)


def _check_template(
    source: StudySource, key: str, args: str, ids: Sequence[str], required: Sequence[str]
) -> list[Problem]:
    """Arguments that may name some factors, and must name others."""
    here, path = ProblemsOf(source), ("reproduce", key)
    if {"{", "}"} & set(PLACEHOLDER.sub("", args)):
        found, expected = "a brace that belongs to none", "braces only around a factor: {factor}"
        return [here.problem("wrong-value", path, found, expected, "correct or remove the brace")]
    try:
        shlex.split(args)
    except ValueError:
        found, expected = "a quote without its other one", "arguments as a shell reads them"
        return [here.problem("wrong-value", path, found, expected, "close the quote")]
    named = list(dict.fromkeys(PLACEHOLDER.findall(args)))
    what, told = ("factor", "both axes, which tell cells apart")
    if key == "grid_args":
        what, told = ("facet", "all facets, which tell grids apart")
    problems = [
        here.unknown("unknown-factor", path, name, f"a {what} of this study", ids)
        for name in named
        if name not in ids
    ]
    return problems + [
        here.problem(
            "wrong-value",
            path,
            f"no {{{factor}}}",
            f"the levels of {told}",
            f"add {{{factor}}} where the script takes it",
        )
        for factor in required
        if factor not in named
    ]


def _check_margin(source: StudySource) -> list[Problem]:
    """A margin as wide as the metric's range would call everything the same."""
    file = source.file
    margin = file.reproduce.margin if file.reproduce else None
    ends = file.metric.range or ((Decimal(0), Decimal(100)) if file.metric.unit == "%" else None)
    if margin is None or ends is None or 2 * margin < ends[1] - ends[0]:
        return []
    found, expected = str(margin), f"less than half the metric's range of {ends[0]} to {ends[1]}"
    path = ("reproduce", "margin")
    return [
        ProblemsOf(source).problem("wrong-value", path, found, expected, "write a smaller margin")
    ]
