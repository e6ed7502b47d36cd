"""The bench's figures: a line per arm with all columns, and two comparisons that aren't mixed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gridatlas_reproduce.kv.memory import GIB

ARM = ("asks", "decoder", "rows", "local_window", "ratio")


def summary(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line per arm: the median of its repeats, with the smallest and the largest."""
    arms: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for result in record["results"]:
        arms.setdefault(tuple(result[key] for key in ARM), []).append(result)
    return [_line(record, found) for found in arms.values()]


def _line(record: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    settings, first = record["settings"], found[0]
    gpu, state = record["gpu"] or {}, record["gpu_state"] or {}
    steps = settings["new_tokens"]
    times = [1000 * result["seconds"] / steps for result in found]
    seconds = median(result["seconds"] for result in found)
    return {
        "model": settings["shape"],
        **{key: first[key] for key in ARM},
        "attention": first["attention"],
        "dtype": settings["dtype"],
        "prompt": settings["prompt"],
        "new_tokens": steps,
        "trigger": settings["trigger"],
        "repeats": len(found),
        "ms_per_step": round(median(times), 3),
        "ms_per_step_min": round(min(times), 3),
        "ms_per_step_max": round(max(times), 3),
        "tokens_per_second": round(first["rows"] * steps / seconds, 1),
        "seconds": round(seconds, 3),
        "peak_allocated": first["peak_allocated"],
        "peak_reserved": first["peak_reserved"],
        "kv_computed": first["kv_computed"],
        "kv_measured": first["kv_measured"],
        "prunes": first["prunes"],
        "compaction_share": round(
            sum(result["compaction"] for result in found)
            / sum(result["seconds"] for result in found),
            4,
        ),
        "gpu": gpu.get("name"),
        "driver": gpu.get("driver"),
        **state,
    }


def as_csv(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """All columns, for a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().encode()


def compared(record: Mapping[str, Any]) -> list[str]:
    """Two tables: latency at equal rows, then throughput at equal memory."""
    lines = summary(record)
    latency = [line for line in lines if line["asks"] == "equal rows"]
    throughput = [line for line in lines if line["asks"] == "equal memory"]
    text = []
    if latency:
        text += [
            "Latency at equal rows: median of the repeats (smallest to largest)",
            "decoder  rows  window  ratio  ms per step               full/pruned  KV GiB",
            *(_latency(line, _full(line, latency, same_rows=True)) for line in latency),
        ]
    if throughput:
        text += [
            "Throughput at equal memory",
            "decoder  rows  window  ratio  tokens per second  pruned/full  KV GiB",
            *(_throughput(line, _full(line, throughput, same_rows=False)) for line in throughput),
        ]
    for arm in record["left_out"]:
        what = "the full cache" if arm["ratio"] is None else "the pruned cache"
        text.append(
            f"Not measured: {arm['decoder']}, {arm['rows']} rows of {what} need "
            f"{arm['bytes'] / GIB:.1f} GiB"
        )
    return text


def _full(
    line: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], *, same_rows: bool
) -> Mapping[str, Any] | None:
    """The full cache's line that another is compared with; of one decoder only."""
    return next(
        (
            each
            for each in lines
            if each["ratio"] is None
            and each["decoder"] == line["decoder"]
            and (each["rows"] == line["rows"] or not same_rows)
        ),
        None,
    )


def _cell(line: Mapping[str, Any]) -> str:
    window = "full" if line["ratio"] is None else line["local_window"]
    return f"{line['decoder']:>7}  {line['rows']:>4}  {window:>6}  {line['ratio'] or '':>5}"


def _latency(line: Mapping[str, Any], full: Mapping[str, Any] | None) -> str:
    spread = f"{line['ms_per_step_min']:.2f} to {line['ms_per_step_max']:.2f}"
    gain = "" if full is None else f"{full['ms_per_step'] / line['ms_per_step']:.2f}"
    return (
        f"{_cell(line)}  {line['ms_per_step']:7.2f} ({spread:>15})  {gain:>11}  "
        f"{line['kv_measured'] / GIB:.2f}"
    )


def _throughput(line: Mapping[str, Any], full: Mapping[str, Any] | None) -> str:
    gain = "" if full is None else f"{line['tokens_per_second'] / full['tokens_per_second']:.2f}"
    return (
        f"{_cell(line)}  {line['tokens_per_second']:17,.1f}  {gain:>11}  "
        f"{line['kv_measured'] / GIB:.2f}"
    )
