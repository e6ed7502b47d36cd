"""What a bench says: before it is measured the computed limits, afterwards its tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import linear_regression, median
from typing import Any

from gridatlas.meter import duration
from gridatlas_reproduce.kv.bench import BUDGET, PROMPT, Bench, config_of
from gridatlas_reproduce.kv.cost import GPU, LEAST_STEP, SLOWER
from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.roofline import COPIED, Roofline, mean_cache
from gridatlas_reproduce.runner.errors import CannotRun

NEW_TOKENS = 16_384


def plan_of(bench: Bench) -> list[str]:
    """Points, time and the computed limits, for a GPU of 80 GB; line by line."""
    roofline = Roofline.of(config_of(bench.shape), WIDTHS[bench.dtype])
    points = bench.points()
    steps = [p for p in points if p["part"] == "step" and bench.needed(p) <= GPU]
    seconds = (
        bench.seconds
        + 60
        + sum(
            (bench.steps + 3)
            * max(
                SLOWER
                * roofline.seconds(p["rows"], p["cache"], COPIED if p["arm"] == "dynamic" else 1),
                LEAST_STEP,
            )
            for p in steps
        )
    )
    full, pruned = (mean_cache(PROMPT, NEW_TOKENS, budget) for budget in (None, BUDGET))
    lines = [
        f"{len(steps)} of {len(points) - 4} points fit into 80 GB, {bench.steps} steps each; "
        "4 further parts",
        f"GPU time, an estimate: {duration(seconds)}",
        "Computed limits on an H100 (3.35 TB/s), full/pruned latency at window "
        f"{BUDGET.window} and ratio {BUDGET.ratio}:",
        f"rows  cache read once  moved {COPIED} times",
    ]
    for rows in bench.rows:
        gains = (roofline.gain(rows, full, [pruned], times)[0] for times in (1, COPIED))
        lines.append("{:>4}  {:>15.2f}  {:>13.2f}".format(rows, *gains))
    return lines


def steps_of(record: Mapping[str, Any]) -> dict[str, dict[int, dict[int, float]]]:
    """Milliseconds per step by arm, rows and tokens in the cache: the median of the repeats."""
    times: dict[tuple[str, int, int], list[float]] = {}
    for each in record["results"]:
        if each["part"] == "step":
            times.setdefault((each["arm"], each["rows"], each["cache"]), []).append(each["ms"])
    found: dict[str, dict[int, dict[int, float]]] = {}
    for (arm, rows, cache), ms in sorted(times.items()):
        found.setdefault(arm, {}).setdefault(rows, {})[cache] = median(ms)
    return found


def tables(record: Mapping[str, Any]) -> list[str]:
    """All that was measured, with the device's name; in Markdown."""
    caches = record["settings"]["caches"]
    gpu = (record["gpu"] or {}).get("name", "a CPU")
    lines = [
        f"{record['settings']['shape']}, {record['settings']['dtype']}, on {gpu}. "
        f"varlen_attn: {record['varlen']}.",
        "",
        "| arm | rows | " + " | ".join(f"{cache:,}" for cache in caches) + " | full/pruned |",
        "|---|" + "---:|" * (len(caches) + 2),
    ]
    for arm, by_rows in steps_of(record).items():
        for rows, by_cache in by_rows.items():
            cells = (f"{by_cache[c]:.2f}" if c in by_cache else "" for c in caches)
            lines.append(f"| {arm} | {rows} | {' | '.join(cells)} | {_gain(by_cache)} |")
    for each in record["results"]:
        if each["part"] != "step":
            values = ", ".join(f"{k} {v:,}" for k, v in each.items() if k != "part")
            lines.append(f"- {each['part']}: {values}")
    if record["missing"]:
        lines.append(f"- {record['missing']} points are missing: the same command goes on")
    return lines


def _gain(by_cache: Mapping[int, float]) -> str:
    """The full cache's time divided by the pruned one's, over a whole answer, where it is known."""
    if len(by_cache) < 2:
        return ""
    full, pruned = (_at(by_cache, mean_cache(PROMPT, NEW_TOKENS, b)) for b in (None, BUDGET))
    return f"{full / pruned:.2f}"


def _at(by_cache: Mapping[int, float], cache: float) -> float:
    """Milliseconds at a length, by the line through those that were measured."""
    slope, start = linear_regression(list(by_cache), list(by_cache.values()))
    return max(start + slope * cache, min(by_cache.values()) / 2)


def measured_step(record: Mapping[str, Any], rows: int, cache: float) -> tuple[float, float]:
    """Seconds of a step of slots with so many rows and tokens each, and the share of busy rows.

    Raises:
        CannotRun: Where the bench hasn't come so far.
    """
    steps = steps_of(record)
    arm = steps.get("varlen") or steps.get("grouped") or {}
    known = {n: _at(by_cache, cache) for n, by_cache in arm.items() if len(by_cache) > 1}
    busy = [each["busy"] for each in record["results"] if each["part"] == "scheduler"]
    if len(known) < 2 or not busy:
        raise CannotRun(
            "the bench has too few points",
            "two numbers of rows with two lengths each, and the scheduler's part",
            "give the bench's command again: it goes on with what is missing",
        )
    pairs = list(pairwise(sorted(known.items())))
    (low, first), (high, last) = next((p for p in pairs if rows <= p[1][0]), pairs[-1])
    return (first + (last - first) * (rows - low) / (high - low)) / 1000, busy[0]
