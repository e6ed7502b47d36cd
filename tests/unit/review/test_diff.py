"""`gridatlas diff`: what changed is found, reported in order of weight, and never left out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import cmarkgfm
import pytest
from bs4 import BeautifulSoup
from builders import REPOSITORY, write_files
from click.testing import CliRunner
from cmarkgfm.cmark import Options

from gridatlas.cli.main import main
from gridatlas_review import formats
from gridatlas_review.compare import compare_snapshots, make_report
from gridatlas_review.formats import JSON_LIMIT, to_json, truncate_sections
from gridatlas_review.markdown import MARKDOWN_LIMIT, escaped, to_markdown
from gridatlas_review.page import changes_document
from gridatlas_review.report import Entry, Lead, Report, Row, Section, Table, line
from gridatlas_review.snapshot import load_snapshot

HEAD = """\
format: 1
title: A demo
metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100], decimals: 1}
x: rate
y: depth
facets: [model]
factors:
  model:
    levels: [{id: small, label: Small}, {id: large, label: Large}]
trials: {items: model}
"""
ITEMS = HEAD.replace("label: Small", "label: Small, items: 200").replace(
    "label: Large", "label: Large, items: 200"
)
CLAIMS = """\
claims:
  - text: Large is ahead everywhere.
    check: (grid(model="large") > grid(model="small")).all
"""
CELLS = """\
model,rate,depth,value
small,0.1,1,40.0
small,0.2,1,42.5
small,0.1,2,44.0
small,0.2,2,47.0
large,0.1,1,60.0
large,0.2,1,62.5
large,0.1,2,64.5
large,0.2,2,66.0
"""
STUDY = {"study.yml": ITEMS + CLAIMS, "cells.csv": CELLS}


def write(folder, files, study="demo"):
    write_files(folder / study, files)
    return folder


def edited(*edits, name="cells.csv", of=STUDY):
    """A study's files with parts of one of them replaced; each part is there."""
    text = of[name]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return {**of, name: text}


@pytest.fixture
def compare(tmp_path):
    def compare(base, head):
        write(tmp_path / "base", base)
        write(tmp_path / "head", head)
        load = (load_snapshot(name, Path("data"), tmp_path) for name in ("base", "head"))
        return compare_snapshots(*load)

    return compare


def rows_of(changes):
    """All that happened, each with its mark."""
    return [f"{row.mark} {row.text}" for row in make_report(changes).rows if row.kind != "summary"]


# --- what is found ------------------------------------------------------------------------------

MEAN = {
    "study.yml": HEAD.replace(
        "label: Large}]", "label: Large}, {id: mean, label: Mean, aggregate: {by: mean}}]"
    ),
    "cells.csv": CELLS + "mean,0.1,1,50.0\nmean,0.2,1,52.5\nmean,0.1,2,54.3\nmean,0.2,2,56.5\n",
}
TWO = {
    "study.yml": HEAD
    + "readings:\n  - {id: paper, file: cells.csv, label: Paper}\n"
    + "  - {id: second, file: second.csv, label: Second}\n",
    "cells.csv": CELLS,
    "second.csv": CELLS,
}

WHOLE = """\
## ❌ “Large is ahead everywhere.” doesn't hold any more: 60.0 (Large, rate 0.1, depth 1) against 90.0 (Small, rate 0.1, depth 1) · A demo

base → head

- ⚠️ The answer is new: No effect of rate or depth shown → Accuracy falls with rate and with depth, on these questions
- ⚠️ On the page Small, the answer is new: No effect of rate or depth shown → Accuracy falls with rate and with depth, on these questions
- ⚠️ 1 value changed significantly: Small, rate 0.1, depth 1: 40.0 → 90.0

### A demo

The answer: Accuracy falls with rate and with depth, on these questions.

| grid | rate | depth | before → after | difference |
| --- | --- | --- | --- | --- |
| Small | 0.1 | 1 | 40.0 → 90.0 | +50.0 points \\[+41.5 to +57.4\\] |

The change is significant, p &lt; 0.001. Another run measured it.

<details><summary><b>Statements</b> (1)</summary>

- ❌ “Large is ahead everywhere.” doesn't hold any more: 60.0 (Large, rate 0.1, depth 1) against 90.0 (Small, rate 0.1, depth 1)
    - Check: (grid(model="large") &gt; grid(model="small")).all

</details>

<details><summary><b>Differences by cell</b> (1)</summary>

- Small: 1 cell

    | depth / rate | 0.1 | 0.2 |
    | --- | --- | --- |
    | 1 | +50.0 | · |
    | 2 | · | · |


</details>

<details><summary><b>How values were tested</b> (1)</summary>

- Fisher's exact test, two-sided, 200 and 200 trials taken as independent; 95 % interval of each difference: Newcombe's.

</details>
"""  # noqa: E501 - as it is written


def test_the_whole_text(compare):
    changes = compare(*measured(("small,0.1,1,40.0", "small,0.1,1,90.0")))
    assert to_markdown(make_report(changes)) == WHOLE


def measured(*edits):
    """A study whose values a run measured, and as another run measured some of them again."""

    def files(cells, again):
        header, *rows = cells.split()
        by = [f"{row},{'second' if row in again else 'first'}" for row in rows]
        manifests = {
            f"runs/{run}.json": json.dumps(
                {"format": 1, "run": run, "study": "demo", "script": "s", "started": "2026-05-01"}
            )
            for run in ("first", "second")
        }
        table = "\n".join([f"{header},run", *by])
        return {"study.yml": ITEMS + CLAIMS, "cells.csv": table, **manifests}

    head = edited(*edits)["cells.csv"]
    return files(CELLS, ()), files(head, [new for _, new in edits])


