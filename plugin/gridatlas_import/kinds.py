"""What each column may be: its name first, then what stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gridatlas.model.directions import words
from gridatlas_import import vocabulary as terms
from gridatlas_import.columns import (
    FEW_LEVELS,
    Column,
    joint_levels,
    kind_of_count,
    own_spread,
    plain_name,
)
from gridatlas_import.numerals import is_absent, plain

_INDEX = re.compile(
    r"unnamed_\d+(_\d+)*|unnamed|column_1|index|idx|row|row_?(id|num|number)|no|nr|"
)
_URL = re.compile(r"[a-z]+://\S+|/\S*/\S*|[0-9a-f]{12,}|\{.*\}|\[.*\]|\(.*,.*\)", re.DOTALL)
_RUN = re.compile(r"(run|trial|experiment)_?(id|name)?", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:[A-Za-z]{1,2}[_-]?)?\d+|[IVX]+")
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
DATE = re.compile(
    rf"(\d{{4}}-\d\d-\d\d|\d{{4}}/\d{{1,2}}/\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|"
    rf"\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}})([T _].*)?"
)
AXES = frozenset(("x", "y"))
"""Names of columns that are axes where both are there."""
_SENTENCE = 60
"""Letters from which on a text is a sentence."""


@dataclass(frozen=True, slots=True)
class KindOfColumn:
    """What a column may be, and why.

    Attributes:
        strong: Whether its name says so, not only what stands in it.
    """

    kind: terms.Kind
    why: str
    strong: bool = True


def kinds_of(columns: Mapping[str, Column]) -> dict[str, KindOfColumn]:
    """The kind of each column."""
    found = {name: kind_of(column) for name, column in columns.items()}
    if columns.keys() >= AXES:
        found |= dict.fromkeys(AXES, KindOfColumn("factor", "its name"))
    elif "y" in columns and columns["y"].is_metric_like:
        found["y"] = KindOfColumn("generic", "its name")
    results = {plain_name(name) for name in found if found[name].kind == "generic"}
    errors = {f"{name}_{word}" for name in results for word in ("error", "err")}
    for name in found:
        if plain_name(name) in errors:
            found[name] = KindOfColumn("spread", "the spread of another column")
    for name in found:
        if (
            found[name].kind in ("factor", "plain")
            and columns[name].is_metric_like
            and own_spread(columns, name)
        ):
            found[name] = KindOfColumn("number", "its spread stands beside it", strong=False)
    kinds = {kind.kind for kind in found.values()}
    if kinds & {"factor", "plain", "weak"}:
        for name, kind in found.items():
            if (
                kind.kind == "number"
                and columns[name].filled > 6
                and _numbers_rows(columns[name], 1)
            ):
                found[name] = KindOfColumn("index", "numbers the rows")
    if "weak" in kinds and "repeat" not in kinds:
        for run in filter(_RUN.fullmatch, columns):
            found |= _along(columns[run], columns, found) if _recurs(columns[run]) else {}
    return found


def _along(
    run: Column, columns: Mapping[str, Column], kinds: Mapping[str, KindOfColumn]
) -> dict[str, KindOfColumn]:
    """Names of runs that have several rows each are levels; what changes along a run isn't set."""
    changing = KindOfColumn("cost", "it changes along a run")
    set_or_not = [name for name, kind in kinds.items() if kind.kind == "factor"]
    pairs = {name: {*joint_levels([run, columns[name]])} for name in set_or_not}
    named = KindOfColumn("plain", "names of runs, each with several rows", strong=False)
    return {run.name: named} | {n: changing for n in pairs if len(pairs[n]) > run.level_count}


def _recurs(column: Column) -> bool:
    return 1 < column.level_count * 2 <= column.filled


def kind_of(column: Column) -> KindOfColumn:
    """The kind of a column: what its name says, else what stands in it."""
    if not column.filled:
        return KindOfColumn("empty", "empty")
    named = _kind_by_name(column)
    if named is not None:
        return named
    return _kind_by_values(column)


