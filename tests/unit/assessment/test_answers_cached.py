"""Answers from the cache: what is asked again, and what computing them takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders import calls, write_study

from gridatlas.assessment.answers import cached, study
from gridatlas.assessment.answers.answer import Answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_data

STUDY: dict[str, Any] = {
    "format": 1,
    "title": "A demo",
    "metric": {
        "name": "Accuracy",
        "better": "higher",
        "unit": "%",
        "range": [0, 100],
        "decimals": 1,
    },
    "x": "rate",
    "y": "depth",
    "facets": ["model", "benchmark"],
    "compare": ["model"],
    "trials": {"items": "benchmark", "samples": 5},
    "factors": {"benchmark": {"levels": [{"id": f"t{at}", "items": 30} for at in range(4)]}},
}


def cells(effect: int = 3) -> str:
    """Two models on four benchmarks; of the first the rate matters, by so many successes."""
    rows = ["model,benchmark,rate,depth,value"]
    for model, test, rate, depth in product("ab", range(4), range(4), range(5)):
        k = 60 + 7 * rate * depth % 11 + 3 * test + (effect * rate if model == "a" else 0)
        rows.append(f"{model},t{test},{rate},{depth},{100 * k / 150:.1f}")
    return "\n".join(rows) + "\n"


def assessed(folder: Path, cache: Path | None = None) -> Assessment:
    return load_data(folder, cache=cache)["demo"]


def fails(*_: object) -> object:
    raise AssertionError("asked again")


def test_where_no_file_changed_no_cell_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study(tmp_path / "data" / "demo", STUDY, cells())
    first = assessed(tmp_path / "data", tmp_path / "cache").answers
    monkeypatch.setattr(cached, "_inputs", fails)
    again = assessed(tmp_path / "data", tmp_path / "cache")
    assert again.answers == first
    assert "uncertainty" not in again.__dict__  # nor is any test of cells


def test_where_a_text_changed_no_question_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study(tmp_path / "data" / "demo", STUDY, cells())
    first = assessed(tmp_path / "data", tmp_path / "cache").answers
    monkeypatch.setattr(study, "answers_of", fails)
    write_study(tmp_path / "data" / "demo", STUDY | {"summary": "More words."}, cells())
    assert assessed(tmp_path / "data", tmp_path / "cache").answers == first


def other_value(folder: Path) -> None:
    write_study(folder, STUDY, cells(effect=0))


def no_trials(folder: Path) -> None:
    write_study(folder, {key: value for key, value in STUDY.items() if key != "trials"}, cells())


def other_label(folder: Path) -> None:
    levels = ["a", {"id": "b", "label": "The second"}]
    factors = {**STUDY["factors"], "model": {"levels": levels}}
    write_study(folder, STUDY | {"factors": factors}, cells())


@pytest.mark.parametrize("change", [other_value, no_trials, other_label])
def test_what_an_answer_depends_on_is_asked_anew(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    folder = write_study(tmp_path / "data" / "demo", STUDY, cells())
    first = assessed(tmp_path / "data", tmp_path / "cache").answers
    change(folder)
    again = assessed(tmp_path / "data", tmp_path / "cache").answers
    assert again != first
    assert again == assessed(tmp_path / "data").answers


def test_an_answer_takes_few_calls_per_grid_of_20_cells(tmp_path: Path) -> None:
    """No test is done for each pair of cells, or for each random order."""
    write_study(tmp_path / "data" / "demo", STUDY, cells())
    demo = assessed(tmp_path / "data")
    tests = demo.uncertainty.differences
    study.answers_of(demo.results, demo.checks.results, tests)  # makes the random orders
    answers: dict[str, Answer] = {}
    count = calls(
        lambda: answers.update(study.answers_of(demo.results, demo.checks.results, tests))
    )
    assert count < 30_000 * len(demo.results.grids)
    assert answers["model/a"].grade == "clear"  # so that no test ended early
