"""`gridatlas export`: what is written has the form that others ask for, and reads back alike."""

import csv
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from gridatlas import load
from gridatlas.cli.main import main

BOARD = "model,benchmark,shots,acc,n,stderr\n" + "".join(
    f"{model},{benchmark},{shots},0.{at + 3}{shots}0,200,0.03{at}\n"
    for at, (model, benchmark) in enumerate(
        (m, b) for m in ("lab/small", "lab/large") for b in ("arith", "logic:hard")
    )
    for shots in (1, 5)
)


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.fixture
def data(tmp_path):
    (tmp_path / "board.csv").write_text(BOARD, "utf-8")
    result = run("import", tmp_path / "board.csv", "--yes", "--data", tmp_path / "data")
    assert result.exit_code == 0, result.output
    return tmp_path / "data"


def cells(folder, *names):
    """The cells of the one study of a folder: what stands in some columns, numbers as numbers."""
    with next(folder.glob("*/cells.csv")).open(encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in names) for row in csv.DictReader(file)}


def test_records_of_every_eval_ever_read_back_as_the_same_cells(data, tmp_path):
    result = run("export", "board", "--data", data, "--format", "eee", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.output == f"written: 2 files with 8 values below {tmp_path / 'out'}\n"
    found = (tmp_path / "out").rglob("*.json")
    names = sorted(path.relative_to(tmp_path / "out").parts for path in found)
    assert [name[:4] for name in names] == [
        ("data", "board", "lab", "large"),
        ("data", "board", "lab", "small"),
    ]
    record = json.loads((tmp_path / "out" / Path(*names[0])).read_text("utf-8"))
    assert record["schema_version"] == "0.3.0"
    assert record["model_info"]["id"] == "lab/large"
    assert record["evaluation_results"][0] == {
        "evaluation_name": "board.arith",
        "source_data": {"dataset_name": "arith", "source_type": "other"},
        "metric_config": {
            "metric_id": "accuracy",
            "metric_name": "Accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": 0.51,
            "uncertainty": {"standard_error": {"value": 0.032}, "num_samples": 200},
        },
        "generation_config": {"additional_details": {"shots": "1"}},
    }
    again = run("import", tmp_path / "out", "--yes", "--data", tmp_path / "again")
    assert again.exit_code == 0, again.output
    wanted = cells(data, "model", "benchmark", "shots", "acc", "stderr")
    assert (
        cells(tmp_path / "again", "model", "benchmark", "args.shots", "score", "stderr") == wanted
    )


NEEDED = {
    "type": "object",
    "required": [
        "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library",
        "model_info", "evaluation_results",
    ],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": {"type": "string", "pattern": "^[^/]+/[^/]+/[0-9]+$"},
        "retrieved_timestamp": {"type": "string"},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {
                    "enum": ["first_party", "third_party", "collaborative", "other"]
                },
            },
        },
        "eval_library": {"required": ["name", "version"]},
        "model_info": {
            "required": ["name", "id"],
            "properties": {
                "additional_details": {"required": ["deployment_type", "model_availability"]}
            },
        },
        "evaluation_results": {
            "type": "array",
            "items": {
                "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
                "properties": {
                    "metric_config": {
                        "required": ["lower_is_better"],
                        "properties": {
                            "lower_is_better": {"type": "boolean"},
                            "min_score": {"type": "number"},
                            "max_score": {"type": "number"},
                        },
                    },
                    "score_details": {
                        "required": ["score"], "properties": {"score": {"type": "number"}}
                    },
                    "generation_config": {
                        "properties": {
                            "additional_details": {"additionalProperties": {"type": "string"}}
                        },
                    },
                },
            },
        },
    },
}  # fmt: skip
"""What the form of Every Eval Ever 0.3.0 asks of what we write."""


def test_records_have_all_that_the_form_asks_for(data, tmp_path):
    run("export", "board", "--data", data, "--format", "eee", "--out", tmp_path / "out")
    records = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "out").rglob("*.json")]
    assert len(records) == 2
    for record in records:
        jsonschema.validate(record, NEEDED)


