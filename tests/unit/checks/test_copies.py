"""Replicates that are copies of others, and percentages that are fractions."""

from __future__ import annotations

import pytest
from builders import Checked, table

from gridatlas.checks import check_study
from gridatlas.model.study import Study

HEAD = (
    "format: 1\ntitle: A demo\nmetric: {name: Accuracy, better: higher}\nx: rate\ny: depth\n"
    "facets: [model, seed]\nreplicates: seed\n"
    "factors: {seed: {levels: [0, 1, 2, 3, {id: mean, aggregate: {by: mean}}]}}\n"
)
OF_ITEMS = HEAD.replace("higher}", "higher, range: [0, 1]}")
REPEATED = HEAD.partition("facets")[0] + "facets: [model]\nrepeats: mean\n"
POINTS = [(m, r, d) for m in "ab" for r in (1, 2) for d in (1, 2)]


def rows(*seeds: str, extra: str = "") -> list[str]:
    """A row per cell and seed: the values of a seed in the order of `POINTS`, - where absent."""
    return [
        f"{m},{name},{r},{d},{value}{extra}"
        for name, values in enumerate(seeds)
        for (m, r, d), value in zip(POINTS, values.split(), strict=True)
        if value != "-"
    ]


ONE = "0.51 0.62 0.57 0.44 0.51 0.71 0.69 0.62"
OTHER = "0.52 0.61 0.57 0.45 0.50 0.70 0.68 0.63"
FEW = "0.5 0.5 0.5 0.5 0.6 0.6 0.6 0.6"


def study_of(checked: Checked, head: str, lines: list[str], more: str = "") -> Study:
    study, problems = checked(head, table(f"model,seed,rate,depth,value{more}", *lines))
    assert [problem for problem in problems if problem.severity == "problem"] == []
    assert study is not None
    return study


def findings(study: Study, kind: str) -> list[tuple[str, str]]:
    found = [finding for finding in check_study(study).findings if finding.kind == kind]
    return [(finding.severity, finding.found) for finding in found]


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        pytest.param((ONE, OTHER), [], id="they differ"),
        pytest.param(
            (ONE, ONE),
            [("problem", "Seed 1 has the same values as 0, in all 8 cells that both have")],
            id="a copy",
        ),
        pytest.param(
            (ONE, OTHER, ONE, OTHER),
            [
                ("problem", "Seed 2 has the same values as 0, in all 8 cells that both have"),
                ("problem", "Seed 3 has the same values as 1, in all 8 cells that both have"),
            ],
            id="two copies",
        ),
        pytest.param((ONE, ONE.replace("0.71", "0.72")), [], id="but for one"),
        pytest.param((ONE, ONE.replace("0.71", "-")), [], id="in seven cells only"),
        pytest.param((FEW, FEW), [], id="two different values only"),
    ],
)
def test_replicates_all_of_whose_values_are_equal_are_copies(
    checked: Checked, seeds: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    study = study_of(checked, HEAD, rows(*seeds))
    found = findings(study, "copied-replicate")
    assert sorted(found) == expected


def test_shares_of_trials_are_equal_more_often(checked: Checked) -> None:
    study = study_of(checked, OF_ITEMS, rows(ONE, ONE, extra=",100"), ",n")
    assert findings(study, "copied-replicate") == []


def test_rows_of_a_cell_that_are_all_equal_are_copies(checked: Checked) -> None:
    study = study_of(checked, REPEATED, rows(ONE, ONE))
    found = "all rows of a cell have the same value, in each of 8 cells"
    assert findings(study, "copied-replicate") == [("problem", found)]
    study = study_of(checked, REPEATED, rows(ONE, OTHER))
    assert findings(study, "copied-replicate") == []


def test_a_copy_is_a_problem_with_a_fix(checked: Checked) -> None:
    [problem] = check_study(study_of(checked, HEAD, rows(ONE, ONE))).problems
    assert str(problem.fix) == (
        "check whether the seed was used, and whether a table was copied; if the source has them "
        "so, add under accepted in study.yml: - {finding: copied-replicate, at: {model: a, "
        'seed: 1}, because: "…"}'
    )


# --- percentages --------------------------------------------------------------------------------

PERCENT = "format: 1\ntitle: A demo\nmetric: {name: %s, unit: '%%'%s}\nx: rate\ny: depth\n"


@pytest.mark.parametrize(
    ("name", "more", "values", "expected"),
    [
        pytest.param(
            "Accuracy",
            ", better: higher",
            "0.491 0.52 0.57 0.61",
            [("problem", "all 4 values in % lie from 0 to 1: 0.491 to 0.61")],
            id="fractions",
        ),
        pytest.param(
            "Score",
            "",
            "0.491 0.52 0.57 0.61",
            [("problem", "all 4 values in % lie from 0 to 1: 0.491 to 0.61")],
            id="of no direction",
        ),
        pytest.param(
            "Error rate",
            ", better: lower",
            "0.491 0.52 0.57 0.61",
            [("note", "all 4 values in % lie from 0 to 1: 0.491 to 0.61")],
            id="errors may be rare",
        ),
        pytest.param("Accuracy", ", better: higher", "0.491 0.52 0.57 1.61", [], id="one above"),
        pytest.param("Accuracy", ", better: higher", "0 0.1 0.1 0.9", [], id="hardly any right"),
        pytest.param("Accuracy", ", better: higher", "0 1 1 1", [], id="two different values"),
        pytest.param("Change", ", better: higher", "-0.5 0.6 0.4 0.7", [], id="differences"),
        pytest.param(
            "Accuracy", ", better: higher, range: [0, 1]", "0.4 0.5 0.6 0.7", [], id="as its range"
        ),
    ],
)
def test_percentages_up_to_one_may_be_fractions(
    checked: Checked, name: str, more: str, values: str, expected: list[tuple[str, str]]
) -> None:
    lines = [f"{x},1,{value}" for x, value in enumerate(values.split(), 1)]
    study, problems = checked(PERCENT % (name, more), table("rate,depth,value", *lines))
    assert problems == []
    assert study is not None
    assert findings(study, "fractions") == expected


def test_possible_counts_of_many_trials_are_no_fractions(checked: Checked) -> None:
    lines = [f"{x},1,{value},1000" for x, value in enumerate(["0.3", "0.4", "0.5", "0.6"], 1)]
    study, _ = checked(PERCENT % ("Accuracy", ""), table("rate,depth,value,n", *lines))
    assert study is not None
    assert findings(study, "fractions") == []
