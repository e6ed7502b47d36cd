"""`gridatlas import`: what is proposed, what is written, and what is said of each row."""

import csv
import errno
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from amount import amount
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from gridatlas import load
from gridatlas.cli.main import main
from gridatlas.data.names import ID
from gridatlas.data.text import unnameable
from gridatlas_import import command as import_
from gridatlas_import.cells import identifier, make_cells
from gridatlas_import.detect import detect
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import propose
from gridatlas_import.rows import RawTable, by_columns
from gridatlas_import.shape import SURE, wide_form
from gridatlas_import.write import staged


def run(*arguments, answer=None):
    return CliRunner().invoke(main, ["import", *arguments], input=answer)


def put(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def written(folder, study):
    with open(folder / "data" / study / "cells.csv", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


LONG = """\
model;lr;batch;seed;acc;stderr;time
a;0,1;16;1;0,712;0,01;2024-01-01
a;0,1;16;2;0,722;0,01;2024-01-01
a;0,1;32;1;0,732;0,01;2024-01-01
a;0,01;16;1;NaN;0,01;2024-01-02
b;0,1;16;1;0,822;0,01;2024-01-02
"""
PROPOSED = """\
results.csv: 5 rows; text table, semicolons between values
Numbers have decimal commas; they are written with points.

role      column  what is in it                         why
x         lr      2 numbers, 0.01 to 0.1                a number with few values
y         batch   2 numbers, 16 to 32                   a number with few values
metric    acc     4 numbers, 0.712 to 0.822; 1 without  its name
facet     model   2 texts: a, b                         varied besides the axes
repeats   seed    2 numbers, 1 to 2                     it numbers repeats
stderr    stderr  1 number, 0.01 to 0.01                its name
not read  time    2 texts: 2024-01-01, 2024-01-02       time, size or cost

Accuracy: fraction: all values lie from 0 to 1 (if they are percent: --unit %); range 0 to 1; \
higher is better: “acc” in its name; 3 decimals.

5 rows read
  = 4 cells
  + 1 repeat of these cells
  + 0 reported
1 row without a value (NaN): results.csv:5
"""
ACCEPT = (
    "gridatlas import results.csv --study results --title Results --x lr --y batch --metric acc "
    "--facet model --repeats seed --stderr stderr --unit '' --range 0 1 --better higher "
    "--decimals 3 --yes"
)
NEXT = "\nNext: gridatlas new, to make a website to show it (import --site does both)\n"
WRITTEN = (
    """
written: data/results/study.yml
written: data/results/cells.csv

gridatlas check:
results: 2 grids, 3 values, 1 reading; no difference is tested
0 problems
"""
    + NEXT
)
CELLS = """\
model,batch,lr,seed,acc,stderr,place
a,16,0.1,1,0.712,0.01,results.csv:2
a,16,0.1,2,0.722,0.01,results.csv:3
a,32,0.1,1,0.732,0.01,results.csv:4
a,16,0.01,1,,0.01,results.csv:5
b,16,0.1,1,0.822,0.01,results.csv:6
"""
STUDY = """\
# Written by gridatlas import; it is yours now. `gridatlas check` says what is wrong; the
# documentation, page Data format, lists every key.
format: 1
title: Results
# A sentence or two for the top of the page: what was varied, what was measured.
# summary: …
# Where it was published; pages then say how to cite it.
# source: {title: …, url: "https://…", authors: [A. Author], year: 2026}

# What was measured. A value outside of range is a problem; better: higher or lower. Without
# better, pages mark no best.
metric: {name: Accuracy, column: acc, range: [0, 1], better: higher, decimals: 3}
# The axes, and what else was varied: columns of cells.csv.
x: lr
y: batch
facets: [model]
# What each means for answers: choice, condition, block (benchmarks), replicate (seeds),
# item or progress. Of a column that is no axis or facet, pages show the mean.
roles: {model: choice, batch: choice, lr: choice, seed: replicate}
# Each cell is a training of its own. Remove this line where one model has all settings.
cells: runs
# The level that the others are compared with:
# baseline: {model: a}

# How pages call the axes and facets; with levels listed, a typing error is found.
factors:
  model: {levels: [a, b]}
  batch: {levels: [16, 32]}
  lr: {label: Learning rate, levels: [0.01, 0.1]}

# Who says so. Another table of the same cells is another reading: the two are compared.
readings:
  - id: imported
    file: cells.csv
    label: results.csv

# Sentences about the results, judged at every build. An example to adapt:
# claims:
#   - text: The highest value lies at lr 0.1.
#     check: (grid(model="a").column(0.1) >= grid(model="a").best.value).any
"""


def test_without_anybody_to_ask_it_proposes_and_says_how_to_accept(here):
    put(here, "results.csv", LONG)
    result = run("results.csv")
    assert result.exit_code == 0
    assert result.output == (
        f"{PROPOSED}\nNothing was written. To accept this proposal, run:\n\n  {ACCEPT}\n\n"
    )
    assert sorted(here.iterdir()) == [here / "results.csv"]


def test_yes_takes_what_is_proposed(here):
    put(here, "results.csv", LONG)
    result = run("results.csv", "--yes")
    assert (result.exit_code, result.output) == (0, PROPOSED + WRITTEN)
    folder = here / "data/results"
    assert (folder / "cells.csv").read_text("utf-8") == CELLS
    assert (folder / "study.yml").read_text("utf-8") == STUDY
    assert sorted(path.name for path in (here / "data").iterdir()) == ["results"]


def test_with_axes_and_metric_named_nothing_is_asked(here):
    put(here, "results.csv", LONG)
    result = run("results.csv", "--x", "lr", "--y", "batch", "--metric", "acc")
    assert result.exit_code == 0
    assert result.output.endswith(WRITTEN)


@pytest.mark.parametrize(
    ("answers", "status", "exists"), [(["y", ""], 0, True), (["n"], 0, False)], ids=["yes", "no"]
)
def test_at_a_terminal_it_asks(here, monkeypatch, answers, status, exists):
    asked = []
    monkeypatch.setattr(import_, "_ask", lambda *given: asked.append(given) or answers.pop(0))
    put(here, "results.csv", LONG)
    assert run("results.csv").exit_code == status
    questions = [
        ("\nImport this as data/results?", ("y", "n"), "y"),
        ("\nNames on pages: model=model, batch=batch, lr=Learning rate, acc=Accuracy. "
         "Others, written alike? (Enter keeps these)", (), ""),
    ]  # fmt: skip
    assert asked == questions[: 1 + exists]
    assert (here / "data").exists() == exists


@pytest.mark.parametrize("answer", ["lower", None])
def test_at_a_terminal_it_asks_what_is_better_where_nothing_says_it(here, monkeypatch, answer):
    asked = []

    def ask(question, answers, default):
        asked.append(question.strip().partition(":")[0])
        return answer if "lower" in answers else default

    monkeypatch.setattr(import_, "_ask", ask)
    put(here, "loud.csv", "lr,bs,acc\n1,1,0.5\n1,2,0.6\n2,1,0.7\n2,2,0.8\n")
    put(here, "silent.csv", "lr,bs,S\n1,1,5.5\n1,2,6.5\n2,1,7.5\n2,2,8.5\n")
    assert run("loud.csv").exit_code == run("silent.csv").exit_code == 0
    rest = ["Import this as data/{}?", "Names on pages"]
    each = [line.format(name) for name in ("loud", "silent") for line in rest]
    assert asked == [*each[:2], "S", *each[2:]]
    assert load(here / "data")["silent"].study.metric.better == answer


RANDOM = "lr,depth,width,acc\n" + "".join(
    f"{at * 7 % 11},{at * 5 % 13},{at * 3 % 7},0.{at + 10}\n" for at in range(40)
)
"""40 of 1,001 settings."""


@pytest.mark.parametrize(("answer", "status"), [(2, 0), (None, 0)], ids=["second", "none"])
def test_at_a_terminal_it_asks_which_of_several(here, monkeypatch, answer, status):
    asked = []

    def ask(question, answers, default):
        if "Which one?" not in question:
            return default
        asked.append(len(answers) - 1)
        return answer and str(answer)

    monkeypatch.setattr(import_, "_ask", ask)
    put(here, "results.csv", RANDOM)
    result = run("results.csv")
    assert (result.exit_code, len(asked)) == (status, 1)
    axes = re.findall(r"^\d\. x (\w+), y (\w+)", result.output, re.MULTILINE)
    assert len(axes) == asked[0] > 2
    if answer is None:
        assert result.output.endswith("\nNothing was written.\n")
        assert not (here / "data").exists()
    else:
        study = load(here / "data")["results"].study
        assert (study.x.id, study.y.id) == axes[answer - 1]


def test_the_example_of_a_claim_can_be_judged(here):
    put(here, "results.csv", "m,x,y,acc\na,1,1,0.5\na,2,1,0.6\nb,1,1,0.5\nb,2,1,0.7\n")
    run("results.csv", "--yes")
    study = here / "data/results/study.yml"
    head, mark, claims = study.read_text("utf-8").partition("# claims:\n")
    claims = "".join(line[2:] + "\n" for line in (mark + claims).splitlines())
    study.write_text(head + claims, "utf-8")
    result = CliRunner().invoke(main, ["check"])
    assert (result.exit_code, result.output) == (
        0,
        "results: 1 grid, 4 values, 1 reading; no difference is tested\n0 problems\n",
    )


def test_a_dry_run_writes_nothing(here):
    put(here, "results.csv", LONG)
    result = run("results.csv", "--dry-run")
    assert result.exit_code == 0
    assert f"--- data/results/study.yml\n{STUDY}" in result.output
    assert f"--- data/results/cells.csv\n{CELLS}" in result.output
    assert sorted(here.iterdir()) == [here / "results.csv"]


def test_a_study_that_is_there_is_only_replaced_when_asked(here):
    put(here, "results.csv", LONG)
    assert run("results.csv", "--yes").exit_code == 0
    put(here, "results.csv", LONG.replace("0,712", "0,799"))
    result = run("results.csv", "--yes")
    assert result.exit_code == 2
    assert result.output == (
        "Error: nothing was imported\n"
        "  found:    data/results, which exists already\n"
        "  expected: the name of a new study\n"
        "  fix:      name another one with --study, or replace it with --replace\n"
    )
    assert (here / "data/results/cells.csv").read_text("utf-8") == CELLS
    assert run("results.csv", "--yes", "--replace").exit_code == 0
    assert written(here, "results")[1][4] == "0.799"
    assert sorted(path.name for path in (here / "data").iterdir()) == ["results"]
    put(here, "data/results/mine.csv", "a")
    result = run("results.csv", "--yes", "--replace")
    assert result.exit_code == 2
    assert "  found:    data/results with other files: mine.csv\n" in result.output


def test_nothing_is_left_where_the_folder_cant_be_renamed(here, monkeypatch):
    put(here, "results.csv", LONG)
    assert run("results.csv", "--yes").exit_code == 0
    put(here, "results.csv", LONG.replace("0,712", "0,799"))

    rename = os.rename

    def failing(source, target):
        if source.name == "results" and source.parent.name != "data":
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr("gridatlas_import.write.exchange", lambda first, other: False)
    monkeypatch.setattr("gridatlas_import.write.os.rename", failing)
    result = run("results.csv", "--yes", "--replace")
    assert result.exit_code == 1
    assert "  found:    data/results: No space left on device (" in result.output
    assert (here / "data/results/cells.csv").read_text("utf-8") == CELLS
    assert sorted(path.name for path in (here / "data").iterdir()) == ["results"]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_study_changes_places_with_the_one_that_replaces_it(here, monkeypatch, in_one_step):
    put(here, "results.csv", LONG)
    assert run("results.csv", "--yes").exit_code == 0
    put(here, "results.csv", LONG.replace("0,712", "0,799"))
    renamed = []
    rename = os.rename

    def counting(source, target):
        renamed.append(target)
        rename(source, target)

    monkeypatch.setattr("gridatlas_import.write.os.rename", counting)
    if not in_one_step:
        monkeypatch.setattr("gridatlas_import.write.exchange", lambda first, other: False)
    assert run("results.csv", "--yes", "--replace").exit_code == 0
    assert len(renamed) == (0 if in_one_step else 2)
    assert written(here, "results")[1][4] == "0.799"
    assert sorted(path.name for path in (here / "data").iterdir()) == ["results"]


def test_a_study_that_a_killed_import_took_away_is_brought_back(here):
    """As a process leaves it that is killed between two renames."""
    put(here, "results.csv", LONG)
    assert run("results.csv", "--yes").exit_code == 0
    put(here, "data/.import-killed/results/cells.csv", "the new one")
    (here / "data/results").rename(here / "data/.import-killed/.replaced")
    assert run("results.csv", "--yes", "--study", "other").exit_code == 0
    assert (here / "data/results/cells.csv").read_text("utf-8") == CELLS
    assert sorted(path.name for path in (here / "data").iterdir()) == ["other", "results"]


@pytest.mark.parametrize("name", ["aux", "NUL", "com1", "con.txt", "lpt9.a", "prn_"])
def test_no_proposed_name_is_one_that_windows_cannot_have(here, name):
    put(here, f"{name}.csv", f"{name},lr,acc\na,1,50\nb,1,60\na,2,70\nb,2,75\n")
    options = ("--x", "lr", "--y", "", "--metric", "acc", "--facet", name)
    assert run(f"{name}.csv", *options, "--no-site").exit_code == 0
    (study,) = (here / "data").iterdir()
    assert not unnameable(study.name)
    file = yaml.safe_load((study / "study.yml").read_text("utf-8"))
    assert [facet for facet in file["facets"] if unnameable(facet)] == []
    assert CliRunner().invoke(main, ["check", "--quiet"]).output == ""


@given(
    st.text() | st.from_regex(r"(?i)(con|aux|nul|lpt1|com¹)[ ._-]{0,3}[a-z.]{0,60}", fullmatch=True)
)
def test_an_id_of_any_text_can_name_a_file(text):
    for kind in ("factor", "study"):
        found = identifier(text, kind)
        assert ID.fullmatch(found)
        assert not unnameable(found)


def test_a_study_that_windows_cannot_have_is_refused(here):
    put(here, "results.csv", LONG)
    result = run("results.csv", "--yes", "--study", "aux.1")
    assert result.exit_code == 2
    assert "a name that Windows can have" in " ".join(result.output.split())
    assert not (here / "data").exists()


def test_what_a_killed_import_left_is_no_study_and_goes_with_the_next(here):
    put(here, "results.csv", LONG)
    with staged(Path("data"), "results", {"study.yml": "x", "cells.csv": "y"}, dry=False) as stage:
        assert stage.parent == Path("data")  # on the same disk
        shutil.copytree(stage, "data/.import-killed")
        in_use = stage.name
        assert run("results.csv", "--yes", "--no-site").exit_code == 0
        names = {path.name for path in Path("data").iterdir()}
        assert names == {"results", in_use}
    shutil.copytree("data/results", "data/.import-killed/results")
    put(here, "data/.import-killed/.gitignore", "*\n")
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "data"], check=True)
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    assert listed.stdout == "data/results/cells.csv\ndata/results/study.yml\n"
    assert [*load("data")] == ["results"]
    # Refused: there is one already. What was left goes all the same.
    assert run("results.csv", "--yes").exit_code == 2
    assert [path.name for path in Path("data").iterdir()] == ["results"]


