"""From records to a reading: counts, standard errors worked out by hand, and what is refused."""

import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from toy_run import toy_rows

from conftest import STUDY
from gridatlas.cli.main import main
from gridatlas_reproduce.runner.records import RunFolder, Unit
from gridatlas_reproduce.runner.tally import Answers, clustered_stderr, tally
from gridatlas_reproduce.runner.units import cell_of

CELL = (("local_window", "500"), ("model", "toy"), ("ratio", "0.1"))


def called(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), prog_name="gridatlas")


def collected(data, *runs, reading="ours"):
    folders = [run.folder if isinstance(run, RunFolder) else run for run in runs]
    options = ("--data", data, "--study", "demo", "--reading", reading)
    return called("collect", *folders, *options)


def graded(unit, *correct):
    """Rows of a unit by item: `graded(unit, [1, 0], [1, 1])`."""
    assert unit.item is not None
    ids = [unit.item] if len(correct) == 1 else [f"p{number}" for number in range(len(correct))]
    row = toy_rows(replace(unit, rows=1), 0)[0]
    return [
        replace(row, item=item, sample=sample, correct=bool(outcome))
        for item, outcomes in zip(ids, correct, strict=True)
        for sample, outcome in enumerate(outcomes)
    ]


def test_answers_of_a_cell_are_counted():
    units = [Unit(CELL, f"q{number}", 2) for number in range(2)]
    first, second, third, fourth = (row for unit in units for row in graded(unit, [1, 0]))
    rows = {
        units[0]: [
            replace(first, tokens=10, prunes=0),
            replace(second, tokens=20, prunes=2, prediction=None, finish="length"),
        ],
        units[1]: [
            replace(third, tokens=30, prunes=3, finish="length"),
            replace(fourth, tokens=40, prunes=1, prediction=None),
        ],
    }
    assert tally(CELL, rows).answers == Answers(unanswered=2, truncated=2, tokens=100, prunes=6)
    whole = {unit: [replace(row, prunes=None) for row in found] for unit, found in rows.items()}
    counted = tally(CELL, whole).answers
    assert counted.prunes is None
    assert tally(CELL, {**rows, units[1]: None}).answers is None


# --- standard errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clusters", "stderr"),
    [
        # Shares 1, 0.5, 0, 0.5 of 2 trials each: mean 0.5, squared deviations 0.25 + 0 + 0.25 + 0
        # = 0.5; variance 0.5 / 3; of the mean 0.5 / 3 / 4 = 1 / 24.
        ([(2, 2), (1, 2), (0, 2), (1, 2)], math.sqrt(1 / 24)),
        # One trial each, 3 of 10: 0.3 × 0.7 / (10 - 1) = 0.0233….
        ([(1, 1)] * 3 + [(0, 1)] * 7, math.sqrt(0.3 * 0.7 / 9)),
        # The trials of one item all alike: as if each item were one trial, 0.5 × 0.5 / (4 - 1).
        ([(5, 5), (5, 5), (0, 5), (0, 5)], math.sqrt(0.25 / 3)),
        # Sizes 1 and 3: share 1 / 2, residuals 1 - 0.5 and 1 - 1.5, squares 0.25 + 0.25;
        # times 2 / 1, by 4² = 16: 1 / 16.
        ([(1, 1), (1, 3)], 0.25),
        # Alike, or only one: nothing tells how far they would differ.
        ([(1, 2), (2, 4)], None),
        ([(0, 1)] * 200, None),
        ([(3, 10)], None),
    ],
)
def test_standard_errors(clusters, stderr):
    found = clustered_stderr(clusters)
    assert found == (None if stderr is None else pytest.approx(stderr, rel=1e-12))


