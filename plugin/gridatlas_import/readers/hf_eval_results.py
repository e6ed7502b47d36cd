"""Results in repositories of models on Hugging Face: `.eval_results/*.yaml` in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gridatlas_import.files import File
from gridatlas_import.json_values import Number, parse_settings, table_of
from gridatlas_import.rows import CannotImport, RawTable, Reported

ENDINGS = ()
FOLDER = ".eval_results"


def read_folder(folder: File) -> RawTable | None:
    """A row per model and benchmark; None for a folder without such files.

    Raises:
        CannotImport: For a file that isn't a list of entries.
    """
    root = folder.path
    files = [*sorted(root.rglob(f"{FOLDER}/*.yaml")), *sorted(root.rglob(f"{FOLDER}/*.yml"))]
    records: list[tuple[str, Any]] = []
    reported = []
    for path in files:
        name = path.relative_to(root).as_posix()
        tree = parse_settings(folder.text_of(path, name), name)
        if not isinstance(tree, list):
            found = f"{name}: no list of entries"
            raise CannotImport(found, "a list of results", "write the file again")
        model = path.parent.parent.relative_to(root).as_posix()
        model = root.resolve().name if model == "." else model
        for at, entry in enumerate(tree):
            place = f"{name}:[{at}]"
            data = entry.get("dataset") if isinstance(entry, Mapping) else None
            if not isinstance(data, Mapping) or "value" not in entry:
                reported.append(Reported(place, "an entry without dataset or value", bad=True))
            else:
                records.append((place, _record(model, data, entry)))
    if not records:
        return None
    table = table_of(records, "results in repositories of Hugging Face")
    texts = table.columns
    tasks = {*zip(texts["dataset.id"], texts["dataset.task_id"], strict=True)}
    columns = {**texts, "benchmark": texts["dataset.id"]}
    if len(tasks) > len({*texts["dataset.id"]}):
        pairs = zip(texts["dataset.id"], texts["dataset.task_id"], strict=True)
        columns["benchmark"] = ["/".join(pair) for pair in pairs]
    del columns["dataset.id"]
    return replace(
        table,
        columns={"benchmark": columns.pop("benchmark"), **columns},
        reported=(*table.reported, *reported),
        settings=("model", "benchmark"),
        reading="source.name",
    )


def _record(model: str, data: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    source = entry.get("source")
    source = source if isinstance(source, Mapping) else {}
    return {
        "model": model,
        "dataset.id": str(data.get("id") or ""),
        "dataset.task_id": str(data.get("task_id") or ""),
        "value": Number(entry["value"]),
        **{f"source.{key}": str(source.get(key) or "") for key in ("name", "url")},
        "date": str(entry.get("date") or ""),
    }
