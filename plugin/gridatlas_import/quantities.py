"""Cells with a unit, such as `26.21us`, `181 t/s` and `2m23s`: their numbers in one unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from statistics import median

from gridatlas.model.problems import join_names
from gridatlas_import import numerals
from gridatlas_import.columns import Column, column_of, plain_name
from gridatlas_import.kinds import kind_of
from gridatlas_import.rows import RawTable, Reported
from gridatlas_import.vocabulary import UNIT

_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}  # fmt: skip
_DIMENSIONS: Mapping[str, Mapping[str, str | int]] = {
    "time": {"ns": "1e-9", "µs": "1e-6", "ms": "1e-3", "s": 1, "min": 60, "h": 3600, "d": 86400},
    "thousands": {"k": 1000, "M": 10**6, "G": 10**9},
    "size": _BYTES,
    "speed": {f"{unit}/s": size for unit, size in _BYTES.items()},
    "work": {f"{prefix}FLOPS": 1000**at for at, prefix in enumerate(("", *"kMGTP"))},
}
_SIZES: Mapping[str, Mapping[str, Decimal]] = {
    kind: {unit: Decimal(size) for unit, size in sizes.items()}
    for kind, sizes in _DIMENSIONS.items()
}
"""Units that are converted into one another, by dimension, with their sizes."""
_SPELLINGS = {
    "us": "µs", "μs": "µs", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "mins": "min",
    "minutes": "min", "hours": "h", "hr": "h", "days": "d", "day": "d", "K": "k", "kb": "kB",
    "KB": "kB", "mb": "MB", "gb": "GB", "tok/s": "t/s", "tokens/s": "t/s", "tokens/sec": "t/s",
    "token/s": "t/s", "tk/s": "t/s", "X": "x", "×": "x", "Nanos": "ns", "Micros": "µs",
    "Millis": "ms", "Seconds": "s", "Bytes": "B",
}  # fmt: skip
_FLOPS = re.compile(r"([kMGTP]?)flop(?:s|/s)", re.IGNORECASE)
_NUMBER = r"[+-]?(?:\d+(?:[ ,]\d{3})*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_QUANTITY = re.compile(
    rf"(?P<about>[~≈∼]?)\s*(?P<number>{_NUMBER})\s*(?P<unit>{UNIT.pattern}|)"
    rf"(?:\s*(?:±|\+/-)\s*(?P<margin>{_NUMBER})\s*(?:{UNIT.pattern}|))?(?P<note>\s*\([^()]*\))?"
)
_CLOCK = re.compile(
    r"(?:(\d+)\s?h)?\s*(?:(\d+)\s?m(?:in)?)?\s*(?:(\d+(?:\.\d+)?)\s?s)?|(\d+):(\d\d):(\d\d)"
)
_TIMES = re.compile(r"(\d+(?:\.\d+)?)([kKMG])")
MOST_UNITS = 20
"""Texts up to which a column may be one of units."""
SIGNATURES: Sequence[tuple[frozenset[str], Mapping[str, str]]] = (
    (frozenset(("command", "mean", "stddev", "median", "user", "system")),
     dict.fromkeys(("mean", "stddev", "median", "user", "system", "min", "max"), "s")),
    (frozenset(("build_commit", "model_type", "avg_ns", "avg_ts")),
     {"avg_ns": "ns", "stddev_ns": "ns", "avg_ts": "t/s", "stddev_ts": "t/s"}),
    (frozenset(("fullname", "stats.mean", "stats.stddev", "stats.rounds")),
     dict.fromkeys((f"stats.{name}" for name in ("mean", "stddev", "median", "min", "max", "iqr",
                                                 "q1", "q3")), "s")),
)  # fmt: skip
"""Columns by which a program's table is known (hyperfine, llama-bench, pytest-benchmark), and its
units."""
_MOST = Decimal("0.8")
"""Share of a column's cells from which on it is one of quantities."""


def holds_number(text: str) -> bool:
    """Whether a text is a number, with or without a unit."""
    return numerals.looks_like_number(text) or _quantity(numerals.plain(text)) is not None


def spelled(unit: str) -> str:
    """A unit as pages write it: `us` is `µs`, `TFlops` is `TFLOPS`."""
    flops = _FLOPS.fullmatch(unit)
    if flops:
        return f"{flops[1].upper().replace('K', 'k')}FLOPS"
    return _SPELLINGS.get(unit, unit).replace("/sec", "/s")


def dimension(unit: str) -> str:
    """What a unit measures, where it can be converted into others; else the unit itself."""
    return next((kind for kind, sizes in _SIZES.items() if unit in sizes), unit)


