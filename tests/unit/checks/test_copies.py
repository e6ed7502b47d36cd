"""Replicates that are copies of others, and percentages that are fractions."""

import pytest
from builders import cases, table

from gridatlas.checks import check_study

HEAD = (
    "format: 1\ntitle: A demo\nmetric: {name: Accuracy, better: higher}\nx: rate\ny: depth\n"
    "facets: [model, seed]\nreplicates: seed\n"
    "factors: {seed: {levels: [0, 1, 2, 3, {id: mean, aggregate: {by: mean}}]}}\n"
)
OF_ITEMS = HEAD.replace("higher}", "higher, range: [0, 1]}")
REPEATED = HEAD.partition("facets")[0] + "facets: [model]\nrepeats: mean\n"
POINTS = [(m, r, d) for m in "ab" for r in (1, 2) for d in (1, 2)]


def rows(*seeds, extra=""):
    """A row per cell and seed: the values of a seed in the order of `POINTS`, - where absent."""
    return [
        f"{m},{name},{r},{d},{value}{extra}"
        for name, values in enumerate(seeds)
        for (m, r, d), value in zip(POINTS, values.split(), strict=True)
        if value != "-"
    ]


ONE = "0.51 0.62 0.57 0.44 0.51 0.71 0.69 0.62"
OTHER = "0.52 0.61 0.57 0.45 0.50 0.70 0.68 0.63"


def study_of(checked, head, lines, more=""):
    study, problems = checked(head, table(f"model,seed,rate,depth,value{more}", *lines))
    assert [problem for problem in problems if problem.severity == "problem"] == []
    assert study is not None
    return study


def findings(study, kind):
    found = [finding for finding in check_study(study).findings if finding.kind == kind]
    return [(finding.severity, finding.found) for finding in found]


@pytest.mark.parametrize(("seeds", "expected"), cases(__file__, "replicates"))
def test_replicates_all_of_whose_values_are_equal_are_copies(checked, seeds, expected):
    study = study_of(checked, HEAD, rows(*seeds))
    found = findings(study, "copied-replicate")
    assert sorted(found) == expected


def test_shares_of_trials_are_equal_more_often(checked):
    study = study_of(checked, OF_ITEMS, rows(ONE, ONE, extra=",100"), ",n")
    assert findings(study, "copied-replicate") == []


def test_rows_of_a_cell_that_are_all_equal_are_copies(checked):
    study = study_of(checked, REPEATED, rows(ONE, ONE))
    found = "all rows of a cell have the same value, in each of 8 cells"
    assert findings(study, "copied-replicate") == [("problem", found)]
    study = study_of(checked, REPEATED, rows(ONE, OTHER))
    assert findings(study, "copied-replicate") == []


def test_a_copy_is_a_problem_with_a_fix(checked):
    [problem] = check_study(study_of(checked, HEAD, rows(ONE, ONE))).problems
    assert str(problem.fix) == (
        "check whether the seed was used, and whether a table was copied; if the source has them "
        "so, add under accepted in study.yml: - {finding: copied-replicate, at: {model: a, "
        'seed: 1}, because: "…"}'
    )


# --- percentages --------------------------------------------------------------------------------

PERCENT = "format: 1\ntitle: A demo\nmetric: {name: %s, unit: '%%'%s}\nx: rate\ny: depth\n"


@pytest.mark.parametrize(("name", "more", "values", "expected"), cases(__file__, "fractions"))
def test_percentages_up_to_one_may_be_fractions(checked, name, more, values, expected):
    lines = [f"{x},1,{value}" for x, value in enumerate(values.split(), 1)]
    study, problems = checked(PERCENT % (name, more), table("rate,depth,value", *lines))
    assert problems == []
    assert study is not None
    assert findings(study, "fractions") == expected


def test_possible_counts_of_many_trials_are_no_fractions(checked):
    lines = [f"{x},1,{value},1000" for x, value in enumerate(["0.3", "0.4", "0.5", "0.6"], 1)]
    study, _ = checked(PERCENT % ("Accuracy", ""), table("rate,depth,value,n", *lines))
    assert study is not None
    assert findings(study, "fractions") == []