@pytest.mark.parametrize("dry", [False, True])
def test_a_full_disk_is_that_which_is_written_to(here, monkeypatch, dry):
    put(here, "results.csv", LONG)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    result = run("results.csv", "--yes", *(["--dry-run"] if dry else []))
    assert result.exit_code == 1
    place = tempfile.gettempdir() if dry else "data"
    assert f"found:    {place}: No space left on device (" in result.output
    assert "  fix:      free some space on this disk\n" in result.output


# --- kinds of files -------------------------------------------------------------------------------

TABLE = [["m", "lr", "acc"], ["a", "0.1", "71.20"], ["a", "0.2", "8.00"], ["b", "0.1", "61.10"]]
IN_POINTS = "\n".join(",".join(row) for row in TABLE) + "\n"
IN_COMMAS = "\n".join(";".join(row) for row in TABLE).replace(".", ",") + "\n"
FORMS = {
    "csv": ("t.csv", IN_POINTS, "text table, commas between values"),
    "crlf": ("t.csv", IN_POINTS.replace("\n", "\r\n"), "text table, commas between values"),
    "bom": (
        "t.csv",
        b"\xef\xbb\xbf" + IN_POINTS.encode(),
        "text table, commas between values, with a byte order mark",
    ),
    "utf-16": ("t.csv", IN_POINTS.encode("utf-16"), "text table, commas between values, UTF-16"),
    "utf-16 without a mark": (
        "t.csv",
        IN_POINTS.encode("utf-16-le"),
        "text table, commas between values, UTF-16",
    ),
    "semicolons": ("t.csv", IN_COMMAS, "text table, semicolons between values"),
    "excel's own line": ("t.csv", f"sep=;\r\n{IN_COMMAS}", "text table, semicolons between values"),
    "tabs": ("t.tsv", IN_POINTS.replace(",", "\t"), "text table, tabs between values"),
    "quoted": (
        "t.csv",
        "\n".join(",".join(f'"{value}"' for value in row) for row in TABLE),
        "text table, commas between values",
    ),
    "separators at the end": (
        "t.csv",
        IN_POINTS.replace("\n", ",,\n"),
        "text table, commas between values",
    ),
    "markdown": (
        "t.md",
        "# T\n\n| m | lr | acc |\n|---|:-:|--:|\n"
        + "".join(f"| `{m}` | {lr} | **{acc}** |\n" for m, lr, acc in TABLE[1:])
        + "\nText | text\n",
        "Markdown table",
    ),
    "json": (
        "t.json",
        '{"rows": ['
        + ", ".join(f'{{"m": "{m}", "lr": {lr}, "acc": {acc}}}' for m, lr, acc in TABLE[1:])
        + "]}",
        "JSON",
    ),
    "json by columns": (
        "t.json",
        '{"m": ["a", "a", "b"], "lr": [0.1, 0.2, 0.1], "acc": [71.20, 8.00, 61.10]}',
        "JSON by columns",
    ),
    "json lines": (
        "t.jsonl",
        "\n\n".join(f'{{"m": "{m}", "lr": {lr}, "acc": {acc}}}' for m, lr, acc in TABLE[1:]),
        "JSON lines",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_table_gives_the_same_cells(here, form):
    name, content, format_name = FORMS[form]
    put(here, name, content)
    result = run(name, "--yes")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0] == f"{name}: 3 rows; {format_name}"
    table = [row[:3] for row in written(here, "t")]
    assert table[0] == ["m", "lr", "acc"]
    assert table[1:] == TABLE[1:]


def test_parquet(here):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"m": ["a", "b"], "lr": [0.1, 0.2], "acc": [71.2, None]})
    pq.write_table(table, here / "t.parquet")
    result = run("t.parquet", "--yes")
    assert result.exit_code == 0, result.output
    assert written(here, "t") == [
        ["m", "lr", "acc", "place"],
        ["a", "0.1", "71.2", "t.parquet:1"],
        ["b", "0.2", "", "t.parquet:2"],
    ]