def test_standard_error_of_questions_is_over_questions():
    units = [Unit(CELL, f"q{number}", 2) for number in range(4)]
    outcomes = [[1, 1], [1, 0], [0, 0], [0, 1]]
    rows = {unit: graded(unit, outcome) for unit, outcome in zip(units, outcomes, strict=True)}
    found = tally(CELL, rows)
    assert (found.n, found.successes) == (8, 4)
    assert found.stderr == pytest.approx(math.sqrt(1 / 24))  # as above
    assert (found.items, found.samples) == (("q0", "q1", "q2", "q3"), (2, 2, 2, 2))
    assert found.correct == (2, 1, 0, 1)


def test_standard_error_of_training_seeds_is_over_seeds():
    units = [Unit(CELL, f"seed{number}", 4) for number in range(3)]
    # The same four problems for each of three models: 3, 1 and 2 of 4 are right.
    outcomes = [([1], [1], [1], [0]), ([1], [0], [0], [0]), ([1], [0], [1], [0])]
    rows = {unit: graded(unit, *outcome) for unit, outcome in zip(units, outcomes, strict=True)}
    over_units, over_items = tally(CELL, rows, "units"), tally(CELL, rows, "items")
    assert (over_units.n, over_units.successes) == (12, 6)
    # Shares 0.75, 0.25, 0.5: squared deviations 0.125; by 2 and by 3: 1 / 48.
    assert over_units.stderr == pytest.approx(math.sqrt(1 / 48))
    # By problem 3, 1, 2, 0 of 3: shares 1, 1/3, 2/3, 0, mean 1/2; squared deviations
    # 1/4 + 1/36 + 1/36 + 1/4 = 5/9; by 3 and by 4: 5 / 108.
    assert over_items.stderr == pytest.approx(math.sqrt(5 / 108))
    for counted in (over_units, over_items):
        assert (counted.items, counted.samples) == (("p0", "p1", "p2", "p3"), (3, 3, 3, 3))
        assert counted.correct == (3, 1, 2, 0)


# --- the reading --------------------------------------------------------------------------------


@pytest.fixture
def units():
    """Two cells with four questions each, two samples per question."""
    return [
        Unit((*CELL[:2], ("ratio", ratio)), f"q{number}", 2)
        for number in range(4)
        for ratio in ("0.2", "0.1")
    ]


@pytest.fixture
def run(units, make_run):
    """At 0.1 the questions have 2, 1, 0, 1 right; at 0.2 2, 2, 1, and the last isn't done."""
    run = make_run(units, but=units)
    right = {"0.1": [[1, 1], [1, 0], [0, 0], [0, 1]], "0.2": [[1, 1], [1, 1], [1, 0]]}
    for ratio, outcomes in right.items():
        mine = [unit for unit in units if unit.levels["ratio"] == ratio]
        for unit, outcome in zip(mine, outcomes, strict=False):
            run.write(unit, graded(unit, outcome))
    return run


def test_many_cells_that_are_absent_are_told_by_grid(data, units, make_run):
    ratios = [f"0.{number}" for number in range(1, 7)]
    models = [f"m{number:02}" for number in range(21)]
    plan = [
        Unit(cell_of({"model": model, "local_window": 500, "ratio": ratio}), "q", 1)
        for model in models
        for ratio in (ratios if model != "m01" else ratios[:5])
    ]
    run = make_run(plan, but=plan)
    run.write(plan[0], graded(plan[0], [1]))
    for unit in plan[11:]:
        if unit.levels["model"] == "m02":
            run.write(unit, graded(unit, [1]))
    lines = collected(data, run).stdout.splitlines()
    assert lines[0] == f"{data}/demo/ours.csv: 7 of 125 cells"
    assert lines[2:9] == [
        "  absent: local_window 500, model m00, ratio 0.2: 0 of 1 units",
        "  absent: local_window 500, model m00, ratio 0.3: 0 of 1 units",
        "  absent: local_window 500, model m00, ratio 0.4: 0 of 1 units",
        "  absent: local_window 500, model m00, ratio 0.5: 0 of 1 units",
        "  absent: local_window 500, model m00, ratio 0.6: 0 of 1 units",
        "  absent: local_window 500, model m01, ratio 0.1: 0 of 1 units",
        "  absent: local_window 500, model m01, ratio 0.2: 0 of 1 units",
    ]
    assert "  absent: model m03: 6 of 6 cells, with 0 of 6 units done" in lines
    assert "  absent: … and 8 more like these" in lines


