"""Factors and their levels: read of `study.yml` and tables, and checked against each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import cast

from gridatlas.data.names import ID, ProblemsOf
from gridatlas.data.reader import StudySource
from gridatlas.data.tables import Table
from gridatlas.data.text import unnameable
from gridatlas.model.problems import Problem, join_names, quote
from gridatlas.model.schema import (
    LONGEST_NAME,
    MOST_TRIALS,
    PAGE_FILES,
    REPEAT,
    FactorEntry,
    LevelEntry,
    StudyFile,
    level_key,
    level_number,
)
from gridatlas.model.study import Factor, Level


def too_long(level: str) -> bool:
    """Whether a level has more characters than can be shown, or digits where it is a number."""
    return len(level) > LONGEST_NAME or len(level_key(level)) > LONGEST_NAME


def read_factor(
    source: StudySource, factor_id: str, tables: Iterable[Table]
) -> tuple[Factor, list[Problem]]:
    """A factor with its levels: as listed in `study.yml`, else all that the tables have."""
    entry = source.file.factors.get(factor_id, FactorEntry())
    entries = entry.levels
    if entries is None:
        keys = dict.fromkeys(
            level_key(text)
            for table in tables
            for text in table.column(factor_id).kinds
            if text and not too_long(text)
        )
        numbers = {key: level_number(key) for key in keys}
        if all(number is not None for number in numbers.values()):
            keys = dict.fromkeys(sorted(keys, key=lambda key: cast(Decimal, numbers[key])))
        entries = tuple(LevelEntry(id=key) for key in keys)
    problems = _mixed(factor_id, tables) if entry.levels is None else []
    levels = tuple(
        Level(
            key=entry.id,
            label=entry.label or entry.id,
            slug=slug(entry.id),
            number=level_number(entry.id),
            items=entry.items,
            aggregate=entry.aggregate.by if entry.aggregate else None,
            group=entry.group or "",
            in_text=entry.in_text or "",
            description=entry.description,
            former=entry.former,
        )
        for entry in entries
    )
    if is_replicate(source.file, factor_id) and factor_id in source.file.facets:
        levels = _with_mean(levels)
    here = ProblemsOf(source)
    keys_before: set[str] = set()
    labels_before: set[str] = set()
    slugs_before: dict[str, Level] = {}
    for index, level in enumerate(levels):
        path = ("factors", factor_id, "levels", index)
        if level.key in keys_before:
            problems.append(here.problem("repeated-level", path, f"{quote(level.key)} again"))
        elif level.label in labels_before:
            found = f"the label {quote(level.label)} again"
            problems.append(here.problem("same-label", path, found))
        elif level.slug in slugs_before:
            other = slugs_before[level.slug]
            found = f"{quote(level.key)} and {quote(other.key)}, both {quote(level.slug)}"
            problems.append(here.problem("same-address", path, found))
        keys_before.add(level.key)
        labels_before.add(level.label)
        slugs_before.setdefault(level.slug, level)
    problems += _check_former(here, factor_id, levels)
    label = entry.label or factor_id.replace("_", " ").capitalize()
    return Factor(
        factor_id, label, entry.unit, levels, entry.direction, entry.description
    ), problems


def is_replicate(file: StudyFile, factor_id: str) -> bool:
    """Whether `study.yml` says that the levels of a factor repeat the experiment."""
    return file.roles.get(factor_id) == "replicate" or file.replicates == factor_id


def _with_mean(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels of a facet that repeats the experiment, with their mean, which pages show."""
    taken = {name for level in levels for name in (level.key, level.slug, *level.former)}
    if any(level.aggregate for level in levels) or "mean" in taken:
        return levels
    return (*levels, Level("mean", "Mean", "mean", aggregate="mean"))


def _check_former(here: ProblemsOf, factor_id: str, levels: Iterable[Level]) -> list[Problem]:
    """Former names that can't lead to one level: their addresses are taken."""
    levels = list(levels)
    taken = {level.slug: f"the level {level.key}, which is there" for level in levels}
    problems = []
    for index, level in enumerate(levels):
        for place, former in enumerate(level.former):
            if slug(former) in taken:
                path = ("factors", factor_id, "levels", index, "former", place)
                problems.append(
                    here.problem(
                        "former-name-taken",
                        path,
                        f"{quote(former)}: {taken[slug(former)]}",
                        "a name that no level of the factor has now, listed once",
                        f"remove {former} from former",
                    )
                )
            taken.setdefault(slug(former), f"already a former name of {level.key}")
    return problems