def test_a_change_is_tested_by_the_trials(compare):
    changes = compare(*measured(("small,0.1,1,40.0", "small,0.1,1,57.0")))
    [study] = changes.studies
    [grid] = study.grids.changed
    [cell] = grid.cells
    assert cell.significance.significant
    assert cell.significance.n == (200, 200)
    assert cell.significance.method == (
        "Fisher's exact test, two-sided, 200 and 200 trials taken as independent; 95 % interval of "
        "each difference: Newcombe's"
    )
    # 80 and 114 of 200, by scipy's fisher_exact; 17 points between them.
    assert cell.significance.p == pytest.approx(0.00094, abs=1e-5)
    assert cell.significance.interval[0] < 17 < cell.significance.interval[1]
    assert cell.old_interval[0] < 40 < cell.old_interval[1]


def test_several_cells_are_corrected_for_their_number(compare):
    # Alone, either would be told apart (p = 0.045); of two neither is.
    once = "small,0.1,1,40.0", "small,0.1,1,50.5"
    single, double = measured(once), measured(once, ("small,0.1,2,44.0", "small,0.1,2,54.5"))
    [grid] = compare(*single).studies[0].grids.changed
    assert [cell.significance and cell.significance.significant for cell in grid.cells] == [True]
    [grid] = compare(*double).studies[0].grids.changed
    assert [cell.significance and cell.significance.significant for cell in grid.cells] == [
        False,
        False,
    ]
    assert grid.cells[0].significance
    assert "Holm's correction for the 2 cells tested" in grid.cells[0].significance.method


RUNS = (
    "format: 1\ntitle: Runs\n"
    'metric: {name: Pass, better: higher, unit: "%", range: [0, 100], decimals: 1}\n'
    "x: rate\ny: depth\n"
)


def _run(correct, items):
    n, k = len(correct), sum(correct)
    cell = {"rate": "0.1", "depth": "1"}
    manifest = {
        "format": 1, "run": "r-1", "study": "demo", "script": "s", "started": "2026-05-01",
        "cells": [{"levels": cell, "done": n, "of": n}],
    }  # fmt: skip
    outcomes = {
        "run": "r-1",
        "items": [items],
        "cells": [{"cell": cell, "items": 0, "samples": 1, "correct": correct}],
    }
    row = f"0.1,1,{100 * k / n:.1f},{n},{k},2.0,r-1\n"
    return {
        "study.yml": RUNS,
        "cells.csv": "rate,depth,value,n,successes,stderr,run\n" + row,
        "runs/r-1.json": json.dumps(manifest),
        "runs/r-1.outcomes.json": json.dumps(outcomes),
    }


def test_outcomes_of_the_same_items_are_paired(compare):
    items = [f"q{index}" for index in range(40)]
    # Eight items more, none less: McNemar's p is 2 / 2^8, and unpaired it would be 0.1.
    first = [1] * 12 + [0] * 28
    second = [1] * 20 + [0] * 20
    [grid] = compare(_run(first, items), _run(second, items)).studies[0].grids.changed
    test = grid.cells[0].significance
    assert test.p == pytest.approx(2 / 2**8)
    assert test.method == "paired by item, 40 items: McNemar's exact test"


def test_outcomes_of_other_items_are_not_paired(compare):
    first, second = ([f"{letter}{index}" for index in range(40)] for letter in "ab")
    changes = compare(_run([1] * 12 + [0] * 28, first), _run([1] * 20 + [0] * 20, second))
    test = changes.studies[0].grids.changed[0].cells[0].significance
    assert test.p is None
    assert "standard errors over items" in test.method
    assert "not corrected for the number of cells" in test.method


# --- checks that are no longer made -------------------------------------------------------------

BENCHES = {
    "study.yml": HEAD.replace("facets: [model]", "facets: [model, bench]").replace(
        "trials: {items: model}\n",
        "  bench:\n    levels: [a, b, {id: mean, label: Mean, aggregate: {by: mean}}]\n",
    ),
    "cells.csv": "model,bench,rate,depth,value\n"
    "small,a,0.1,1,40.0\nsmall,a,0.2,1,42.0\nsmall,b,0.1,1,50.0\nsmall,b,0.2,1,51.0\n"
    "small,mean,0.1,1,48.0\nsmall,mean,0.2,1,46.5\n"
    "large,a,0.1,1,60.0\nlarge,a,0.2,1,62.0\nlarge,b,0.1,1,70.0\nlarge,b,0.2,1,71.0\n"
    "large,mean,0.1,1,65.0\nlarge,mean,0.2,1,66.5\n",
}
"""Two benchmarks and their average, which is wrong in one cell of Small."""
ONE_MORE = {
    "study.yml": BENCHES["study.yml"].replace("[a, b,", "[a, b, {id: c, label: C},"),
    "cells.csv": BENCHES["cells.csv"] + "large,c,0.1,1,65.0\nlarge,c,0.2,1,66.5\n",
}
"""A third benchmark, for Large only: no average of Small can be checked any more."""


LOST = "❌ The check “{}” no longer runs"
AGGREGATE = "Printed aggregates against their parts"


