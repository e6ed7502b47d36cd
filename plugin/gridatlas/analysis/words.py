"""Numbers, names and every sentence of answers: each whole in one place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import exp, floor, isfinite, log, log10

import numpy as np

from gridatlas.analysis.contrasts import own_replicates
from gridatlas.analysis.design import Design
from gridatlas.analysis.roles import ITEMS, is_named
from gridatlas.analysis.table import Factor
from gridatlas.model.format import format_measured, rounded

LIKELY = "\0"
"""Where `likely ` stands if an answer is no more than that."""
LONGEST = 90
"""Characters of a headline."""
PLAIN = re.compile(r"[a-zµ@-]+(?![\w.])")
"""A first word that a sentence may begin with in capitals."""
ONE_OF_EACH = "for these measurements, one of each"
"""What an answer holds for where nothing repeats the measurements."""
TIMES = {"ns", "µs", "us", "ms", "s", "sec", "seconds", "min", "minutes", "h", "hours"}
OF_ONE = re.compile(r"\S*[^\Ws] of ")
"""A label that wants an article: `number of layers`, but not `layers` or `digits of x`."""


# --- numbers --------------------------------------------------------------------------------------


def decimals(page: Design, error: float) -> int:
    """Two figures of the standard error, at most the metric's (one, of whole numbers)."""
    metric = page.study.table.metric
    if page.study.log or not (isfinite(error) and error > 0):
        return shown_decimals(page)
    two = max(0, 1 - floor(log10(error)))
    return min(two, 12 if metric.decimals is None else max(1, metric.decimals))


def shown_decimals(page: Design) -> int:
    """The metric's; else as many as reproduce the values, at most two figures of their scatter."""
    metric = page.study.table.metric
    if metric.decimals is not None:
        return metric.decimals
    values = page.study.y[np.isfinite(page.study.y)]
    values = np.exp(np.minimum(values, 700.0)) if page.study.log else values
    scatter = float(values.std()) if len(values) else 0.0
    if not (isfinite(scatter) and scatter > 0):
        scatter = float(np.abs(values).max(initial=1.0)) or 1.0
    two = min(12, max(0, 1 - floor(log10(scatter)))) if isfinite(scatter) else 0
    exact = next(
        (at for at in range(two) if np.allclose(np.round(values, at), values, 0, 1e-9)), two
    )
    return exact


def fixed(value: float, places: int) -> str:
    """With so many decimals, a real minus, and no minus before a zero."""
    text = f"{rounded(value, places):f}" if abs(value) < 1e15 else f"{value:.3g}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def with_unit(page: Design, text: str) -> str:
    """A value with the metric's unit."""
    unit = page.study.table.metric.unit
    return f"{text} {unit}" if unit else text


def mean_text(page: Design, value: float, error: float = 0.0, *, bare: bool = False) -> str:
    """A mean; of logs the geometric one."""
    if page.study.log:
        value = exp(min(value, 700.0))
    text = fixed(value, places := decimals(page, error))
    if value and float(text.replace("−", "-")) == 0:
        # A geometric mean is above 0; another one so near to it may be noise.
        number = Decimal(repr(value)) if page.study.log else value
        text = format_measured(number, places).replace("-", "−")
    return text if bare else with_unit(page, text)


def size_text(page: Design, estimate: float, error: float = 0.0, *, bare: bool = False) -> str:
    """The size of a difference, without its sign; of logs a ratio."""
    if page.study.log:
        ratio = exp(min(abs(estimate), 700.0))
        return f"{fixed(100 * (ratio - 1), 1)} %" if ratio < 2 else f"{fixed(ratio, 1)} times"
    places = decimals(page, error)
    estimate = abs(estimate)
    rounding = 1e-12 * float(np.nanmax(np.abs(page.study.y), initial=0.0))
    if rounding < estimate < np.inf and float(f"{estimate:.{places}f}") == 0:
        places = min(12, -floor(log10(estimate)))
    text = fixed(estimate, places)
    if bare:
        return text
    return f"{text} points" if page.study.table.metric.unit == "%" else with_unit(page, text)


def room(page: Design, margin: float) -> str:
    """A margin as it was declared, in the metric's unit."""
    text = fixed(margin, shown_decimals(page))
    return f"{text} points" if page.study.table.metric.unit == "%" else with_unit(page, text)


