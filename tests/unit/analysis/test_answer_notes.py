"""What an answer says beside its assertions: other questions, readings, what was left out."""

from dataclasses import replace

import numpy as np
import pytest
from test_answer_cases import LOSS, SCORE, front, name, number, table

from gridatlas.analysis import cells, words
from gridatlas.analysis.answers import analyse, falls_without, with_needed
from gridatlas.analysis.design import design, prepare
from gridatlas.analysis.table import Factor, Metric, Table

SCORES = Metric("Score", "", "higher", "linear")
SEEDS = name("seed", "1 2 3 4 5", "replicate")


def noise(*shape, seed=0, size=0.1):
    return np.random.default_rng(seed).normal(0, size, shape)


# --- along a run ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("course", "line"),
    [
        ([10, 20, 30], "Along step score is 10 at 0, 30 at 2: values are those of the last."),
        (
            [10, 40, 30],
            "Along step score is 10 at 0, 30 at 2, highest at 1 (40): "
            "values are those of the last.",
        ),
    ],
)
def test_the_course_of_runs_is_described(course, line):
    values = np.array(course, float) + np.array([[1.0], [-1.0]])
    factors = {"model": name("model", "A B"), "step": number("step", range(3), "progress")}
    answer = front(table(values, factors, replace(SCORES, decimals=0)))
    assert line in answer.evidence
    assert answer.assertions == ()


# --- other questions ------------------------------------------------------------------------------


def counted(share, items, **more):
    """Two models on 20 cells of one benchmark with 150 trials each."""
    n = np.full((2, 5, 4), 150.0)
    k = n * np.array([0.3, 0.3 + share])[:, None, None]
    factors = {"model": name("model", "A B"), "x": number("x", range(5), "condition")}
    factors["y"] = number("y", range(4), "condition")
    return table(100 * k / n, factors, replace(SCORE, **more), n=n, k=k, items=items)


def test_counts_of_known_questions_say_what_holds_for_others():
    line = "For other questions (30 here) the difference is −17 to 31."
    assert line in front(counted(0.07, {"": 30})).evidence
    assert not any("other questions" in text for text in front(counted(0.07, None)).evidence)


def test_other_questions_of_several_benchmarks_are_those_of_each():
    n = np.full((2, 5, 2), 400.0)
    k = n * np.array([[0.5, 0.5], [0.6, 0.6]])[:, None, :]
    factors = {"model": name("model", "A B"), "x": number("x", range(5), "condition")}
    factors["b"] = name("benchmark", "p q", "block")
    study = table(100 * k / n, factors, SCORE, n=n, k=k, items={"p": 40.0, "q": 100.0})
    half = 100 * 1.959964 * np.sqrt(2 * 0.55 * 0.45 * (1 / 40 + 1 / 100)) / 2
    line = f"For other questions (140 here) the difference is −{half - 10:.1f} to {10 + half:.1f}."
    answers = analyse(prepare(study), ["b"])
    assert line in answers[None].evidence
    own = 100 * 1.959964 * np.sqrt(2 * 0.55 * 0.45 / 40)
    line = f"For other questions (40 here) the difference is −{own - 10:.0f} to {10 + own:.0f}."
    assert line in answers["b", 0].evidence


def test_where_no_difference_is_shown_names_are_ranked_over_what_all_of_them_have():
    values = np.random.default_rng(3).normal(50, 20, (8, 5))
    values[7] = np.arange(5) + 60.0
    values[0, 1:] = np.nan
    values[0, 0] = 99.0  # The only one of a name that lacks most.
    factors = {
        "model": name("model", "A B C D E F G H"),
        "task": name("task", "p q r s t", "block"),
    }
    answer = front(table(values, factors, SCORE))
    assert answer.headline == "No difference shown between 8 models"
    assert answer.much.startswith("H 62.0 %, ")
    assert answer.much.endswith(", …")
    assert "A 99" not in answer.much


# --- alike ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margin", "headline"),
    [
        (None, "No difference shown between A and B (±2.3 points)"),
        (2.0, "No difference shown between A and B (±2.3 points)"),
        (3.0, "A and B are alike within 3.0 points"),
    ],
)
def test_alike_needs_a_margin(margin, headline):
    answer = front(counted(0.002, None, alike=margin))
    assert (answer.headline, answer.grade) == (headline, "not-shown")