def test_an_average_that_a_new_level_leaves_unchecked_is_reported(compare):
    assert LOST.format(AGGREGATE) in rows_of(compare(BENCHES, ONE_MORE))


def test_an_average_that_lost_a_part_is_reported(compare):
    gone = "small,b,0.1,1,50.0\nsmall,b,0.2,1,51.0\n"
    found = rows_of(compare(BENCHES, edited((gone, ""), of=BENCHES)))
    assert found[:2] == [
        "❌ 2 values were removed (Small | b, rate 0.1, depth 1: 50.0)",
        LOST.format(AGGREGATE),
    ]


@pytest.mark.parametrize(
    ("base", "head", "lost"),
    [
        pytest.param(
            {**STUDY, "study.yml": ITEMS},
            {**STUDY, "study.yml": ITEMS.replace("trials: {items: model}\n", "")},
            ["The check “Values as counts of trials” no longer runs"],
            id="the number of trials",
        ),
        pytest.param(
            MEAN,
            edited((", aggregate: {by: mean}", ""), name="study.yml", of=MEAN),
            [f"The check “{AGGREGATE}” no longer runs"],
            id="that it is an average",
        ),
        pytest.param(
            MEAN,
            {**STUDY, "study.yml": HEAD},
            [f"The check “{AGGREGATE}” no longer runs"],
            id="the average",
        ),
        pytest.param(
            {
                **TWO,
                "study.yml": TWO["study.yml"].replace(
                    "label: Second}",
                    "label: Second, stated_range: [{model: small, range: [40, 50]}]}",
                ),
            },
            TWO,
            ["The check “Stated range of the colour bar” no longer runs on reading “Second”"],
            id="a stated range",
        ),
        pytest.param(
            {
                **MEAN,
                "study.yml": ITEMS.replace(
                    "Large, items: 200}",
                    "Large, items: 200}, {id: mean, label: Mean, aggregate: {by: mean}}",
                ),
            },
            {**STUDY, "study.yml": HEAD.replace("trials: {items: model}\n", "")},
            [
                f"The check “{AGGREGATE}” no longer runs",
                "The check “Values as counts of trials” no longer runs",
            ],
            id="two checks of one reading",
        ),
    ],
)
def test_a_check_that_no_longer_runs_is_reported(compare, base, head, lost):
    rows = make_report(compare(base, head)).rows
    assert [row.text for row in rows if row.noun == "lost check"] == lost


def test_a_value_that_was_wrong_and_is_removed_leaves_nothing_unchecked(compare):
    base = edited(("small,0.1,1,40.0", "small,0.1,1,40.3"), of={**STUDY, "study.yml": ITEMS})
    head = edited(("small,0.1,1,40.3\n", ""), of=base)
    assert rows_of(compare(base, head)) == [
        "❌ 1 value was removed (Small, rate 0.1, depth 1: 40.3)",
        "✅ Small: no longer found: 1 of 4 values is impossible with 200 trials: 40.3 (80 of 200 "
        "is 40.0 and 81 of 200 is 40.5) at rate 0.1, depth 1",
    ]


TWO_READINGS = {
    "study.yml": TWO["study.yml"].replace("trials: {items: model}\n", "")
    + "claims:\n  - text: Large is ahead everywhere.\n    source: second\n"
    '    check: (grid(model="large") > grid(model="small")).all\n'
    "  - text: It looks nice.\n    source: second\n    not_checkable: A matter of taste.\n",
    "cells.csv": CELLS.replace("large,0.2,2,66.0\n", ""),
    "second.csv": CELLS.replace("small,0.1,1,40.0", "small,0.1,1,90.0").replace(
        "small,0.2,1,42.5", "small,0.2,1,42.55"
    ),
}
"""Two readings, the second with one value more, and one that the first has otherwise."""
SECOND = "  - {id: second, file: second.csv, label: Second}\n"
WITHOUT = {
    "study.yml": TWO_READINGS["study.yml"].replace(SECOND, ""),
    "cells.csv": TWO_READINGS["cells.csv"],
}


def test_a_reading_that_was_removed_is_the_cause(compare):
    assert rows_of(compare(TWO_READINGS, WITHOUT)) == [
        "❌ The reading “Second” was removed, with 8 values",
        "❌ “Large is ahead everywhere.” can't be decided any more: no value: Large, rate 0.2, "
        "depth 2",
        "⚠️ The answer is new: What differs depends on which reading is right → Large likely beats "
        "Small, by 20.2 points, in these runs",
    ]


def test_a_disagreement_that_stays_without_one_of_its_readings_is_not_new(compare):
    three = {
        **TWO_READINGS,
        "study.yml": TWO_READINGS["study.yml"].replace(
            SECOND, f"{SECOND}  - {{id: third, file: third.csv, label: Third}}\n"
        ),
        "third.csv": CELLS.replace("small,0.1,1,40.0", "small,0.1,1,70.0"),
    }
    head = {**three, "study.yml": three["study.yml"].replace(SECOND, "")}
    del head["second.csv"]
    assert not [text for text in rows_of(compare(three, head)) if "disagree" in text]


# --- studies ------------------------------------------------------------------------------------


def _two(tmp_path, base, head):
    for name, studies in (("base", base), ("head", head)):
        for study, files in studies.items():
            write(tmp_path / name, files, study)
    load = (load_snapshot(name, Path("data"), tmp_path) for name in ("base", "head"))
    return compare_snapshots(*load)


