"""Unit, range, direction and decimals of the metric, with the reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from gridatlas.model.directions import HIGHER, LOWER, Better, direction_of, words, words_of
from gridatlas_import import vocabulary as terms
from gridatlas_import.columns import Column
from gridatlas_import.options import ImportOptions
from gridatlas_import.quantities import dimension, spelled

_NAMES = {
    "acc": "Accuracy",
    "em": "Exact match",
    "ppl": "Perplexity",
    "val_acc": "Validation accuracy",
    "test_acc": "Test accuracy",
    "val_loss": "Validation loss",
    "train_loss": "Training loss",
}
_UNITS = {
    **{unit.lower(): unit for unit in ("ns", "ms", "s", "MB", "GB", "KiB", "MiB", "GiB")},
    **{"us": "µs", "sec": "s", "secs": "s", "seconds": "s", "pct": "%", "percent": "%"},
}
"""Last words of names that are units."""
_CAPITALS = words_of(
    "ttft tpot itl wer cer ppl bleu auc f1 fps qps rps iops mse rmse mae fid nll bpb mrr ndcg map "
    "em iou miou psnr ssim rtfx mfu gpu cpu llm qa mmlu ece ap mcc r2 tps nlu dcg"
)
"""Words that are abbreviations."""
_PER = re.compile(r"(?:.*[_\s])?([a-z]+)[_\s]per[_\s]([a-z]+)", re.IGNORECASE)
_COUNTED_PER_S = re.compile(
    r"(?:.*_)?(toks?|tokens?|imgs?|images|samples|frames|reqs?|requests|queries|rows|steps|it|"
    r"[KMGT]i?B)_(s|sec)",
    re.IGNORECASE,
)
"""Names such as `decode_tok_s`: so many in a second, not the seconds of each."""
_SIGNIFICANT = 4
_MOST_DECIMALS = 6
_RATE = re.compile(r"(error|success|win|pass|hit|solve)_rate|exact_match")
"""Words that say together what was measured, and apart don't."""
ZERO, ONE, HUNDRED = Decimal(0), Decimal(1), Decimal(100)


@dataclass(frozen=True, slots=True)
class MetricFound:
    """How the metric is written in `study.yml`.

    Attributes:
        better: None where nothing says it.
        decimals: None where it needn't be written.
        proportion: Whether a value counts successes among n trials.
        reasons: Why, for people: unit and range, direction, decimals.
    """

    name: str
    unit: str
    range: tuple[Decimal, Decimal] | None
    better: Better | None
    decimals: int | None
    proportion: bool
    reasons: tuple[str, ...]


def unit_in_name(name: str) -> tuple[str, str]:
    """`Latency (ms)` or `Latency, ms` as name and unit; the unit is empty where there is none."""
    found = re.fullmatch(r"(.*\S)\s*[(\[]\s*([^()\[\]]{1,15}?)\s*[)\]]", name)
    found = found or re.fullmatch(rf"(.*\S),\s*({terms.UNIT.pattern})", name)
    return (found[1], found[2]) if found else (name, rate_in_name(name))


def rate_in_name(name: str) -> str:
    """`tokens_per_sec` as `t/s`, `ms_per_token` as `ms/token`; empty for no known rate."""
    found = _PER.fullmatch(name) or _COUNTED_PER_S.fullmatch(name)
    unit = spelled("/".join(spelled(part.lower()) for part in found.groups())) if found else ""
    return unit if terms.UNIT.fullmatch(unit) else ""