def test_complete_cells_become_rows_and_others_stay_absent(data, run, units):
    result = collected(data, run)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"{data}/demo/ours.csv: 1 of 2 cells\n"
        f"{data}/demo/runs/{run.run}.json\n"
        "  absent: local_window 500, model toy, ratio 0.2: 3 of 4 units\n"
        "\n"
        f"To show it, add to {data}/demo/study.yml:\n"
        "\n"
        "readings:\n"
        "  - {id: cells, file: cells.csv}\n"
        "  - {id: ours, file: ours.csv}\n"
    )
    # √(1 / 24) = 0.20412…, as worked out above
    first = f"toy,0.1,500,50.00,8,4,20.41,{run.run}\n"
    head = "model,ratio,local_window,pass_at_1,n,successes,stderr,run\n"
    assert (data / "demo/ours.csv").read_text() == head + first
    run.write(units[-2], graded(units[-2], [0, 1]))
    result = collected(data, run)
    assert result.stdout.startswith(f"{data}/demo/ours.csv: 2 of 2 cells\n")
    assert "absent" not in result.stdout
    # 2, 2, 1, 1 of 2: mean 0.75, squared deviations 4 / 16; by 3 and by 4: 1 / 48 = 0.1443²
    second = f"toy,0.2,500,75.00,8,6,14.43,{run.run}\n"
    assert (data / "demo/ours.csv").read_text() == head + first + second


def test_cells_that_are_not_complete_at_levels_of_no_study_are_left_out(data, run):
    listed = "facets: [model]\nfactors: {ratio: {levels: [0.1]}}\n"
    (data / "demo/study.yml").write_text(STUDY.replace("facets: [model]\n", listed))
    result = collected(data, run)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:3] == [
        f"{run.run}: 1 of 2 cells aren't complete, at levels that {data}/demo/study.yml doesn't "
        "list, and are left out",
        f"{data}/demo/ours.csv: 1 of 1 cells",
        f"{data}/demo/runs/{run.run}.json",
    ]
    manifest = json.loads((data / f"demo/runs/{run.run}.json").read_text())
    assert [cell["levels"]["ratio"] for cell in manifest["cells"]] == ["0.1"]


def test_outcomes_are_there_item_by_item(data, run):
    collected(data, run)
    text = (data / f"demo/runs/{run.run}.outcomes.json").read_text()
    assert text == (
        '{"cells":[{"cell":{"local_window":"500","model":"toy","ratio":"0.1"},'
        '"correct":[2,1,0,1],"items":0,"samples":2}],'
        f'"items":[["q0","q1","q2","q3"]],"run":"{run.run}"}}\n'
    )


def test_manifest_says_how_far_each_cell_is(data, run):
    collected(data, run)
    content = json.loads((data / f"demo/runs/{run.run}.json").read_text())
    rows = [row for unit in run.plan() if unit.cell == CELL for row in run.read(unit)]
    answers = {"n": 8, "unanswered": 0, "truncated": 0, "tokens": sum(row.tokens for row in rows)}
    answers["prunes"] = None
    assert content == run.manifest() | {
        "cells": [
            {"levels": dict(CELL) | {"ratio": "0.2"}, "done": 3, "of": 4},
            {"levels": dict(CELL), "done": 4, "of": 4, "answers": answers},
        ]
    }


def test_reading_passes_the_check(data, run):
    collected(data, run)
    entries = "readings:\n  - {id: cells, file: cells.csv}\n  - {id: ours, file: ours.csv}\n"
    (data / "demo/study.yml").write_text(STUDY + entries)
    result = called("check", data)
    assert (result.exit_code, result.stdout) == (
        0,
        "demo: 1 grid, 1 value, 2 readings; no difference is tested\n0 problems\n",
    )
    # Named as it is now, it needs no more words.
    assert "readings:" not in collected(data, run).stdout


