"""Records of Every Eval Ever (schemas 0.2 and 0.3): a file per model, with all its results."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_import.files import File
from gridatlas_import.json_values import as_text, flat, parse_json, table_of
from gridatlas_import.logs.items import Item, digest, outcomes, score_of, tally, told_apart
from gridatlas_import.rows import CannotImport, ItemOutcomes, LogFiles, RawTable

ENDINGS = (".json",)
BESIDE = re.compile(r".+_samples\.jsonl")
_UNITS = {"proportion": "", "percent": "%", "percentage": "%", "points": ""}


def recognise(file: File) -> bool:
    """Whether a file is such a record."""
    tree = file.tree
    return isinstance(tree, Mapping) and {"evaluation_results", "model_info"} <= tree.keys()


def read_all(files: Sequence[File]) -> RawTable:
    """A row per model, benchmark and metric; what is no result of one metric is reported.

    Raises:
        CannotImport: For records without a score, or one beyond the bounds that it names.
    """
    records: list[tuple[str, Any]] = []
    units: set[str] = set()
    found: dict[str, ItemOutcomes] = {}
    for file in files:
        if recognise(file):
            items = _items(file)
            for place, record, unit, keys in _results(file.tree, file.name):
                own = next((items[key] for key in keys if key in items), None)
                counted = tally(own) if own else None
                if counted is not None and record["n"] is None:
                    right = "" if counted.successes is None else str(counted.successes)
                    record |= {"n": str(counted.n), "successes": right}
                if own and (given := outcomes(own)) is not None:
                    found[place] = given
                records.append((place, record))
                units.add(unit)
    if not records:
        raise CannotImport("records without a score", "at least one", "name other files")
    table = table_of(records, "records of Every Eval Ever")
    shared = {"score": units.pop()} if len(units) == 1 else {}
    apart, several = told_apart(found)
    note = f"items with one id and several questions: {join_names(several, 5)}"
    return replace(
        table,
        settings=("model", "benchmark"),
        units=shared,
        reading="reading",
        notes=(*table.notes, note) if several else table.notes,
        logs=LogFiles("Every Eval Ever", outcomes=apart) if apart else None,
    )


def _items(file: File) -> dict[str, list[Item]]:
    """The items of each result, by its id or name, where they lie beside a record."""
    path = file.path.with_name(f"{file.path.stem}_samples.jsonl")
    if not path.exists():
        return {}
    found: dict[str, dict[str, Item]] = {}
    for at, line in enumerate(file.text_of(path, path.name).splitlines()):
        tree = parse_json(line, path.name, at) if line.strip() else {}
        key = as_text(tree.get("evaluation_result_id") or tree.get("evaluation_name")) or ""
        evaluation, asked = _part(tree, "evaluation"), _part(tree, "input")
        score = score_of(evaluation.get("score"))
        score = score_of(evaluation.get("is_correct")) if score is None else score
        name = as_text(tree.get("sample_id"))
        if not name or score is None:
            continue
        check = as_text(tree.get("sample_hash"))
        check = check or digest((asked.get("raw"), asked.get("reference")))
        before = found.setdefault(key, {}).get(name)
        scores = (*(before.scores if before else ()), score)
        found[key][name] = Item(name, check, scores)
    return {key: [*items.values()] for key, items in found.items()}


def _results(
    tree: Mapping[str, Any], name: str
) -> Iterator[tuple[str, dict[str, Any], str, tuple[str, ...]]]:
    """Each result with its place, unit, and what its items call it."""
    model, source = _part(tree, "model_info"), _part(tree, "source_metadata")
    results = tree["evaluation_results"]
    for at, result in enumerate(results if isinstance(results, list) else ()):
        place = f"{name}:evaluation_results[{at}]"
        config, data = _part(result, "metric_config"), _part(result, "source_data")
        score = _part(result, "score_details")
        uncertainty = _part(score, "uncertainty")
        _check_bounds(score.get("score"), config, place)
        lower = config.get("lower_is_better")
        generation = _part(result, "generation_config")
        args = flat(_part(generation, "generation_args"))
        args |= flat(_part(generation, "additional_details"))
        yield (
            place,
            {
                "model": model.get("id") or model.get("name"),
                "benchmark": data.get("dataset_name") or result.get("evaluation_name"),
                "metric": next(
                    (
                        config[key]
                        for key in ("metric_id", "metric_name", "evaluation_description")
                        if config.get(key)
                    ),
                    "score",
                ),
                "score": score.get("score"),
                "stderr": _part(uncertainty, "standard_error").get("value"),
                "n": uncertainty.get("num_samples"),
                "higher_is_better": None if lower is None else lower is False,
                "reading": ", ".join(
                    str(part).replace("_", " ")
                    for part in (
                        source.get("source_name") or source.get("source_organization_name"),
                        source.get("evaluator_relationship"),
                    )
                    if part
                ),
                **{f"args.{key}": value for key, value in args.items()},
            },
            _UNITS.get(
                str(config.get("metric_unit", "")).lower(), str(config.get("metric_unit", ""))
            ),
            tuple(
                str(result[key])
                for key in ("evaluation_result_id", "evaluation_name")
                if result.get(key)
            ),
        )


def _part(tree: Any, name: str) -> Mapping[str, Any]:
    part = tree.get(name) if isinstance(tree, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _check_bounds(score: Any, config: Mapping[str, Any], place: str) -> None:
    for key, beyond in (("min_score", operator.lt), ("max_score", operator.gt)):
        try:
            is_beyond = beyond(
                *(float(as_text(part) or "nan") for part in (score, config.get(key)))
            )
        except ValueError:
            continue
        if is_beyond:
            raise CannotImport(
                f"{place}: the score {score}, with {key} {config[key]}",
                "a score within its own bounds",
                "correct the record",
            )