def test_windows_1252_is_read_and_said(here):
    put(here, "t.csv", "größe,lr,acc\nzwölf,1,0.5\nelf,2,0.6\n".encode("cp1252"))
    result = run("t.csv", "--yes")
    assert result.output.startswith(
        "t.csv: 2 rows; text table, commas between values, not UTF-8: read as Windows-1252 "
        "(another one: --encoding)\n"
    )
    assert written(here, "t")[1][:3] == ["zwölf", "1", "0.5"]


def test_wide_tables(here):
    put(here, "t.csv", "layer\\head,1,2,4\n2,71.2%,72.00%,-\n4,73.1%,74.9%,OOM\n")
    result = run("t.csv", "--yes", "--metric", "value", "--title", "Wide")
    assert result.exit_code == 0, result.output
    assert result.output.startswith(
        "t.csv: 6 rows; text table, commas between values, wide: 2 rows × 3 columns\n"
    )
    assert (
        "note: each column is taken for a level; if each row is a cell, say --long\n"
        "note: nothing says what the values are; name them with --metric\n"
    ) in result.output
    assert written(here, "t") == [
        ["layer", "head", "value", "state", "place"],
        ["2", "1", "71.2", "", "t.csv:2, 1"],
        ["2", "2", "72.00", "", "t.csv:2, 2"],
        ["2", "4", "", "", "t.csv:2, 4"],
        ["4", "1", "73.1", "", "t.csv:3, 1"],
        ["4", "2", "74.9", "", "t.csv:3, 2"],
        ["4", "4", "", "oom", "t.csv:3, 4"],
    ]
    study = (here / "data/t/study.yml").read_text("utf-8")
    assert 'metric: {name: Value, unit: "%", range: [0, 100]}\n' in study
    assert "x: head\ny: layer\n" in study


PIVOT = "lr,16,32\n0.1,0.71,0.72\n0.2,0.73,0.74\n"
NAMES = {
    "its file's name": ("val_accuracy_by_lr.csv", PIVOT, (), "Val accuracy"),
    "several, of which none is meant": ("accuracy_and_latency.csv", PIVOT, (), "Value"),
    "a word that means something else there": ("main_results_time.csv", PIVOT, (), "Value"),
    "words that say it together": ("win_rate.csv", PIVOT, (), "Win rate"),
    "an option": (
        "accuracy.csv",
        PIVOT.replace("0.7", "7"),
        ("--metric", "Exact match (%)"),
        "Exact match",
    ),
    "the heading above it": (
        "t.md",
        "# Perplexity by window\n\n| lr | 16 | 32 |\n|-|-|-|\n| 0.1 | 7 | 8 |\n| 0.2 | 9 | 6 |\n",
        (),
        "Perplexity",
    ),
    "its caption, before the heading": (
        "t.md",
        "# Accuracy\n\n**Table 2**: F1 of both.\n\n| lr | 16 | 32 |\n|-|-|-|\n| 0.1 | 7 | 8 |\n"
        "| 0.2 | 9 | 6 |\n",
        (),
        "F1",
    ),
    "its headings": ("latency.csv", "model,mmlu_acc,gsm8k_acc\na,1,2\nb,3,4\n", (), "Accuracy"),
}


@pytest.mark.parametrize("case", NAMES)
def test_the_values_of_a_wide_table_get_a_name(here, case):
    name, text, options, expected = NAMES[case]
    put(here, name, text)
    result = run(name, "--yes", "--study", "t", *options)
    assert result.exit_code == 0, result.output
    study = (here / "data/t/study.yml").read_text("utf-8")
    assert re.search(rf"^metric: {{name: {expected}[,}}]", study, re.MULTILINE)


def test_a_named_metric_of_a_wide_table_is_in_the_command(here):
    put(here, "t.csv", PIVOT)
    result = run("t.csv", "--metric", "Recall")
    assert " --wide " in result.output
    assert " --metric Recall " in result.output
    wrong = run("t.csv", "--metric", "valeu")
    assert wrong.exit_code == 2
    assert "write --metric value" in wrong.output


def test_the_command_accepts_benchmarks_beside_two_settings(here):
    rows = "".join(f"{lr},{bs},{lr}{bs}.5,{bs}.{lr}\n" for lr in "12" for bs in "34")
    put(here, "t.csv", f"lr,bs,ppl_wikitext,ppl_c4\n{rows}")
    command = run("t.csv").output.partition("gridatlas import ")[2].partition("\n")[0]
    result = run(*shlex.split(command))
    assert result.exit_code == 0, result.output
    assert written(here, "t")[:3] == [
        ["benchmark", "bs", "lr", "value", "place"],
        ["wikitext", "3", "1", "13.5", "t.csv:2, ppl_wikitext"],
        ["c4", "3", "1", "3.1", "t.csv:2, ppl_c4"],
    ]


def test_wide_tables_whose_headings_are_texts(here):
    put(here, "t.md", "| Model | GSM8K | MATH |\n|-|-|-|\n| a | 71.2 | 40.1 |\n| b | 75.0 | 38 |\n")
    result = run("t.md", "--yes", "--wide", "--x", "task", "--unit", "%")
    assert result.exit_code == 0, result.output
    assert written(here, "t") == [
        ["model", "task", "value", "place"],
        ["a", "GSM8K", "71.2", "t.md:3, GSM8K"],
        ["a", "MATH", "40.1", "t.md:3, MATH"],
        ["b", "GSM8K", "75.0", "t.md:4, GSM8K"],
        ["b", "MATH", "38", "t.md:4, MATH"],
    ]
    assert "  model: {label: Model, levels: [a, b]}\n" in (here / "data/t/study.yml").read_text(
        "utf-8"
    )


WIDE = [
    ("Model,GSM8K,MATH\na,1,2\nb,3,4\n", True),
    ("Model,Size,GSM8K,MATH\na,7B,1,2\na,9B,3,-\n", True),
    ("Model,GSM8K,accuracy\na,1,2\nb,3,4\n", False),
    ("Model,lr,MATH\na,1,2\nb,3,4\n", False),
    ("Model,x,y\na,1,2\nb,3,4\n", False),
    ("Model,GSM8K,MATH\na,1,2\na,3,4\n", False),
    ("Model,GSM8K,MATH\na,1,c\nb,3,4\n", False),
    ("layer,0,1\n1,1,2\n2,3,4\n", True),
    ("0,1\n1,1\n2,3\n", False),
]


@pytest.mark.parametrize(("content", "wide"), WIDE)
def test_a_wide_table_is_recognised(here, content, wide):
    put(here, "t.csv", content)
    form = wide_form(detect([here / "t.csv"]))
    assert (form is not None and form.score >= SURE) == wide


def test_names_of_nested_keys_are_short_on_the_pages(here):
    rows = [
        {"config": {"lr": lr, "wd": wd}, "metrics": {"eval/acc": lr + wd}, "tags": []}
        for lr in (1, 2)
        for wd in (3, 4)
    ]
    put(here, "t.jsonl", "\n".join(map(json.dumps, rows)))
    result = run("t.jsonl", "--yes")
    assert result.exit_code == 0, result.output
    study = (here / "data/t/study.yml").read_text("utf-8")
    assert "  config.wd: {label: Weight decay, levels: [3, 4]}\n" in study
    assert 'metric: {name: Accuracy, column: "metrics.eval/acc", ' in study


