"""Results of MTEB: a file per task, or one file with all tasks of a model or of several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from gridatlas_import.files import File
from gridatlas_import.harness import harness_table
from gridatlas_import.json_values import Number, flat, parse_json
from gridatlas_import.rows import RawTable

ENDINGS = (".json",)
FORM = "results of MTEB"
BESIDE = re.compile(r"model_meta\.json")
_META = "model_meta.json"
_SIMILARITIES = {"cos_sim", "dot", "euclidean", "manhattan", "max"}
"""Keys of the older form with scores below them that are no subsets."""
_REVISION = re.compile(r"[0-9a-f]{7,40}|no_revision_available|external|\d+")
_NO_SCORES = ("evaluation_time", "hf_subset", "languages")


def recognise(file: File) -> bool:
    """Whether a JSON file is one of these."""
    return _is_mteb(file.tree)


def read_all(files: Sequence[File]) -> RawTable:
    """The table of all results.

    Raises:
        CannotImport: For files without a score.
    """
    given = [
        record
        for file in files
        if recognise(file)
        for record in _records(file.tree, file.name, file.path.resolve(), _meta(file))
    ]
    return harness_table(FORM, files, recognise, given, RawTable("", {}, ()))


def _meta(file: File) -> str:
    """The model's name as the file beside MTEB's results says it; empty where there is none."""
    path = file.path.parent / _META
    if not path.exists():
        return ""
    tree = parse_json(file.text_of(path, path.name), path.name)
    return str(tree.get("name") or "") if isinstance(tree, Mapping) else ""


def _is_mteb(tree: Any) -> bool:
    if not isinstance(tree, Mapping):
        return False
    if isinstance(tree.get("task_results"), list) or isinstance(tree.get("model_results"), list):
        return True
    return ("task_name" in tree and isinstance(tree.get("scores"), Mapping)) or (
        "mteb_dataset_name" in tree
    )


def _records(
    tree: Mapping[str, Any], name: str, path: PurePath, model: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record per task, split and subset, with its place.

    Args:
        path: Where the file lies; `<model>/<revision>/<task>.json` names the model.
        model: Its name, where something says it.
    """
    if isinstance(tree.get("model_results"), list):
        for at, results in enumerate(tree["model_results"]):
            if isinstance(results, Mapping):
                yield from _records(results, f"{name}:model_results[{at}]", path)
        return
    if isinstance(tree.get("task_results"), list):
        named = str(tree.get("model_name") or "")
        for at, results in enumerate(tree["task_results"]):
            if isinstance(results, Mapping) and _is_mteb(results):
                yield from _records(results, f"{name}:task_results[{at}]", path, named)
        return
    model = model or _model(path)
    if "mteb_dataset_name" in tree:
        yield from _old(tree, name, model)
        return
    for split, entries in tree["scores"].items():
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, Mapping):
                yield (
                    f"{name}:scores.{split}[{at}]",
                    {
                        "model": model,
                        "task": tree["task_name"],
                        "split": split,
                        "subset": entry.get("hf_subset", "default"),
                        "languages": entry.get("languages"),
                        **_scores(entry),
                    },
                )


def _old(tree: Mapping[str, Any], name: str, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The form before scores had a list: splits are keys, and subsets keys in them."""
    for split, entries in tree.items():
        if not isinstance(entries, Mapping):
            continue
        subsets = {key: entry for key, entry in entries.items() if isinstance(entry, Mapping)}
        if not subsets or set(subsets) & _SIMILARITIES:
            subsets = {"default": entries}
        for subset, subset_scores in subsets.items():
            scores = _scores(subset_scores)
            if scores:
                yield (
                    f"{name}:{split}.{subset}",
                    {
                        "model": model,
                        "task": tree["mteb_dataset_name"],
                        "split": split,
                        "subset": subset,
                        **scores,
                    },
                )


def _scores(entry: Mapping[str, Any]) -> dict[str, Any]:
    entry = flat(entry)
    scores = {k: v for k, v in entry.items() if isinstance(v, Number) and k not in _NO_SCORES}
    return {"main_score": scores.pop("main_score"), **scores} if "main_score" in scores else scores


def _model(path: PurePath) -> str:
    """The folder around the file, but for that of the revision."""
    above = [part for part in path.parts[:-1] if not _REVISION.fullmatch(part)]
    return above[-1].replace("__", "/") if above else ""