def in_one_unit(table: RawTable) -> RawTable:
    """The table with numbers where columns have quantities, and the unit of each such column."""
    table = _with_own_units(table)
    columns, units, notes = dict(table.columns), dict(table.units), [*table.notes]
    units |= next((units for names, units in SIGNATURES if names <= columns.keys()), {})
    results = {plain_name(name): name for name in columns}
    for name, texts in columns.items():
        result = results.get(plain_name(name).removesuffix("_unit"), name)
        if result != name and len({*texts}) == 1 and UNIT.fullmatch(texts[0]):
            units[result] = spelled(texts[0])
    for name, texts in table.columns.items():
        column = column_of(table, name)
        named = re.search(rf"(?:^|_){units.get(name, '')}$", name)
        if (
            units.get(name) in _SIZES["time"]
            and not named
            and all(numerals.number_text(text, "point") for text in column.odd if text)
        ):
            found = _scaled(column.counts, units[name])
        else:
            found = _quantities(column)
        if found is None:
            continue
        new, unit, note = found
        columns[name] = [*map(new.__getitem__, texts)]
        units[name] = unit
        notes += [f"{name}: {note}"] if note else []
    return replace(table, columns=columns, units=units, notes=tuple(notes))


def in_unit_of(
    result: Column, others: Iterable[Column], units: Mapping[str, str]
) -> dict[str, Column]:
    """Those of other columns that have another unit of a result's dimension, in its unit."""
    own, found = units.get(result.name, ""), {}
    for column in others:
        given = units.get(column.name, "")
        if own and given != own and dimension(given) == dimension(own):
            both = {result.name: result.texts, column.name: column.texts}
            texts = of_one_unit(both, units)[0][column.name]
            found[column.name] = replace(column, texts=texts)
    return found


def of_one_unit(
    columns: Mapping[str, Sequence[str]], units: Mapping[str, str]
) -> tuple[Mapping[str, Sequence[str]], str]:
    """Columns of numbers in the unit that most of them have; as they are where that can't be."""
    own = {name: units[name] for name in columns if units.get(name)}
    usual = next(iter(Counter(own.values()).most_common(1)), ("", 0))[0]
    sizes = next((sizes for sizes in _SIZES.values() if usual in sizes), {})
    bare = (texts for name, texts in columns.items() if name not in own)
    if not own or any(map(numerals.looks_like_number, chain.from_iterable(bare))):
        return columns, ""
    if not all(unit in sizes for unit in own.values()):
        return columns, usual if {*own.values()} == {usual} else ""
    found = {}
    for name, texts in columns.items():
        factor = sizes[own.get(name, usual)] / sizes[usual]
        new = {text: _times(text, factor) for text in {*texts}} if factor != 1 else {}
        found[name] = [new.get(text, text) for text in texts]
    return found, usual


def _times(text: str, factor: Decimal) -> str:
    """A number, also one with a margin, in another unit; other texts as they are."""
    parts = [numerals.number_text(part, "point") for part in numerals.without_margin(text) if part]
    if not parts or None in parts:
        return text
    return " ± ".join(_text(Decimal(part or 0) * factor) for part in parts)


def _with_own_units(table: RawTable) -> RawTable:
    """A table with units in a column beside its results, with these in their cells.

    Of units that can't be converted into one another, the rows of the most usual one are kept.
    """
    for name, texts in table.columns.items():
        counts = column_of(table, name).counts
        if len(counts) > MOST_UNITS:
            continue
        units = {spelled(text) for text in counts if text}
        of_times = re.fullmatch(r"(?:.*\.)?time_units?", name)
        if not units or not all(dimension(unit) in _SIZES for unit in units):
            continue
        if len({*map(dimension, units)}) > 1:
            usual = Counter(filter(None, texts)).most_common(1)[0][0]
            return replace(table, keep={**table.keep, name: usual})
        if not of_times and plain_name(name) not in ("unit", "units"):
            continue
        results = [
            other
            for other in table.columns
            if (re.search(r"(?:^|[._])time$", other) if of_times else _is_result(table, other))
        ]
        columns = {other: values for other, values in table.columns.items() if other != name}
        columns |= {
            other: [
                f"{value} {unit}".strip()
                for value, unit in zip(columns[other], map(spelled, texts), strict=True)
            ]
            for other in results
        }
        without = [row for row, text in enumerate(texts) if not text]
        found = replace(table, columns=columns)
        left = [Reported(table.places[row], "no time, as of complexity") for row in without]
        rows = [row for row, text in enumerate(texts) if text]
        return replace(found.with_rows(rows), reported=(*table.reported, *left))
    return table


def _is_result(table: RawTable, name: str) -> bool:
    kind = kind_of(column_of(table, name)).kind
    return kind in ("metric", "performance", "generic", "number")