def signed(page: Design, estimate: float, error: float, *, bare: bool = False) -> str:
    """The size of a difference with its sign."""
    text = size_text(page, estimate, error, bare=bare)
    return f"{'−' if estimate < 0 else '+'}{text}"


def interval_text(page: Design, low: float, high: float, error: float) -> str:
    """`4.5 to 9.2`; of logs in percent."""
    if page.study.log:
        if low + high >= 2 * log(2):  # The size is in times as well.
            ends = [fixed(exp(min(end, 700.0)), 1) for end in (low, high)]
            return f"{ends[0]} to {ends[1]} times"
        ends = [fixed(100 * (exp(min(end, 700.0)) - 1), 1) for end in (low, high)]
        return f"{ends[0]} to {ends[1]} %"
    places = decimals(page, error)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def p_text(p: float) -> str:
    """`p = 0.025`, with two figures."""
    if p < 0.001:
        return "p < 0.001"
    return "p = 1" if p > 0.995 else f"p = {float(f'{p:.2g}'):g}"


# --- names ----------------------------------------------------------------------------------------


def listed(texts: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def not_without(levels: Sequence[str]) -> str:
    """What the answer needs: it is tested without one of these, and isn't shown."""
    few = [*levels[:2], f"one of {len(levels) - 2} others"] if len(levels) > 3 else levels
    return f"Not shown without {listed(few, 'or')}."


def capital(text: str) -> str:
    """With a capital, as the first word of a sentence; but a name such as `h2o` as it is."""
    return text[:1].upper() + text[1:] if PLAIN.match(text) else text


def small(text: str) -> str:
    """Within a sentence: an initialism stays."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def labelled(factor: Factor, level: int) -> str:
    """A level within a sentence: a name alone, a number with its factor."""
    if factor.numbers is None:
        return factor.spoken[level]
    return with_factor(factor.label, at(factor, level))


def with_factor(factor: str, name: str) -> str:
    """A level's name, behind its factor's where it reads as a number."""
    reads_as_number = name.lstrip("+-−–±<>≤≥~≈.,$€£ ")[:1].isdigit()
    return f"{factor} {name}" if reads_as_number else name


def at(factor: Factor, level: int) -> str:
    """A level behind the name of its factor, or behind `at`: names as given, and `greedy`."""
    name = factor.levels[level]
    return name if factor.numbers is None else small(name)


def the(label: str) -> str:
    """A label within a sentence: `the number of layers`, `learning rate`."""
    return f"the {label}" if OF_ONE.match(label) else label


def larger(label: str) -> str:
    """`at larger ratio`, `at a larger number of layers`, `with more digits of x`."""
    if OF_ONE.match(label):
        return f"at a larger {label}"
    several = re.match(r"(.*[^aisu]s)( (of|per|in) .*)?$", label)
    return f"with more {label}" if several else f"at larger {label}"


def plural(label: str) -> str:
    """What several are called: `seeds`, `GPUs`, `digits of x`."""
    head, of, rest = re.fullmatch(r"(.*?)( (?:of|per|in) |$)(.*)", small(label)).groups()  # type: ignore[union-attr]
    if re.search(r"[^aeiou]y$", head):
        head = f"{head[:-1]}ies"
    elif not head[-1:].isalnum():
        return f"levels of {label}"
    elif not re.search(r"[^s]s$", head):
        head = f"{head}{'e' * head.endswith(('ch', 'sh', 'x', 's'))}s"
    return f"{head}{of}{rest}"


def units_text(page: Design) -> str:
    """What the units are called: seeds, benchmarks, questions, cells."""
    if page.unit == "item" and is_named(page.factor(page.unit_name).label, ITEMS):
        return "questions"
    if page.unit in ("replicate", "block", "item"):
        return plural(page.factor(page.unit_name).label)
    return "cells"


def repeats_text(page: Design) -> str:
    """What repeats a cell."""
    label = page.unit_name and page.factor(page.unit_name).label
    return f"{plural(label)} in each cell" if label else "repeats"


def best_text(page: Design) -> str:
    """What the best level is."""
    metric = page.study.table.metric
    return "fastest" if metric.unit in TIMES and metric.better == "lower" else "best"


def extreme(page: Design) -> str:
    """`highest`, or `lowest` where lower is better."""
    return "highest" if page.sign > 0 else "lowest"


def suffix(page: Design) -> str:
    """How far a headline reaches, where that is less than a reader expects."""
    if page.unit == "counts":
        return ", on these questions"
    if page.capped and page.unit in ("repeats", "rows"):
        return ", in these runs"
    return ""


def population(page: Design) -> str:
    """For what an answer holds."""
    count = page.y.shape[-1]
    match page.unit:
        case "repeats":
            times = np.zeros(0) if page.n is None else page.n[page.n > 0]
            most = times.max(initial=0)
            few, many = f"{times.min(initial=most):.0f}", f"{most:.0f}"
            here = span(few, many)
            if page.unit_name:
                return (
                    f"for other {plural(page.factor(page.unit_name).label)} ({here} in each cell)"
                )
            return f"if measured again in the same way ({here} repeats here)"
        case "replicate":
            own = own_replicates(page)
            if own and len(own) <= 3:
                here = f"{listed([str(of) for of in own])} here, not the same"
                return f"for other {units_text(page)} ({here})"
            return f"for other {units_text(page)} ({count} here{', not the same' if own else ''})"
        case "item":
            return f"for other {units_text(page)} ({count} here)"
        case "block":
            given = len(page.factor(page.unit_name).levels)
            units = units_text(page)
            apart = f" ({given} {units}, {count} that move apart)" if given > count else ""
            return f"for other {units} like these {count}{apart}"
        case "counts":
            return "if these questions are asked again"
        case _:
            return ONE_OF_EACH


def headline(text: str, page: Design, prefix: str, *, likely: bool, reach: bool = True) -> str:
    """The whole headline, without a full stop; names are written as given."""
    text = text.replace(LIKELY, "likely " if likely else "")
    factors = page.study.factors.values()
    is_name = any(text.startswith((f"{name} ", f"{name},")) for of in factors for name in of.levels)
    text = f"{prefix}{text if is_name else capital(text)}{suffix(page) if reach else ''}"
    return text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST - 2]} …"


def clause(text: str, *, likely: bool, named: bool = False) -> str:
    """A sentence of evidence with its own `likely`; a name that it begins with stays as given."""
    text = text.replace(LIKELY, "likely " if likely else "")
    return text if named else capital(text)


def by(size: str) -> str:
    """How far something is ahead: `by 6.8 points`, `by a factor of 3.0`."""
    factor = size.removesuffix(" times")
    return f"by {size}" if factor == size else f"by a factor of {factor}"


_UNDIRECTED = {
    "beats": "is {}above", "beat": "are {}above", "leads": "is {}highest", "best": "{}highest",
    "Best": "Highest", "Ahead": "Above", "falls behind": "is {}below", "fall behind": "are {}below",
    "behind": "{}below", "ahead of": "{}above", "ahead": "{}above",
}  # fmt: skip
_TOWARDS_BETTER = re.compile(rf"\b(likely )?({'|'.join(_UNDIRECTED)})\b")


def undirected(text: str, page: Design) -> str:
    """A sentence where the metric has no better direction: nothing beats, and nothing is best."""
    names = [page.study.table.metric.name]
    for of in page.study.factors.values():
        names += [of.label, *of.levels]
    names.sort(key=len, reverse=True)  # A name is data, whatever words it has.
    parts = re.split(rf"(?<!\w)((?i:{'|'.join(map(re.escape, names))}))(?!\w)", text)
    parts[::2] = (
        _TOWARDS_BETTER.sub(lambda found: _UNDIRECTED[found[2]].format(found[1] or ""), part)
        for part in parts[::2]
    )
    return "".join(parts)


# --- headlines ------------------------------------------------------------------------------------


def beats(first: str, second: str, size: str = "") -> str:
    return (
        f"{first} {LIKELY}beats {second}, {by(size)}" if size else f"{first} {LIKELY}beats {second}"
    )


def is_best(first: str, best: str, value: str, size: str, second: str) -> str:
    value = f": {value}," if value else ","
    return f"{first} is {LIKELY}{best}{value} {size} ahead of {second}"


def leads(first: str, value: str, others: str) -> str:
    value = f" ({value})" if value else ""
    return f"{first} {LIKELY}leads{value}, not shown ahead of {others}"


def over_base(
    ahead: Sequence[tuple[str, str]], behind: Sequence[tuple[str, str]], base: str,
    also: Sequence[tuple[str, str, str]], unit: str,
) -> tuple[tuple[str, int], ...]:  # fmt: skip
    """`B and A beat base (+30.8, +26.1 points); B also A (+4.8)`, and shorter forms of it.

    Before a clause goes, the sizes of the first do: who else is ahead of whom says more.

    Args:
        unit: Of all sizes, which only the first or last of a clause has.

    Returns:
        From long to short, each with the number of its clauses behind the first.
    """
    names = listed([name for name, _ in ahead])
    first = f"{names} {LIKELY}{'beat' if len(ahead) > 1 else 'beats'} {base}"
    whole = f"{first} ({', '.join(size for _, size in ahead)}{unit})"
    more = [f"; {lone} also {two} ({size}" for lone, two, size in also]
    clauses = [*more, *(f"; {name} falls behind ({size}" for name, size in behind)]
    found = []
    for count in range(len(clauses), -1, -1):
        rest = [f"{clause})" for clause in clauses[:count]]
        found.append(("".join([whole, *rest]), count))
        rest[:1] = [f"{clause}{unit})" for clause in clauses[:count][:1]]
        found.append(("".join([first, *rest]), count))
    return tuple(found)


def falls_behind(names: Sequence[str], sizes: str, base: str) -> str:
    verb = "fall" if len(names) > 1 else "falls"
    return f"{listed(names)} {LIKELY}{verb} behind {base} ({sizes})"


def trends(metric: str, parts: Sequence[tuple[str, bool, str]], values: str = "") -> str:
    """Of one or several factors: `rises with batch and with sequence length`.

    Args:
        parts: Each factor, whether the metric is higher at larger levels, and whether it is the
            form `with` (monotone) or `at` (on the whole).
    """
    texts: list[str] = []
    before = "", ""
    for label, up, form in parts:
        likely = "" if texts else LIKELY
        if form == "with":
            verb, where = "rises" if up else "falls", f"with {the(label)}"
            says = where if before == (verb, form) else f"{likely}{verb} {where}"
        else:
            verb, where = "higher" if up else "lower", larger(label)
            says = where if before == (verb, form) else f"is {likely}{verb} {where}"
        texts.append(says)
        before = verb, form
    return f"{metric} {listed(texts)}{f': {values}' if values else ''}"


def span(few: int | str, many: int | str) -> str:
    return f"{few}" if few == many else f"{few} to {many}"


def too_few(count: int | str, units: str) -> str:
    return f"{count} {units} are too few: no difference is tested."


def unranked(count: int, of: int, label: str) -> str:
    verb = "lacks" if count == 1 else "lack"
    return f"{count} of {of} {plural(label)} {verb} some of what is averaged: no rank here."


def too_many_gaps(levels: Sequence[str]) -> str:
    verb = "has" if len(levels) == 1 else "have"
    few = (
        listed(levels)
        if len(levels) <= 6
        else f"{len(levels)} levels from {levels[0]} to {levels[-1]}"
    )
    return f"{capital(few)} {verb} too many gaps to take part."


def too_few_have_all(count: int, of: int, units: str) -> str:
    return f"{count} of {of} {units} have all that would be compared: no difference is tested."


def level_apart(page: Design, level: str, above: bool, size: str) -> str:
    side = "above" if above else "below"
    if page.sign < 0:  # "Scores below" would sound bad where it is good.
        side, metric = "higher" if above else "lower", page.study.table.metric.name
        return f"{metric} is {LIKELY}{side} at {level} than at the others, {by(size)}"
    return f"{level} {LIKELY}scores {side} the others, {by(size)}"


def both_levels(lone: str, two: str, highest: str) -> str:
    return f"{lone} and {two} {LIKELY}score {highest}"


def peaks(metric: str, first: str, last: str, highest: str) -> str:
    near = f"{first} to {last}" if last else first
    verb = f"{LIKELY}peaks" if highest == "highest" else f"is {LIKELY}lowest"
    return f"{metric} {verb} near {near}"


def depends(metric: str, factor: str, first: str, last: str) -> str:
    return f"{metric} {LIKELY}depends on {the(factor)}: from {first} to {last}"


def stands_out(lone: str, two: str, value: str, size: str, above: bool) -> str:
    side = "above" if above else "below"
    return f"{lone} with {two} {LIKELY}stands out: {value}, {size} {side} what its levels give"


def higher_at(metric: str, first: str, second: str, size: str) -> str:
    return f"{metric} is {LIKELY}higher at {first} than at {second}, {by(size)}"


def on_blocks(first: str, second: str, where: str) -> str:
    return f"{first} {LIKELY}beats {second} on {where}"


def effect_depends(axis: str, name: str) -> str:
    return f"The effect of {the(axis)} {LIKELY}depends on {the(name)}"


def no_difference(names: str, room: str = "") -> str:
    return f"No difference shown between {names}{f' (±{room})' if room else ''}"


def no_effect(factors: Sequence[str]) -> str:
    return f"No effect of {listed([the(factor) for factor in factors], 'or')} shown"


def in_all(first: str, second: str, count: int, units: str) -> str:
    return f"{first} is ahead of {second} in all {count} {units}, but not shown"


def trend_in_all(metric: str, up: bool, factor: str, count: int, units: str, ends: str) -> str:
    verb, values = "rises" if up else "falls", f" ({ends})" if ends else ""
    return f"{metric} {verb} with {the(factor)} in all {count} {units}{values}, but not shown"


# --- how much -------------------------------------------------------------------------------------


AHEAD = "{first} is {size} ahead of {second} ({interval})."
AHEAD_TUNED = "At their best settings, {first} is {size} ahead of {second} ({interval})."
AHEAD_ON = "{first} is {size} ahead of {second} on {block} ({interval})."
APART = "{size} {way} the mean of the others ({interval})."
BEYOND_LEVELS = "{size} {way} what its levels give ({interval})."
ENDS = "{first}, {last}."
GAP = "{size} ahead of {second}."


# --- evidence -------------------------------------------------------------------------------------


def reach(page: Design, p: float, *, capped: bool) -> str:
    """For what an answer holds, and whether that is why it is no more than likely."""
    whom = population(page)
    if not capped or p > 0.005:
        return whom
    start = f"{whom[:-1]}; " if whom.endswith(")") else f"{whom} ("
    return f"{start}so no more than likely)"


def could_be(factor: str, p: str, size: str, interval: str, enough: str) -> str:
    enough = f"; {enough} would show it" if enough else ""
    if not size:
        return f"{capital(factor)}: {p}{enough}."
    return (
        f"{capital(factor)}: {p}; the largest difference, {size}, is {interval} by itself{enough}."
    )


def other_questions(found: Sequence[tuple[str, str, int]]) -> str:
    """Of each what is compared, its interval, and how many questions there are."""
    if len(found) == 1:
        return f"For other questions ({found[0][2]} here) the difference is {found[0][1]}."
    parts = (f"{what} {interval} ({count} here)" for what, interval, count in found)
    return f"For other questions: {'; '.join(parts)}."


def failed(count: int, where: str = "") -> str:
    return (
        f"{count} failed {'run' if count == 1 else 'runs'} left out{f': {where}' if where else ''}."
    )


def mean_of_others(labels: Sequence[str]) -> str:
    verb = "is the mean" if len(labels) == 1 else "are means"
    return f"{capital(listed(labels))} {verb} of others and not counted."


def measured_once(label: str) -> str:
    return f"{capital(label)} was measured once; its own luck isn't counted."


def alike(names: str, room: str) -> str:
    return f"{names} are alike within {room}"


def course(metric: str, factor: Factor, values: Sequence[str], best: int, highest: str) -> str:
    """What happens along a run: described, not tested."""
    last = len(values) - 1
    ends = f"{values[0]} at {factor.levels[0]}, {values[last]} at {factor.levels[last]}"
    peak = f", {highest} at {factor.levels[best]} ({values[best]})" if 0 < best < last else ""
    return f"Along {factor.label} {metric} is {ends}{peak}: values are those of the last."


ADDED = "Levels weren't combined with all others: their effects are taken to add up."
COPIED_ROWS = "The rows that share a place are equal: they count as one."
NO_PLACE = "No cell has all that would be compared: no difference is tested."
NOTHING_VARIED = "Nothing is varied here that could be compared."
ONE_EACH = "One measurement of each, and nothing that repeats it: no difference is tested."
"""The evidence where nothing can be tested."""
