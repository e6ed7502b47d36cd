"""The command `gridatlas export`: values as records of Every Eval Ever, or for the Hub."""

from __future__ import annotations

import json
import re
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridatlas.cli.shared import data_option, echo, echo_error, limit_option

if TYPE_CHECKING:
    from gridatlas.api import OpenStudy
    from gridatlas.model.study import Study

_KEY = uuid.uuid5(uuid.NAMESPACE_URL, "https://github.com/evaleval/every_eval_ever")
_NUMBER = re.compile(r'"\\u0000([^"]*)\\u0000"')


@click.command()
@click.argument("study")
@data_option
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(["eee", "hf-eval-results"]),
    help="Records of Every Eval Ever 0.3, or .eval_results of repositories on Hugging Face.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The folder; it has to be empty."
)
@click.option("--model", metavar="FACTOR", help="The factor whose levels are models.")
@click.option("--benchmark", metavar="FACTOR", help="The factor whose levels are benchmarks.")
@click.option("--organization", metavar="NAME", default="unknown", help="Who provides the values.")
@click.option("--url", metavar="URL", default="", help="Where the values are published.")
@limit_option
def export(study: str, data: Path, form: str, out: Path, **options: Any) -> None:
    """Write the values of STUDY for Every Eval Ever, or for repositories of models.

    Each model gets its file. `gridatlas import` reads them back as the same cells. Cells without a
    value aren't written, and are counted.

    \b
    Exit status: 0 written, 1 the data has problems, 2 wrong usage.

    \b
    Examples:
      gridatlas export leaderboard --format eee --out records --organization "Example Lab"
      gridatlas export leaderboard --format hf-eval-results --out hub --url https://example.org
    """  # noqa: D301
    from gridatlas.api import load
    from gridatlas.files.atomic import write_atomic
    from gridatlas.model.problems import DataProblems

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise click.UsageError(f"--out {out}: not an empty folder")
    try:
        loaded = load(data)[study]
        files = dict((_eee if form == "eee" else _hub)(loaded, options))
    except DataProblems as error:
        echo_error(str(error))
        sys.exit(1)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from None
    values = sum(count for _, count in files.values())
    for name, (text, _) in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out / name, text.encode())
    left = len([*_cells(loaded)]) - values
    echo(f"written: {len(files)} files with {values} values below {out}")
    echo(f"left out: {left} cells without a value") if left else None


def _cells(loaded: OpenStudy) -> Iterator[tuple[dict[str, str], Any]]:
    """Each cell of each grid that is no aggregate, with its levels by factor."""
    study = loaded.study
    names = [factor.id for factor in (*study.facets, *study.varied)]
    for grid in loaded.grids.values():
        for x, y, cell in () if grid.aggregate else grid.points():
            yield dict(zip(names, (*grid.levels, x.key, y.key), strict=False)), cell


def _roles(study: Study, options: Mapping[str, Any]) -> tuple[str, str]:
    """The factors of models and of benchmarks.

    Raises:
        LookupError: Where they aren't known.
    """
    from gridatlas_import.vocabulary import ENTITIES

    names = [factor.id for factor in (*study.facets, *study.varied)]
    model = options["model"] or next((name for name in names if name in ENTITIES), "")
    blocks = [name for name, role in study.roles.items() if role == "block"]
    benchmark = options["benchmark"] or next((name for name in blocks if name != model), "")
    for option, name in (("--model", model), ("--benchmark", benchmark)):
        if name not in names:
            raise LookupError(f"{option} {name}: one of the factors {', '.join(names)}".strip())
    return model, benchmark


def _by_model(
    loaded: OpenStudy, options: Mapping[str, Any]
) -> dict[str, list[tuple[str, dict[str, str], Any]]]:
    """Of each model: benchmark, other levels and cell of all that have a value."""
    model, benchmark = _roles(loaded.study, options)
    found: dict[str, list[tuple[str, dict[str, str], Any]]] = {}
    for levels, cell in _cells(loaded):
        if cell.value is not None:
            others = {name: key for name, key in levels.items() if name not in (model, benchmark)}
            found.setdefault(levels[model], []).append((levels[benchmark], others, cell))
    return found