def test_one_of_several_markdown_tables_is_named(here):
    table = "| x | y | acc |\n|-|-|-|\n| 1 | 2 | 0.5 |\n| 2 | 2 | 0.6 |\n"
    put(here, "t.md", f"{table}\n```\n{table}```\n\n{table.replace('0.5', '0.7')}")
    result = run("t.md", "--yes")
    assert result.exit_code == 2
    assert result.output == (
        "Error: nothing was imported\n"
        "  found:    t.md with 2 tables of numbers: 1 (2 rows: x, y, acc: 1, 2, 0.5), "
        "2 (2 rows: x, y, acc: 1, 2, 0.7)\n"
        "  expected: the number of one of them\n"
        "  fix:      add --table 1, or another number\n"
    )
    assert run("t.md", "--yes", "--table", "2").exit_code == 0
    assert written(here, "t")[1] == ["2", "1", "0.7", "t.md:15"]


def test_several_tables_become_one(here):
    for name, value in (("small", "0.5"), ("large", "0.6")):
        put(here, f"out/{name}.csv", f"x,y,acc\n1,1,{value}\n2,2,{value}1\n")
    result = run("out", "--yes")
    assert result.exit_code == 0, result.output
    assert "facet   file    2 texts: large, small   without it, several rows" in result.output
    assert written(here, "out") == [
        ["file", "y", "x", "acc", "place"],
        ["large", "1", "1", "0.6", "large.csv:2"],
        ["large", "2", "2", "0.61", "large.csv:3"],
        ["small", "1", "1", "0.5", "small.csv:2"],
        ["small", "2", "2", "0.51", "small.csv:3"],
    ]


def test_values_of_json_keep_every_digit(here):
    rows = ",".join(
        f'{{"x": {x}, "y": {y}, "loss": 0.12345678901234567890{x}{y}0}}'
        for x in (1, 2)
        for y in (1, 2)
    )
    put(here, "t.json", f"[{rows}]")
    assert run("t.json", "--yes").exit_code == 0
    study = load(here / "data")["t"].study
    [reading] = study.readings
    assert [str(cell.value) for cell in reading.table.values()] == [
        f"0.12345678901234567890{x}{y}0" for x in (1, 2) for y in (1, 2)
    ]
    assert study.metric.better == "lower"


LM_EVAL = {
    "results": {
        "mmlu": {"acc,none": 0.62, "acc_stderr,none": 0.01, "alias": "mmlu"},
        "mmlu_law": {"acc,none": 0.62, "acc_stderr,none": 0.02, "alias": " - law"},
        "arc": {
            "alias": "arc",
            "acc,none": 0.52,
            "acc_stderr,none": 0.05,
            "acc_norm,none": 0.55,
            "acc_norm_stderr,none": "N/A",
        },
    },
    "group_subtasks": {"mmlu": ["mmlu_law"], "arc": []},
    "configs": {"arc": {"num_fewshot": 25}, "mmlu_law": {"num_fewshot": 5}},
    "n-shot": {"arc": 25, "mmlu_law": 5},
    "higher_is_better": {"arc": {"acc": True, "acc_norm": True}, "mmlu_law": {"acc": True}},
    "n-samples": {
        "arc": {"original": 200, "effective": 100},
        "mmlu_law": {"original": 50, "effective": 50},
    },
    "model_name": "org/m1",
    "config": {"model": "hf", "model_args": "pretrained=org/m1"},
}


def test_lm_evaluation_harness(here):
    put(here, "lm/m1/results_1.json", json.dumps(LM_EVAL))
    second = json.dumps(LM_EVAL | {"model_name": "org/m2"}).replace("0.52", "0.49")
    put(here, "lm/m2/results_1.json", second)
    result = run("lm", "--yes")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("lm: 4 rows; results of lm-evaluation-harness\n")
    assert (
        "8 rows read\n  = 4 cells\n  + 0 repeats of these cells\n  + 4 reported\n"
        "  left out: kind is group, not task: m1/results_1.json:results.mmlu.acc,none, "
        "m2/results_1.json:results.mmlu.acc,none\n"
        "  left out: metric is acc_norm, not acc: m1/results_1.json:results.arc.acc_norm,none, "
        "m2/results_1.json:results.arc.acc_norm,none\n"
    ) in result.output
    assert "higher is better: the files say so" in result.output
    assert [row[:5] for row in written(here, "lm")] == [
        ["task", "model", "value", "n", "stderr"],
        ["mmlu_law", "org/m1", "0.62", "50", "0.02"],
        ["arc", "org/m1", "0.52", "100", "0.05"],
        ["mmlu_law", "org/m2", "0.62", "50", "0.02"],
        ["arc", "org/m2", "0.49", "100", "0.05"],
    ]
    assert "metric: {name: Accuracy, range: [0, 1], better: higher}\n" in (
        here / "data/lm/study.yml"
    ).read_text("utf-8")
    only = run("lm", "--yes", "--only", "metric=acc_norm", "--study", "norm")
    assert only.exit_code == 0, only.output
    assert [row[2] for row in written(here, "norm")[1:]] == ["0.55", "0.55"]


def test_mteb_in_both_forms(here):
    new = {
        "task_name": "NFCorpus",
        "mteb_version": "1.12.0",
        "dataset_revision": "r",
        "scores": {
            "test": [
                {
                    "main_score": 0.31,
                    "ndcg_at_10": 0.31,
                    "hf_subset": "default",
                    "languages": ["eng-Latn", "deu-Latn"],
                }
            ]
        },
        "evaluation_time": 12.5,
    }
    old = {
        "mteb_dataset_name": "STS12",
        "mteb_version": "1.0.2",
        "test": {"main_score": 0.71, "cos_sim": {"spearman": 0.71}, "evaluation_time": 3.2},
    }
    for model, score in (("e5", 0.31), ("org__bge", 0.41)):
        scores = json.loads(json.dumps(new))
        scores["scores"]["test"][0]["main_score"] = score
        put(here, f"mteb/{model}/0123abc/NFCorpus.json", json.dumps(scores))
        put(here, f"mteb/{model}/0123abc/STS12.json", json.dumps(old))
    put(here, "mteb/e5/0123abc/model_meta.json", '{"name": "intfloat/e5"}')
    result = run("mteb", "--yes")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("mteb: 4 rows; results of MTEB\n")
    assert [row[:3] for row in written(here, "mteb")] == [
        ["task", "model", "main_score"],
        ["NFCorpus", "intfloat/e5", "0.31"],
        ["STS12", "intfloat/e5", "0.71"],
        ["NFCorpus", "org/bge", "0.41"],
        ["STS12", "org/bge", "0.71"],
    ]


def test_mteb_in_one_file(here):
    tasks = [
        {"task_name": task, "scores": {"test": [{"main_score": 0.5, "hf_subset": "default"}]}}
        for task in ("A", "B")
    ]
    models = [{"model_name": name, "task_results": tasks} for name in ("m", "n")]
    put(here, "all.json", json.dumps({"model_results": models}))
    assert run("all.json", "--yes").exit_code in (0, 1)  # four equal values are a finding
    assert [row[:2] for row in written(here, "all")[1:]] == [
        ["A", "m"],
        ["B", "m"],
        ["A", "n"],
        ["B", "n"],
    ]


