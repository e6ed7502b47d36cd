"""Runs of ours beside published readings: never shown in their place, always held against them."""

import json
from xml.etree import ElementTree

import pytest
from builders import table

from gridatlas.assessment.agreement import compare
from gridatlas.assessment.assess import assess
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import in_words, reproduction
from gridatlas.charts.badges import reproduced_badge
from gridatlas.checks import check_study
from gridatlas.pages.environment import caption
from gridatlas.pages.exports import to_json
from gridatlas.pages.heatmaps import rerun_figures
from gridatlas.pages.reproduction import rerun_rows, run_facts
from gridatlas.pages.tooltips import card_data
from gridatlas.table.choose import analyse
from gridatlas.table.differences import differences

HEAD = (
    "format: 1\ntitle: A demo\n"
    'metric: {name: Pass, better: higher, unit: "%", range: [0, 100], decimals: 1}\n'
    "x: rate\ny: depth\nfacets: [model]\n"
)
READINGS = (
    "readings:\n  - {id: paper, file: cells.csv, label: Figure}\n"
    "  - {id: ours, file: ours.csv, label: Our run}\n"
)
REPRODUCE = 'reproduce: {script: run.py, args: "{model} {rate} {depth}", margin: 3}\n'
COLUMNS = "model,rate,depth,value,n"
OURS = "model,rate,depth,value,n,successes,stderr,run"


def run_file(cells, **more):
    """A manifest as `gridatlas collect` writes it: (done, of) by (model, rate, depth)."""
    names = ("model", "rate", "depth")
    progress = [
        {"levels": dict(zip(names, at, strict=True)), "done": done, "of": of}
        for at, (done, of) in cells.items()
    ]
    about = {"format": 1, "run": "r-1", "study": "demo", "script": "s", "started": "2026-05-01"}
    return about | more | {"cells": progress}


def outcomes_file(cells, samples=1):
    """Successes per item by cell; cells with as many items have the same ones."""
    names = ("model", "rate", "depth")
    sizes = sorted({len(cell) for cell in cells.values()})
    return json.dumps(
        {
            "run": "r-1",
            "items": [[f"q{index}" for index in range(size)] for size in sizes],
            "cells": [
                {
                    "cell": dict(zip(names, at, strict=True)),
                    "items": sizes.index(len(correct)),
                    "samples": samples,
                    "correct": correct,
                }
                for at, correct in cells.items()
            ],
        }
    )


@pytest.fixture
def compared(make_study, tmp_path):
    """A study with published rows, rows of the run r-1, and how far the run is."""

    def compared(more, published, ours, cells, outcomes="", **about):
        runs = tmp_path / "data/demo/runs"
        runs.mkdir(parents=True)
        (runs / "r-1.json").write_text(json.dumps(run_file(cells, **about)))
        if outcomes:
            (runs / "r-1.outcomes.json").write_text(outcomes)
        files = {"ours.csv": table(OURS, *ours)} if ours else {}
        readings = READINGS if ours else ""
        head = OURS if published[0].endswith("r-1") else COLUMNS
        return analyse(make_study(HEAD + more + readings, table(head, *published), files))

    return compared


def reproduction_of(results):
    found = reproduction(results)
    assert found is not None
    return found


def verdicts(results):
    (rerun,) = [rerun for rerun in reproduction_of(results).reruns if rerun.grid.levels == ("a",)]
    return {point: cell.verdict for point, cell in rerun.cells.items()}


SIX = ["a,1,1,50.0,10000", "a,2,1,50.0,10000", "a,3,1,50.0,100", "a,4,1,50,", "a,5,1,50,100",
       "a,6,1,50,100"]  # fmt: skip
DONE = {("a", str(rate), "1"): (4, 4) for rate in (1, 2, 3, 4)}