OTHER = {"study.yml": ITEMS, "cells.csv": CELLS.replace(".0", ".5")}


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ({"a": STUDY}, {"a": STUDY, "b": OTHER},
         "⚠️ The study “A demo” is new, with 2 grids and 8 values: No effect of rate or depth "
         "shown"),
        ({"a": STUDY, "b": OTHER}, {"a": STUDY},
         "❌ The study “A demo” was removed, with 2 grids and 8 values"),
        ({"a": STUDY, "b": OTHER}, {"a": STUDY, "c": OTHER},
         "⚠️ Study b (A demo) is c (A demo) now, without `former`: links to the old name break"),
    ],
    ids=["added", "removed", "renamed"],
)  # fmt: skip
def test_studies_come_and_go(tmp_path, base, head, expected):
    assert rows_of(_two(tmp_path, base, head)) == [expected]


def test_a_study_is_under_another_id_where_it_says_so(tmp_path):
    # Half of its values are others, so that nothing but `former` tells that it is the same.
    values = CELLS.replace("large,0.1,1,60.0", "large,0.1,1,61.0")
    for value in ("62.5", "64.5", "66.0"):
        values = values.replace(value, f"{float(value) + 10}")
    now = {"study.yml": STUDY["study.yml"] + "former: [old]\n", "cells.csv": values}
    changes = _two(tmp_path, {"old": STUDY}, {"new": now})
    assert "✅ Study old (A demo) is new (A demo) now" in rows_of(changes)
    [renamed] = [row for row in make_report(changes).rows if row.noun == "declared rename"]
    assert renamed.details == ("4 of 8 values are the same",)

    del now["study.yml"]
    without = _two(tmp_path / "without", {"old": STUDY}, {"new": {**STUDY, **now}})
    assert [row.noun for row in make_report(without).rows] == ["removed study", "new study"]


BROKEN = {"study.yml": "format: 1\ntitle: [", "cells.csv": CELLS}
UNREAD = "so the study b can't be read"
BEFORE = "The study b couldn't be read before, so what changed isn't known"


@pytest.mark.parametrize(
    ("base", "head", "text"),
    [
        ({"a": STUDY, "b": OTHER}, {"a": STUDY, "b": BROKEN}, UNREAD),
        ({"a": STUDY}, {"a": STUDY, "b": BROKEN}, UNREAD),
        ({"a": STUDY, "b": BROKEN}, {"a": STUDY, "b": OTHER}, BEFORE),
        ({"a": STUDY, "b": BROKEN}, {"a": STUDY}, BEFORE),
        ({"a": STUDY, "b": BROKEN}, {"a": STUDY, "b": BROKEN}, UNREAD),
    ],
)  # fmt: skip
def test_a_study_that_cannot_be_read_comes_first_and_hides_nothing(tmp_path, base, head, text):
    head = {**head, "a": edited(("small,0.1,1,40.0", "small,0.1,1,90.0"))}
    rows = make_report(_two(tmp_path, base, head)).rows
    assert [row.study for row in rows if text in row.text] == ["b"]
    assert any("doesn't hold any more" in row.text for row in rows)
    [lead] = make_report(_two(tmp_path / "again", base, head)).leads
    assert lead.table is not None


# --- the command --------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(main, ["diff", *arguments], catch_exceptions=False)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with the folders `base` and `same`, in no repository."""
    write(tmp_path / "base", STUDY)
    write(tmp_path / "same", STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def test_nothing_changed_is_reported(here):
    result = run("base", "same")
    assert result.output == ("## – No change of the results\n\nbase → same\n")
    assert result.exit_code == 0
    content = json.loads(run("base", "same", "--format", "json").output)
    assert (content["changed"], content["sections"], content["studies"]) == (False, [], [])


@pytest.mark.parametrize(
    ("head", "fail_on", "code"),
    [
        (STUDY, None, 0),
        (edited(("small,0.1,1,40.0", "small,0.1,1,41.0")), None, 1),
        (edited(("small,0.1,1,40.0", "small,0.1,1,41.0")), "claims,checks", 0),
        (edited(("small,0.1,1,40.0", "small,0.1,1,90.0")), "claims", 1),
        (edited(("small,0.1,1,40.0", "small,0.1,1,90.0")), "checks", 0),
        (edited(("small,0.1,1,40.0", "small,0.1,1,40.00")), "checks", 1),
        (edited(("small,0.1,1,40.0", "small,0.1,1,40.00")), "claims", 0),
        (edited(("trials: {items: model}\n", ""), name="study.yml"), "checks", 1),
        (edited(("trials: {items: model}\n", ""), name="study.yml"), "claims", 0),
        (edited(("trials: {items: model}\n", ""), name="study.yml"), "meaning", 1),
        (edited(("trials: {items: model}\n", ""), name="study.yml"), "problems,answers", 0),
        (edited(("trials: {items: model}\n", ""), name="study.yml"), "all", 1),
        # Nothing can be compared.
        ({**STUDY, "study.yml": "format: 1\ntitle: ["}, "checks", 2),
    ],
)
def test_exit_says_whether_something_changed(here, head, fail_on, code):
    write(here / "head", head)
    assert run("base", "head", *(["--fail-on", fail_on] if fail_on else [])).exit_code == code


@pytest.mark.parametrize("fail_on", ["checks", "claims", "claims,checks"])
def test_a_reading_that_was_removed_counts_with_either(here, fail_on):
    write(here / "two", TWO)
    write(here / "without", {**TWO, "study.yml": TWO["study.yml"].replace(SECOND, "")})
    codes = [run("two", name, "--fail-on", fail_on).exit_code for name in ("two", "without")]
    assert codes == [0, 1]


def test_the_text_goes_to_a_file(here):
    write(here / "head", edited(("small,0.1,1,40.0", "small,0.1,1,41.0")))
    printed = run("base", "head").output
    result = run("base", "head", "--out", "diff.md")
    assert (here / "diff.md").read_text("utf-8") == printed
    assert result.output == "1 value changed, not significantly; every answer is the same\n"
    assert run("base", "head", "--out", "no/such/folder.md").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "base"], "and . isn't in a git repository that git can read, so it isn't"),
        (["x" * 5000, "base"], "File name too long"),
        (
            ["base", "empty"],
            "has no study: no folder in it has a study.yml. It isn't clear whether its studies "
            "were lost",
        ),
        (["empty", "empty"], 'the folder "empty" has no study'),
        (["base", "above/nodata/data"], 'there is no folder "above/nodata/data"'),
        (["nodata/data", "base"], 'there is no folder "nodata/data"'),
        (["above/nodata", "base"], 'there is no folder "above/nodata"'),
        (
            ["above", "base"],
            'the folder "above" has no study: no folder in it has a study.yml; there are some in '
            '"above/data"',
        ),
        (["base", "above"], 'there are some in "above/data"'),
        (["base", "broken"], 'none of the studies of the folder "broken" can be read'),
        (["base"], "Missing argument 'HEAD'"),
        (
            ["base", "same", "--fail-on", "best"],
            "name problems, checks, answers, meaning, removed, claims, with commas between them, "
            "or all",
        ),
        (["base", "same", "--url", "javascript:alert(1)"], "begins with https://"),
    ],
)
def test_what_cannot_be_compared_is_an_error(here, arguments, message):
    (here / "empty").mkdir()
    write(here / "above/data", STUDY)
    write(here / "broken", BROKEN)
    result = run(*arguments)
    assert message in " ".join(result.output.split())
    assert result.exit_code == 2