def metric_of(
    name: str,
    column: Column,
    asked: ImportOptions,
    higher_in_files: bool | None,
    given_unit: str = "",
    signs: Sequence[str] = (),
) -> MetricFound:
    """What the values and the metric's name say.

    Args:
        name: The metric's name: of its column, or of a column that names metrics.
        higher_in_files: Whether the files say that higher is better.
        given_unit: What cells or their program say.
        signs: Texts that may say what is better where the name doesn't, the nearest first.
    """
    bare, named_unit = unit_in_name(name)
    rate = terms.RATE_UNIT.search(bare)
    flops = spelled(bare) if dimension(spelled(bare)) == "work" else ""
    named_unit = given_unit or named_unit or (rate[0] if rate else flops)
    low, high = column.ends
    unit, ends, why_unit = _scale(words(bare), named_unit, column, low, high)
    if asked.unit is not None:
        unit, why_unit = asked.unit, f"unit {asked.unit or 'none'}: as asked"
        of_percent = unit == "%" and low >= 0 and high <= HUNDRED
        ends = (ZERO, HUNDRED) if of_percent else None if unit == "%" else ends
        ends = None if unit != "%" and ends == (ZERO, HUNDRED) else ends
    ends = asked.range or ends
    better, why_better = _better(bare, unit, asked.better, higher_in_files, signs)
    most = column.decimals
    decimals = asked.decimals
    why_decimals = f"{most if decimals is None else decimals} decimals"
    if decimals is None and most > _SIGNIFICANT:
        sizes = np.sort(np.abs(column.floats[column.floats != 0])).tolist() or [1.0]
        least, usual = (
            Decimal(repr(size)).adjusted() for size in (sizes[0], sizes[len(sizes) // 2])
        )
        # No value but 0 is printed as 0.000, where six decimals are enough for that.
        decimals = max(0, _SIGNIFICANT - 1 - usual, min(-least, _MOST_DECIMALS))
        decimals = min(decimals, most, 12)
        why_decimals = (
            f"pictures show {decimals} decimals of up to {most}; the values keep all of them"
        )
    reasons = (
        why_unit,
        f"range {ends[0]:f} to {ends[1]:f}" if ends else "no range",
        f"{better} is better: {why_better}" if better else why_better,
        "1 decimal" if why_decimals == "1 decimals" else why_decimals,
    )
    proportion = bool(terms.PROPORTIONS & set(words(bare)))
    return MetricFound(_title(bare, unit), unit, ends, better, decimals, proportion, reasons)


def _scale(
    parts: list[str], named_unit: str, column: Column, low: Decimal, high: Decimal
) -> tuple[str, tuple[Decimal, Decimal] | None, str]:
    """Unit and range, and why."""
    own = len(parts) > 1 and parts[-2] != "per"  # else it is what was divided by
    unit = named_unit or (_UNITS.get(parts[-1], "") if own else "")
    whole = (ZERO, HUNDRED) if low >= 0 and high <= HUNDRED else None
    if column.percents:
        return "%", whole, "percent: the values have a percent sign"
    if unit == "%":
        return "%", whole, "percent: its name says so"
    if terms.SHARES & set(parts) and low >= 0 and high <= 1:
        why = "fraction: all values lie from 0 to 1 (if they are percent: --unit %)"
        return unit, (ZERO, ONE), why
    counted = terms.SHARES & set(parts) != {"rate"} or bool(terms.OF_CASES & set(parts))
    if terms.SHARES & set(parts) and whole and not unit and counted:
        return "%", whole, f"percent: values up to {high:f}, none above 100"
    if unit:
        return unit, None, f"unit {unit}: its name says so"
    return "", None, "no unit known (--unit, --range)"


def _better(
    name: str,
    unit: str,
    asked: Better | None,
    higher_in_files: bool | None,
    signs: Sequence[str],
) -> tuple[Better | None, str]:
    if asked:
        return asked, "as asked"
    if higher_in_files is not None:
        return ("higher" if higher_in_files else "lower"), "the files say so"
    named = direction_of("" if {*words(last_part(name))} <= terms.GENERIC else name, unit)
    named = named if named[0] else direction_of(name, unit)
    if named[0]:
        return named
    for text in signs:
        if speaks_of(text):
            return speaks_of(text), f"“{text if len(text) < 40 else text[:39] + '…'}” says so"
    return named


def speaks_of(text: str) -> Better | None:
    """The direction that all words of a text agree on; None where they don't, or none has one."""
    better, _ = direction_of(text)
    parts = {*words(text)}
    return None if better is None or (parts & LOWER and parts & HIGHER) else better


def measured_in(title: str) -> str:
    """What a title says was measured: `validation accuracy`; empty where it names several, or none.

    Args:
        title: The name of a file, a heading or a caption.
    """
    runs: list[list[str]] = [[]]
    for word in words(title):
        if word in terms.METRICS or word in terms.SPLITS or word in ("mean", "median", "exact"):
            runs[-1].append(word)
        else:
            runs.append([])
    runs = [run[:-1] if run[-1:] in (["mean"], ["median"]) else run for run in runs]
    found = {
        " ".join(run) for run in runs if terms.TITLE_WORDS & {*run} or _RATE.search("_".join(run))
    }
    return found.pop() if len(found) == 1 else ""


def last_part(name: str) -> str:
    """`metrics.eval/accuracy` as `accuracy`; other names as they are."""
    nested = re.fullmatch(r"[A-Za-z_]\w*(?:[./][A-Za-z_][\w@]*)+", name)
    return re.split("[./]", name)[-1] if nested else name


def _title(name: str, unit: str) -> str:
    is_unit = terms.UNIT.fullmatch(spelled(name.strip())) is not None or (
        bool(rate_in_name(name)) and len(words(name)) == 3  # nothing but the rate
    )
    generic = {*words(last_part(name))} <= {"value", "speed", *(terms.GENERIC if unit else ())}
    if is_unit or generic:
        better, _ = direction_of("", unit or name)
        if better or is_unit:
            return {"lower": "Time", "higher": "Throughput"}.get(better or "", name)
    name = last_part(name)
    common = _NAMES.get(name.strip().lower())
    if common:
        return common
    parts = name.replace("_", " ").split()
    if len(parts) > 1 and unit and _UNITS.get(parts[-1].lower()) == unit:
        parts.pop()
    text = " ".join(part.upper() if part in _CAPITALS else part for part in parts) or "Value"
    return text[0].upper() + text[1:]