@pytest.fixture
def six(compared):
    """One cell per verdict: agrees, differs, too few, not testable, running, not run."""
    ours = ["a,1,1,50.5,10000,5050,,r-1", "a,2,1,60,10000,6000,,r-1", "a,3,1,50,100,50,,r-1",
            "a,4,1,50,10000,5000,,r-1"]  # fmt: skip
    cells = DONE | {("a", "5", "1"): (1, 4), ("a", "6", "1"): (0, 4)}
    results = compared(REPRODUCE, SIX, ours, cells)
    return results


def test_each_verdict(six):
    # 50 % of 10,000: ± 0.98 each, ± 1.39 for their difference.
    assert verdicts(six) == {
        ("1", "1"): "agrees", ("2", "1"): "differs", ("3", "1"): "too few to tell",
        ("4", "1"): "not testable", ("5", "1"): "running", ("6", "1"): "not run",
    }  # fmt: skip
    counts = reproduction_of(six).counts
    assert in_words(counts) == (
        "1 agree, 1 differ, 1 too few to tell, 1 not testable, 1 running, 1 not run"
    )
    (rerun,) = reproduction_of(six).reruns
    first = rerun.cells["1", "1"]
    assert (first.interval.low, first.interval.high) == pytest.approx((-0.886, 1.885), abs=2e-3)
    assert rerun.cells["4", "1"].reason == (
        "the number of trials behind the published value is unknown"
    )
    # 100 trials at 50 %: 40.4 to 59.6 for the published value alone.
    assert rerun.beyond == 3


def test_without_a_margin_nothing_agrees(compared):
    ours = ["a,1,1,50,10000,5000,,r-1", "a,2,1,60,10000,6000,,r-1"]
    results = compared("", SIX[:2], ours, {at: DONE[at] for at in list(DONE)[:2]})
    assert list(verdicts(results).values()) == ["too few to tell", "differs"]


@pytest.mark.parametrize("rule", ["primary", "agreement", "median"])
def test_a_run_takes_no_part_in_what_is_shown(make_study, rule):
    # Two runs that agree with each other, and another level that only they have.
    more = HEAD + f"reconcile: {rule}\n" + READINGS + "  - {id: again, file: again.csv}\n"
    ours = table(OURS, "a,1,1,60,10,6,,r-1", "b,1,1,60,10,6,,r-1")
    study = make_study(more, table(COLUMNS, "a,1,1,50,10"), {"ours.csv": ours, "again.csv": ours})
    results = analyse(study)
    assert list(results.grids) == [("a",)]
    cell = results.grid(model="a").cell("1", "1")
    assert (str(cell.value), cell.reading) == ("50", "paper")
    comparison = compare(study)
    assert (comparison.readings, comparison.disagreements) == (("paper",), ())
    assert comparison.alone == ()
    assert reproduction_of(results).more == ("b",)
    assert {finding.reading for finding in check_study(study).findings} <= {
        "ours",
        "again",
        "paper",
    }
    assert check_study(study).problems == ()


def test_of_several_runs_the_first_reading_counts(make_study):
    study = make_study(
        HEAD + REPRODUCE + READINGS + "  - {id: again, file: again.csv}\n",
        table(COLUMNS, "a,1,1,50,10000", "a,2,1,50,10000"),
        {
            "ours.csv": table(OURS, "a,1,1,50,10000,5000,,r-1"),
            "again.csv": table(OURS, "a,1,1,60,10000,6000,,r-2", "a,2,1,60,10000,6000,,r-2"),
        },
    )
    assert list(verdicts(analyse(study)).values()) == ["agrees", "differs"]


def test_in_a_study_of_runs_alone_they_are_shown_and_nothing_is_compared(compared):
    rows = ["a,1,1,50,2,1,,r-1", "a,2,1,50,2,1,,r-1"]
    at = {("a", rate, "1"): (2, 2) for rate in "12"} | {("a", "3", "1"): (1, 2)}
    results = compared("factors: {rate: {levels: [1, 2, 3]}}\n", rows, [], at)
    assert results.grid(model="a").cell("1", "1").run == "r-1"
    found = reproduction_of(results)
    assert (found.reruns, found.counts) == ((), {})
    (own,) = found.own
    assert (own.measured, own.running, own.of) == (2, 1, 3)