def _kind_by_name(column: Column) -> KindOfColumn | None:
    config = terms.CONFIG_NAMESPACE.fullmatch(column.name)
    if config:
        return _setting(column, next(filter(None, config.groups())))
    if terms.BOOK_NAMESPACE.fullmatch(column.name):
        return KindOfColumn("book", "what a program notes about a run")
    result = terms.RESULT_NAMESPACE.fullmatch(column.name)
    name = plain_name(result[1] if result else column.name)
    if result and result[1].startswith("_"):
        return KindOfColumn("book", "what a program notes about a run")
    if _INDEX.fullmatch(name) and _numbers_rows(column):
        return KindOfColumn("index", "numbers the rows")
    if column.name.startswith("column_1") and column.as_numbers and column.level_count > 20:
        return KindOfColumn("repeat" if _recurs(column) else "index", "it numbers rows, or units")
    found = _by_rules(column, name) or _by_words(column, name)
    if terms.RATE.search(column.name) and column.is_metric_like and _is_measured(column):
        return KindOfColumn("performance", "its name")
    if found is None and result and column.is_metric_like:
        return KindOfColumn("metric", "its name")
    return found


def _setting(column: Column, inner: str) -> KindOfColumn:
    """What a column is whose name begins as those of settings do."""
    name = plain_name(inner)
    if inner.startswith("_"):
        return KindOfColumn("book", "what a program notes about a run")
    if terms.REPEATS & set(words(inner)) or name in ("random_state",):
        return KindOfColumn("repeat", "it numbers repeats")
    found = _by_rules(column, name)
    if found is not None and found.kind in ("book", "text"):
        return found
    by_values = _kind_by_values(column)
    if by_values.kind in ("book", "text"):
        return by_values
    return KindOfColumn("factor", "its name: a setting")


def _by_rules(column: Column, name: str) -> KindOfColumn | None:
    """What whole names say."""
    if _numbers_items(column, name):
        return KindOfColumn("repeat", "it numbers items")
    if name == "sample" and column.level_count <= FEW_LEVELS and _numbers_few(column):
        return KindOfColumn("repeat", "it numbers repeats")
    if column.outcome_of is not None and terms.OUTCOMES.fullmatch(name):
        return KindOfColumn("outcome", "its name, and true and false below it")
    numeric = column.is_metric_like or column.are_sizes
    for rule in terms.NAME_RULES:
        if not rule.pattern.fullmatch(name):
            continue
        if rule.kind == "state" and not _tells_states(column):
            continue
        if rule.kind in ("aggregate", "cost", "derived") and not numeric:
            continue
        if rule.kind == "text" and numeric:
            continue
        if rule.kind == "book" and _names_levels(column, name):
            continue
        if rule.kind == "book" and name == "id" and _recurs(column) and _is_numbering(column):
            return KindOfColumn("repeat", "it numbers what was measured several times")
        few = name in ("response", "answer") and column.level_count <= FEW_LEVELS
        times = {*column.counts.values()}
        planned = name in terms.FACTORS or (few and len(times - {1}) == len(times) == 1)
        if rule.kind == "text" and planned and not _has_objects(column):
            continue
        return KindOfColumn(rule.kind, rule.why)
    if name == "rank" or name.endswith("_rank"):
        return _rank(column)
    return None


def _numbers_items(column: Column, name: str) -> bool:
    if terms.ITEMS.search(name):
        return column.is_metric_like or (_recurs(column) and not _names_levels(column, name))
    many = column.level_count > FEW_LEVELS and _recurs(column) and _is_numbering(column)
    return many and name in terms.NUMBERED_ITEMS and not column.is_metric_like


def _has_objects(column: Column) -> bool:
    """Whether texts are objects or sentences, not levels."""
    return any(len(text) > _SENTENCE or _URL.fullmatch(plain(text)) for text in column.counts)