def test_the_same_records_give_the_same_bytes(data, run):
    def files():
        return {path.name: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    collected(data, run)
    first = files()
    assert len(first) == 5
    copy = run.folder.with_name("copy")
    shutil.copytree(run.folder, copy)
    collected(data, copy, run)
    assert files() == first


def test_a_run_without_a_complete_cell_writes_how_far_it_is(data, units, make_run):
    run = make_run(units, but=units[:2])
    result = collected(data, run)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        f"No cell of 2 is complete: {data}/demo/ours.csv isn't written."
    )
    assert not (data / "demo/ours.csv").exists()
    assert (data / f"demo/runs/{run.run}.json").exists()


def test_a_half_written_record_is_told_and_not_counted(data, run, units):
    path = run.path(units[1])
    path.write_bytes(path.read_bytes()[:-5])
    result = collected(data, run)
    assert result.exit_code == 0
    assert result.stderr == (
        f"{path} is half-written (1 of 2 rows): not counted; the run's command fixes it\n"
    )
    assert "ratio 0.1: 3 of 4 units" in result.stdout
    assert path.exists()


def test_label_and_limit_are_told(data, units, make_run):
    run = make_run(units, settings={"limit": 4})
    options = ("--data", data, "--study", "demo", "--reading", "ours", "--label", 'Ours: "x"')
    lines = called("collect", run.folder, *options).stdout.splitlines()
    assert lines[2] == "  a try: only the first 4 items (--limit)"
    assert lines[-1] == r'  - {id: ours, file: ours.csv, label: "Ours: \"x\""}'


def test_rows_of_other_runs_are_kept_in_order(data, units, make_run):
    later = [replace(unit, cell=(*unit.cell[1:], ("local_window", "1000"))) for unit in units]
    first_run, second_run = (
        make_run(units, "one"),
        make_run(later, "two", settings={"temperature": 1}),
    )
    collected(data, second_run)
    result = collected(data, first_run)
    assert "temperature" not in result.stdout
    rows = (data / "demo/ours.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1:3] for row in rows] == [
        ["0.1", "500"],
        ["0.2", "500"],
        ["0.1", "1000"],
        ["0.2", "1000"],
    ]
    assert [row.rpartition(",")[2] for row in rows] == [first_run.run] * 2 + [second_run.run] * 2
    table = (data / "demo/ours.csv").read_bytes()
    (data / "demo/ours.csv").unlink()
    result = collected(data, second_run, first_run)
    assert (data / "demo/ours.csv").read_bytes() == table
    first, second = sorted((first_run, second_run), key=lambda run: run.run)
    values = {first_run.run: "0.6", second_run.run: "1"}
    assert (
        f"  note: settings.temperature is {values[first.run]} in {first.run} and "
        f"{values[second.run]} in {second.run}\n"
    ) in result.stdout


def test_a_cell_that_is_measured_again_leaves_the_first_run_as_it_is(data, units, make_run):
    """Of the same settings both have the same id; the second gets another, which stays its own."""
    first = make_run(units, "one")
    collected(data, first)
    before = {path.name: path.read_bytes() for path in (data / "demo/runs").iterdir()}
    again = make_run(units, "again", but=[unit for unit in units if unit.cell != CELL])
    assert again.run == first.run
    again_id = f"{first.run}-2"
    for _ in range(2):
        assert (
            called(
                "collect", again.folder, "--data", data, "--study", "demo", "--reading", "again"
            ).stdout.splitlines()[1]
            == f"{data}/demo/runs/{again_id}.json"
        )
        assert [line.rpartition(",")[2] for line in table(data, "again")] == [again_id]
        after = {path.name: path.read_bytes() for path in (data / "demo/runs").iterdir()}
        assert after.items() > before.items()
        assert len(after) == 4