def test_standard_errors_over_items_make_the_interval_wider(compared):
    at = ("a", "1", "1")
    # 100 items that are all right or all wrong in 100 samples: 10,000 trials, and as sure as 100.
    items = [100] * 50 + [0] * 50
    row = "a,1,1,50,10000,5000,5.03,r-1"
    results = compared(REPRODUCE, SIX[:1], [row], {at: (100, 100)}, outcomes_file({at: items}, 100))
    (rerun,) = reproduction_of(results).reruns
    cell = rerun.cells["1", "1"]
    assert cell.verdict == "too few to tell"
    # t with 99 degrees of freedom is 1.984; √((5.03 · 1.984)² + 0.98²) = 10.03
    assert cell.interval.high == pytest.approx(10.03, abs=0.01)
    assert cell.method == "Newcombe's interval, with standard errors over items"


def test_a_disputed_value_is_not_testable(make_study):
    head = HEAD + REPRODUCE + READINGS + "  - {id: other, file: other.csv}\n"
    study = make_study(
        head + "reconcile: agreement\n",
        table(COLUMNS, "a,1,1,50,100"),
        {
            "ours.csv": table(OURS, "a,1,1,50,100,50,,r-1"),
            "other.csv": table(COLUMNS, "a,1,1,51,100"),
        },
    )
    (rerun,) = reproduction_of(analyse(study)).reruns
    assert rerun.cells["1", "1"].verdict == "not testable"
    assert rerun.cells["1", "1"].reason == "the published value is disputed"


def test_a_study_without_runs_and_script_has_nothing_to_reproduce(make_study):
    assert reproduction(analyse(make_study(HEAD, table(COLUMNS, "a,1,1,50,10")))) is None


# --- item by item -------------------------------------------------------------------------------

LEVELS = "roles: {model: choice}\n"
BEFORE, AFTER = [1] * 10 + [0] * 30, [1] * 10 + [1] * 7 + [0] * 23


def own(compared, **about):
    """Two models that one run asked the same 40 questions: 10 and 17 of them right."""
    outcomes = {("a", "1", "1"): BEFORE, ("b", "1", "1"): AFTER}
    rows = ["a,1,1,25,40,10,,r-1", "b,1,1,42.5,40,17,,r-1"]
    results = compared(
        LEVELS, rows, [], dict.fromkeys(outcomes, (40, 40)), outcomes_file(outcomes), **about
    )
    return results


def test_levels_that_were_asked_the_same_items_are_compared_item_by_item(compared):
    results = own(compared)
    (difference,) = differences(results, results.study.facet("model"))
    found = assess(results).of_difference(difference)
    # All 7 items that changed are right afterwards: p = 2/2⁷ = 0.016; by counts alone it is 0.16.
    assert (found.paired, found.cells, found.differ, found.higher) == (True, 1, 1, 1)
    assert found.test == "McNemar's exact test, Holm's correction"
    assert reproduction_of(results).own[0].measured == 1


def test_training_seeds_are_not_compared_item_by_item(compared):
    results = own(compared, stderr_over="units")
    (difference,) = differences(results, results.study.facet("model"))
    found = assess(results).of_difference(difference)
    assert (found.paired, found.differ) == (False, 0)
    assert found.test == "two-sided Fisher exact tests, Holm's correction"


def test_cells_of_a_grid_are_compared_item_by_item(compared):
    outcomes = {("a", "1", "1"): BEFORE, ("a", "2", "1"): AFTER}
    rows = ["a,1,1,25,40,10,,r-1", "a,2,1,42.5,40,17,,r-1"]
    done = dict.fromkeys(outcomes, (40, 40))
    results = compared("", rows, [], done, outcomes_file(outcomes))
    (uncertainty,) = assess(results).grids.values()
    assert (uncertainty.paired, uncertainty.best_set_size, uncertainty.test) == (
        True,
        1,
        "McNemar's exact test",
    )


# --- what is said -------------------------------------------------------------------------------


