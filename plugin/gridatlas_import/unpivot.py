"""Wide tables: a column per level of x becomes a row per cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gridatlas.model.problems import join_names
from gridatlas_import.columns import plain_name
from gridatlas_import.markup import without_latex
from gridatlas_import.metric import unit_in_name
from gridatlas_import.numerals import looks_like_number
from gridatlas_import.quantities import of_one_unit
from gridatlas_import.rows import RawTable, WrongUsage, unused
from gridatlas_import.shape import WideForm, setting_of, wide_form
from gridatlas_import.tidy import labels
from gridatlas_import.vocabulary import BENCHMARKS, FACTORS, REPEATS

VALUE = "value"
COLUMN, BENCHMARK = "column", "benchmark"


@dataclass(frozen=True, slots=True)
class LongTable:
    """A wide table with a row per cell, and the columns that have the headings now."""

    table: RawTable
    headings: tuple[str, ...]


def named_form(table: RawTable, own: Sequence[str]) -> WideForm:
    """How a table is read that is wide because somebody says so.

    Args:
        own: Columns that are no levels: those that y and the facets are named by.

    Raises:
        CannotImport: For a table without such columns.
    """
    form = wide_form(table, own)
    if form is not None and not own:
        return form
    numeric = [name for name in table.columns if looks_like_number(name)]
    if own and form is not None and set(own) <= set(form.rows):
        return form
    if own:
        rows = [name for name in table.columns if name in own or name in table.origins]
    elif len(numeric) >= 2:
        rows = [name for name in table.columns if name not in numeric]
    else:
        rows = [*dict.fromkeys((*labels(table), *table.origins))]
    levels = [name for name in table.columns if name not in rows]
    if not levels or not rows:
        raise WrongUsage(
            f"--wide, and the columns {join_names(table.columns)}",
            "a column with the levels of y, and a column per level of x",
            "name the columns that aren't levels of x with --y and --facet",
        )
    return WideForm(tuple(levels), tuple(rows))


def long(table: RawTable, form: WideForm, x: str | None) -> LongTable:
    r"""The table with a row per cell.

    Args:
        x: What the headings are levels of; without it the first heading's `y \ x`, or `column`.
    """
    levels = form.levels
    names = [re.sub(r"\s+", " ", name) for name in form.rows]
    names[0] = "row" if re.fullmatch(r"column_1( \+ column_\d)?", names[0]) else names[0]
    corner = re.fullmatch(r"(.+?)\s*[\\/↓→|]\s*(.+?)", names[0])
    if corner:
        names[0] = corner[1]
    numbered = _numbers_of_repeats(table, form) if x is None and not corner else ""
    texts = _level_texts(levels, form.metric)
    if numbered:
        names[0] = "row"
    below_key = form.metric and all(level.startswith(f"{form.metric}.") for level in levels)
    setting = "" if below_key else setting_of(levels)
    called = x or numbered or (corner[2] if corner else setting or _subject_of(texts))
    called = COLUMN if called == BENCHMARK and BENCHMARK in names else called
    note = "each column is taken for a level; if each row is a cell, say --long"
    note += "; --x names what they are levels of" * (called == COLUMN and not table.headings)
    number = len(table.places)
    columns: dict[str, Sequence[str]] = {
        name: [text for text in table.columns[column] for _ in levels]
        for name, column in zip(names, form.rows, strict=True)
    }
    headings: tuple[str, ...] = (called,)
    if table.headings:
        headings = table.heading_names
        for at, name in enumerate(headings):
            columns[name] = [table.headings[level][at] for level in levels] * number
    else:
        columns[called] = texts * number
    values = unused(VALUE, columns)
    units = {level: table.units.get(level) or unit_in_name(level)[1] for level in levels}
    found, unit = of_one_unit({level: table.columns[level] for level in levels}, units)
    cells = zip(*found.values(), strict=True)
    columns[values] = [*chain.from_iterable(cells)]
    long_table = replace(
        table,
        form=f"{table.form}, wide: {number} rows × {len(levels)} columns",
        columns=columns,
        places=[f"{place}, {level}" for place in table.places for level in levels],
        notes=(*table.notes, note),
        wide=levels,
        headings={},
        origins=tuple(name for name in table.origins if name in columns),
        metric=form.metric,
        left_out=(*table.left_out, *form.left_out),
        settings=(*table.settings, names[0]),
        units={**table.units, values: unit} if unit else table.units,
    )
    repeats = numbered or REPEATS & {*plain_name(setting).split("_")}
    return LongTable(long_table, () if repeats else headings)


def _numbers_of_repeats(table: RawTable, form: WideForm) -> str:
    """What the first heading calls the other ones, where these number repeats; else empty.

    In `Resamples,0,1,2` the first heading is about its own line, not about the names below it.
    """
    name = form.rows[0].strip().rstrip(":")
    if not REPEATS & set(plain_name(name).split("_")) or table.headings:
        return ""
    numbers = all(level.isdigit() for level in form.levels)
    return name if numbers and not all(map(looks_like_number, table.columns[form.rows[0]])) else ""


def _subject_of(texts: Sequence[str]) -> str:
    """What levels are levels of: what they count, benchmarks by most names, or nothing known."""
    counted = {re.sub(r"^\d+[ -]", "", text).removesuffix("s") for text in texts}
    if len(counted) == 1 and {f"{min(counted)}s", min(counted)} & FACTORS:
        return f"{min(counted)}s"
    if sum(bool(re.fullmatch(r"\d+ ?(?:h|d|wk?|mo?|yr?|min)", text)) for text in texts) > 1:
        return "time"
    benchmarks = sum(bool(BENCHMARKS.match(text)) for text in texts)
    return BENCHMARK if benchmarks * 2 > len(texts) else COLUMN


def _level_texts(levels: Sequence[str], metric: str) -> list[str]:
    """Headings as levels, where they stay apart: without LaTeX's commands, arrows and the metric.

    Args:
        metric: The words of what all of them say was measured; `gsm8k_acc` is `gsm8k` then.
    """
    if metric and all(level.startswith(f"{metric}.") for level in levels):
        return [level[len(metric) + 1 :] for level in levels]
    texts = [re.sub(r"\s*[↑↓]\s*", "", without_latex(level)).strip() for level in levels]
    units = {unit_in_name(text)[1] for text in texts}
    texts = [unit_in_name(text)[0] for text in texts] if len(units) == 1 else texts
    setting = setting_of(texts)
    if setting:
        texts = [text[len(setting) :].strip(" =:@_") for text in texts]
    if metric:
        word = "|".join(map(re.escape, metric.split("_")))
        texts = [
            re.sub(rf"(?i)(^|[\W_]+)({word})(?=$|[\W_])", "", text).strip(" _-:/|.")
            for text in texts
        ]
    return texts if all(texts) and len(set(texts)) == len(levels) else [*levels]
