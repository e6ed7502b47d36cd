"""`gridatlas export`: what is written has the form that others ask for, and reads back alike."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gridatlas.cli.main import main

BOARD = "model,benchmark,shots,acc,n,stderr\n" + "".join(
    f"{model},{benchmark},{shots},0.{at + 3}{shots}0,200,0.03{at}\n"
    for at, (model, benchmark) in enumerate(
        (m, b) for m in ("lab/small", "lab/large") for b in ("arith", "logic:hard")
    )
    for shots in (1, 5)
)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "board.csv").write_text(BOARD, "utf-8")
    result = run("import", tmp_path / "board.csv", "--yes", "--data", tmp_path / "data")
    assert result.exit_code == 0, result.output
    return tmp_path / "data"


def cells(folder: Path, *names: str) -> set[tuple[str, ...]]:
    """The cells of the one study of a folder: what stands in some columns, numbers as numbers."""
    with next(folder.glob("*/cells.csv")).open(encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in names) for row in csv.DictReader(file)}


def test_records_of_every_eval_ever_read_back_as_the_same_cells(data: Path, tmp_path: Path) -> None:
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


def test_files_for_the_hub_read_back_as_the_same_values(data: Path, tmp_path: Path) -> None:
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


def test_what_a_record_needs_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("model,task,S\na,x,5.5\na,y,6.5\nb,x,7.5\nb,y,8.5\n", "utf-8")
    data = tmp_path / "data"
    assert run("import", tmp_path / "t.csv", "--yes", "--data", data).exit_code == 0
    result = run("export", "t", "--data", data, "--format", "eee", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "a metric without better: records say which values are; set better" in result.output