def badge(results, model="a"):
    svg = reproduced_badge(results.grid(model=model), reproduction(results))
    return [
        text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_badges_count_cells_that_agree(six):
    assert badge(six) == ["reproduced", "1 of 6 agree, 1 differ"]


def test_badges_of_our_own_studies_claim_no_reproduction(compared):
    assert badge(own(compared)) == ["measured", "1 of 1 cell"]


def test_the_download_has_verdicts(six):
    results = six
    (rerun,) = reproduction_of(results).reruns
    grid = results.grid(model="a")
    cells = json.loads(to_json(grid, assess(results).of(grid), rerun))["cells"]
    assert [cell.get("reproduced", {}).get("verdict") for cell in cells] == [
        "agrees", "differs", "too few to tell", "not testable", "running", None,
    ]  # fmt: skip
    assert cells[1]["reproduced"]["run"] == "r-1"
    assert cells[1]["reproduced"]["value"] == 60.0


def test_heatmaps_mark_verdicts_by_signs(six):
    checks = check_study(six.study)
    assessed = Assessment(six, checks)
    published, again, difference = rerun_figures(assessed, assessed.reproduction.reruns[0])
    assert published.heatmap.scale == again.heatmap.scale
    assert (again.heatmap.scale.low, again.heatmap.scale.high) == (50.0, 60.0)
    assert [mark.text for mark in difference.heatmap.marks] == [
        "+0.5 =", "+10.0 ≠", "0 ?", "0", "", "",
    ]  # fmt: skip
    assert [mark.absent for mark in difference.heatmap.marks][4:] == ["running", "not run"]
    assert difference.heatmap.marks[1].label == "Rate 2, Depth 1: +10.0 points, differs"
    assert caption(difference) == ("= agrees, ≠ differs, ? too few to tell.")
    data = json.loads(card_data(difference))
    assert data["tell"][1].startswith("Differs. 95 % interval of the difference: +8.6 to +11.4 (")
    assert data["tell"][4] == "1 of 4 units of work is done."
    shown = json.loads(card_data(published))
    assert shown["readings"][0]["label"] == "Measured again"
    assert shown["readings"][0]["at"][:2] == ["50.5: agrees (run r-1)", "60.0: differs (run r-1)"]


def test_tables_say_what_a_cell_and_a_run_were(six, compared):
    (rerun,) = reproduction_of(six).reruns
    rows = rerun_rows(rerun)
    assert [(row.x.key, row.published, row.again, row.verdict) for row in rows[1::3]] == [
        ("2", "50.0 (n = 10,000)", "60.0 (n = 10,000)", "differs"),
        ("5", "50.0 (n = 100)", "", "running"),
    ]
    assert (rows[1].difference, rows[1].interval) == ("+10.0 points", "+8.6 to +11.4")
    facts = dict(run_facts(reproduction_of(six).runs[0]))
    assert facts == {
        "Cells": "4 of 6 done, 1 begun", "Script": "s", "Arguments": "none",
        "Started": "2026-05-01", "Code": "commit not known", "GPU": "not known",
        "Packages": "not known",
    }  # fmt: skip


def test_a_run_tells_its_code_machine_and_model(compared):
    about = {
        "arguments": ["--model", "a b"], "commit": "abc", "dirty": True, "packages": {"torch": "2"},
        "gpu": {"name": "H100", "memory": 85899345920, "driver": "570", "cuda": None},
        "model": {"id": "org/m", "revision": "f00", "sha256": None}, "settings": {"limit": 5},
        "python": "3.11.7",
    }  # fmt: skip
    results = compared(REPRODUCE, SIX[:1], [], {("a", "1", "1"): (0, 1)}, **about)
    (run,) = reproduction_of(results).runs
    facts = dict(run_facts(run))
    assert facts["Arguments"] == "--model 'a b'"
    assert facts["Code"] == "commit abc, changed since"
    assert facts["GPU"] == "H100, 80 GiB, driver 570"
    assert facts["Model"] == "id org/m, revision f00"
    assert facts["A try"] == "only the first 5 items"
    assert dict(run_facts(run))["Packages"] == "torch 2"
