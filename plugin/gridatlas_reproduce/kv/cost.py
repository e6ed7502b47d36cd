"""What a run takes: rows, tokens, hours and money, by a rate that is assumed or was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

from gridatlas.meter import duration
from gridatlas_reproduce.kv.memory import GIB, RESERVE, Shape, shape_of
from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.kv.sweep import Sweep
from gridatlas_reproduce.runner.errors import CannotRun, readable
from gridatlas_reproduce.runner.files import indented, strict_json, write_atomic
from gridatlas_reproduce.runner.records import Row

COPIED = 3
"""How often a step moves the cache in transformers' `DynamicCache`: a copy reads and writes it, and
attention reads the copy."""
GPU = 80 * 10**9
"""Bytes of the GPU that an estimate without one is for."""
PROMPT = 300
BANDWIDTH = 3.35e12
"""Bytes per second of an H100's memory, by its data sheet."""
LEAST_STEP, SLOWER, BUSY = 0.025, 2, 0.8
"""Assumed: a step takes the time in which an H100 reads the weights and all caches, `SLOWER` times
over, and at least `LEAST_STEP` seconds; this share of the rows is busy."""
MEANS = {"aime24": 11_000, "aime25": 11_000, "amc23": 6_000, "gpqa_d": 7_000}
TYPICAL = 8_000
"""Tokens of an answer, assumed; of other questions."""
SPREAD = 0.65
"""Of the logarithm of an answer's tokens, assumed."""
_PARTS = 400
FILE = "measured.json"


def mean_cache(prompt: int, new_tokens: int, budget: Budget | None) -> float:
    """Tokens in a sample's cache, the mean over its steps."""
    length, total = prompt, 0
    for _ in range(new_tokens):
        length += 1
        total += length
        if budget is not None and length >= budget.trigger:
            length = budget.size_after(length, prompt)
    return total / new_tokens


def least_seconds(config: Any, width: int, rows: int, cache: float, traffic: float = 1) -> float:
    """The least time of a step, by the bandwidth.

    Args:
        config: Of transformers; all its weights but the table of embeddings are read.
        width: Bytes per number.
        cache: Tokens per row.
        traffic: How often the caches are moved.
    """
    shape = shape_of(config)
    table = 0 if config.tie_word_embeddings else config.vocab_size * config.hidden_size
    weights = (shape.parameters - table) * width
    return (weights + traffic * rows * cache * shape.token_bytes(width)) / BANDWIDTH


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast, and how much.

    Attributes:
        tokens: Per question, to be decoded: what cells share counts once.
        per_second: Tokens, of the whole batch.
        source: What both are from.
    """

    tokens: float
    per_second: float
    source: str


def lengths(mean: float, limit: int) -> list[float]:
    """Tokens of answers: a log-normal distribution in equal parts, cut at the limit."""
    steps = [NormalDist().inv_cdf((part + 0.5) / _PARTS) for part in range(_PARTS)]
    low, high = 1.0, 1e7
    wanted = min(mean, 0.99 * limit)
    found: list[float] = []
    for _ in range(60):
        middle = math.sqrt(low * high)
        found = [min(middle * math.exp(SPREAD * step), limit) for step in steps]
        low, high = (middle, high) if fmean(found) < wanted else (low, middle)
    return found


def tokens_per_question(sweep: Sweep, answers: Sequence[float]) -> float:
    """Tokens to decode for a question whose answers are so long, on the average."""
    shared = math.inf if sweep.scorer == "full" else max(sweep.trigger - PROMPT, 0)
    first = fmean(min(tokens, shared) for tokens in answers)
    rest = fmean(max(tokens - shared, 0) for tokens in answers)
    return sweep.samples * (first + len(sweep.budgets()) * rest)


def mean_length(sweep: Sweep) -> float:
    """Tokens in the cache of a row, assumed; the mean over its steps and over cells."""
    return 0.75 * sweep.batch.slots


def assumed_rate(sweep: Sweep, shape: Shape, step: tuple[float, float, str] | None = None) -> Rate:
    """By the roofline of an H100, or by a step that was measured.

    Args:
        step: Seconds of a step, share of busy rows, and the GPU's name.
    """
    mean = MEANS.get(sweep.benchmark, TYPICAL)
    tokens = tokens_per_question(sweep, lengths(mean, sweep.sampling.max_new_tokens))
    width, rows = WIDTHS[sweep.dtype], sweep.batch.rows
    if step is not None:
        seconds, busy, gpu = step
        source = (
            f"assumed: {mean:,} tokens per answer; measured on {gpu}: {1000 * seconds:.1f} ms for "
            f"a step with {busy:.0%} of the rows busy"
        )
        return Rate(tokens, busy * rows / seconds, source)
    read = shape.weight_bytes(width) + rows * mean_length(sweep) * shape.token_bytes(width)
    seconds = max(LEAST_STEP, SLOWER * read / BANDWIDTH)
    source = (
        f"assumed: {mean:,} tokens per answer, and {SLOWER} times the time in which an H100 reads "
        f"weights and caches, at least {1000 * LEAST_STEP:.0f} ms, for a step with {BUSY:.0%} of "
        "the rows busy; --bench replaces the step, --measure 20 all of it"
    )
    return Rate(tokens, BUSY * rows / seconds, source)


# --- measured -------------------------------------------------------------------------------------


def measured_rate(rows: Iterable[Sequence[Row]], questions: int) -> Rate:
    """From the records of some questions in all cells.

    Raises:
        CannotRun: For records that don't say how fast they were decoded.
    """
    every = [row for found in rows for row in found]
    seconds = sum(row.seconds or 0 for row in every)
    drawn = sum(row.batch_tokens or 0 for row in every)
    if not drawn or not seconds:
        raise CannotRun(
            "the records don't say how fast they were decoded",
            "a run of the decoder slots that decoded them in one go",
            "give --measure with another --out",
        )
    shared: dict[tuple[str, int], int] = {}
    rest = 0
    for row in every:
        first = row.pruned_at[0] if row.pruned_at else row.tokens
        shared[row.item, row.sample] = first
        rest += row.tokens - first
    tokens = (sum(shared.values()) + rest) / questions
    return Rate(tokens, drawn / seconds, f"measured with {questions} questions of this run")


def keep_rate(run: Path, rate: Rate, sweep: Sweep) -> None:
    """Write a measured rate into the run's folder, for `--dry-run`."""
    write_atomic(run / FILE, indented({"of": _of(sweep), **asdict(rate)}))