ACCEPTED = {
    "decimal commas, with a unit": ("t.csv", LONG, []),
    "wide": ("t.csv", "layer\\head,1,2\n2,71.2%,72.0%\n4,7%,74.9%\n", []),
    "wide with texts": ("t.csv", "Model,GSM8K,MATH\na,1,2\nb,3,4\n", []),
    "long": ("t.csv", "Model,GSM8K,MATH\na,1,2\nb,3,4\n", ["--long"]),
    "several metrics": ("t.csv", "m,x,metric,value\na,1,em,1\na,1,f1,2\nb,2,em,3\n", []),
    "columns ignored": ("t.csv", "m,x,k,acc,n\na,1,8,1,4\nb,2,9,0,4\n", ["--ignore", "k"]),
    "a count refused": ("t.csv", "m,x,acc,n\na,1,0.1,7\nb,2,0.2,7\n", ["--n", ""]),
    "decimal commas": ("t.csv", "m;x;acc\na;1;1,234\nb;2;2\n", ["--decimal-mark", "comma"]),
    "harness": ("t.json", json.dumps(LM_EVAL), []),
    "parts of names": (
        "t.csv",
        "run,acc\nvit_lr0.1_seed1,0.5\nvit_lr0.2_seed1,0.6\nbert_lr0.1_seed1,0.55\n"
        "bert_lr0.2_seed1,0.7\nbert_lr0.2_seed2,0.8\n",
        [],
    ),
    "columns together": (
        "t.csv",
        "model,size,data,acc\n"
        + "".join(
            f"m{at},{at * at},{d},0.{at}{d}\n" for at in (1, 2, 3, 4, 5, 6, 7) for d in (1, 2)
        )
        + "m1,9,1,0.33\nm1,9,2,0.44\n",
        [],
    ),
    "two lines of headings": ("t.csv", ",a,a,b,b\n,1,2,1,2\nx,1,2,3,4\ny,5,6,7,8\n", []),
    "wrong rows": ("t.csv", "m,x,acc\na,1,1\na,1,2\n,2,2\n", ["--skip", "--fill", "none"]),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_the_command_that_accepts_gives_what_was_proposed(here, case):
    name, content, options = ACCEPTED[case]
    put(here, name, content)
    result = run(name, *options)
    assert result.exit_code == 0
    [command] = [line for line in result.output.splitlines() if line.startswith("  gridatlas ")]
    accepted = run(*shlex.split(command)[2:])
    assert accepted.exit_code == 0, accepted.output
    cells, study = (here / "data/t/cells.csv"), (here / "data/t/study.yml")
    before = cells.read_bytes(), study.read_bytes()
    assert run(name, *options, "--yes", "--replace").exit_code == 0
    assert (cells.read_bytes(), study.read_bytes()) == before


def test_a_folder_of_one_cell_files(here):
    for rate in ("0.1", "0.2"):
        for layers in (1, 2):
            content = {"layers": layers, "result": {"accuracy": 0.25 * layers}, "total": 4}
            put(here, f"runs/lr={rate}/run{layers}.json", json.dumps(content))
    result = run("runs", "--yes", "--n", "total")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("runs: 4 rows; 4 JSON files with one cell each\n")
    assert written(here, "runs")[:2] == [
        ["layers", "lr", "result.accuracy", "n", "place"],
        ["1", "0.1", "0.25", "4", "lr=0.1/run1.json"],
    ]


def lm_eval_file(accuracy):
    return json.dumps(
        {
            "results": {task: {"acc,none": accuracy + add} for task, add in TASKS.items()},
            "configs": {"arc": {}, "boolq": {}},
            "model_name": "/checkpoints/latest",
        }
    )


TASKS = {"arc": 0.0, "boolq": 0.25}


def test_a_pattern_names_parts_of_paths_of_lm_evaluation_harness(here):
    for model, step, accuracy in (("a", 1, 0.5), ("a", 2, 0.625), ("b", 1, 0.25), ("b", 2, 0.375)):
        put(here, f"runs/{model}/step{step}/results.json", lm_eval_file(accuracy))
    result = run("runs", "--yes", "--path", "{model}/step{step}/results.json")
    assert result.exit_code == 0, result.output
    assert "note: model: as --path says, not as the files do\n" in result.output
    header, *rows = written(here, "runs")
    at = [header.index(name) for name in ("model", "step", "task", "value")]
    assert [[row[place] for place in at] for row in rows] == [
        ["a", "1", "arc", "0.5"], ["a", "1", "boolq", "0.75"],
        ["a", "2", "arc", "0.625"], ["a", "2", "boolq", "0.875"],
        ["b", "1", "arc", "0.25"], ["b", "1", "boolq", "0.5"],
        ["b", "2", "arc", "0.375"], ["b", "2", "boolq", "0.625"],
    ]  # fmt: skip
    result = run("runs", "--yes", "--path", "{model}/{step}.csv", "--study", "other")
    assert result.exit_code == 2
    assert result.output == (
        "Error: nothing was imported\n"
        "  found:    a/step1/results.json, which isn't like --path {model}/{step}.csv\n"
        "  expected: a path of that form\n"
        "  fix:      correct the pattern; it begins below the folder that all files have in "
        "common\n"
    )


def test_a_pattern_names_parts_of_paths_of_mteb(here):
    for model, dim, score in (("e5", 256, 0.5), ("e5", 512, 0.625), ("bge", 256, 0.25)):
        for task, add in (("STS12", 0.0), ("NFCorpus", 0.25)):
            scores = {
                "task_name": task,
                "scores": {"test": [{"hf_subset": "default", "main_score": score + add}]},
            }
            put(here, f"mteb/{model}/dim{dim}/{task}.json", json.dumps(scores))
    result = run("mteb", "--yes", "--path", "{model}/dim{dim}/{file}.json")
    assert result.exit_code == 0, result.output
    header, *rows = written(here, "mteb")
    at = [header.index(name) for name in ("model", "dim", "task", "main_score")]
    assert [[row[place] for place in at] for row in rows] == [
        ["bge", "256", "NFCorpus", "0.5"], ["bge", "256", "STS12", "0.25"],
        ["e5", "256", "NFCorpus", "0.75"], ["e5", "256", "STS12", "0.5"],
        ["e5", "512", "NFCorpus", "0.875"], ["e5", "512", "STS12", "0.625"],
    ]  # fmt: skip
    result = run("mteb", "--yes", "--path", "{model}/size{dim}/{file}.json", "--study", "other")
    assert result.exit_code == 2
    found = "bge/dim256/NFCorpus.json, which isn't like --path {model}/size{dim}/{file}.json"
    assert f"  found:    {found}\n" in result.output


def test_a_pattern_names_parts_of_paths_of_tables(here):
    for model, add in (("a", 0), ("b", 10)):
        put(here, f"runs/{model}.csv", f"lr,batch,acc\n1,8,{add + 1}\n2,8,{add + 2}\n1,16,{add}\n")
    result = run("runs", "--yes", "--path", "{model}.csv")
    assert result.exit_code == 0, result.output
    assert [row[:4] for row in written(here, "runs")][:3] == [
        ["model", "batch", "lr", "acc"], ["a", "8", "1", "1"], ["a", "8", "2", "2"],
    ]  # fmt: skip
    result = run("runs", "--yes", "--path", "{lr}.csv", "--study", "other")
    assert "  found:    --path with {lr}, and a column lr\n" in result.output
    assert result.exit_code == 2


class Compared(str):
    """A text that counts how often texts are compared."""

    __slots__ = ()
    times = 0

    def __eq__(self, other):
        Compared.times += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_no_row_is_compared_with_all_others():
    number = 2000
    rows = [(at // 50, at % 50, f"{at / 7:.4f}") for at in range(number)]
    columns = by_columns(("lr", "batch", "acc"), [tuple(map(Compared, row)) for row in rows])
    table = RawTable("CSV", columns, [f"a.csv:{at}" for at in range(number)])
    Compared.times = 0
    make_cells(propose(table, ImportOptions()), None)
    assert Compared.times < 60 * number


def test_parts_of_paths_are_named_by_a_pattern(here):
    for model in ("a", "b"):
        for rate in ("0.1", "0.2"):
            put(here, f"runs/{model}-{rate}.json", f'{{"acc": 0.{len(model)}{rate[-1]}}}')
    result = run("runs", "--yes", "--path", "{model}-{lr}.json")
    assert result.exit_code == 0, result.output
    assert written(here, "runs")[:2] == [
        ["model", "lr", "acc", "place"],
        ["a", "0.1", "0.11", "a-0.1.json"],
    ]
    result = run("runs", "--yes", "--path", "{model}_{lr}.json", "--study", "other")
    assert result.exit_code == 2
    assert "  found:    a-0.1.json, which isn't like --path {model}_{lr}.json\n" in result.output


# --- what is recognised ---------------------------------------------------------------------------

SEEN = {
    "percent sign": (
        "acc",
        ["71.2%", "2.5 %"],
        'metric: {name: Accuracy, column: acc, unit: "%", range: [0, 100], better: higher}',
    ),
    "percent": (
        "accuracy",
        ["71.2", "2.5"],
        'metric: {name: Accuracy, column: accuracy, unit: "%", range: [0, 100], better: higher}',
    ),
    "fraction": (
        "f1",
        ["0.712", "1"],
        "metric: {name: F1, column: f1, range: [0, 1], better: higher}",
    ),
    "loss": (
        "val_loss",
        ["0.712", "1.5"],
        "metric: {name: Validation loss, column: val_loss, better: lower}",
    ),
    "unit in brackets": (
        "Latency (ms)",
        ["71", "2.5"],
        "metric: {name: Latency, column: Latency, unit: ms, better: lower}",
    ),
    "unit at the end": (
        "step_time_ms",
        ["1,234.5", "2.5"],
        "metric: {name: Step time, column: step_time_ms, unit: ms, better: lower}",
    ),
    "many decimals": (
        "score",
        ["0.123456789", "12.5"],
        "metric: {name: Score, column: score, better: higher, decimals: 2}",
    ),
    "score beyond a share": (
        "win_rate",
        ["-3", "120"],
        "metric: {name: Win rate, column: win_rate, better: higher}",
    ),
    "rate by time": ("tap_rate", ["71", "2.5"], "metric: {name: Tap rate, column: tap_rate}"),
    "rate of cases": (
        "refusal_rate",
        ["71", "2.5"],
        'metric: {name: Refusal rate, column: refusal_rate, unit: "%", range: [0, 100]}',
    ),
    "name of no metric": ("value", ["3", "120"], "metric: {name: Value}"),
}


def test_means_of_repeats_have_as_many_decimals_as_their_luck(here):
    rows = [f"{model},{int(at % 3 > 0)}" for model in "ab" for at in range(60)]
    put(here, "t.csv", "\n".join(["model,correct", *rows]) + "\n")
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert "decimals: 2" in (here / "data/t/study.yml").read_text("utf-8")


@pytest.mark.parametrize("case", SEEN)
def test_the_metric_is_recognised(here, case):
    name, (first, second), metric = SEEN[case]
    put(here, "t.csv", f'x,y,{name}\n1,1,"{first}"\n2,1,"{second}"\n')
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert metric in (here / "data/t/study.yml").read_text("utf-8").splitlines()


def proposed(columns, *rows):
    """The roles of columns, by their names."""
    texts = by_columns(columns.split(), [row.split() for row in rows])
    table = RawTable("test", texts, [f"t:{line}" for line in range(2, len(rows) + 2)])
    return {role.column: role.role for role in propose(table, ImportOptions()).roles}


def test_columns_are_told_apart():
    rows = [
        f"{m}-{lr}-{b} {m} {size} {lr} {b} {s} {i}.{s} 0.1 org{m} 12{i} 2024-0{i}"
        for i, (m, size, lr, b, s) in enumerate(
            (m, size, lr, b, s)
            for m, size in (("a", 7), ("b", 13))
            for lr in ("1e-4", "1e-3")
            for b in (16, 32)
            for s in (0, 1)
        )
    ]
    columns = "run_name model model_size lr batch seed loss acc_std family runtime date"
    assert proposed(columns, *rows) == {
        "lr": "x",
        "batch": "y",
        "loss": "metric",
        "model": "facet",
        "seed": "repeats",
        "run_name": "not read",
        "model_size": "not read",
        "acc_std": "not read",
        "family": "not read",
        "runtime": "not read",
        "date": "not read",
    }


def test_a_table_of_several_metrics_gives_one_of_them():
    rows = [
        f"{m} {x} {k} 0.{x}{i}" for m in "ab" for x in (1, 2) for i, k in enumerate(("em", "f1"))
    ]
    assert proposed("model x metric value", *rows) == {
        "x": "x",
        "model": "y",
        "value": "metric",
        "metric": "only",
    }


def test_levels_that_are_odd_are_said(here):
    put(
        here,
        "t.json",
        '[{"w": 512, "h": [1, 2], "acc": 0.1}, {"w": "full", "h": [1, 2], "acc": 0.2},'
        ' {"w": 512, "h": [2, 2], "acc": 0.3}, {"w": 1024, "h": [2, 2], "acc": 0.4}]',
    )
    result = run("t.json", "--yes")
    assert result.exit_code == 0, result.output
    assert "note: h has lists; their parts are joined with +\n" in result.output
    assert "note: w has numbers and texts as levels; the texts: full\n" in result.output
    assert written(here, "t")[1][:2] == ["1+2", "512"]


def test_lists_that_become_one_text_are_refused(here):
    put(here, "t.json", '[{"h": ["a", "b"], "x": 1, "acc": 1}, {"h": "a+b", "x": 2, "acc": 2}]')
    result = run("t.json", "--yes")
    assert result.exit_code == 1
    assert result.output == (
        "Error: nothing was imported\n"
        '  found:    h at t.json:[1]: "a+b" and ["a", "b"], which both become "a+b"\n'
        "  expected: lists that stay different when their parts are joined\n"
        "  fix:      write the levels as texts\n"
    )


def test_names_that_the_format_doesnt_take_are_changed_with_a_label(here):
    put(here, "t.csv", "Study,Window (tokens),Modèle N°,acc\n1,1,a b,0.1\n2,2,c,0.2\n1,2,c,0.3\n")
    result = run("t.csv", "--x", "Window (tokens)", "--y", "Study", "--metric", "acc",
                 "--facet", "Modèle N°")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert written(here, "t")[0] == ["modele_n", "study_setting", "window", "acc", "place"]
    assert (
        "factors:\n"
        '  modele_n: {label: "Modèle N°", levels: [a b, c]}\n'
        "  study_setting: {label: Study, levels: [1, 2]}\n"
        "  window: {label: Window, unit: tokens, levels: [1, 2]}\n"
    ) in (here / "data/t/study.yml").read_text("utf-8")


def test_what_stands_after_a_margin_is_the_spread_of_a_kind_that_isnt_known(here):
    put(here, "t.csv", "x,y,acc\n1,1,71.2 ± 0.5%\n2,1,70.0±0.4\n3,1,69.0 ± k\n")
    result = run("t.csv", "--yes")
    assert (
        "note: acc: what follows ± may be a standard deviation, a standard error or half of "
        "a 95 % interval; it is shown, and used where you say which: --spread-kind sd "
        "--spread-n 5, se or ci95\n"
    ) in result.output
    assert [row[2:5] for row in written(here, "t")] == [
        ["acc", "spread", "note"],
        ["71.2", "0.5", ""],
        ["70.0", "0.4", ""],
        ["69.0", "", "± k in the source"],
    ]
    text = (here / "data/t/study.yml").read_text("utf-8")
    assert (
        "# The spread next to each value. With kind: sd (and n: repeats), se or ci95 values get "
        "intervals.\nspread: {column: spread}\n"
    ) in text


@pytest.mark.parametrize(
    ("options", "spread"),
    [
        ((), "{column: spread, kind: sd}"),
        (("--spread-n", "5"), "{column: spread, kind: sd, n: 5}"),
        (("--spread", "acc_std", "--spread-kind", "se"), "{column: spread, kind: se}"),
        (("--spread", ""), None),
    ],
)
def test_the_spread_is_as_asked_or_as_its_name_says(here, options, spread):
    put(here, "t.csv", "x,y,acc,acc_std\n1,1,0.5,0.1\n2,1,0.6,0.2\n1,2,0.3,0.1\n2,2,0.1,0.2\n")
    result = run("t.csv", *options, "--yes")
    assert result.exit_code == 0, result.output
    text = (here / "data/t/study.yml").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("spread:")] == (
        [f"spread: {spread}"] if spread else []
    )
    asked = run("t.csv", *options, "--study", "u")
    (command,) = re.findall("gridatlas (import t.csv.*)", asked.output)
    again = CliRunner().invoke(main, shlex.split(command))
    assert again.exit_code == 0, again.output
    assert (here / "data/u/cells.csv").read_text() == (here / "data/t/cells.csv").read_text()
    assert text.splitlines()[4:] == (here / "data/u/study.yml").read_text("utf-8").splitlines()[4:]


def test_texts_in_place_of_values(here):
    texts = ["nan", "", "-", "N/A", "oom", "Failed", "inf", "—", "0.5"]
    rows = "".join(f"{at},1,{text}\n" for at, text in enumerate(texts))
    put(here, "t.csv", "x,y,acc\n" + rows)
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert "8 rows without a value (nan, nothing, -, N/A, oom and 3 more): t.csv:2, " in (
        result.output
    )
    assert [row[2:5] for row in written(here, "t")[1:]] == [
        ["", "", ""],
        ["", "", ""],
        ["", "", ""],
        ["", "", ""],
        ["", "oom", ""],
        ["", "failed", "“Failed” in the source"],
        ["", "", "“inf” in the source"],
        ["", "", ""],
        ["0.5", "", ""],
    ]


def test_how_runs_ended_is_the_state_of_cells_without_a_value(here):
    put(
        here,
        "t.csv",
        "lr,bs,State,val_acc\n0.1,8,finished,0.5\n0.1,16,crashed,\n0.2,8,running,\n"
        "0.2,16,CUDA error: out of memory,\n",
    )
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert "says how runs ended" in result.output
    assert [row[:4] for row in written(here, "t")] == [
        ["bs", "lr", "val_acc", "state"],
        ["8", "0.1", "0.5", ""],
        ["16", "0.1", "", "failed"],
        ["8", "0.2", "", ""],
        ["16", "0.2", "", "oom"],
    ]


def test_a_deviation_in_a_column_beside_is_the_spread(here):
    put(
        here,
        "t.csv",
        "model,layers,acc_mean,acc_std\na,1,71.2,0.5\na,2,70.0,0.4\nb,1,72.1,0.3\nb,2,70.9,\n",
    )
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert "the sd of acc_mean: its name" in result.output
    assert [row[3] for row in written(here, "t")] == ["spread", "0.5", "0.4", "0.3", ""]


# --- rows that are wrong --------------------------------------------------------------------------

BAD = """\
x,y,acc,n,successes
1,1,0.5,2,1
1,1,0.5,2,1
2,1,0.5
2,,0.5,2,1
,,,,
1,2,abc,2,1
2,2,0.5,2,3
"""


def test_wrong_rows_stop_the_import_and_are_all_listed(here):
    put(here, "t.csv", BAD)
    result = run("t.csv", "--x", "x", "--y", "y", "--metric", "acc")
    assert result.exit_code == 1
    tail = result.output.partition("7 rows read\n")[2]
    assert tail == (
        "  = 2 cells\n"
        "  + 0 repeats of these cells\n"
        "  + 5 reported\n"
        "1 row without a value (abc): t.csv:7\n"
        "  left out: an empty row: t.csv:6\n"
        '  wrong: 3 values in 5 columns: "2,1,0.5": t.csv:4\n'
        "  wrong: its cell is already at t.csv:2 (y 1, x 1): t.csv:3\n"
        "  wrong: no level of y (--fill TEXT names it): t.csv:5\n"
        "  wrong: 3 successes of 2: t.csv:8\n"
        "Error: nothing was imported\n"
        "  found:    4 wrong rows, listed above\n"
        "  expected: rows that are cells\n"
        "  fix:      correct them, or leave them out with --skip; if they are repeats of a "
        "measurement, add --repeats rows, or --repeats with the column that numbers them; if "
        "something else was varied, name it with --facet\n"
    )
    assert not (here / "data").exists()


def test_wrong_rows_can_be_left_out(here):
    put(here, "t.csv", BAD)
    result = run("t.csv", "--x", "x", "--y", "y", "--metric", "acc", "--skip")
    assert result.exit_code == 0, result.output
    assert written(here, "t")[1:] == [
        ["1", "1", "0.5", "2", "1", "", "t.csv:2"],
        ["2", "1", "", "2", "1", "“abc” in the source", "t.csv:7"],
    ]
    result = run("t.csv", "--x", "x", "--y", "y", "--metric", "acc", "--skip", "--repeats", "rows",
                 "--fill", "none", "--study", "filled")  # fmt: skip
    assert "  = 3 cells\n  + 1 repeat of these cells\n  + 3 reported\n" in result.output
    assert "repeat: replicate}\n" in (here / "data/filled/study.yml").read_text("utf-8")


REFUSED = {
    "thousands or decimals": (
        "x\ty\tms\n1\t1\t1,234\n2\t1\t5,678\n",
        [],
        2,
        '"1,234", which may be 1234 or 1.234',
    ),
    "points and commas": (
        "x\ty\tms\n1\t1\t1,5\n2\t1\t5.25\n",
        [],
        2,
        'numbers with a decimal point ("5.25") and with a decimal comma ("1,5")',
    ),
    "some percent": ("x,y,acc\n1,1,50%\n2,1,0.5\n", [], 1, "1 wrong row, listed above"),
    "no metric": ("x,y,note\n1,a,c\n2,b,d\n", ["--x", "x"], 2,
                  "no column of numbers to be the metric, among x, y, note"),
    "an unknown column": ("x,y,acc\n1,1,0.5\n2,1,0.5\n", ["--x", "z"], 2, "--x z"),
    "a column twice": (
        "x,y,acc\n1,1,0.5\n2,1,0.5\n",
        ["--x", "x", "--facet", "x"],
        2,
        "x as --x and as --facet",
    ),
    "an unknown level": ("x,y,acc\n1,1,0.5\n2,1,0.5\n", ["--only", "y=2"], 2, "--only y=2"),
    "one column": ("x\n1\n", [], 1, 't.csv with one column, "x"'),
    "only a header": ("x,y,acc\n", [], 1, "t.csv, which has only a header"),
    "nothing": ("", [], 1, "t.csv, which is empty"),
    "not text": ("\0\1\2\3\0", [], 1, "t.csv, which isn't text"),
    "an open quote": ('x,y\n"1,2\n3,4\n', [], 1, "t.csv:2: unexpected end of data"),
    "levels with one address": (
        "x,y,m,acc\n1,1,A b,0.5\n1,1,a-b,0.6\n",
        ["--x", "x", "--y", "y", "--metric", "acc", "--facet", "m"],
        1,
        "problems, listed above",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cant_be_imported_is_refused_whole(here, case):
    content, options, status, found = REFUSED[case]
    put(here, "t.csv", content)
    result = run("t.csv", "--yes", *options)
    assert result.exit_code == status, result.output
    message = result.output[result.output.index("Error: nothing was imported\n") :].splitlines()
    assert message[1] == f"  found:    {found}"
    assert [line[:11] for line in message[2:]] == ["  expected:", "  fix:     "]
    assert sorted(here.iterdir()) == [here / "t.csv"]


def test_files_that_the_system_doesnt_hand_out(here, monkeypatch):
    def failing(*_):
        raise PermissionError(13, "Permission denied")

    for name in ("t.json", "t.csv"):
        put(here, name, "x,y,acc")
        with monkeypatch.context() as patched:
            patched.setattr("gridatlas.files.door.os.open", failing)
            result = run(name, "--yes")
        assert (result.exit_code, result.output) == (
            1,
            "Error: nothing was imported\n"
            f"  found:    {name}: Permission denied\n"
            "  expected: a file that can be read\n"
            "  fix:      check its permissions\n",
        )


def test_the_file_that_was_probably_meant_is_named(here):
    put(here, "results.csv", LONG)
    result = run("result.csv")
    assert (result.exit_code, result.output) == (
        2,
        "Error: nothing was imported\n"
        "  found:    result.csv: no such file\n"
        "  expected: a file or folder\n"
        "  fix:      name results.csv\n",
    )


@pytest.mark.parametrize(
    ("options", "found", "fix"),
    [
        (("--x", "lr", "--y", "lr"), "lr as --x and as --y", "leave one of them out"),
        (("--metric", "ac"), "--metric ac", "write --metric acc"),
        (("--facet", "mod"), "--facet mod", "write --facet model"),
    ],
)
def test_columns_that_options_name_wrongly(here, options, found, fix):
    put(here, "results.csv", LONG)
    result = run("results.csv", *options)
    lines = result.output.splitlines()
    assert (result.exit_code, lines[1], lines[3]) == (
        2, f"  found:    {found}", f"  fix:      {fix}",
    )  # fmt: skip


def test_a_reader_that_goes_away_is_no_fault_of_the_folder(here):
    put(here, "results.csv", LONG)
    command = [sys.executable, "-m", "gridatlas", "import", "results.csv", "--dry-run"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command, cwd=here, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
    assert sorted(here.iterdir()) == [here / "results.csv"]


@pytest.mark.parametrize(
    ("name", "study"),
    [
        ("wandb_export_2026-05-03T14_22_10.123+02_00.csv", "wandb-export"),
        ("2026-05-03T14:22:10Z.csv", "2026-05-03t14-22-10z"),
        ("sweep_2026.csv", "sweep-2026"),
    ],
)
def test_when_a_tracker_exported_isnt_part_of_the_studys_name(here, name, study):
    put(here, name, LONG)
    assert run(name, "--yes").exit_code == 0
    assert [path.name for path in (here / "data").iterdir()] == [study]


def test_json_shows_the_proposal_and_writes_nothing(here):
    put(here, "results.csv", LONG)
    result = run("results.csv", "--json")
    assert (result.exit_code, json.loads(result.output)["metric"]) == (0, "acc")
    refused = run("results.csv", "--json", "--yes")
    assert refused.exit_code == 2
    assert "--json only shows the proposal: leave out --yes, or --json" in refused.output
    assert sorted(here.iterdir()) == [here / "results.csv"]


def test_values_without_trials_or_repeats_are_said(here):
    put(here, "t.csv", TWO)
    note = (
        "note: there is no column with trials, seeds or standard errors, so differences can't be "
        "tested; if one has another name: --n, --repeats or --stderr\n"
    )
    assert note in run("t.csv").output
    assert note not in run("t.csv", "--metric", "acc", "--stderr", "loss").output


def test_json_that_cant_be_read(here):
    for content, found in (
        ("{", "t.json:1: Expecting property name enclosed in double quotes at column 2"),
        ('[{"a": 1, "a": 2}]', 't.json: the key "a" twice in one object'),
        ('"a"', "t.json, a JSON value without a list of objects"),
    ):
        put(here, "t.json", content)
        result = run("t.json", "--yes")
        assert result.exit_code == 1
        assert result.output.splitlines()[1] == f"  found:    {found}"


def test_findings_are_told_and_the_study_is_written(here):
    put(here, "t.csv", "x,y,acc,n\n1,1,0.50,4\n2,1,0.51,4\n")
    result = run("t.csv", "--yes")
    assert result.exit_code == 0
    assert "problem [k-of-n]" in result.output
    assert result.output.endswith(
        "1 problem\nThe study was written with the values of its source. Correct these there, "
        f"or list known findings under accepted in study.yml.\n{NEXT}"
    )
    assert (here / "data/t/study.yml").exists()
    again = run("t.csv", "--yes", "--study", "u", "--dry-run")
    assert (again.exit_code, again.output[-10:]) == (0, "1 problem\n")


# --- nothing is lost ------------------------------------------------------------------------------

LEVELS = st.sampled_from(["1", "2", "0.10", "a", "B c", "", "1,5", "[1]"])
VALUES = st.sampled_from(["0.5", "71.20", "1e-3", "5%", "nan", "", "oom", "x", "1 ± 2", "−3", "7"])
ROWS_OF = st.lists(
    st.tuples(LEVELS, LEVELS, LEVELS, VALUES, st.sampled_from(["1", "2", "", "x"])),
    min_size=1,
    max_size=25,
)


@given(ROWS_OF, st.sampled_from([(), ("s",), ("rows",)]), st.none() | st.just("none"))
@settings(max_examples=amount(150, 3_000), deadline=None)
def test_rows_read_are_cells_repeats_and_reported(rows, repeats, fill):
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "t.csv"
        with open(file, "w", encoding="utf-8", newline="") as out:
            csv.writer(out, delimiter="\t").writerows([["x", "y", "m", "acc", "s"], *rows])
        asked = ImportOptions(
            "x",
            "y",
            "acc",
            ("m",),
            repeats,
            mark="point",
            ignore=() if repeats == ("s",) else ("s",),
        )
        made = make_cells(propose(detect([file]), asked), fill)
    assert made.read == len(rows)
    assert made.read == made.cells + made.repeats + len(made.reported)
    _is_what_was_read(made, rows)


def _is_what_was_read(made, rows):
    """Each row is in one place only, and its value has the digits of the source."""
    written = [place.split(" ")[0] for place in made.columns["place"]]
    places = written + [row.place for row in made.reported]
    assert sorted(places) == sorted(f"t.csv:{line}" for line in range(2, len(rows) + 2))
    for place, value in zip(written, made.columns["acc"], strict=True):
        source = rows[int(place.rpartition(":")[2]) - 2][3]
        if value:
            assert source.replace("−", "-").split(" ")[0].removesuffix("%") == value
            Decimal(value)


# --- workbooks ------------------------------------------------------------------------------------


def workbook(**sheets):
    """An Excel workbook of tables in CSV, by the names of their sheets."""
    office = "http://schemas.openxmlformats.org"
    main_ns, rel_ns = (
        f"{office}/spreadsheetml/2006/main",
        f"{office}/officeDocument/2006/relationships",
    )
    files = io.BytesIO()
    with zipfile.ZipFile(files, "w") as archive:
        listed = related = ""
        for at, (name, text) in enumerate(sheets.items(), 1):
            listed += f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
            related += (
                f'<Relationship Id="r{at}" Type="{rel_ns}/worksheet" Target="sheet{at}.xml"/>'
            )
            rows = "".join(
                f"<row>{''.join(map(_cell, row))}</row>" for row in csv.reader([*text.splitlines()])
            )
            archive.writestr(
                f"xl/sheet{at}.xml",
                f'<worksheet xmlns="{main_ns}"><sheetData>{rows}</sheetData></worksheet>',
            )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r0" '
            f'Type="{rel_ns}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "[Content_Types].xml", f'<Types xmlns="{office}/package/2006/content-types"/>'
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main_ns}" xmlns:r="{rel_ns}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships">{related}</Relationships>',
        )
    return files.getvalue()


def _cell(text):
    if re.fullmatch(r"-?[\d.]+", text):
        return f"<c><v>{text}</v></c>"
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>' if text else "<c/>"


SHEET = "lr,batch,acc\n0.1,16,71.2\n0.1,32,70\n0.2,16,69.55\n0.2,32,\n"


@pytest.mark.parametrize(
    ("sheets", "options"),
    [
        ({"Runs": SHEET}, ()),
        ({"Notes": "", "Runs": SHEET}, ()),
        ({"Other": "a,b\n1,2\n", "Runs": SHEET}, ("--table", "2")),
    ],
)
def test_a_sheet_of_a_workbook(here, sheets, options):
    (here / "t.xlsx").write_bytes(workbook(**sheets))
    result = run("t.xlsx", *options, "--yes")
    assert result.exit_code == 0, result.output
    place = "t.xlsx, Runs" if options else "t.xlsx"
    assert written(here, "t") == [
        ["batch", "lr", "acc", "place"],
        ["16", "0.1", "71.2", f"{place}:2"],
        ["32", "0.1", "70", f"{place}:3"],
        ["16", "0.2", "69.55", f"{place}:4"],
        ["32", "0.2", "", f"{place}:5"],
    ]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (workbook(A="a,b\n1,2\n", B=SHEET), (), "t.xlsx with 2 sheets: 1 (A), 2 (B)"),
        (workbook(A="a,b\n1,2\n"), ("--table", "3"), "1 to 1, the sheets of t.xlsx"),
        (workbook(A=""), (), "t.xlsx, which is empty"),
        (b"PK\x03\x04 no workbook", (), "an Excel workbook (.xlsx)"),
    ],
)
def test_a_workbook_that_isnt_clear(here, data, options, message):
    (here / "t.xlsx").write_bytes(data)
    result = run("t.xlsx", *options, "--yes")
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert not (here / "data").exists()


def test_a_workbook_without_the_library(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (here / "t.xlsx").write_bytes(workbook(A=SHEET))
    result = run("t.xlsx", "--yes")
    assert result.exit_code == 1
    assert 'fix:      pip install "/path/to/grid-atlas[excel]"' in result.output


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("lr,batch,seed,acc", True),
        ("lr,batch,random_state,acc", True),
        ("lr,batch,fold,acc", True),
        ("weight_decay,dropout,seed,acc,n", True),
        ("beams,shots,seed,acc", False),
        ("step,epoch,seed,acc", False),
        ("batch_size,precision,seed,tokens_per_s", False),
        ("lr,batch,seed,latency_ms", False),
    ],
)
def test_cells_of_a_training_setting_are_runs_of_their_own(here, head, written):
    more = ",100" if head.endswith("n") else ""
    settings = [(x, y, seed) for x in (1, 2) for y in (3, 4) for seed in (5, 6)]
    rows = [f"{x},{y},{seed},5{x}.{y}{seed}{more}" for x, y, seed in settings]
    put(here, "t.csv", "\n".join([head, *rows]) + "\n")
    result = run("t.csv", "--yes")
    assert result.exit_code == 0, result.output
    assert ("\ncells: runs\n" in (here / "data/t/study.yml").read_text("utf-8")) is written