def _names_levels(column: Column, name: str) -> bool:
    """Whether texts that are called ids are the levels of something varied: `env_id`."""
    what, _, end = name.rpartition("_")
    of_factor = end == "id" and what in terms.FACTORS and not column.is_metric_like
    return of_factor and column.level_count * 2 <= len(column.texts)


def _is_numbering(column: Column) -> bool:
    """Whether all texts are whole numbers, or such behind a letter or two: `s13`."""
    return not column.is_fractional and all(map(_NUMBERED.fullmatch, column.distinct))


def _numbers_few(column: Column) -> bool:
    """Whether levels are whole numbers from 0 or 1 on, each in several rows."""
    low, high = column.ends
    whole = column.as_numbers and not column.is_fractional and low in (0, 1)
    return whole and _recurs(column) and high - low + 1 == column.level_count


def numbers_units(column: Column) -> bool:
    """Whether texts number what was measured: `s13`, 4601, or 1 to 20; not 10, 20 and 50."""
    near = column.as_numbers and column.ends[1] - column.ends[0] < 2 * column.level_count
    return _is_numbering(column) and (near or not column.look_set)


def _rank(column: Column) -> KindOfColumn:
    """A place in an order, or the rank of a matrix: powers of two are that."""
    values = sorted(set(column.values))
    powers = values and all(v > 0 and int(v) == v and int(v) & (int(v) - 1) == 0 for v in values)
    if powers and len(values) > 1 and values[:3] != [1, 2, 3] and values[-1] > 2:
        return KindOfColumn("factor", "its name, and powers of two")
    return KindOfColumn("derived", "a place in an order, computed from results")


def _by_words(column: Column, name: str) -> KindOfColumn | None:
    """What the words of a name say; of several, the last that matters."""
    parts = name.split("_")
    if terms.FACTOR_RATES.search(name) or terms.KNOWN_FACTORS.fullmatch(name):
        return KindOfColumn("factor", "its name")
    if terms.STOPPED.search(name):
        return KindOfColumn("cost", "where a run stopped")
    if terms.ANSWER_TOKENS.fullmatch(name) and _is_measured(column):
        return KindOfColumn("cost", "how long answers were")
    numbered = [part for part in parts if part not in ("id", "no", "nr", "number")]
    if terms.SUBJECTS & {*numbered[-1:]} and _is_numbering(column):
        return KindOfColumn("repeat", "it numbers people or items")
    if terms.REPEATS & set(parts) and not (terms.METRICS & set(parts) and column.is_fractional):
        return KindOfColumn("repeat", "it numbers repeats")
    if _is_spread(parts) and column.is_metric_like:
        return KindOfColumn("spread", "the spread of another column")
    if kind_of_count(column.name) and column.is_metric_like:
        doses = kind_of_count(column.name) == "n" and 0 in column.values and column.look_set
        return None if doses else KindOfColumn("count", "its name")
    return _by_last_word(column, name, [*map(_without_digits, parts)])


def _is_measured(column: Column) -> bool:
    """Whether numbers were counted, not set: a setting has few values, each in several rows."""
    return column.is_metric_like and column.filled > 4 and column.level_count * 2 > column.filled


def _by_last_word(column: Column, name: str, parts: list[str]) -> KindOfColumn | None:
    # In `128K` and `Yi-6B` the letter is of a number.
    parts = [p for before, p in zip(["", *parts], parts, strict=False) if before or p not in "kbm"]
    matters = [part for part in parts if part not in terms.MODIFIERS and part]
    for part in reversed(matters):
        if (
            part in terms.COSTS
            and (column.is_metric_like or column.are_sizes or _is_clock(column, name))
            and part not in terms.PERFORMANCE
        ):
            if part in ("s", "ms", "sec") and terms.PERFORMANCE & set(parts):
                return KindOfColumn("performance", "its name")
            return KindOfColumn("cost", "time, size or cost")
        if part in terms.WEAK_FACTORS:
            return KindOfColumn("weak", "how far a run was")
        if part in ("samples", "tokens", "images", "requests", "queries") and "per" in parts:
            return KindOfColumn("performance", "its name")
        if part in terms.FACTORS and not (part in SHARED_WORDS and column.is_fractional):
            if part in terms.MEASURED and column.is_fractional and not column.recurs_evenly:
                return None
            if _is_measured(column) and terms.METRICS & set(parts):
                return KindOfColumn("performance", "its name")
            return KindOfColumn("factor", "its name")
        if part in terms.METRICS and column.is_metric_like:
            if part in terms.PERFORMANCE:
                return KindOfColumn("performance", "its name")
            if part in terms.GENERIC and not terms.METRICS - terms.GENERIC & set(parts):
                return KindOfColumn("generic", "its name")
            return KindOfColumn("metric", "its name")
    if not matters and terms.GENERIC & set(parts) and column.is_metric_like:
        return KindOfColumn("generic", "its name")
    return None


