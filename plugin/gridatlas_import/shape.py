"""Whether the headings of a table are levels of a factor, and which of them are: scored."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, pairwise

from gridatlas.analysis.roles import SETTINGS, TRAINING, is_named
from gridatlas.model.directions import words
from gridatlas_import import vocabulary as terms
from gridatlas_import.columns import (
    FEW_LEVELS,
    Column,
    column_of,
    joint_levels,
    own_spread,
    plain_name,
)
from gridatlas_import.kinds import KindOfColumn, kind_of, kinds_of
from gridatlas_import.metric import measured_in, speaks_of, unit_in_name
from gridatlas_import.numerals import is_absent, looks_like_number
from gridatlas_import.quantities import dimension
from gridatlas_import.rows import RawTable

AVERAGES = frozenset(("avg", "average", "mean", "overall", "total"))

_ARROWS = {"↑": "higher", "↓": "lower", "\\uparrow": "higher", "\\downarrow": "lower"}
_ENDS = (Decimal(1), Decimal(100))
_NO_LEVELS = (
    "aggregate", "cost", "derived", "spread", "count", "index", "repeat", "performance",
)  # fmt: skip
_KEYED = ("number", "plain", "metric", "generic")
_NO_ROWS = ("aggregate", "derived", "spread")
_NUMBER_HEADING = re.compile(
    r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:e-?\d+)?\s*(?:[kKMBG]i?B?|%|ms|s|-?shots?)?"
)
"""Headings that are levels by themselves: numbers, also with a unit such as `4k` and `5-shot`."""
_NAMED = "|".join(sorted(terms.FACTORS | terms.REPEATS))
_CUT = re.compile(rf"(?i)(?<![a-z])({'|'.join(sorted(terms.CUTS))})[@_ -]*[\d.]+")
_SETTING = re.compile(rf"(?:(.+?)\s*[=:@]\s*|((?:\w+_)?(?i:{_NAMED}))[ _])-?\d[\d.]*\S*")
_LABELS = ("plain", "factor", "text", "book", "weak", "index", "state")
MANY_OF_ONE = 3
"""Headings of one unit from which on they are levels, whatever stands beside them."""
SURE = 2.5
"""Points from which on headings are levels."""
POSSIBLE = 2.0
"""Points from which on they may be, so that a person is asked."""
POINTS = {
    "headings of two lines": 9.0,
    "headings that are numbers": 9.0,
    "a corner with two names": 9.0,
    "headings with a setting": 9.0,
    "several metrics": -9.0,
    "a confusion matrix": 6.0,
    "one metric in all": 4.0,
    "names of benchmarks": 1.5,  # each, up to four
    "one unit": 2.0,
    "values of one size": 1.5,
    "values of several sizes": -6.0,
    "three or more": 1.0,
    "one column of names": 0.5,
    "names of models or methods": 1.0,
    "nothing says that they are of one kind": -2.5,
    "few numbers, each in many rows": -4.0,
    "rows known by dates": -1.0,
    "rows known by a number": 2.0,
}
"""What speaks for headings' being levels, and against it."""


@dataclass(frozen=True, slots=True)
class WideForm:
    """How a wide table is read.

    Attributes:
        levels: Headings that are levels.
        rows: Columns that the rows are known by, the first as y.
        left_out: Columns that are neither, each with the reason.
        metric: What all headings say was measured; empty where they don't.
        terms: The points, by what they are for.
    """

    levels: tuple[str, ...]
    rows: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    metric: str = ""
    terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """All points together."""
        return sum(self.terms.values())


def percentiles(names: Collection[str]) -> list[str]:
    """Headings that are percentiles of one measurement: `50%`, `95%` and `99%`."""
    found = [name for name in names if re.fullmatch(r"\d{2,3}(?:\.\d+)?%", name)]
    return found if "50%" in found and {"95%", "99%"} & {*found} else []


def wide_form(table: RawTable, asked: Collection[str] = ()) -> WideForm | None:
    """How a table is read whose headings are levels; None for a table with a row per cell.

    Args:
        asked: Columns that are something else, because somebody says so.
    """
    for origins in dict.fromkeys((table.origins, ())):  # the rows may be known by where they stand
        left = {*origins, *percentiles(table.columns)}
        columns = {name: column_of(table, name) for name in table.columns if name not in left}
        forms = [*_headed(table, columns, origins)] or [*_guessed(table, columns, origins, asked)]
        best = max(forms, key=lambda form: form.score, default=None)
        if best is not None and best.score >= POSSIBLE:
            return best
    return None