# --- a base without a study ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ("empty", "The base has no study"),
        ("empty/data", 'The base has no folder "empty/data"'),
        ("empty/same", 'The base has no folder "empty/same"'),
    ],
)
def test_a_folder_without_a_study_is_an_empty_base(here, base, why):
    (here / "empty/docs").mkdir(parents=True)
    result = run(base, "same")
    assert result.output == (
        "## ⚠️ The study “A demo” is new, with 2 grids and 8 values: No effect of rate or depth "
        "shown\n\n"
        f"{base} → same\n\n"
        f"- ✅ {why}, so all results are new\n\n"
        "### A demo\n\n"
        "The answer: No effect of rate or depth shown.\n"
    )
    assert result.exit_code == 1
    assert run(base, "same", "--fail-on", "all").exit_code == 0


def test_problems_of_the_first_study_count(here):
    (here / "empty").mkdir()
    write(here / "head", edited(("small,0.1,1,40.0", "small,0.1,1,40.3")))
    result = run("empty", "head", "--fail-on", "checks", "--format", "json")
    assert result.exit_code == 1
    content = json.loads(result.output)
    assert [section["id"] for section in content["sections"]] == ["checks"]
    assert content["summary"] == (
        'head/demo/cells.csv:2, "value": Small: 1 of 4 values is impossible with 200 trials: 40.3 '
        "(80 of 200 is 40.0 and 81 of 200 is 40.5) at rate 0.1, depth 1; expected: a rounded share "
        "of the trials · A demo"
    )


# --- revisions ----------------------------------------------------------------------------------


def git(folder, *arguments):
    identity = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")}  # fmt: skip
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    return done.stdout.strip()


@pytest.fixture
def repository(here, monkeypatch):
    """A repository with the tag `old`; the newest commit of `main` has another value."""
    folder = here / "repository"
    write(folder / "data", STUDY)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "tag", "old")
    write(folder / "data", edited(("small,0.1,1,40.0", "small,0.1,1,41.0")))
    git(folder, "commit", "-q", "-a", "-m", "second")
    monkeypatch.chdir(folder)
    return folder


def test_revisions_are_compared_and_nothing_is_checked_out(repository):
    write(repository / "data", edited(("small,0.1,1,40.0", "small,0.1,1,90.0")))
    (repository / ".gitattributes").write_text("*.csv export-ignore filter=nosuch\n")
    before = git(repository, "status", "--porcelain=v2", "--branch")
    content = json.loads(run("old", "HEAD", "--format", "json").output)
    assert [section["id"] for section in content["sections"]] == ["differences", "tests"]
    assert content["base"] == {"name": "old", "commit": git(repository, "rev-parse", "old")}
    assert content["head"] == {"name": "HEAD", "commit": git(repository, "rev-parse", "HEAD")}
    assert git(repository, "status", "--porcelain=v2", "--branch") == before
    # A revision against the working folder.
    content = json.loads(run("HEAD", "data", "--format", "json").output)
    assert content["sections"][0]["id"] == "claims"
    assert content["head"] == {"name": "data", "commit": None}