# --- pass@k -------------------------------------------------------------------------------------

OF_PASS_2 = """format: 1
title: Solved in two tries
metric: {name: "pass@2", column: value, unit: "%", range: [0, 100]}
x: ratio
y: local_window
facets: [model]
"""


def table(data, reading):
    """The rows of a reading's table."""
    return (data / f"demo/{reading}.csv").read_text().splitlines()[1:]


def solved(data, run, see_also, k=2):
    folder = data / "solved"
    folder.mkdir()
    (folder / "study.yml").write_text(f"{OF_PASS_2}see_also: {see_also}\n")
    options = ("--data", data, "--study", "solved", "--reading", "ours", "--pass-at", k)
    return called("collect", run.folder, *options)


def test_pass_at_k_counts_items_of_which_one_sample_is_right(data, run, units, make_run):
    result = solved(data, run, "[{study: demo, text: Shares, same_runs: true}]")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:3] == [
        f"{data}/solved/ours.csv: 1 of 2 cells",
        f"{data}/solved/runs/{run.run}.json",
        "  absent: local_window 500, model toy, ratio 0.2: 3 of 4 units",
    ]
    # Two samples each: 2, 1, 0 and 1 right, so 3 of 4 solved; √(0.75 × 0.25 / 3) = 25 points.
    rows = (data / "solved/ours.csv").read_text().splitlines()
    assert rows[1:] == [f"toy,0.1,500,75.00,4,3,25.00,{run.run}"]
    outcomes = json.loads((data / f"solved/runs/{run.run}.outcomes.json").read_text())
    [cell] = outcomes["cells"]
    assert (cell["samples"], cell["correct"]) == (1, [1, 1, 0, 1])
    manifest = json.loads((data / f"solved/runs/{run.run}.json").read_text())
    assert (manifest["study"], manifest["pass_at"]) == ("solved", 2)
    # What the study of shares says of the same run stays as it is.
    collected(data, run)
    assert "pass_at" not in json.loads((data / f"demo/runs/{run.run}.json").read_text())


def test_cells_with_another_number_of_samples_are_left_out_of_pass_at_k(data, units, make_run):
    greedy = [replace(unit, rows=1) for unit in units if unit.levels["ratio"] == "0.2"]
    run = make_run([*(unit for unit in units if unit.levels["ratio"] == "0.1"), *greedy])
    result = solved(data, run, "[{study: demo, text: Shares, same_runs: true}]")
    assert result.stdout.splitlines()[:2] == [
        f"{run.run}: 1 of 2 cells haven't 2 samples per item, and are left out, such as "
        "local_window 500, model toy, ratio 0.2",
        f"{data}/solved/ours.csv: 1 of 1 cells",
    ]


def test_cells_that_are_not_done_at_levels_without_pass_at_k_are_left_out(data, units, make_run):
    run = make_run(units, but=units)
    listed = "[{study: demo, text: Shares, same_runs: true}]\nfactors: {ratio: {levels: [0.1]}}"
    result = solved(data, run, listed)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1].startswith("No cell of 1 is complete: ")
    manifest = json.loads((data / f"solved/runs/{run.run}.json").read_text())
    assert [cell["levels"]["ratio"] for cell in manifest["cells"]] == ["0.1"]


@pytest.mark.parametrize(
    ("see_also", "k", "message"),
    [
        ("[{study: demo, text: Shares}]", 2, 'measures the study "demo"'),
        (
            "[{study: demo, text: Shares, same_runs: true}]",
            8,
            "no complete cell of the run {run} has 8 samples per item\n"
            "  expected: 8 samples of each item, of which one right is enough\n"
            "  fix:      correct --pass-at\n",
        ),
    ],
)
def test_runs_that_pass_at_k_does_not_fit_are_refused(see_also, k, message, data, run):
    result = solved(data, run, see_also, k)
    assert result.exit_code != 0
    assert message.format(run=run.run) in result.stderr
    assert not (data / "solved/ours.csv").exists()