def _headed(
    table: RawTable, columns: Mapping[str, Column], origins: Sequence[str]
) -> Iterator[WideForm]:
    """Forms of which the headings themselves say that they are levels."""
    numbers = [name for name in columns if _NUMBER_HEADING.fullmatch(name.strip())]
    first, *rest = columns
    settings = [name for name in columns if setting_of([name]) and _holds_numbers(columns[name])]
    if table.headings:
        for form in _form("headings of two lines", [*table.headings], columns, origins):
            yield _of_one_metric(table.headings, form)
    elif len(numbers) >= 2:
        if all(_holds_numbers(columns[name]) for name in numbers):
            yield from _form("headings that are numbers", numbers, columns, origins)
    elif len(rest) >= 2 and re.fullmatch(r".+\\.+", first):
        if all(columns[name].is_metric_like for name in rest):
            yield from _form("a corner with two names", rest, columns, origins)
    elif len(settings) >= 2 and not terms.METRICS & {*words(setting_of(settings))}:
        others = kinds_of({name: columns[name] for name in columns if name not in settings})
        results = any(kind.kind in ("metric", "generic", "number") for kind in others.values())
        if setting_of(settings) and not results:
            yield from _form("headings with a setting", settings, columns, origins)


def _of_one_metric(headings: Mapping[str, Sequence[str]], form: WideForm) -> WideForm:
    """The form of headings of two lines; where one line names metrics, with the first of them."""
    for line in zip(*headings.values(), strict=True):
        if are_metrics([*dict.fromkeys(line)]):
            kept = [name for name, level in zip(headings, line, strict=True) if level == line[0]]
            left = ((name, "another metric") for name in headings if name not in kept)
            form = WideForm(tuple(kept), form.rows, (*form.left_out, *left), line[0], form.terms)
    return form


def are_metrics(headings: Sequence[str]) -> bool:
    """Whether headings are several metrics: `Top-1` and `Top-5`, AP and AP50, P, R and F1."""
    texts = [_CUT.sub(r"\1", heading) for heading in headings]
    parts = [{*words(text)} for text in texts]
    of_all = {word for word in chain(*parts) if all(word in part for part in parts)}
    known = terms.METRICS - terms.GENERIC | terms.CUTS | terms.COSTS | of_all
    differ = len({*texts}) == 1 or any(part > of_all for part in parts)
    return len(parts) > 1 and differ and all(part <= known for part in parts)


def _form(
    why: str, levels: Sequence[str], columns: Mapping[str, Column], origins: Sequence[str]
) -> Iterator[WideForm]:
    """A form whose other columns are those that rows are known by, but for what sums them up."""
    rest = {name: column for name, column in columns.items() if name not in levels}
    left = {name: kind.why for name, kind in kinds_of(rest).items() if kind.kind in _NO_ROWS}
    rows = [name for name in rest if name not in left] or [*rest]
    out = tuple((name, reason) for name, reason in left.items() if name not in rows)
    if (*rows, *origins) and (rest or why == "headings of two lines"):
        yield WideForm(tuple(levels), (*rows, *origins), out, terms={why: POINTS[why]})


def _guessed(
    table: RawTable,
    columns: Mapping[str, Column],
    origins: Sequence[str],
    asked: Collection[str],
) -> Iterator[WideForm]:
    """Forms of groups of headings that may be levels of one factor."""
    kinds = kinds_of(columns)
    rates = (name for name, unit in table.units.items() if "/" in unit and name in kinds)
    kinds |= {n: KindOfColumn("number", "a rate") for n in rates if kinds[n].kind == "factor"}
    able = {name: column for name, column in columns.items() if name not in asked}
    core = [name for name, column in able.items() if _may_be_level(column, kinds[name].kind)]
    shared, metric = max(
        _below_one_key(able), _sharing_a_metric(able, kinds), key=lambda group: len(group[0])
    )
    unit = _of_one_unit(core, {n: table.units.get(n) or known_unit(n) for n in able})
    groups = {
        "one metric in all": shared if len(shared) * 3 >= len(core) * 2 else [],
        "one unit": unit,
        "": core,
    }
    why, group = next((pair for pair in groups.items() if pair[1]), ("", []))
    named = [unit_in_name(name)[0].rpartition(".")[2] for name in group]
    if len(group) >= 2 and sum(map(bool, map(terms.STATISTICS.fullmatch, named))) * 2 < len(group):
        yield from _of_texts(why, group, metric, able, columns, kinds, origins, table.titles)
    first, *rest = [name for name in able if kinds[name].kind not in (*_NO_ROWS, "index")] or able
    rows, numbers = able[first], [able[name] for name in rest]
    own = rows.is_metric_like and rows.level_count == len(rows.texts) >= 3
    steps = {high - low for low, high in pairwise(rows.values)}
    fit = (len(steps) == 1 and rows.values[0] in steps) or all(of.is_fractional for of in numbers)
    if own and fit and len(rest) >= 3 and {*rest} <= {*core} and _alike(numbers):
        # It can as well be a number and several metrics without known names.
        why = "rows known by a number"
        yield WideForm(tuple(rest), (first, *origins), terms={why: POINTS[why]})


