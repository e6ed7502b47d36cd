"""Sentences of studies that don't say whether higher or lower is better."""

import re
from dataclasses import replace

import numpy as np
import pytest
from amount import amount

import random_designs
from gridatlas.analysis.answers import analyse
from gridatlas.analysis.design import prepare
from gridatlas.analysis.table import Factor, Metric, Table

OF_WINNING = re.compile(
    r"\b(beats?|leads|best|ahead|behind|better|worse|worst|wins?|fastest)\b", re.IGNORECASE
)


def texts(answer):
    return (answer.headline, *answer.evidence, answer.much, answer.shows, answer.surer)


@pytest.mark.parametrize("planted", [False, True])
def test_nothing_wins_where_no_direction_is_better(planted):
    """In no sentence of any page, whatever the design; what is asserted stays the same."""
    for number in range(amount(6, 400)):
        study = random_designs.drawn((5, number), planted=planted)
        higher, none = (
            replace(study.table, metric=replace(study.table.metric, better=better))
            for better in ("higher", None)
        )
        directed, undirected = (analyse(prepare(table), study.facets) for table in (higher, none))
        for page, answer in undirected.items():
            assert answer.asserted == directed[page].asserted
            for text in texts(answer):
                assert not OF_WINNING.search(text), text


@pytest.mark.parametrize(
    ("better", "headline"),
    [
        ("higher", "best of all likely beats leads, by 5.0"),
        (None, "best of all is likely above leads, by 5.0"),
    ],
)
def test_names_of_levels_stay_whatever_words_they_have(better, headline):
    assert analyse(prepare(of_two(better, ("best of all", "leads"))))[None].headline == headline


@pytest.mark.parametrize("levels", [(1.0, 2.0), (2.0, 1.0)])
def test_names_of_the_metric_and_of_factors_stay(levels):
    table = of_two(None, ("1", "2"), numbers=levels, metric="best score", label="steps ahead")
    headline = analyse(prepare(table))[None].headline
    assert headline.startswith("Best score ")
    assert "steps ahead" in headline


def of_two(better, levels, *, numbers=None, metric="Score", label="Method"):
    """Two levels with 20 seeds, the first 5 higher."""
    noise = np.random.default_rng(0).normal(0, 0.5, 20).round(1)
    value = np.tile([20.0, 15.0], 20) + np.repeat(noise, 2)
    value[1::2] -= value[1::2].mean() - value[::2].mean() + 5
    role = "condition" if numbers else "choice"
    factors = {
        "method": Factor(label, levels, role, numbers),
        "seed": Factor("Seed", tuple(map(str, range(20))), "replicate"),
    }
    codes = {"method": np.tile([0, 1], 20), "seed": np.repeat(np.arange(20), 2)}
    about = Metric(metric, "", better, "linear", 1)  # type: ignore[arg-type]
    return Table(factors, codes, value.round(1), about)