@pytest.mark.parametrize(
    ("margin", "headline"),
    [
        (0.1, "No difference shown between A and B (±1.0 %)"),
        (0.3, "A and B are alike within 0.3 ms"),
    ],
)
def test_ratios_are_alike_within_a_margin_in_the_unit(margin, headline):
    """The means are about 9.5 ms: an interval of ±1.0 % lies within ±0.3, not within ±0.1."""
    values = np.geomspace(1, 90, 8)[:, None] * np.exp(0.2 * noise(2, 8, 6))
    factors = {"gpu": name("GPU", "A B"), "batch": number("batch", range(8), "condition")}
    factors["seed"] = Factor("seed", tuple("123456"), "replicate")
    answer = front(table(values, factors, Metric("Latency", "ms", "lower", None, 1, alike=margin)))
    assert (answer.headline, answer.grade) == (headline, "not-shown")


# --- left out -------------------------------------------------------------------------------------


def test_a_level_that_was_measured_once_is_said():
    values = 50 + np.arange(3)[:, None, None] + noise(3, 2, 5)
    values[0] = 49.0
    factors = {"setting": name("setting", "Before A B"), "prompt": name("prompt", "p q")}
    answer = front(table(values, {**factors, "seed": SEEDS}, SCORES))
    assert "Before was measured once; its own luck isn't counted." in answer.evidence


def test_failed_runs_are_said_where_they_failed():
    values = 2.0 + noise(3, 8)
    values[0, 0], values[1, 1] = np.inf, 1e6
    factors = {"optimizer": name("optimizer", "a b c"), "lr": number("lr", range(8))}
    codes = dict(zip(factors, np.nonzero(np.ones((3, 8))), strict=True))
    study = prepare(Table(factors, codes, values.ravel(), LOSS))
    assert study.failed["optimizer"] == {"a": 1, "b": 1}
    assert np.isnan(study.y).sum() == 2  # never filled
    answers = analyse(study, ["optimizer"])
    assert "2 failed runs left out: 1 of a and 1 of b." in answers[None].evidence
    assert "1 failed run left out." in answers["optimizer", 0].evidence
    assert not any("failed" in text for text in answers["optimizer", 2].evidence)


def test_a_level_that_is_far_off_as_a_whole_has_not_failed():
    values = np.array([20.0, 50, 50.1, 50.2, 50.3, 50.4])[:, None, None] + noise(6, 4, 5)
    values[3, 2, 2] = -1e6
    factors = {"setting": name("setting", "Before a b c d e"), "x": number("x", range(4))}
    study = prepare(table(values, {**factors, "seed": SEEDS}, SCORES))
    assert study.failed["setting"] == {"c": 1}
    assert "Before 20." in " ".join(analyse(study)[None].evidence)


def test_a_mean_of_others_is_said():
    values = np.round(noise(6, 4, size=5) + 50, 1)
    values = np.concatenate([values, np.round(values[:, :3].mean(axis=1, keepdims=True), 1)], 1)
    factors = {"model": name("model", "A B C D E F"), "b": name("task", "p q r s total", "block")}
    study = prepare(table(values, factors))
    assert study.factors["b"].levels == ("p", "q", "r", "s")
    assert "Total is the mean of others and not counted." in analyse(study)[None].evidence


# --- cells that may be the best -------------------------------------------------------------------


def grid(*, best, seeds=5):
    values = 50 + noise(4, 3, seeds, size=0.5)
    values[2, 1] += best
    factors = {"x": number("x", range(4)), "y": number("y", range(3))}
    return table(values, {**factors, "seed": SEEDS}, SCORES, cells_are_runs=True)


def test_cells_that_may_be_the_best_are_those_not_behind():
    alone = cells.may_be_best(design(prepare(grid(best=9))), "x", "y")
    assert np.argwhere(alone).tolist() == [[2, 1]]
    assert cells.may_be_best(design(prepare(grid(best=0))), "x", "y").sum() > 6
    assert cells.may_be_best(design(prepare(grid(best=9))), "y", "x").shape == (3, 4)


def test_cells_of_counts_may_be_the_best_by_their_counts():
    n = np.full((3, 2), 100.0)
    k = np.array([[90.0, 85], [50, 40], [np.nan, 20]])
    factors = {"x": number("x", range(3)), "y": number("y", range(2))}
    page = design(prepare(table(k, factors, n=n, k=k)))
    assert cells.may_be_best(page, "x", "y").tolist() == [
        [True, True],
        [False, False],
        [False, False],
    ]


# --- names and numbers in sentences ---------------------------------------------------------------