def _of_texts(
    why: str,
    group: Sequence[str],
    metric: str,
    able: Mapping[str, Column],
    columns: Mapping[str, Column],
    kinds: Mapping[str, KindOfColumn],
    origins: Sequence[str],
    titles: Sequence[str],
) -> Iterator[WideForm]:
    """The form of a group of headings that are texts."""
    benchmarks = [name for name in group if terms.BENCHMARKS.match(name)]
    levels = group if why == "one unit" else _of_one_scale(able, group, kinds, benchmarks)
    shared = why == "one metric in all"
    said = why or benchmarks or any(map(measured_in, titles)) or any(map(_arrow, levels))
    labels = labels_of(columns, kinds, levels, bool(benchmarks) or shared)
    if not labels or len(levels) < 2:
        return
    first = columns[labels[0]]
    alike = _alike([columns[name] for name in levels])
    spreads = sum(bool(own_spread(columns, name)) for name in levels)
    signs = {
        why: 1 if why else 0,
        "several metrics": are_metrics(levels)
        or len({*map(_arrow, levels)} - {""}) > 1
        or (len(labels) > 1 and not benchmarks and 0 < spreads < len(levels)),
        "a confusion matrix": {*levels} <= {*first.distinct},
        "names of benchmarks": min(4, len(benchmarks)),
        "values of one size": alike,
        "values of several sizes": not (alike or why),
        "three or more": len(levels) > 2,
        "one column of names": len(labels) == 1,
        "names of models or methods": len(labels) == 1
        and bool({"column_1"} & {*labels} or terms.ENTITIES & {*words(labels[0])}),
        "nothing says that they are of one kind": not said
        and not (terms.SUBJECTS_OF_ROWS & {*words(labels[0])} or _are_of_a_kind(levels))
        and not _are_near([columns[name] for name in levels]),
        "few numbers, each in many rows": len(first.texts) > FEW_LEVELS
        and all(columns[name].number_count * 2 <= columns[name].filled for name in levels),
        "rows known by dates": kinds[labels[0]].kind == "weak" and not first.as_numbers,
    }
    left = [
        (name, kinds[name].why if kinds[name].strong else f"follows from {labels[0]}")
        for name in columns
        if name not in (*levels, *labels)
    ]
    yield WideForm(
        tuple(levels),
        (*labels, *origins),
        tuple(left),
        metric if shared else "",
        {name: POINTS[name] * times for name, times in signs.items() if name and times},
    )


def _are_of_a_kind(headings: Sequence[str]) -> bool:
    """Whether headings are names, or have a part in common: `Rural Male`, `Urban Male`, `GPT-4`.

    Words of a language, as in `crime` and `poverty`, are rather what was measured.
    """
    parts = [{*re.findall(r"[a-z]+|[A-Z]+[a-z]*", name)} for name in headings]
    shared = [any(own & other for other in parts if other is not own) for own in parts]
    proper = r"\d|[a-z][A-Z]|[A-Z]{2}|\S-\S|[+/]"
    named = [bool(re.search(proper, name) or terms.MODELS.fullmatch(name)) for name in headings]
    return all(shared) or sum(named) * 2 >= len(named)


def _are_near(columns: Sequence[Column]) -> bool:
    """Whether the numbers of each row lie within a half of the lowest."""
    numbers = [column.numbers for column in columns]
    rows = ([*map(float, filter(None, row))] for row in zip(*numbers, strict=True))
    return all(max(row) <= 1.5 * min(row) for row in rows if row)


