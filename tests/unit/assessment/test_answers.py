"""What the pages of a study lead with, from its files to the page."""

import subprocess
import sys
from itertools import product

import pytest
from builders import table, write_study

from gridatlas.api import opened
from gridatlas.assessment import answers as module
from gridatlas.assessment.answers import overview_headline
from gridatlas.assessment.pipeline import load_data
from gridatlas.build.site import build

ACCURACY = {"name": "Accuracy", "better": "higher", "unit": "%", "range": [0, 100], "decimals": 1}
STUDY = {"format": 1, "title": "A demo", "metric": ACCURACY}
RATES, SIZES = ("0.001", "0.01", "0.1"), ("32", "64", "128")


def rows(axes, value):
    lines = (",".join([*at, str(value(*at))]) for at in product(*axes.values()))
    return table(",".join([*axes, "value"]), *lines)


def falls(lr, bs, seed):
    """By 25 points from rate to rate, with luck whose mean over ten seeds is 0."""
    luck = (7 * int(seed) + 3 * RATES.index(lr) + 5 * SIZES.index(bs)) % 10 - 4.5
    return f"{70 - 25 * RATES.index(lr) + luck / 9:.1f}"


SEEDS = tuple(str(seed) for seed in range(1, 31))
SWEEP = {"x": "lr", "y": "bs", "cells": "runs", "factors": {"lr": {"label": "Learning rate"}}}
MODELS = {"a": 60, "b": 50}
ONE = {"x": "lr", "facets": ["model"], "factors": {"model": {"levels": ["a", "b"]}}}
CASES = {
    # keys, cells, grade, headline
    "seeds as a facet": (
        {**SWEEP, "facets": ["seed"], "roles": {"lr": "choice", "bs": "choice"}},
        rows({"lr": RATES, "bs": SIZES, "seed": SEEDS}, falls),
        "clear",
        "Accuracy falls with learning rate: 70.0 % at 0.001, 20.0 % at 0.1",
    ),
    "seeds as a column": (
        {**SWEEP, "roles": {"lr": "choice", "bs": "choice", "seed": "replicate"}},
        rows({"lr": RATES, "bs": SIZES, "seed": SEEDS}, falls),
        "clear",
        "Accuracy falls with learning rate: 70.0 % at 0.001, 20.0 % at 0.1",
    ),
    "rows that repeat a cell, in words of old": (
        {**SWEEP, "repeats": "mean"},
        table(
            "lr,bs,value",
            *(
                f"{lr},{bs},{falls(lr, bs, at)}"
                for lr, bs, at in product(RATES, SIZES, "0123456789")
            ),
        ),
        "likely",
        "Accuracy likely falls with learning rate: 70.0 % at 0.001, 20.0 % at 0.1, in these runs",
    ),
    "identical seeds": (
        {**ONE, "roles": {"seed": "replicate"}, "facets": ["model", "seed"]},
        rows(
            {"lr": ("1", "2", "3", "4"), "model": ("a", "b"), "seed": ("1", "2", "3")},
            lambda lr, model, _: MODELS[model] + int(lr) ** 2,
        ),
        "untestable",
        "One distinct seed: a 67.5 %, b 57.5 %",
    ),
    "one value of each": (
        {"x": "lr", "metric": {"name": "Latency", "unit": "ms", "better": "lower", "decimals": 1}},
        rows({"lr": ("1", "2", "3")}, lambda lr: f"{int(lr) * 2.5:.1f}"),
        "untestable",
        "Latency 2.5 to 7.5 ms; lowest at lr 1",
    ),
    "the same value everywhere": (
        ONE,
        rows({"lr": ("1", "2"), "model": ("a", "b")}, lambda *_: "50.0"),
        "untestable",
        "All 4 values are 50.0 %",
    ),
    "averages alone": (
        {
            **ONE,
            "facets": ["model", "bench"],
            "factors": {"bench": {"levels": ["x", "y", {"id": "m", "aggregate": {"by": "mean"}}]}},
        },
        rows({"lr": ("1", "2"), "model": ("a", "b"), "bench": ("m",)}, lambda lr, *_: f"5{lr}.1"),
        "untestable",
        "a 51.6 %, b 51.6 %",
    ),
    "no value": (ONE, table("lr,model,value", "1,a,"), "untestable", "No values"),
}