def record_of(folder, name, model, who, scores):
    """A record with its instances: of each benchmark, whether each item is right."""
    relation = "first_party" if who == "Maker" else "third_party"
    results = [
        {
            "evaluation_result_id": f"{who}.{task}",
            "evaluation_name": task,
            "source_data": {"dataset_name": task, "source_type": "other"},
            "metric_config": {"metric_id": "accuracy", "lower_is_better": False},
            "score_details": {"score": sum(right) / len(right)},
        }
        for task, right in scores.items()
    ]
    record = {
        "schema_version": "0.3.0",
        "source_metadata": {"source_name": who, "evaluator_relationship": relation},
        "model_info": {"id": model},
        "evaluation_results": results,
    }
    lines = [
        {
            "evaluation_result_id": f"{who}.{task}",
            "sample_id": f"{task}-{at}",
            "input": {"raw": f"question {at} of {task}", "reference": ["a"]},
            "evaluation": {"score": float(score), "is_correct": bool(score)},
        }
        for task, right in scores.items()
        for at, score in enumerate(right)
    ]
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(record), "utf-8")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{name}_samples.jsonl").write_text(text, "utf-8")


def test_instances_are_items_and_sources_are_readings(tmp_path):
    folder = tmp_path / "records"
    first = {"arith": [1, 1, 0, 1] * 10, "logic": [0, 1, 0, 1] * 10}
    second = {"arith": [1, 0, 0, 1] * 10, "logic": [0, 0, 0, 1] * 10}
    record_of(folder, "a", "lab/a", "Board", first)
    record_of(folder, "b", "lab/b", "Board", second)
    record_of(folder, "c", "lab/b", "Maker", {"arith": [1] * 40})
    result = run("import", folder, "--yes", "--data", tmp_path / "data")
    assert result.exit_code == 0, result.output
    study = tmp_path / "data/records"
    texts = yaml.safe_load((study / "study.yml").read_text("utf-8"))
    assert [(reading["label"], reading["file"]) for reading in texts["readings"]] == [
        ("Board, third party", "cells.csv"),
        ("Maker, first party", "cells-2.csv"),
    ]
    assert cells(tmp_path / "data", "model", "benchmark", "score", "n", "successes") == {
        ("lab/a", "arith", "0.75", "40", "30"),
        ("lab/a", "logic", "0.5", "40", "20"),
        ("lab/b", "arith", "0.5", "40", "20"),
        ("lab/b", "logic", "0.25", "40", "10"),
    }
    [outcomes] = study.glob("runs/*.outcomes.json")
    found = json.loads(outcomes.read_text("utf-8"))
    assert [len(names) for names in found["items"]] == [40, 40]
    answer = load(tmp_path / "data")["records"].answer
    assert (answer.grade, answer.population) == (
        "reading-dependent",
        "if these questions are asked again",
    )


def test_files_for_the_hub_read_back_as_the_same_values(data, tmp_path):
    out = tmp_path / "hub"
    command = ("export", "board", "--data", data, "--format", "hf-eval-results", "--out", out)
    result = run(*command, "--url", "https://example.org/board")
    assert result.exit_code == 0, result.output
    entries = yaml.safe_load((out / "lab/small/.eval_results/board.yaml").read_text("utf-8"))
    assert entries[-1] == {
        "dataset": {"id": "logic", "task_id": "hard"},
        "value": 0.45,
        "source": {"url": "https://example.org/board", "name": "Board"},
        "notes": "shots: 5; standard error: 0.031",
    }
    assert run(*command).output.endswith(f"--out {out}: not an empty folder\n")


def test_what_a_record_needs_is_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("model,task,S\na,x,5.5\na,y,6.5\nb,x,7.5\nb,y,8.5\n", "utf-8")
    data = tmp_path / "data"
    assert run("import", tmp_path / "t.csv", "--yes", "--data", data).exit_code == 0
    result = run("export", "t", "--data", data, "--format", "eee", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "a metric without better: records say which values are; set better" in result.output