def setting_of(headings: Sequence[str]) -> str:
    """The setting that headings such as `bs=16` or `Seed 1` are levels of; empty for none."""
    found = [_SETTING.fullmatch(heading.strip("$ ")) for heading in headings]
    keys = {(match[1] or match[2]).strip() for match in found if match}
    return keys.pop() if found and all(found) and len(keys) == 1 else ""


def _holds_numbers(column: Column) -> bool:
    return column.is_metric_like or all(map(is_absent, column.counts))


def _may_be_level(column: Column, kind: str) -> bool:
    numbers = len(column.texts) - column.gaps
    if not column.is_metric_like or len(column.name) == 1 or numbers * 4 < len(column.texts):
        return False
    if terms.FITTED & {*words(column.name)}:
        return False
    if kind == "factor" and column.is_fractional and column.number_count * 2 > numbers:
        return not is_named(plain_name(column.name), f"{SETTINGS}|{TRAINING}")
    return kind in ("number", "plain") or (
        kind not in _NO_LEVELS and bool(terms.BENCHMARKS.match(column.name))
    )


def _sharing_a_metric(
    able: Mapping[str, Column], kinds: Mapping[str, KindOfColumn]
) -> tuple[list[str], str]:
    """Headings with one metric's words and others beside them: `gsm8k_acc` and `mmlu_acc`.

    Where nothing is known of the others, a separator must stand between: `run-a - loss`.
    """
    names = [
        n for n, column in able.items() if not column.is_metric_like and _tell_apart(able, [n])
    ]
    entities = any(terms.ENTITIES & {*words(name)} for name in names)
    groups: dict[str, dict[str, str]] = {}
    separated: set[str] = set()
    for name in able:
        parts = plain_name(name).split("_")
        metric = "_".join(part for part in parts if part in terms.METRICS)
        rest = "_".join(
            part for part in parts if part not in terms.METRICS and part not in terms.MODIFIERS
        )
        numbered = re.fullmatch(r"[a-z]?\d+", rest) and not terms.BENCHMARKS.fullmatch(rest)
        apart = bool(rest) and rest not in terms.SPLITS and not numbered
        if metric and apart and kinds[name].kind in ("metric", "generic", "number"):
            groups.setdefault(metric, {})[name] = rest
            pieces = re.split(r" - | \| |: |/", name)
            if len(pieces) == 2 and set(words(pieces[-1])) & terms.METRICS:
                separated.add(name)
    fitting = [
        ([*group], metric)
        for metric, group in groups.items()
        if len(group) >= 2
        and len(set(group.values())) == len(group)
        and (
            sum(bool(terms.BENCHMARKS.match(rest)) for rest in group.values()) * 2 >= len(group)
            or (set(group) <= separated and len(group) > 2)
            or (len(group) > 2 and entities)
            or (len(group) == 2 and names and _are_of_a_kind([*group.values()]))
        )
    ]
    return max(fitting, key=lambda found: len(found[0]), default=([], ""))


def _below_one_key(able: Mapping[str, Column]) -> tuple[list[str], str]:
    """Headings that are keys below one key of JSON: `pass@1.humaneval` and `pass@1.mbpp`."""
    groups: dict[str, list[str]] = {}
    for name, column in able.items():
        before, point, _ = name.rpartition(".")
        if not point or not column.is_metric_like:
            continue
        rest = Column(name.rpartition(".")[2], column.texts, column.mark)
        if looks_like_number(rest.name) or kind_of(rest).kind in _KEYED:
            groups.setdefault(before, []).append(name)
    fitting = [
        (names, before)
        for before, names in groups.items()
        if len(names) > 1
        and (
            all(looks_like_number(name[len(before) + 1 :]) for name in names)
            or _alike([able[name] for name in names])
        )
        and not any(terms.METRICS & set(words(name[len(before) :])) for name in names)
    ]
    return max(fitting, key=lambda found: len(found[0]), default=([], ""))


def known_unit(name: str) -> str:
    """The unit in a heading; what else stands in brackets, as in `Wiki (FP16)`, is none."""
    unit = unit_in_name(name)[1]
    return unit if unit == "%" or terms.UNIT.fullmatch(unit) else ""


def _of_one_unit(core: Sequence[str], units: Mapping[str, str]) -> list[str]:
    """The headings of most columns, where their units measure one thing; none without units."""
    measured = {name: dimension(units[name]) for name in core if units[name]}
    named = [*measured.values()]
    most = max(named, key=named.count, default="")
    found = [name for name, what in measured.items() if what == most]
    return found if len(found) * 2 > len(core) or len(found) >= MANY_OF_ONE else []