def _scaled(counts: Counter[str], unit: str) -> tuple[dict[str, str], str, str] | None:
    """Numbers of a known unit of time in the one in which people say them; None as they are."""
    values = {text: Decimal(text) for text in counts if text}
    best = _best_unit([*values.values()], _SIZES["time"], unit)
    if best == unit:
        return None
    factor = _SIZES["time"][unit] / _SIZES["time"][best]
    new = {text: _text(value * factor) for text, value in values.items()} | {"": ""}
    return new, best, f"{unit} in the source, {best} here"


def _best_unit(values: Sequence[Decimal], sizes: Mapping[str, Decimal], given: str) -> str:
    """The unit in which the median has one to three digits before its point."""
    middle = median(abs(value) for value in values) * sizes[given] if values else Decimal(0)
    fitting = [unit for unit, size in sizes.items() if size <= middle < 1000 * size]
    fitting = [unit for unit in fitting if unit not in ("min", "h", "d")] or fitting
    return given if not fitting or given in fitting else fitting[-1]


def _text(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _quantities(column: Column) -> tuple[dict[str, str], str, str] | None:
    """Each text as a number, the unit of all, and what is to be said; None for other columns."""
    counts = column.counts
    if not any(map(str.isdigit, "".join(list(counts)[:50]))):
        return None
    odd = {text: _quantity(numerals.plain(text)) for text in column.odd}
    if not any(parsed and (parsed[1] or parsed[3]) for parsed in odd.values()):
        return None
    every = {text: odd[text] if text in odd else _quantity(text) for text in counts}
    found = {text: parsed[:3] for text, parsed in every.items() if parsed is not None}
    rest = [text for text, parsed in odd.items() if parsed is None and not numerals.is_absent(text)]
    units = Counter(unit for _, unit, _ in found.values() if unit)
    number, others = (sum(counts[text] for text in group) for group in (found, rest))
    if number < _MOST * (number + others):
        return None
    kinds = {kind for kind, sizes in _SIZES.items() for unit in units if unit in sizes}
    if len(units) > 1 and (len(kinds) != 1 or any(u not in _SIZES[min(kinds)] for u in units)):
        return None
    if units.keys() & _SIZES["thousands"] and not any("." in text for text in found):
        return None  # 4k, 64k and 1m are levels, and the last isn't a minute
    unit = next(iter(units), "")
    if unit in ("B", "M", "h", "min") and len(counts) * 2 < sum(counts.values()):
        return None
    if len(units) > 1:
        sizes = _SIZES[min(kinds)]
        base = [
            value * sizes[unit] / sizes[units.most_common(1)[0][0]]
            for value, unit, _ in found.values()
            if unit
        ]
        unit = _best_unit(base, sizes, units.most_common(1)[0][0])
        factors = {own: sizes[own] / sizes[unit] for own in units}
    else:
        factors = {}
    new = {text: text for text in counts}
    for text, (value, own, margin) in found.items():
        factor = factors.get(own, Decimal(1))
        new[text] = _text(value * factor) if factor != 1 else f"{value:f}"
        new[text] += f" ± {_text(Decimal(margin) * factor)}" if margin else ""
    notes = [f"{join_names(units)} in the source, {unit} here"] if len(units) > 1 else []
    about = [text for text in found if text.lstrip()[:1] in "~≈∼"]
    notes += [f"{join_names(about, 3)} in the source, as if exact"] if about else []
    bare = [text for text, (_, own, _) in found.items() if units and not own]
    notes += [f"{join_names(bare, 3)} without a unit, taken for {unit}"] if bare else []
    return new, unit, "; ".join(notes)


def _quantity(text: str) -> tuple[Decimal, str, str, bool] | None:
    """Number, unit and margin of a text, and whether it is more than a plain number."""
    match = _QUANTITY.fullmatch(text)
    if match:
        unit = spelled(match["unit"])
        note = (match["note"] or "").strip(" ()")
        if note and not unit and re.fullmatch(r"[\d.,]+%?", note):
            return None  # a spread
        value = Decimal(re.sub("[ ,]", "", match["number"]))
        return value, unit, match["margin"] or "", bool(match["about"] or note)
    clock = _CLOCK.fullmatch(text)
    if clock and any(clock.groups()):
        hours, minutes, seconds = (clock[1] or clock[4], clock[2] or clock[5], clock[3] or clock[6])
        total = 3600 * int(hours or 0) + 60 * int(minutes or 0) + Decimal(seconds or 0)
        return Decimal(total), "s", "", True
    thousands = _TIMES.fullmatch(text)
    if thousands:
        return Decimal(thousands[1]), spelled(thousands[2]), "", False
    return None