# --- what doesn't fit ---------------------------------------------------------------------------


def test_a_cell_of_two_runs_is_refused(data, units, make_run):
    first_run, second_run = make_run(units, "one"), make_run(units, "two", seeds=1)
    collected(data, first_run)
    table = (data / "demo/ours.csv").read_bytes()
    result = collected(data, second_run)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: local_window 500, model toy, ratio 0.2 is measured by the runs "
        f"{first_run.run} and {second_run.run}\n"
        "  expected: each cell once in a reading\n"
        "  fix:      leave one run out, collect it into another reading, or remove "
        f"{data}/demo/ours.csv to start again\n"
    )
    assert (data / "demo/ours.csv").read_bytes() == table
    assert not (data / f"demo/runs/{second_run.run}.json").exists()


def test_one_unit_with_two_outcomes_is_refused(data, run, units):
    copy = run.folder.with_name("copy")
    shutil.copytree(run.folder, copy)
    RunFolder.open(copy).write(units[1], graded(units[1], [0, 0]))
    result = collected(data, run, copy)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {run.path(units[1])} and {copy}")


REFUSED = [
    ("x: ratio\n", "x: rate\n", "the run RUN varies local_window, model, ratio\n"),
    ('unit: "%", range: [0, 100], ', "", "the metric Pass@1 has neither the unit % nor the range"),
    (
        "facets: [model]\n",
        "facets: [model]\nfactors: {ratio: {levels: [0.2, 0.3]}}\n",
        'the run RUN has cells at ratio "0.1"\n  expected: one of its levels: 0.2, 0.3\n',
    ),
    (
        "facets: [model]\n",
        "facets: [model]\nreadings: [{id: ours, file: ours.parquet}]\n",
        'the reading ours has the file "ours.parquet"\n',
    ),
    (
        "facets: [model]\n",
        "facets: [model]\nreadings: [{id: old, file: ours.csv}]\n",
        "ours.csv is the file of another reading\n",
    ),
    ("title: A demo\n", "", 'DATA/demo/study.yml:1, "title": problem [missing-key]\n'),
]


@pytest.mark.parametrize(("line", "instead", "message"), REFUSED)
def test_a_study_that_does_not_fit_is_refused(line, instead, message, data, run):
    assert line in STUDY
    (data / "demo/study.yml").write_text(STUDY.replace(line, instead))
    result = collected(data, run)
    assert result.exit_code == 1
    message = message.replace("RUN", run.run).replace("DATA", str(data))
    assert result.stderr.startswith(f"Error: {message}")
    assert "Traceback" not in result.stderr
    assert not (data / "demo/runs").exists()


def test_a_reading_of_shares_is_given_in_shares(data, run):
    text = STUDY.replace('unit: "%", range: [0, 100], decimals: 1', "range: [0, 1]")
    (data / "demo/study.yml").write_text(text)
    collected(data, run)
    row = (data / "demo/ours.csv").read_text().splitlines()[1]
    assert row == f"toy,0.1,500,0.5000,8,4,0.2041,{run.run}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model,local_window,ratio,pass_at_1\ntoy,1,1,1\n", "demo/ours.csv has the columns model"),
        ("", "demo/ours.csv: problem [empty-file]"),
    ],
)
def test_a_file_of_somebody_else_is_left_alone(content, message, data, run):
    (data / "demo/ours.csv").write_text(content)
    result = collected(data, run)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {data}/{message}")
    assert (data / "demo/ours.csv").read_text() == content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--study": "dmeo"}, "there is no DATA/dmeo/study.yml\n  expected: one of the studies: d"),
        ({"--data": "/nowhere"}, "there is no /nowhere/demo/study.yml\n"),
        ({"--reading": "../x"}, 'the reading\'s id "../x"\n'),
        ({"--study": "other"}, 'the run RUN measures the study "demo"\n'),
    ],
)
def test_wrong_usage(changes, message, data, run):
    shutil.copytree(data / "demo", data / "other")
    chosen = {"--data": str(data), "--study": "demo", "--reading": "ours"} | changes
    result = called("collect", run.folder, *(word for pair in chosen.items() for word in pair))
    assert result.exit_code == 2
    message = message.replace("RUN", run.run).replace("DATA", str(data))
    assert result.stderr.startswith(f"Error: {message}")