def _eee(loaded: OpenStudy, options: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, int]]]:
    """A record per model, at `data/<study>/<developer>/<model>/<uuid>.json`."""
    study = loaded.study
    if study.metric.better is None:
        raise LookupError("a metric without better: records say which values are; set better")
    now = str(int(time.time()))
    for model, cells in _by_model(loaded, options).items():
        developer, _, name = model.rpartition("/")
        record = {
            "schema_version": "0.3.0",
            "evaluation_id": f"{study.id}/{model.replace('/', '_')}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_name": study.title,
                "source_type": "documentation",
                "source_organization_name": options["organization"],
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "unknown", "version": "unknown"},
            "model_info": {
                "name": name,
                "id": model,
                "developer": developer or "unknown",
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                },
            },
            "evaluation_results": [_result(study, options["url"], *cell) for cell in cells],
        }
        text = _NUMBER.sub(r"\1", json.dumps(record, indent=2)) + "\n"
        folder = "/".join(map(_file_name, (study.id, developer or "unknown", name)))
        yield f"data/{folder}/{uuid.uuid5(_KEY, f'{study.id}/{model}')}.json", (text, len(cells))


def _result(
    study: Study, url: str, benchmark: str, others: Mapping[str, str], cell: Any
) -> dict[str, Any]:
    metric, uncertainty = study.metric, {}
    if cell.stderr is not None:
        uncertainty["standard_error"] = {"value": _digits(cell.stderr)}
    if cell.n is not None:
        uncertainty["num_samples"] = cell.n
    ends = metric.range
    unit = {"%": "percent", "": "proportion" if ends and ends[1] == 1 else ""}
    data = {"dataset_name": benchmark, "source_type": "other"}
    return {
        "evaluation_name": f"{study.id}.{benchmark}",
        "source_data": {**data, "source_type": "url", "url": [url]} if url else data,
        "metric_config": {
            "metric_id": metric.name.lower().replace(" ", "_"),
            "metric_name": metric.name,
            "metric_unit": unit.get(metric.unit, metric.unit) or "unknown",
            "lower_is_better": metric.better == "lower",
            **({"score_type": "continuous", "min_score": _digits(ends[0]),
                "max_score": _digits(ends[1])} if ends else {}),
        },
        "score_details": {
            "score": _digits(cell.value),
            **({"uncertainty": uncertainty} if uncertainty else {}),
        },
        **({"generation_config": {"additional_details": {**others}}} if others else {}),
    }  # fmt: skip


def _hub(loaded: OpenStudy, options: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, int]]]:
    """A file per model, as its repository has it: `<model>/.eval_results/<study>.yaml`."""
    study = loaded.study
    for model, cells in _by_model(loaded, options).items():
        lines = []
        for benchmark, others, cell in cells:
            notes = [f"{name}: {level}" for name, level in others.items()]
            notes += [f"standard error: {cell.stderr:f}"] if cell.stderr is not None else []
            dataset, _, task = benchmark.partition(":")
            lines += [
                "- dataset:",
                f"    id: {json.dumps(dataset)}",
                f"    task_id: {json.dumps(task or 'default')}",
                f"  value: {cell.value:f}",
            ]
            if options["url"]:
                source = {"url": options["url"], "name": study.title}
                lines += [
                    "  source:",
                    *(f"    {key}: {json.dumps(text)}" for key, text in source.items()),
                ]
            lines += [f"  notes: {json.dumps('; '.join(notes))}"] if notes else []
        folder = "/".join(map(_file_name, model.split("/")))
        yield f"{folder}/.eval_results/{study.id}.yaml", ("\n".join(lines) + "\n", len(cells))


def _digits(value: Any) -> str:
    """A number that JSON shall have with its own digits."""
    return f"\0{value:f}\0"


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text).strip(".") or "_"