def _is_clock(column: Column, name: str) -> bool:
    """Whether texts are times of day or dates, not phases such as before and after."""
    return name == "time" and any(map(str.isdigit, "".join(column.counts)))


SHARED_WORDS = frozenset({"precision", "kernel", "ratio", "compression"}) & terms.METRICS
"""Words of settings that name results, too: with decimals below them they are results."""


def _without_digits(part: str) -> str:
    """`acc1` as `acc`; names that end with a digit by themselves stay."""
    return part if part in terms.METRICS or part in terms.FACTORS else part.rstrip("0123456789")


def _is_spread(parts: list[str]) -> bool:
    # In the middle, as in `score_low_noise`, low and high are about something else.
    named = {*parts} - ({*parts[1:-1]} & {"low", "high"})
    if terms.SPREADS & named or "_".join(parts) in terms.SPREADS:
        return not (terms.FACTORS & set(parts) - terms.METRICS)
    ends = {"min", "max"} & {parts[0], parts[-1]}
    rest = set(parts) - terms.MODIFIERS - ends
    return bool(ends) and (not rest or bool(terms.METRICS & rest))


# --- what stands in it ----------------------------------------------------------------------------


def _kind_by_values(column: Column) -> KindOfColumn:
    rows, distinct = len(column.texts), column.level_count
    blanks = rows - column.filled
    if column.is_metric_like:
        if blanks or any(map(is_absent, column.odd)):
            return KindOfColumn("number", "numbers, and gaps", strong=False)
        most = rows * 3 // 5 if column.look_set else rows // 2
        few = distinct <= max(2, most) and (
            distinct <= 12 or distinct <= rows // 5 or column.recurs_evenly
        )
        if few and column.recurs_evenly and not (column.decimals > 3 and distinct > 6):
            return KindOfColumn("plain", "a number with few values", strong=False)
        return KindOfColumn("number", "a number with many distinct values", strong=False)
    texts = [plain(text) for text in column.counts if plain(text)]
    if any(_URL.fullmatch(text) for text in texts[:20]):
        return KindOfColumn("book", "addresses, identifiers or objects")
    if blanks:
        return KindOfColumn("text", "gaps, which no level has", strong=False)
    if all(map(DATE.fullmatch, texts[:50])):
        return KindOfColumn("weak", "dates", strong=False)
    if sum(map(len, texts)) > _SENTENCE * len(texts):
        return KindOfColumn("text", "sentences", strong=False)
    return KindOfColumn("plain", "few texts", strong=False)


def _numbers_rows(column: Column, apart: int = 4) -> bool:
    """Whether each row has a whole number of its own, and they lie close together."""
    return (
        column.as_numbers
        and not column.is_fractional
        and column.level_count == len(column.texts)
        and column.ends[1] - column.ends[0] <= apart * len(column.texts)
    )


def _tells_states(column: Column) -> bool:
    """Whether most texts say how a run ended, or tell of errors."""
    found = {plain(text).lower() for text in column.counts} - {""}
    states = found & terms.RUN_STATES or {text for text in found if "error" in text}
    return bool(states) and not found <= terms.TRUE_WORDS | terms.FALSE_WORDS - {"failed"}