def check_levels(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """What `study.yml` says of levels, against the levels that there are."""
    return [
        *_check_files(source, factors),
        *_check_trials(source, factors),
        *_check_replicates(source),
        *_check_levels(source, factors),
        *_old_keys(source),
    ]


def _old_keys(source: StudySource) -> Iterator[Problem]:
    """Notes on keys that `roles` replaces."""
    file = source.file
    axes = [name for name in (file.x, file.y) if name]
    of_axes = "condition" if file.axes == "conditions" else "choice"
    instead = {
        "replicates": {file.replicates: "replicate"} if file.replicates else {},
        "axes": dict.fromkeys(axes, of_axes) if file.axes else {},
        "compare": dict.fromkeys(file.compare, "choice"),
        "repeats": {REPEAT: "replicate"} if file.repeats else {},
    }
    for key, roles in instead.items():
        if roles:
            text = ", ".join(f"{name}: {role}" for name, role in roles.items())
            found, fix = f"the old key {key}", f"write roles: {{{text}}} instead of {key}"
            yield Problem.of(
                "old-key", source.name, found, source.line(key), key, severity="note", fix=fix
            )


_ENDINGS = ("best", "reproduced", "vl")
"""What stands between a grid's address and the ending of some of its files."""


def _check_files(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """Grids whose files would be another grid's: of the last facet's levels `a` and `a.best`."""
    here, facets = ProblemsOf(source), source.file.facets
    levels = factors[facets[-1]].levels if facets else ()
    slugs = {level.slug: level for level in levels}
    return [
        here.problem(
            "same-address",
            ("factors", facets[-1], "levels", index),
            f"{quote(level.key)} beside {quote(slugs[stem].key)}, which has files of that name",
            "levels whose files differ",
            "rename one of them, in the tables too",
        )
        for index, level in enumerate(levels)
        for stem, _, ending in [level.slug.rpartition(".")]
        if ending in _ENDINGS and stem in slugs
    ]


def _mixed(factor_id: str, tables: Iterable[Table]) -> list[Problem]:
    """A note where most levels are numbers and some are texts: `500x` may be a slip of the pen."""
    texts: dict[str, tuple[str, int]] = {}
    numbers: set[str] = set()
    for table in tables:
        column = table.column(factor_id)
        for text in column.kinds:
            key = level_key(text) if text and not too_long(text) else ""
            if key and level_number(key) is None:
                texts.setdefault(key, (table.name, table.lines[column.row_of(text)]))
            elif key:
                numbers.add(key)
    if len(numbers) <= len(texts):
        return []
    by_value: list[str] = sorted(numbers, key=Decimal)
    return [
        Problem.of(
            "mixed-levels",
            name,
            quote(key),
            line,
            factor_id,
            severity="note",
            values={"factor": factor_id, "numbers": join_names(by_value)},
        )
        for key, (name, line) in texts.items()
    ]


def slug(key: str) -> str:
    """The form of a level's key in addresses; ids that every system can name a file by stay."""
    address = _address(key)[:100].rstrip(".")
    if unnameable(address) or address in _TAKEN:
        address = f"level-{address}"[:100].rstrip(".")
    return address


_TAKEN = frozenset(["answers", "answers.json"])
"""Names in a study's folder of downloads that aren't a grid's."""


def _address(key: str) -> str:
    if key in PAGE_FILES:
        return key.replace(".", "-")
    if ID.fullmatch(key) and len(key) <= 100:
        return key
    if level_number(key) is not None and key.startswith("-"):
        return f"minus{key}"
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_.]+", "-", plain).strip("-._") or "level"


def _check_trials(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """Items times samples, where both are in bounds on their own."""
    trials = source.file.trials
    if trials is None:
        return []
    items = max((level.items or 0 for level in factors[trials.items].levels), default=0)
    if items * trials.samples <= MOST_TRIALS:
        return []
    return [
        ProblemsOf(source).problem(
            "wrong-value",
            ("trials", "samples"),
            f"{items:,} × {trials.samples:,} trials in a cell",
            f"at most {MOST_TRIALS:,}",
            "correct samples, or the items of the level",
        )
    ]


def _check_replicates(source: StudySource) -> Iterator[Problem]:
    """A facet that repeats the experiment has levels that are the same experiment."""
    items = source.file.trials and source.file.trials.items
    if items and is_replicate(source.file, items):
        yield ProblemsOf(source).problem(
            "wrong-value",
            ("roles", items) if items in source.file.roles else ("replicates",),
            f"{quote(items)}, whose levels are asked different items (trials.items)",
            "a facet whose levels differ by chance only, such as training seeds",
            "name another facet, or give it another role",
        )


def _check_settings(source: StudySource, factors: Mapping[str, Factor]) -> Iterator[Problem]:
    """The factors and levels by which `reproduce.settings` says what a run must have."""
    here, reproduce = ProblemsOf(source), source.file.reproduce
    for name, setting in reproduce.settings.items() if reproduce else ():
        for factor, by_level in setting.items():
            path = ("reproduce", "settings", name, factor)
            if factor and factor not in factors:
                what = "a factor of this study"
                yield here.unknown("unknown-factor", path, factor, what, factors)
                continue
            levels = [level.key for level in factors[factor].levels] if factor else by_level
            for level in by_level:
                if level not in levels:
                    what = f"a level of {factor}"
                    yield here.unknown("unknown-level", (*path, level), level, what, levels)


def _check_levels(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    """The levels that `baseline`, `regions` and `aggregate` name."""
    file, here = source.file, ProblemsOf(source)
    problems = []
    for facet, key in file.baseline.items():
        levels = [level.key for level in factors[facet].levels]
        if levels and key not in levels:
            what = f"a level of {facet}"
            problems.append(here.unknown("unknown-level", ("baseline", facet), key, what, levels))
    problems += _check_settings(source, factors)
    problems += _check_stated_ranges(source, factors)
    for index, region in enumerate(file.regions):
        for number, box in enumerate(region.boxes):
            path = ("regions", index, "boxes", number)
            axes = [name for name in (file.x, file.y) if name]
            if set(box) != {*axes}:
                problems.append(
                    here.problem(
                        "wrong-value",
                        path,
                        f"the keys {join_names(box)}",
                        f"the key{'s' if file.y else ''} {' and '.join(axes)}",
                        "list the levels that the box covers",
                    )
                )
                continue
            for axis, keys in box.items():
                levels = [level.key for level in factors[axis].levels]
                what = f"a level of {axis}"
                problems += [
                    here.unknown("unknown-level", (*path, axis), key, what, levels)
                    for key in keys
                    if key not in levels
                ]
    for facet in filter(None, (file.x, file.y)):
        for index, level in enumerate(factors[facet].levels):
            if level.aggregate:
                problems.append(
                    here.problem(
                        "wrong-value",
                        ("factors", facet, "levels", index, "aggregate"),
                        f"an aggregate on the axis {quote(facet)}",
                        "an aggregate level of a facet",
                        "remove aggregate here",
                    )
                )
    for facet in file.facets:
        sums = [level for level in factors[facet].levels if level.aggregate]
        if sums and len(sums) == len(factors[facet].levels):
            problems.append(
                here.problem(
                    "wrong-value",
                    ("factors", facet, "levels"),
                    "only aggregate levels",
                    "at least one level to aggregate",
                    "remove aggregate from one of them",
                )
            )
    return problems


def _check_stated_ranges(source: StudySource, factors: Mapping[str, Factor]) -> list[Problem]:
    file, here = source.file, ProblemsOf(source)
    problems = []
    for index, reading in enumerate(file.readings):
        for number, stated in enumerate(reading.stated_range):
            for facet, key in (stated.__pydantic_extra__ or {}).items():
                path = ("readings", index, "stated_range", number, facet)
                if facet not in file.facets:
                    what = "a facet of this study"
                    problems.append(here.unknown("unknown-factor", path, facet, what, file.facets))
                    continue
                keys = [level.key for level in factors[facet].levels]
                if keys and key not in keys:
                    what = f"a level of {facet}"
                    problems.append(here.unknown("unknown-level", path, key, what, keys))
    return problems