def test_without_a_run_it_is_wrong_usage(data, tmp_path):
    result = called("collect", "--study", "demo", "--reading", "ours")
    assert result.exit_code == 2
    assert "Missing argument 'RUN...'" in result.stderr
    result = collected(data, tmp_path / "nothing")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path}/nothing has no run.json\n")


# --- what no script writes ----------------------------------------------------------------------


def record(run, unit):
    """The file of a unit, and its lines."""
    path = run.path(unit)
    return path, path.read_text("utf-8").splitlines()


def changed(line, **changes):
    return json.dumps(json.loads(line) | changes)


TAMPERED = [
    (lambda head, first, second: [head, first, first], 'has sample 0 of item "q0" twice'),
    (
        lambda head, first, second: [head, changed(first, item="q7"), changed(second, item="q8")],
        'has a row of item "q7", and is of "q0"',
    ),
    (
        lambda head, first, second: [head, first.replace("{", '{"correct":true,', 1), second],
        'has a line with the key "correct" twice',
    ),
    (
        lambda head, first, second: [head.replace("{", '{"settings":1,', 1), first, second],
        'has a line with the key "settings" twice',
    ),
    (
        lambda head, first, second: [head, changed(first, seconds=math.nan), second],
        "has a line with NaN, which JSON doesn't have",
    ),
    (lambda head, first, second: [changed(head, unit=UNIT_OF_TRUE), first], "is of another unit"),
]
UNIT_OF_TRUE = {"cell": {"local_window": "500", "model": "toy", "ratio": "0.1"}, "item": "q0"} | {
    "rows": True
}


@pytest.mark.parametrize(("tamper", "why"), TAMPERED)
def test_a_record_that_the_script_would_not_write_is_not_counted(tamper, why, data, make_run):
    samples = 1 if why == "is of another unit" else 2
    units = [Unit(CELL, f"q{number}", samples) for number in range(2)]
    run = make_run(units)
    path, lines = record(run, units[0])
    path.write_text("\n".join(tamper(*[*lines, ""][:3])) + "\n", "utf-8")
    result = collected(data, run)
    assert result.exit_code == 0
    assert result.stderr == f"{path} {why}: not counted; the run's command fixes it\n"
    assert "ratio 0.1: 1 of 2 units" in result.stdout


PLANS = [
    ({"units": [[["q0", True]]]}, "a unit has true rows, not a whole number of 1 or more"),
    ({"units": [[["q0", 0]]]}, "a unit has 0 rows, not a whole number of 1 or more"),
    ({"units": [[["q0", 1.0]]]}, "a unit has 1.0 rows, not a whole number of 1 or more"),
    ({"units": [[[7, 1]]]}, "the item 7 isn't a text"),
    ({"units": [[[{"id": "q0"}, 1]]]}, 'the item {"id":"q0"} isn\'t a text'),
    ({"units": [[["q0", 1], ["q0", 2]]]}, 'the item "q0" of a cell is planned twice'),
    ({"cells": [{"cell": dict(CELL), "units": -1}]}, "a cell has the units -1, which aren't there"),
    ({"cells": [{"cell": dict(CELL), "units": 1}]}, "a cell has the units 1, which aren't there"),
    (
        {"cells": [{"cell": dict(CELL), "units": False}]},
        "a cell has the units false, which aren't there",
    ),
    (
        {"cells": [{"cell": dict(CELL) | {"ratio": ratio}, "units": 0} for ratio in (0.1, "0.10")]},
        'the cell {"local_window":"500","model":"toy","ratio":"0.1"} is planned twice',
    ),
]