def kept_rate(run: Path, sweep: Sweep) -> Rate | None:
    """The rate that was measured in a run's folder; None where none was, or of another run.

    Raises:
        CannotRun: For a file that can't be read.
    """
    path = run / FILE
    if not path.exists():
        return None
    with readable(path, "what --measure wrote", "remove it"):
        content = strict_json(path.read_bytes())
        of, rate = content.pop("of"), Rate(**content)
    return rate if of == _of(sweep) else None


def _of(sweep: Sweep) -> dict[str, Any]:
    """What a rate is of."""
    names = ("model", "benchmark", "scorer", "samples")
    limits = {"rows": sweep.batch.rows, "max_new_tokens": sweep.sampling.max_new_tokens}
    return {name: getattr(sweep, name) for name in names} | limits | {"cells": len(sweep.budgets())}


# --- told -----------------------------------------------------------------------------------------


def expected(
    sweep: Sweep, questions: int, shape: Shape, rate: Rate | None = None, price: float | None = None
) -> list[str]:
    """What a run takes, for `--dry-run`, line by line; what is an estimate says so.

    Args:
        rate: A measured one; without it one is assumed.
        price: Of an hour of the GPU.
    """
    cells, limit = len(sweep.budgets()), sweep.sampling.max_new_tokens
    width, rows = WIDTHS[sweep.dtype], sweep.batch.rows
    slots = sweep.batch.slots
    weights, caches = shape.weight_bytes(width), rows * slots * shape.token_bytes(width)
    rate = rate or assumed_rate(sweep, shape)
    hours = questions * rate.tokens / rate.per_second / 3600
    return [
        f"{questions * cells:,} units: {cells} cells × {questions} questions, "
        f"{sweep.samples} samples each",
        f"{questions * cells * sweep.samples * limit:,} tokens at most ({limit:,} per answer)",
        f"{(weights + caches + RESERVE) / GIB:.1f} GiB of GPU memory: weights {weights / GIB:.1f}, "
        f"caches {caches / GIB:.1f} ({rows} rows of at most {slots:,} tokens), "
        f"spare {RESERVE / GIB:.1f}",
        f"{questions * rate.tokens / 1e6:,.1f} million tokens to decode at "
        f"{rate.per_second:,.0f} per second ({rate.source})",
        f"GPU time, an estimate: {duration(hours * 3600)}{_money(hours, price)}",
    ]


def _money(hours: float, price: float | None) -> str:
    return "" if price is None else f", {hours * price:,.2f} at {price:,.2f} per hour"
