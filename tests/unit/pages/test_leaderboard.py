"""Leaderboards: which pages have one, the ranks, and what the columns' colours stand for."""

import numpy as np
import pytest

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_study
from gridatlas.pages.leaderboard import board_of, nice

NAMES = [f"m{number}" for number in range(9)]
TESTS = [f"t{number}" for number in range(8)]


def values(spread=1.0, seed=0):
    """By name and test: each name two points below the one before it, tests of one height."""
    noise = np.random.default_rng(seed).normal(0, spread, (len(NAMES), len(TESTS)))
    return 60 - 2.0 * np.arange(len(NAMES))[:, None] + noise


def assessed(folder, table, more="", axes="tm", tests="block"):
    (folder / "s").mkdir()
    rows = [
        f"{name},{test},{value:.2f}" if np.isfinite(value) else f"{name},{test},"
        for name, row in zip(NAMES, table, strict=False)
        for test, value in zip(TESTS, row, strict=False)
    ]
    (folder / "s" / "cells.csv").write_text("\n".join(["m,t,value", *rows, ""]))
    head = "format: 1\ntitle: A demo\nmetric: {name: Accuracy, unit: '%', better: higher}\n"
    (folder / "s" / "study.yml").write_text(
        f"{head}x: {axes[0]}\ny: {axes[1]}\nroles: {{m: choice, t: {tests}}}\n{more}"
    )
    found = load_study(folder / "s", "s", lambda _: None)
    assert isinstance(found, Assessment), found
    return found


def board(assessment):
    grids = tuple(assessment.results.grids.values())
    return board_of(assessment.study, grids, assessment.answers[""])


def column(found, key):
    return [row[key] for row in found["rows"]]


@pytest.mark.parametrize("axes", ["tm", "mt"])
def test_names_are_ranked_whichever_axis_they_are_on(tmp_path, axes):
    found = board(assessed(tmp_path, values(0.1), axes=axes))
    assert found
    assert [row["level"].key for row in found["rows"]] == NAMES
    assert [row["rank"] for row in found["rows"]] == [*range(1, 10)]
    assert (column(found, "low"), column(found, "high")) == ([*range(1, 10)], [*range(1, 10)])
    assert found["outline"]
    assert not found["rings"]
    assert not found["ratio"]
    assert (column(found, "dot")[0], column(found, "dot")[-1]) == (100, 0)


def test_ranges_hold_the_ranks_and_widen_with_noise(tmp_path):
    found = board(assessed(tmp_path, values(3.0)))
    assert found
    for row in found["rows"]:
        assert 1 <= row["low"] <= row["rank"] <= row["high"] <= len(NAMES)
    widths = [row["high"] - row["low"] for row in found["rows"]]
    assert max(widths) > 0


def test_what_is_missing_has_no_colour_and_is_left_out_of_the_mean(tmp_path):
    table = values(0.1)
    table[3, 2] = np.nan
    found = board(assessed(tmp_path, table))
    assert found
    assert found["gaps"]
    row = next(row for row in found["rows"] if row["level"].key == "m3")
    assert (row["of"], row["cells"][2]) == (7, ("–", -1, False))


def test_columns_of_a_group_are_neighbours(tmp_path):
    groups = ", ".join(
        f"{{id: {test}, group: {'odd' if number % 2 else 'even'}}}"
        for number, test in enumerate(TESTS)
    )
    found = board(assessed(tmp_path, values(), f"factors: {{t: {{levels: [{groups}]}}}}"))
    assert found
    assert [level.key for level in found["columns"]] == [*TESTS[::2], *TESTS[1::2]]
    assert found["groups"] == [("even", 4), ("odd", 4)]


def test_columns_of_different_heights_are_compared_by_ratio(tmp_path):
    table = values(0.1) * np.array([0.05, 1, 1, 1, 1, 1, 1, 1.5])
    found = board(assessed(tmp_path, table))
    assert found
    assert found["ratio"]
    # Twice the median would be the better end of the scale, and no value is that far from it.
    assert all(0 < step < 50 for row in found["rows"] for _, step, _ in row["cells"])


def test_very_many_names_over_conditions_have_one_too(tmp_path, monkeypatch):
    monkeypatch.setattr("gridatlas.pages.leaderboard.MANY_NAMES", 8)
    found = board(assessed(tmp_path, values(0.1), tests="condition"))
    assert found
    assert [row["level"].key for row in found["rows"]] == NAMES


@pytest.mark.parametrize(("names", "tests"), [(3, "block"), (9, "choice"), (9, "condition")])
def test_few_names_or_no_blocks_have_no_leaderboard(tmp_path, names, tests):
    assert board(assessed(tmp_path, values()[:names], tests=tests)) is None


@pytest.mark.parametrize(
    ("end", "rounded"), [(0, 1), (0.9, 1), (1, 1), (1.1, 2), (4, 5), (6, 7), (8, 10), (0.032, 0.05)]
)
def test_ends_are_round(end, rounded):
    assert nice(end) == pytest.approx(rounded)