def test_where_rows_were_left_out_the_refusal_says_so(here):
    put(here, "t.csv", "metric,lr,batch,value\nacc,0.1,16,3\nloss,0.2,32,4\n")
    result = run("t.csv", "--yes")
    assert result.exit_code == 2
    assert "nothing that was varied in the 1 row with metric=acc; 1 other left out" in result.output


@pytest.mark.parametrize("site", ["--site", "--no-site"])
def test_what_accepts_a_proposal_makes_the_website_that_was_asked_for(here, site):
    put(here, "results.csv", LONG)
    command = run("results.csv", site).output.rpartition("To accept this proposal, run:")[2]
    assert site in shlex.split(command)
    assert site not in run("results.csv").output


# --- several metrics ------------------------------------------------------------------------------

TWO = "lr,batch,acc,loss\n0.1,16,71.2,0.5\n0.1,32,70.0,0.4\n0.2,16,69.5,0.7\n0.2,32,68.0,0.8\n"


def test_each_of_several_metrics_is_a_study_that_links_to_the_others(here):
    put(here, "t.csv", TWO)
    result = run("t.csv", "--metric", "acc", "--metric", "loss", "--yes")
    assert result.exit_code == 0, result.output
    assert [path.name for path in sorted((here / "data").iterdir())] == ["t-acc", "t-loss"]
    studies = load(here / "data")
    assert [(study.study.title, study.study.metric.better) for study in studies.values()] == [
        ("T: acc", "higher"),
        ("T: loss", "lower"),
    ]
    links = [
        [(link.study, link.text, link.same_runs) for link in s.study.see_also]
        for s in studies.values()
    ]
    assert links == [[("t-loss", "Loss", True)], [("t-acc", "Accuracy", True)]]


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (("acc", "nope"), (), "--metric nope"),
        (("loss", "acc"), ("--study", "there"), "there-acc, which exists already"),
        (("acc", "loss"), ("--dry-run", "--format", "json"), "takes one --metric"),
    ],
)
def test_of_several_metrics_all_are_imported_or_none(here, metrics, options, message):
    put(here, "t.csv", TWO)
    (here / "data/there-acc").mkdir(parents=True)
    named = [word for metric in metrics for word in ("--metric", metric)]
    result = run("t.csv", *named, *options, "--yes")
    assert result.exit_code == 2
    assert message in result.output
    assert [path.name for path in (here / "data").iterdir()] == ["there-acc"]
