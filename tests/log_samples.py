"""Small logs in the forms of evaluation tools, made here: no model gave these answers."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import zstandard

TARGETS = {"q1": "26", "q2": "44", "q3": "62", "q4": "80"}
CREATED = "2026-03-01T10:{:02d}:00+00:00"


def packed(members: Mapping[str, bytes], *, size: int | None = None) -> bytes:
    """A ZIP file as Inspect writes it: each member packed with Zstandard, in several frames.

    Args:
        size: What it says of each member's size; the true one where None.
    """
    plain = io.BytesIO()
    sizes = {}
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            half = len(data) // 2
            pack = zstandard.ZstdCompressor().compress
            archive.writestr(name, pack(data[:half]) + pack(data[half:]))
            sizes[name] = (len(data) if size is None else size, zlib.crc32(data))
    found = bytearray(plain.getvalue())
    with zipfile.ZipFile(io.BytesIO(found)) as archive:
        entries, at = archive.infolist(), archive.start_dir
    for entry in entries:
        length, check = sizes[entry.filename]
        struct.pack_into("<H", found, entry.header_offset + 8, 93)
        struct.pack_into("<H", found, at + 10, 93)
        struct.pack_into("<I", found, at + 16, check)
        struct.pack_into("<I", found, at + 24, length)
        at += 46 + len(entry.filename.encode())
    return bytes(found)


def samples(
    scores: Mapping[str, Sequence[Any]], targets: Mapping[str, str] | None = None, **more: Any
) -> list[dict[str, Any]]:
    """What a log says of each sample: by item, the score of each epoch; None for an error.

    Args:
        more: What each sample has besides, such as a limit.
    """
    return [
        {
            "id": item,
            "epoch": epoch,
            "target": (targets or TARGETS).get(item, "?"),
            **({"scores": {"match": {"value": value}}} if value is not None else {"error": "lost"}),
            **more,
        }
        for epoch in range(1, 1 + max(map(len, scores.values()), default=0))
        for item, values in scores.items()
        if epoch <= len(values)
        for value in [values[epoch - 1]]
    ]


def header(
    *, status: str = "success", number: int = 1, results: Any = None, **given: Any
) -> dict[str, Any]:
    """What a log says of its run: `model`, `task_args`, `plan`, `config` and so on as given."""
    plan = given.pop("plan", {"steps": [], "config": {}})
    error = given.pop("error", None)
    return {
        "version": given.pop("version", 2),
        "status": status,
        "eval": {
            "eval_id": f"eval-{number}",
            "task_id": f"task-{number}",
            "created": CREATED.format(number),
            "task": "sums",
            "task_args": {},
            "dataset": {"samples": 4},
            "model": "mock/small",
            "model_generate_config": {},
            "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"},
        }
        | given,
        "plan": plan,
        **({"results": results} if results is not None else {}),
        **({"error": {"message": error}} if error else {}),
    }


def results(value: float, *, reducer: str | None = None, name: str = "match") -> dict[str, Any]:
    """The results of one score."""
    score = {
        "name": name,
        "scorer": name,
        **({"reducer": reducer} if reducer else {}),
        "metrics": {"accuracy": {"value": value}, "stderr": {"value": 0.1}},
    }
    headline = {"scorer": name, "score": name, "metric": "accuracy"}
    return {"scores": [score], "headline": headline}


def mean_of(scores: Mapping[str, Sequence[Any]]) -> float:
    """The mean over items of the means over epochs, of those that were scored."""
    worth = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
    means = []
    for values in scores.values():
        found = [
            worth.get(v, v)
            for v in values
            if v is not None and not (isinstance(v, float) and isnan(v))
        ]
        if found:
            means.append(sum(found) / len(found))
    return sum(means) / len(means) if means else 0.0


def put_eval(
    path: Path,
    scores: Mapping[str, Sequence[Any]],
    *,
    targets: Mapping[str, str] | None = None,
    limit: str | None = None,
    reductions: Any = None,
    **given: Any,
) -> None:
    """Write a log of Inspect; `scores` as in `samples`, the rest as in `header`."""
    ended = given.get("status", "success") in ("success", "cancelled")
    tree = header(**{"results": results(mean_of(scores)) if ended else None, **given})
    more = {"limit": {"type": limit}} if limit else {}
    members = {
        "header.json": tree,
        "summaries.json": samples(scores, targets, **more),
        "reductions.json": reductions or [],
    }
    put_members(path, members)


def put_members(path: Path, members: Mapping[str, Any]) -> None:
    """Write a ZIP file of JSON members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = {name: json.dumps(tree).encode() for name, tree in members.items()}
    path.write_bytes(packed(texts))


def put_lm_eval(
    folder: Path,
    time: str,
    scores: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    hashes: Sequence[str] = (),
    **given: Any,
) -> None:
    """Write results of lm-evaluation-harness, with their documents.

    Args:
        time: What stands in the files' names.
        scores: By task and filter, the score of each document.
        hashes: Of the documents; by their numbers where none are given.
        given: `model_name`, `model_args`, `gen_kwargs`, `shots`, `date`, `limit`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shots = given.pop("shots", 0)
    name, date = given.pop("model_name", "org/small"), given.pop("date", 1.0)
    found: dict[str, dict[str, Any]] = {}
    for task, ways in scores.items():
        lines = []
        found[task] = {"alias": task}
        for way, values in ways.items():
            found[task][f"acc,{way}"] = sum(values) / len(values)
            lines += [
                {
                    "doc_id": at,
                    "filter": way,
                    "metrics": ["acc"],
                    "acc": value,
                    "doc_hash": hashes[at] if hashes else f"hash-{at}",
                }
                for at, value in enumerate(values)
            ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{time}.jsonl").write_text(text, "utf-8")
    config = {"model": "hf", "model_args": {"pretrained": name}, "gen_kwargs": {}, "limit": None}
    tree = {
        "results": found,
        "configs": {},
        "n-shot": dict.fromkeys(scores, shots),
        "n-samples": {
            task: {"original": 99, "effective": len(next(iter(ways.values())))}
            for task, ways in scores.items()
        },
        "higher_is_better": {task: {"acc": True} for task in scores},
        "config": config | given,
        "date": date,
        "model_name": name,
        "lm_eval_version": "0.4.13",
    }
    (folder / f"results_{time}.json").write_text(json.dumps(tree), "utf-8")