def _of_one_scale(
    able: Mapping[str, Column],
    core: Sequence[str],
    kinds: Mapping[str, KindOfColumn],
    benchmarks: Sequence[str],
) -> list[str]:
    """The headings of one quantity, with those whose names only look like something else."""
    every: list[Decimal] = [value for name in core for value in able[name].values]
    lowest, highest = min(every), max(every)
    top = next((end for end in _ENDS if lowest >= Decimal(0) and highest <= end), highest)
    found = [
        name
        for name, column in able.items()
        if name in core
        or (
            (benchmarks or len(core) > 2)
            and kinds[name].kind not in (*_NO_LEVELS, "number", "plain", "generic")
            and column.is_metric_like
            and column.is_fractional
            and column.number_count * 2 > column.filled
            and not terms.TITLE_WORDS & set(words(name))
            and not is_named(plain_name(name), f"{SETTINGS}|{TRAINING}")
            and all(min(Decimal(0), lowest) <= value <= top for value in column.values)
        )
    ]
    for quantity in (_direction, lambda name: "%" if able[name].percents else ""):
        spoken = [quantity(name) for name in found]
        most = max(set(spoken), key=spoken.count)
        if len(set(spoken) - {""}) > 1 or "%" in spoken:
            found = [name for name, way in zip(found, spoken, strict=True) if way in (most, "")]
            found = [name for name in found if most != "%" or quantity(name)]
    return found


def _direction(name: str) -> str:
    spoken = speaks_of(name) if terms.TITLE_WORDS & set(words(name)) else None
    return _arrow(name) or spoken or ""


def _arrow(name: str) -> str:
    return next((way for arrow, way in _ARROWS.items() if arrow in name), "")


def direction_of(headings: Sequence[str]) -> bool | None:
    """Whether arrows in headings say that higher is better; None where none does, or both do."""
    found = {_arrow(name) for name in headings} - {""}
    return found == {"higher"} if len(found) == 1 else None


def labels_of(
    columns: Mapping[str, Column],
    kinds: Mapping[str, KindOfColumn],
    levels: Sequence[str],
    benchmarks: bool,
) -> list[str]:
    """The columns that rows are known by: one whose others follow from it, else several."""
    texts = [
        name
        for name, column in columns.items()
        if name not in levels
        and kinds[name].kind in _LABELS
        and not column.is_metric_like
        and column.filled == len(column.texts)
    ]
    texts.sort(key=lambda name: not terms.ENTITIES & set(words(name)))
    settings = [
        name
        for name, column in columns.items()
        if name not in levels
        and name not in texts
        and kinds[name].kind in ("factor", "repeat", "weak")
        and column.filled == len(column.texts)
    ]
    numbering = [name for name in columns if kinds[name].kind == "index" and name not in texts]
    entities = [name for name in texts if terms.ENTITIES & set(words(name))]
    alone = [name for name in texts if _tell_apart(columns, [name])]
    if alone and (alone[0] in entities or not entities):
        return alone[:1]
    chosen: list[str] = []
    others = [*settings, *numbering] if benchmarks else settings if texts else []
    for name in (*texts, *others) if texts or settings else ():
        if columns[name].level_count > 1:
            chosen.append(name)
        if chosen and _tell_apart(columns, chosen):
            return chosen
    return []


def _tell_apart(columns: Mapping[str, Column], names: Sequence[str]) -> bool:
    levels = joint_levels([columns[name] for name in names])
    return len(set(levels)) == len(levels)


def _alike(columns: Sequence[Column]) -> bool:
    """Whether columns look like measurements of one quantity: one size, decimals alike."""
    highest = [max(map(abs, column.values)) for column in columns if column.values]
    fractional = [column.is_fractional for column in columns]
    middle = sorted(highest)[len(highest) // 2]
    near = sum(high <= 8 * middle and middle <= 8 * high for high in highest)
    ends = [column.ends for column in columns if column.values]
    apart = any(high < 0 for _, high in ends) and any(low > 0 for low, _ in ends)
    return (
        bool(middle)
        and not apart
        and near >= 0.9 * len(highest)
        and (all(fractional) or not any(fractional) or sum(fractional) >= 0.6 * len(fractional))
    )