def test_the_data_folder_is_named_from_the_working_folder(repository, monkeypatch):
    git(repository, "mv", "data", "results")
    git(repository, "commit", "-q", "-m", "moved")
    assert run("HEAD", "HEAD", "--data", "results").exit_code == 0
    result = run("HEAD", "old", "--data", "results")
    assert (
        'the revision "old" has no folder "results"; name the data folder with --data'
        in result.output
    )
    assert result.exit_code == 2
    # Before there was such a folder; which may be a mistake, so it says what there was.
    content = json.loads(run("old", "HEAD", "--data", "results", "--format", "json").output)
    assert content["summary"] == (
        "The study “A demo” is new, with 2 grids and 8 values: No effect of rate or depth shown"
    )
    assert content["base"] == {"name": "old", "commit": git(repository, "rev-parse", "old")}
    (repository / "docs").mkdir()
    monkeypatch.chdir(repository / "docs")
    assert run("HEAD", "HEAD", "--data", "../results").exit_code == 0
    assert "isn't in the repository" in run("HEAD", "HEAD", "--data", "../../x").output


def test_a_revision_without_data_folder_is_an_empty_base(repository):
    git(repository, "rm", "-q", "-r", "data")
    (repository / "README.md").write_text("No results yet.\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "no data")
    git(repository, "tag", "none")
    result = run("none", "old", "--fail-on", "claims,checks")
    assert result.output.splitlines()[0] == (
        "## ⚠️ The study “A demo” is new, with 2 grids and 8 values: No effect of rate or depth "
        "shown"
    )
    assert result.exit_code == 0
    # A folder in which there is no study yet.
    (repository / "data").mkdir()
    (repository / "data/README.md").write_text("Results come here.\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "an empty folder")
    content = json.loads(run("HEAD", "old", "--format", "json").output)
    assert content["summary"] == (
        "The study “A demo” is new, with 2 grids and 8 values: No effect of rate or depth shown"
    )
    # The head has lost its studies: that is no change, but an error.
    for head in ("none", "HEAD"):
        assert run("old", head).exit_code == 2


@pytest.mark.parametrize("name", ["nosuch", "--help-me", "HEAD:data", "old\nx", "0" * 40])
def test_an_unknown_revision_is_an_error(repository, name):
    result = run("--", name, "HEAD")
    assert "there is no folder and no revision" in result.output
    assert result.exit_code == 2


def test_a_shallow_clone_says_what_to_fetch(repository, here, monkeypatch):
    old = git(repository, "rev-parse", "old")
    git(here, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    monkeypatch.chdir(here / "shallow")
    for name in (old, "old", "HEAD~1"):
        result = run(name, "HEAD")
        assert "which is a shallow clone" in result.output
        assert "git fetch" in result.output
        assert "fetch-depth: 0" in result.output
        assert result.exit_code == 2
    # And what it says helps.
    command = re.search(r"`(git fetch --depth=1 [^`]+)`", run(old, "HEAD").output)
    assert command
    git(here / "shallow", *command[1].split()[1:])
    assert run(old, "HEAD").exit_code == 1


@pytest.mark.parametrize("to", ["/etc/passwd", "../../../secret.csv"])
def test_links_out_of_the_data_folder_are_refused(repository, to):
    (repository / "data/demo/link.csv").symlink_to(to)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "link")
    result = run("old", "HEAD")
    assert "has a link out of the data folder" in result.output
    assert result.exit_code == 2


def test_links_within_the_data_folder_are_followed(repository):
    (repository / "data/demo/cells.csv").rename(repository / "data/demo/real.csv")
    (repository / "data/demo/cells.csv").symlink_to("real.csv")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "link")
    assert run("HEAD~1", "HEAD").exit_code == 0


def test_without_git_only_folders_are_compared(here, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    assert run("base", "same").exit_code == 0
    result = run("main", "base")
    assert "git isn't installed" in result.output
    assert result.exit_code == 2


# --- forms --------------------------------------------------------------------------------------

HOSTILE = [
    "@octocat fixes #1, closes GH-2 and octo/repo#3",
    "<img src=x onerror=alert(1)><!-- -->",
    "[click](https://evil.example/) ![x](//evil.example/x.png) www.evil.example",
    "`code` *bold* _it_ ~~no~~ $x^2$ :tada: &lt; \\ | a | b",
    "# Heading",
    "1. one",
    "- [ ] task",
]


class _Text(HTMLParser):
    """The text of a page, and its elements."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self.tags: list[str] = []

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def _hostile(text):
    section = Section("cells", "Changed values", (Entry(line(text), line(text), (line(text),)),))
    rows = tuple(Row("summary", mark, "", line(text), "", explained=line(text)) for mark in "❌⚠")
    table = Table((line(text),), ((line(text),),), (f"studies/x/#{quote(text, safe='')}",))
    lead = Lead(line(text), line(text), "studies/x/", line(text), table, (line(text),))
    lead = replace(lead, grids=(table,))
    return Report(line(text), None, "head", None, rows, (section,), leads=(lead,))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_as_they_are(text):
    written = to_markdown(_hostile(text), "https://site.test/")
    # As GitHub shows it, HTML and all.
    page = BeautifulSoup(
        cmarkgfm.github_flavored_markdown_to_html(written, Options.CMARK_OPT_UNSAFE), "html.parser"
    )
    shown = page.get_text().replace("\u200b", "")
    assert shown.count(text) == 13
    assert {tag.name for tag in page.find_all(True)} == {
        *("h2", "h3", "p", "ul", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
        *("details", "summary", "b"),
    }
    # The site, the study, the row: nothing of the text itself is a link.
    links = [str(link["href"]) for link in page.select("a")]
    assert links[:2] == ["https://site.test/", "https://site.test/studies/x/"]
    assert [link.startswith("https://site.test/studies/x/#") for link in links[2:]] == [True]
    texts = written.replace("https://site.test/", "")
    texts = re.sub(r"\(studies/x/[^)]*\)", "", texts)
    assert not re.search(r"(?<![\\\w])@\w|(?<!&)#\d|GH-\d|https?://|www\.e|:tada:", texts)
    document = BeautifulSoup(changes_document(_hostile(text), "https://site.test/"), "html.parser")
    # Also in the title.
    assert document.get_text().count(text) == 14
    assert len(document.select("a")) == 4
    assert not document.select("img, script")


def test_what_has_no_picture_is_written_by_its_number():
    assert line("a\u202eb\u200bc\x07\nd\u2028e\u00a0f") == "a\\x202eb\\x200bc\\x07 d\\x2028e f"
    assert line("x" * 1000) == "x" * 599 + "…"


def test_labels_of_a_study_are_escaped(compare):
    label = "<b>@all</b> | *x* `y`"
    base = edited(("label: Small", f'label: "{label}"'), name="study.yml")
    head = edited(("small,0.1,1,40.0", "small,0.1,1,41.0"), of=base)
    text = to_markdown(make_report(compare(base, head)))
    assert escaped(label) in text
    assert "<b>@" not in text
    assert "@all" not in text


def _many(items, length):
    sections = tuple(
        Section(
            name, name, tuple(Entry(f"{name} {i} " + "é" * length, "demo") for i in range(items))
        )
        for name in ("claims", "cells", "texts")
    )
    return Report("a", None, "b", None, (Row("", "❌", "", "Much changed", ""),), sections)


@pytest.mark.parametrize(("items", "length"), [(10, 5), (2_000, 50), (10_000, 1), (100, 590)])
def test_markdown_is_capped_and_says_how_many_items_are_left_out(items, length):
    text = to_markdown(_many(items, length))
    assert len(text.encode()) <= MARKDOWN_LIMIT
    shown = []
    for name in ("claims", "cells", "texts"):
        part = text.split(f"<b>{name}</b> ({items:,})")[1].split("</details>")[0]
        more = re.search(r"and ([\d,]+) more, left out", part)
        shown.append(part.count(f"- {name} "))
        assert shown[-1] + (int(more[1].replace(",", "")) if more else 0) == items
    # All have some, and the first has the most.
    assert min(shown) > 0
    assert shown == sorted(shown, reverse=True)
    if items * length > MARKDOWN_LIMIT:
        assert len(text.encode()) > MARKDOWN_LIMIT * 0.95


@pytest.mark.parametrize(
    ("sizes", "budget", "lengths"),
    [
        ([], 100, []),
        ([[10, 10]], 100, [2]),
        ([[10] * 50, [10] * 50], 100, [5, 5]),
        ([[3000] * 9, [100] * 30], 9000, [2, 30]),
        ([[200], [10]], 100, [0, 1]),
    ],
)
def test_no_section_starves(sizes, budget, lengths):
    assert truncate_sections(sizes, budget) == lengths


def test_json_has_the_form_that_is_agreed_on(compare):
    changes = compare(*measured(("small,0.1,1,40.0", "small,0.1,1,90.0")))
    content = json.loads(to_json(changes, make_report(changes), "https://example.org/12/"))
    [lead] = content["leads"]
    assert set(lead) == {
        "study", "title", "page", "text", "table", "remarks", "grids",
    }  # fmt: skip
    assert lead["table"]["links"] == ["studies/demo/model/small/#small/0.1,1"]
    assert lead["table"]["columns"][lead["table"]["linked"]] == "before → after"
    assert list(content) == [
        "format", "changed", "base", "head", "url", "summary", "mark", "needs_attention", "rows",
        "points", "leads", "more", "titles", "sections", "studies",
    ]  # fmt: skip
    assert content["format"] == 1
    for section in content["sections"]:
        assert set(section) == {"id", "title", "items", "more"}
        for entry in section["items"]:
            assert set(entry) == {"text", "study", "details", "table"}
            table = entry["table"]
            assert table is None or set(table) == {"columns", "rows", "links", "linked"}
    [study] = content["studies"]
    [grid] = study["grids"]["items"]
    [cell] = grid["cells"]["items"]
    assert (cell["point"], cell["old"]["value"], cell["new"]["value"]) == (
        ["0.1", "1"], "40.0", "90.0",
    )  # fmt: skip
    assert cell["told_apart"] is True
    assert cell["n"] == [200, 200]


def test_json_is_capped(compare, monkeypatch):
    """With a tenth of the limit, and of the cells that exceed it."""
    assert JSON_LIMIT == 1_000_000
    monkeypatch.setattr(formats, "JSON_LIMIT", JSON_LIMIT // 10)
    head = "format: 1\ntitle: Large\nmetric: {name: Score, better: higher}\nx: a\ny: b\n"

    def cells(more):
        rows = (f"{i},{j},{i * 7 % 31 + j + more}" for i in range(10) for j in range(110))
        return "\n".join(("a,b,value", *rows))

    changes = compare(
        {"study.yml": head, "cells.csv": cells(0)}, {"study.yml": head, "cells.csv": cells(1)}
    )
    report = make_report(changes)
    text = to_json(changes, report)
    assert len(text.encode()) <= JSON_LIMIT // 10
    [grid] = json.loads(text)["studies"][0]["grids"]["items"]
    assert len(grid["cells"]["items"]) + grid["cells"]["more"] == 1_100
    assert grid["cells"]["more"] > 0
    assert "and 1,070 more cells of this grid" in to_markdown(report)
    assert report.points[-1][1].startswith("1,100 values changed, not testable: ")


# --- as a reviewer would read it ----------------------------------------------------------------


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Our own data with three cells changed, a benchmark more, and a broken average."""
    folder = tmp_path_factory.mktemp("reviewed")
    name = "dynts-window-ratio"
    for side in ("base", "head"):
        shutil.copytree(REPOSITORY / "data" / name, folder / side / name)
    study = folder / "head" / name

    def edit(file, *edits):
        text = (study / file).read_text("utf-8")
        for old, new in edits:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (study / file).write_text(text, "utf-8")

    edit(
        "r1-qwen.csv",
        ("r1-qwen,aime24,1000,0.3,45.3", "r1-qwen,aime24,1000,0.3,58.7"),
        ("r1-qwen,amc23,500,0.1,86.5", "r1-qwen,amc23,500,0.1,60.0"),
        ("r1-qwen,gpqa_d,3000,0.4,49.1", "r1-qwen,gpqa_d,3000,0.4,49.3"),
    )
    edit("average.csv", ("r1-llama,average,1000,0.5,51.7", "r1-llama,average,1000,0.5,59.9"))
    edit(
        "study.yml",
        ("      - {id: average,", "      - {id: math, label: MATH}\n      - {id: average,"),
        ("readings:\n", "readings:\n  - {id: math, file: math.csv, label: Our table}\n"),
    )
    rows = ["model,benchmark,local_window,ratio,pass_at_1"]
    rows += [
        f"{model},math,{window},{ratio},80.{place}"
        for model in ("r1-llama", "r1-qwen")
        for window in (500, 1000, 2000, 3000)
        for place, ratio in enumerate((0.1, 0.2, 0.3, 0.4, 0.5))
    ]
    (study / "math.csv").write_text("\n".join(rows), "utf-8")
    snapshots = (load_snapshot(name, Path("data"), folder) for name in ("base", "head"))
    return make_report(compare_snapshots(*snapshots))


def test_a_reviewer_reads_all_of_it_and_the_important_first(reviewed):
    assert [section.id for section in reviewed.sections] == [
        "problems", "checks", "claims", "others", "differences", "tests",
    ]  # fmt: skip
    assert reviewed.headline.startswith("❌ head/dynts-window-ratio/study.yml:")
    assert reviewed.headline.endswith(
        '"agreement.0": r1-qwen and r1-qwen-second agree in 7 of 32 cells; expected: 8 of 32, '
        "which is pinned here · DynTS: local window size and retention ratio"
    )
    text = to_markdown(reviewed, "https://example.org/preview/")
    for part in (
        "[the built site](https://example.org/preview/)",
        "“The highest value (52.0) is an isolated peak at (Window=2000, Ratio=0.4).”",
        "| R1-Qwen \\| AMC23 | 0.1 | 500 | [86.5 → 60.0](https://example.org/preview/studies/"
        "dynts-window-ratio/model/r1-qwen/#r1-qwen/amc23/0.1,500) | −26.5 points \\[−34.5 to "
        "−18.0\\] | significant, p &lt; 0.001 |",
        "4 values changed, 1 significantly (1 not testable). No run is recorded for them.",
        "- ❌ And 17 more unexpected statements\n",
        "- ❌ The answer is no longer asserted: R1-Qwen likely beats R1-Llama on AIME25 (6.8 ",
        "Benchmark MATH is new, with 40 values",
        "; 2 new disagreements of readings\n",
        "was true (within noise), is true (untested)",
    ):
        assert part in text


@pytest.mark.parametrize("studies", [1, 2, 5])
def test_at_most_forty_lines_are_read_first(tmp_path, studies):
    """Dear: hundreds of cells of up to five studies change, and all their answers."""

    def files(more, claims):
        rows = (f"{i},{j},{i * 7 % 31 + j + more}" for i in range(1, 12) for j in range(1, 21))
        head = (
            "format: 1\ntitle: Large\nmetric: {name: Score, better: higher}\nx: a\ny: b\nclaims:\n"
        )
        texts = (
            f"  - text: Number {k}.\n    check: grid().max < {50 + k}\n" for k in range(claims)
        )
        return {"study.yml": head + "".join(texts), "cells.csv": "\n".join(("a,b,value", *rows))}

    names = [f"study-{index}" for index in range(studies)]
    changes = _two(
        tmp_path, dict.fromkeys(names, files(0, 40)), dict.fromkeys(names, files(30, 40))
    )
    text = to_markdown(make_report(changes), "https://example.org/")
    first, _, folded = text.partition("<details>")
    assert 15 < len(first.splitlines()) <= 40
    assert first.count("### ") == min(studies, 2)
    assert ("more study changed" in first or "more studies changed" in first) == (studies > 2)
    assert len(text) < 65_536
    assert folded.count("**Large**") == 0 or studies > 1


def test_forms_say_the_same(reviewed):
    page = _Text()
    page.feed(changes_document(reviewed))
    for section in reviewed.sections:
        for entry in section.entries:
            assert entry.text in page.text
    for lead in reviewed.leads:
        shown = (lead.text, *lead.remarks)
        assert [text for text in shown if text not in page.text] == []
    assert {"script", "link", "img"} & set(page.tags) == set()
