"""Results of lm-evaluation-harness: `results`, by task and metric, with standard errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gridatlas_import.files import File
from gridatlas_import.harness import harness_table
from gridatlas_import.logs.lm_eval_logs import SAMPLES, ResultFile, from_logs
from gridatlas_import.rows import RawTable

ENDINGS = (".json",)
BESIDE = SAMPLES
FORM = "results of lm-evaluation-harness"
KEEP = {"kind": "task"}
"""Groups sum up other tasks; beside them they would be counted twice."""


def recognise(file: File) -> bool:
    """Whether a JSON file is one of these."""
    tree = file.tree
    return (
        isinstance(tree, Mapping)
        and isinstance(tree.get("results"), Mapping)
        and bool(tree["results"])
        and all(isinstance(scores, Mapping) for scores in tree["results"].values())
        and ("configs" in tree or "config" in tree or "versions" in tree)
    )


def read_all(files: Sequence[File]) -> RawTable:
    """The table of all results, with what their logs say besides.

    Raises:
        CannotImport: For files without a score, or that can't be read.
    """
    mine = [ResultFile(file.path, file.name, file.tree) for file in files if recognise(file)]
    extra = from_logs(mine, [[*_records(file.tree, file.name)] for file in mine])
    parts = RawTable(
        "", {}, (), extra.reported, extra.notes, KEEP, origins=extra.origins,
        settings=extra.settings, logs=extra.logs,
    )  # fmt: skip
    return harness_table(FORM, files, recognise, extra.records, parts)


def _records(tree: Mapping[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record per task and metric, with its place."""
    groups = _groups(tree)
    for task, scores in tree["results"].items():
        settings = _mapping(tree, "configs").get(task)
        settings = settings if isinstance(settings, Mapping) else {}
        shots = _mapping(tree, "n-shot").get(task, settings.get("num_fewshot"))
        counts = _mapping(tree, "n-samples").get(task)
        better = _mapping(tree, "higher_is_better").get(task)
        for key, value in scores.items():
            metric, _, way = str(key).partition(",")
            if key == "alias" or metric.endswith("_stderr") or isinstance(value, Mapping | list):
                continue
            if metric in ("sample_len", "sample_count", "name"):
                continue
            error = f"{metric}_stderr" + (f",{way}" if way else "")
            yield (
                f"{name}:results.{task}.{key}",
                {
                    "model": _model(tree),
                    **_revision(tree),
                    "task": str(task),
                    "kind": "group" if task in groups else "task",
                    "metric": metric,
                    "filter": way or "none",
                    "num_fewshot": shots,
                    "value": value,
                    "stderr": scores.get(error),
                    "n": counts.get("effective") if isinstance(counts, Mapping) else None,
                    "higher_is_better": better.get(metric) if isinstance(better, Mapping) else None,
                },
            )


def _mapping(tree: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = tree.get(key)
    return found if isinstance(found, Mapping) else {}


def _groups(tree: Mapping[str, Any]) -> set[str]:
    parts = _mapping(tree, "group_subtasks")
    return {task for task, below in parts.items() if below} | set(_mapping(tree, "groups"))


def _model(tree: Mapping[str, Any]) -> str:
    """The model's name; in older files it stands among the arguments."""
    config = _mapping(tree, "config")
    arguments = config.get("model_args")
    named = tree.get("model_name") or tree.get("model_name_sanitized")
    if isinstance(named, str) and not (_is_invented(arguments) and config.get("model")):
        return named
    if isinstance(arguments, Mapping):
        return str(arguments.get("pretrained", config.get("model", "")))
    for part in str(arguments or "").split(","):
        key, _, value = part.partition("=")
        if key.strip() == "pretrained":
            return value.strip()
    return str(config.get("model") or "")


def _is_invented(arguments: Any) -> bool:
    """Whether nothing names the model, so that the harness made up a random name."""
    if arguments is None:
        return False
    texts = arguments if isinstance(arguments, Mapping) else str(arguments).split(",")
    keys = {str(text).partition("=")[0].strip() for text in texts}
    return not keys & {"pretrained", "model", "path", "engine", "peft", "delta"}


def _revision(tree: Mapping[str, Any]) -> dict[str, str]:
    """The model's revision where the arguments name one, such as a step of its training."""
    arguments = _mapping(tree, "config").get("model_args")
    if isinstance(arguments, Mapping):
        found = arguments.get("revision")
        return {"revision": str(found)} if found else {}
    for part in str(arguments or "").split(","):
        key, _, value = part.partition("=")
        if key.strip() == "revision" and value.strip():
            return {"revision": value.strip()}
    return {}