@pytest.mark.parametrize(("changes", "why"), PLANS)
def test_a_plan_that_the_script_would_not_write_is_refused(changes, why, data, make_run):
    run = make_run([Unit(CELL, "q0", 1)])
    path = run.folder / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    result = collected(data, run)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: {path} can't be read: {why}\n"
        "  expected: the units of the run, as the script wrote them\n"
        "  fix:      start the run again in another folder\n"
    )


MANIFESTS = [
    ('"temperature": 0.6', '"temperature": NaN', "NaN, which JSON doesn't have"),
    ('"temperature": 0.6', '"temperature": -Infinity', "-Infinity, which JSON doesn't have"),
    ('"temperature": 0.6', '"temperature": 1e999', "1e999, a number that is too large"),
    ('"temperature": 0.6', '"temperature": "\\udc80"', "half a character (\\udc80)"),
    ('"study": "demo"', '"study": "other", "study": "demo"', 'the key "study" twice'),
]


@pytest.mark.parametrize(("text", "instead", "why"), MANIFESTS)
def test_a_manifest_that_the_script_would_not_write_is_refused(text, instead, why, data, run):
    path = run.folder / "run.json"
    before = path.read_text()
    assert text in before
    path.write_text(before.replace(text, instead))
    result = collected(data, run)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: {path} can't be read: {why}\n"
        "  expected: the manifest of a run, as the script wrote it\n"
        "  fix:      restore it, or start the run again in another folder\n"
    )
    assert not (data / "demo/runs").exists()


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("run", "x.outcomes", 'has the run "x.outcomes"'),
        ("script", None, "has nothing as its script"),
        ("commit", 5, 'has "5" as its commit'),
        ("packages", {"torch": 2}, 'has "2" as its packages.torch'),
    ],
)
def test_a_run_that_would_be_refused_later_is_not_collected(key, value, found, data, run):
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    result = collected(data, run)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: {path} {found}\n"
        "  expected: the manifest of a run, as the script wrote it\n"
        "  fix:      restore it, or start the run again in another folder\n"
    )
    assert not (data / "demo/runs").exists()
    assert not (data / "demo/ours.csv").exists()


@pytest.mark.parametrize("linked", ["demo", "demo/runs", "demo/ours.csv"])
def test_nothing_is_written_out_of_the_data_folder(linked, data, run, tmp_path):
    away = tmp_path / "away"
    if linked == "demo":
        (data / "demo").rename(away)
    elif linked == "demo/runs":
        away.mkdir()
    else:
        collected(data, run)
        (data / linked).rename(away)
        shutil.rmtree(data / "demo/runs")
    (data / linked).symlink_to(away)
    before = sorted(tmp_path.rglob("*"))
    content = away.read_bytes() if away.is_file() else b""
    result = collected(data, run)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: {data}/{linked} is a link that leads out of the data folder\n"
        "  expected: what is in the data folder\n"
        "  fix:      replace it with what it points to\n"
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert content == (away.read_bytes() if away.is_file() else b"")


LOOKS = """
import sys
from pathlib import Path
looked = []
def hook(event, arguments):
    if event in ("open", "os.scandir", "os.listdir") and "/run/records" in str(arguments[0]):
        looked.append(event)
sys.addaudithook(hook)
from gridatlas_reproduce.runner.collect import collect
run, data = map(Path, sys.argv[1:])
print(next(collect([run], data, "demo", "ours")))
print(looked)
"""


def test_units_that_are_not_done_are_not_looked_for(data, make_run):
    plan = [Unit(CELL, f"q{number}", 1) for number in range(50)]
    run = make_run(plan, but=plan[2:])
    command = [sys.executable, "-c", LOOKS, str(run.folder), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"No cell of 1 is complete: {data}/demo/ours.csv isn't written.\n"
        "['os.listdir', 'open', 'open']\n"
    )