def assessed(folder, keys, cells, second=""):
    write_study(folder / "data/demo", STUDY | keys, cells)
    if second:
        (folder / "data/demo/two.csv").write_text(second, "utf-8")
    found = load_data(folder / "data", cache=folder / "cache")
    assert "demo" in found, found.problems
    return found["demo"]


@pytest.mark.parametrize("case", CASES)
def test_a_page_leads_with_what_its_design_supports(tmp_path, case):
    keys, cells, grade, headline = CASES[case]
    answer = assessed(tmp_path, keys, cells).answers[""]
    assert (answer.grade, answer.headline) == (grade, headline)


def test_a_page_has_its_answer_for_a_title(tmp_path):
    keys, cells, _, headline = CASES["identical seeds"]
    write_study(tmp_path / "data/demo", STUDY | keys, cells)
    pages = build(tmp_path / "data").pages
    [page] = [page for page in pages if page.plan.path == "studies/demo/index.md"]
    assert f'title: "{headline} – A demo"' in page.whole()


def test_copies_of_a_seed_are_named_and_have_no_answer(tmp_path):
    keys, cells, *_ = CASES["identical seeds"]
    assessment = assessed(tmp_path, keys, cells)
    text = "Seeds 2 and 3 repeat another's numbers exactly and are left out."
    assert text in assessment.answers[""].evidence
    assert "seed/2" not in assessment.answers
    assert assessment.answers["seed/mean"] == assessment.answers[""]
    with pytest.raises(LookupError, match="takes no part in the answers: ask the study"):
        _ = opened(assessment).grid(model="a", seed="2").answer


# --- other readings -------------------------------------------------------------------------------

LEVELS = tuple(str(at) for at in range(12))


def readings(folder, gap, approximate=""):
    axes = {"lr": LEVELS, "model": ("a", "b")}
    shown = rows(axes, lambda lr, model: f"{MODELS[model] + int(lr) * 7 % 5:.1f}")
    other = rows(
        {**axes, "model": ("a",)}, lambda lr, _: f"{MODELS['a'] + gap + int(lr) * 5 % 7:.1f}"
    )
    entry = {"approximate": True} if approximate else {}
    keys = ONE | {
        "roles": {"lr": "condition"},
        "readings": [
            {"id": "one", "file": "cells.csv", "label": "One"},
            {"id": "two", "file": "two.csv", "label": "Two"} | entry,
        ],
    }
    return assessed(folder, keys, shown, other)


def test_what_a_rival_contradicts_depends_on_the_reading(tmp_path):
    answer = readings(tmp_path, -12).answers[""]
    assert answer.grade == "reading-dependent"
    assert answer.headline == "What differs depends on which reading is right"
    assert answer.evidence[:2] == (
        "Under the shown reading: a likely beats b, by 10.0 points, in these runs.",
        "Under Two: No difference shown between a and b (±1.6 points).",
    )
    assert answer.assertions == ()


def test_what_holds_under_a_rival_is_asserted(tmp_path):
    answer = readings(tmp_path, 3).answers[""]
    assert (answer.grade, [of.levels for of in answer.assertions]) == ("likely", [("a", "b")])


def test_a_reading_that_is_no_rival_is_named(tmp_path):
    answer = readings(tmp_path, -12, "yes").answers[""]
    assert answer.grade == "likely"
    assert answer.evidence[-1] == (
        "Another reading (Two) differs in 12 of 12 shared cells, by up to 16; it is only "
        "approximate, so it doesn't count against the shown one."
    )