def own_seeds():
    """Ten seeds of one model and others of another, at two conditions."""
    values = np.full((2, 2, 13), np.nan)
    values[0, :, :10], values[1, :, 10:] = 60 + noise(2, 10), 50 + noise(2, 3, seed=1)
    factors = {"model": name("model", "A B"), "x": number("x", range(2), "condition")}
    seeds = Factor("seed", tuple(map(str, range(13))), "replicate")
    return table(np.round(values, 1), {**factors, "seed": seeds}, replace(SCORES, decimals=1))


def test_seeds_of_their_own_aren_t_the_same():
    answer = front(own_seeds())
    assert answer.headline == "A likely beats B, by 10.0"
    assert answer.evidence[0] == (
        "60.0 against 50.0; difference 9.8 to 10.1 (p < 0.001), for other seeds (10 and 3 here, "
        "not the same; so no more than likely)."
    )
    assert not any("0 of 0" in line for line in answer.evidence)


@pytest.mark.parametrize(
    ("levels", "headline"),
    [
        ("off on", "EMA on beats EMA off, by 10.0"),
        ("1 2", "EMA 2 beats EMA 1, by 10.0"),
        ("✗ ✓", "EMA ✓ beats EMA ✗, by 10.0"),
        ("rg h2o", "h2o beats rg, by 10.0"),
        ("rg adam", "adam beats rg, by 10.0"),
    ],
)
def test_names_say_what_they_are(levels, headline):
    values = np.array([50.0, 60.0])[:, None, None] + noise(2, 4, 5)
    factors = {"m": name("EMA", levels), "x": number("x", range(4), "condition"), "seed": SEEDS}
    answer = front(table(values, factors, replace(SCORES, decimals=1)))
    assert answer.headline == headline
    assert answer.assertions[0].levels == tuple(levels.split())[::-1]


def test_samples_of_one_question_are_averaged():
    place = np.repeat(np.indices((2, 30)).reshape(2, -1), 2, axis=1)
    value = np.random.default_rng(0).binomial(1, np.array([0.2, 0.8])[place[0]]).astype(float)
    factors = {"model": name("model", "A B")}
    factors["q"] = Factor("person", tuple(map(str, range(30))), "item")
    codes = dict(zip(factors, place, strict=True))
    study = prepare(Table(factors, codes, value, Metric("Right", high=1.0)))
    assert design(study).unit == "item"
    assert "for other persons (30 here)" in analyse(study)[None].evidence[0]


def test_counts_of_rows_that_share_a_place_add_up():
    place = np.repeat(np.indices((2, 3)).reshape(2, -1), 2, axis=1)
    n = np.full(12, 100.0)
    k = np.array([40.0, 60.0])[place[0]] + np.tile([-2.0, 2.0], 6)
    factors = {"model": name("model", "A B"), "x": number("x", range(3), "condition")}
    codes = dict(zip(factors, place, strict=True))
    page = design(prepare(Table(factors, codes, k, SCORE, n, k)))
    assert page.unit == "counts"
    assert page.n is not None
    assert np.unique(page.n).tolist() == [200.0]


@pytest.mark.parametrize(
    ("gaps", "models", "line"),
    [
        (False, 1, "Nothing is varied here that could be compared."),
        (True, 2, "No cell has all that would be compared: no difference is tested."),
    ],
)
def test_why_nothing_is_tested(gaps, models, line):
    values = 50 + noise(models, 4, 6)
    if gaps:
        values[0, :2], values[1, 2:] = np.nan, np.nan
    factors = {"model": name("model", "A B"), "x": number("x", range(4), "condition")}
    factors["b"] = name("task", "p q r s t u", "block")
    if models == 1:
        factors["model"] = name("model", "A")
        values = values[:, :1]
    assert front(table(values, factors, SCORES)).evidence == (line,)


def test_a_ranking_of_many_is_short():
    levels = " ".join(f"a_model_of_a_long_name_{at}" for at in range(9))
    answer = front(table(np.arange(9.0), {"model": name("model", levels)}, SCORES))
    assert len(answer.headline) <= 90
    assert answer.headline.startswith("a_model_of_a_long_name_8 8, ")
    assert answer.headline.endswith(", …")


def test_large_ratios_have_their_interval_in_times():
    values = np.array([10.0, 45.0])[:, None, None] * np.exp(noise(2, 6, 5, size=0.02))
    factors = {"gpu": name("GPU", "A B"), "x": number("x", range(6), "condition"), "seed": SEEDS}
    answer = front(table(values, factors, Metric("Time", "ms", "lower", "log", 2)))
    assert answer.headline == "A beats B, by a factor of 4.5"
    assert "difference 4.5 to 4.6 times" in answer.evidence[0]