@pytest.mark.parametrize(
    ("disputed", "says"),
    [
        ((), None),
        (
            ("2,2",),
            "The best value, 9.0 % at lr 2 and bs 2, is disputed; "
            "the best undisputed one is 8.0 % in 2 cells.",
        ),
        (
            ("2,2", "1,2"),
            "The best value, 9.0 % at lr 2 and bs 2, is disputed; "
            "the best undisputed one is 8.0 % at lr 2 and bs 1.",
        ),
        (("1,1",), None),
        (
            ("1,1", "1,2", "2,1", "2,2"),
            "Every value is disputed, also the best, 9.0 % at lr 2 and bs 2.",
        ),
    ],
    ids=["none", "the best", "a tie", "not the best", "all"],
)
def test_beside_a_disputed_best_value_the_best_undisputed_one_is_named(tmp_path, disputed, says):
    values = {"1,1": "7.0", "1,2": "8.0", "2,1": "8.0", "2,2": "9.0"}
    lines = (
        f"{at},{value},{'disputed' if at in disputed else 'ok'}" for at, value in values.items()
    )
    keys = {"x": "lr", "y": "bs", "roles": {"lr": "choice", "bs": "choice"}}
    answer = assessed(tmp_path, keys, table("lr,bs,value,state", *lines)).answers[""]
    assert [line for line in answer.evidence if "disputed" in line] == ([says] if says else [])


# --- the cache ------------------------------------------------------------------------------------


def fails(*_):
    raise AssertionError("asked again")


def test_where_no_file_changed_nothing_is_asked(tmp_path, monkeypatch):
    keys, cells, *_ = CASES["seeds as a column"]
    first = assessed(tmp_path, keys, cells).answers
    monkeypatch.setattr(module, "answers_of", fails)
    again = load_data(tmp_path / "data", cache=tmp_path / "cache")["demo"]
    assert again.answers == first
    monkeypatch.setattr(module, "_made_by", lambda: "other code")
    with pytest.raises(AssertionError, match="asked again"):
        _ = load_data(tmp_path / "data", cache=tmp_path / "cache")["demo"].answers


def test_a_changed_value_is_asked_again(tmp_path):
    keys, cells, *_ = CASES["the same value everywhere"]
    assert assessed(tmp_path, keys, cells).answers[""].headline == "All 4 values are 50.0 %"
    changed = cells.replace("50.0", "40.0")
    assert assessed(tmp_path, keys, changed).answers[""].headline == "All 4 values are 40.0 %"


def test_answers_of_the_cache_compute_nothing(tmp_path):
    keys, cells, *_ = CASES["seeds as a column"]
    assessed(tmp_path, keys, cells)
    script = (
        "import sys; from pathlib import Path\n"
        "from gridatlas.assessment.pipeline import load_data\n"
        "study = load_data(Path('data'), cache=Path('cache'))['demo']\n"
        "slow = {'gridatlas.assessment.compute', 'pandas'} & sys.modules.keys()\n"
        "print(study.answers[''].grade, slow)\n"
    )
    results = [
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert results[1] == "clear set()\n"


def test_a_grid_of_too_many_places_is_described(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 3)
    keys, cells, *_ = CASES["the same value everywhere"]
    answers = assessed(tmp_path, keys, cells).answers
    assert answers[""].headline == "Accuracy in 2 grids"
    assert answers[""].evidence == (
        "The levels of all factors combine to more than 3 cells: nothing is tested.",
    )


def test_an_overview_counts_grades(tmp_path):
    found = [assessed(tmp_path, *CASES[case][:2]).answers[""] for case in ("no value", *CASES)]
    assert overview_headline(found[:1]) == "1 study: 1 in which none can be tested"
    assert overview_headline(found[:2]) == (
        "2 studies: 1 with a clear difference and 1 in which none can be tested"
    )
    assert overview_headline([]) == "No study yet"