def test_what_nearly_rises_isn_t_its_last_level():
    """The best but one of six along a line; the last is level with it."""
    values = np.array([28.0, 30, 31.4, 32.2, 35.8, 35.4])[:, None] + noise(6, 15, size=1.0)
    seeds = Factor("seed", tuple(map(str, range(15))), "replicate")
    factors = {"t": number("temperature", range(175, 226, 10)), "seed": seeds}
    answer = front(table(values, factors, replace(SCORES, decimals=1)))
    assert answer.headline.startswith("Score is higher at larger temperature: ")


# --- what would have been found -------------------------------------------------------------------


@pytest.mark.parametrize(("high", "shows"), [(100.0, ""), (None, "232")])
def test_no_difference_beyond_the_range_would_have_been_found(high, shows):
    scores = np.array([[20.0, 25.0, 90.0], [22.0, 95.0, 24.0]]).T
    factors = {"seed": name("seed", "1 2 3", "replicate"), "model": name("model", "A B")}
    answer = front(table(scores, factors, replace(SCORES, decimals=0, high=high)))
    assert answer.grade == "not-shown"
    assert answer.shows == shows


# --- without one benchmark or seed ----------------------------------------------------------------


def leading(gaps, role, size=0.1, begin="U"):
    """Two models at 4 conditions; the second is ahead by a gap of its own in each unit."""
    units = name("unit", " ".join(f"{begin}{at}" for at in range(len(gaps))), role)
    values = noise(2, len(gaps), 4, size=size) + 50
    values[1] += np.array(gaps)[:, None]
    factors = {"model": name("model", "A B"), "unit": units}
    study = prepare(table(values, {**factors, "x": number("x", range(4), "condition")}, SCORES))
    return study, analyse(study)[None]


@pytest.mark.parametrize("role", ["block", "replicate"])
@pytest.mark.parametrize(
    ("gaps", "needed"),
    [
        # Alike in each: none of them is needed.
        ([5.0, 5.2, 4.9, 5.1, 5.0, 4.8, 5.3], []),
        # One is far the other way: it makes the difference unsure, and isn't needed either.
        ([3.0, 3.2, 2.9, 3.1, 3.0, 2.8, -0.5], []),
        # Few: without one that goes along, it isn't shown; without the one that doesn't, it is.
        ([4.0, 4.2, 3.8, 1.5], ["U0", "U1", "U2"]),
        ([4.0, 3.0, 3.5, -0.3, 3.2], ["U0", "U1", "U2", "U4"]),
    ],
)
def test_what_an_answer_needs_is_named(role, gaps, needed):
    study, answer = leading(gaps, role)
    assert answer.asserts
    assert [*falls_without(study, answer)] == needed
    more = [line for line in with_needed(study, answer).evidence if line not in answer.evidence]
    assert more == ([words.not_without(needed)] if needed else [])


def test_a_replicate_that_is_a_number_is_named_behind_its_factor():
    study, answer = leading([4.0, 4.2, 3.8, 1.5], "replicate", begin="")
    assert [*falls_without(study, answer)] == ["unit 0", "unit 1", "unit 2"]


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        (["AIME25"], "Not shown without AIME25."),
        (["seed 1", "seed 2", "seed 4"], "Not shown without seed 1, seed 2 or seed 4."),
        (["A", "B", "C", "D"], "Not shown without A, B or one of 2 others."),
    ],
)
def test_what_is_needed_is_told_in_few_words(levels, text):
    assert words.not_without(levels) == text


def test_a_headline_about_single_benchmarks_is_not_asked_what_it_needs():
    study, answer = leading([4.0, 4.2, 3.8, 1.5], "block")
    assert with_needed(study, answer) != answer
    single = replace(
        answer, assertions=tuple(replace(of, kind="block") for of in answer.assertions)
    )
    assert with_needed(study, single) == single


# --- block by block -------------------------------------------------------------------------------


def test_who_leads_on_all_blocks_is_named_with_all_that_it_beats():
    """And not the first pair of those that differ on as many blocks."""
    times = np.outer([30.0, 20.0, 12.0], [1.0, 1.5, 1.2])
    values = times[:, :, None] + noise(3, 3, 5, size=0.1)
    tasks = name("task", "A B C", "block")
    factors = {"kernel": name("kernel", "naive tiled fused"), "task": tasks, "seed": SEEDS}
    answer = front(table(values, factors, LOSS))
    assert answer.headline.startswith("fused beats tiled and naive on B (")
