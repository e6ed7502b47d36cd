"""`gridatlas import` of evaluation logs: which cells they are, and the outcomes of their items."""

import csv
import json
import zipfile

import pytest
from click.testing import CliRunner
from log_samples import header, packed, put_eval, put_lm_eval, put_members, results, samples

from gridatlas import load
from gridatlas.cli.main import main
from gridatlas.progress import listening
from gridatlas.statistics.paired import paired_p
from gridatlas.table.items import all_paired, shares_by_item
from gridatlas_import.detect import detect
from gridatlas_import.logs import run_files

SCORES = {"q1": "CC", "q2": "CI", "q3": "II", "q4": "CC"}


def run(*arguments):
    return CliRunner().invoke(main, ["import", *arguments])


def cells(folder, names, study="logs"):
    """The rows by x and y, with some of their columns."""
    with open(folder / "data" / study / "cells.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    found = [dict(zip(head, row, strict=True)) for row in rows]
    at = names.split()
    return {
        tuple(row[name] for name in head[:2]): tuple(row.get(name, "") for name in at)
        for row in found
    }


def paired(folder, study="logs"):
    """The outcomes of the one run, as written."""
    (file,) = (folder / "data" / study / "runs").glob("*.outcomes.json")
    return dict(json.loads(file.read_text("utf-8")))


def sweep(folder, **last):
    """Four logs by temperature and shots; `last` is of the last, besides or instead."""
    for number, (warm, shots) in enumerate([("0.0", 0), ("0.5", 0), ("0.0", 2), ("0.5", 2)], 1):
        given = {
            "number": number,
            "task_args": {"fewshot": shots},
            "plan": {"steps": [], "config": {"temperature": float(warm), "max_tokens": 64}},
            "config": {"epochs": 2},
        }
        scores = last.get("scores", SCORES) if number == 4 else SCORES
        more = {key: value for key, value in last.items() if key != "scores"}
        put_eval(folder / f"{number}.eval", scores, **given | (more if number == 4 else {}))


# --- Inspect --------------------------------------------------------------------------------------


def test_logs_of_inspect_are_cells_with_outcomes_per_item(here):
    sweep(here / "logs")
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("logs: 4 rows; 4 logs of Inspect\n")
    run_id = paired(here)["run"]
    # Of item means 1, 0.5, 0 and 1: the standard error is over four items, not eight samples.
    assert cells(here, "match n successes stderr place run") == {
        (shots, warm): ("0.625", "8", "5", "0.2393567769", f"{at}.eval", run_id)
        for at, (warm, shots) in enumerate(
            [("0.0", "0"), ("0.5", "0"), ("0.0", "2"), ("0.5", "2")], 1
        )
    }
    assert paired(here) == {
        "run": run_id,
        "items": [["q1", "q2", "q3", "q4"]],
        "cells": [
            {
                "cell": {"fewshot": shots, "temperature": warm},
                "items": 0,
                "samples": 2,
                "correct": [2, 1, 0, 2],
            }
            for warm, shots in [("0", "0"), ("0.5", "0"), ("0", "2"), ("0.5", "2")]
        ],
    }
    manifest = json.loads((here / f"data/logs/runs/{run_id}.json").read_text("utf-8"))
    assert {key: manifest[key] for key in ("script", "started", "packages", "stderr_over")} == {
        "script": "logs of Inspect 0.3.285, read by gridatlas import",
        "started": "2026-03-01T10:01:00+00:00",
        "packages": {"inspect_ai": "0.3.285"},
        "stderr_over": "items",
    }
    assert run("logs", "--yes", "--replace").exit_code == 0


def test_the_study_leads_to_its_logs(here):
    sweep(here / "logs")
    pattern = "https://example.org/logs/{file}"
    result = run("logs", "--link", pattern)
    assert f"--link '{pattern}'" in result.output
    assert run("logs", "--yes", "--link", pattern).exit_code == 0
    study = (here / "data/logs/study.yml").read_text("utf-8")
    assert f'    label: logs\n    link: "{pattern}"\n' in study
    for wrong in ("logs/{file}", "https://example.org/", "https://example.org/{file}{x}"):
        result = run("logs", "--link", wrong)
        assert result.exit_code == 2
        assert "an address with {file} in the place of the log's path" in result.output


def test_many_outcomes_are_a_parquet_table_and_mean_the_same(here, monkeypatch):
    sweep(here / "logs", scores={**SCORES, "q3": ["I"]})
    assert run("logs", "--yes", "--study", "small").exit_code == 0
    monkeypatch.setattr(run_files, "LARGE", 3)
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    (name,) = [path.name for path in (here / "data/logs/runs").glob("*.parquet")]
    assert f"written: data/logs/runs/{name}\n" in result.output
    small, large = (load("data")[study].assessment.study for study in ("small", "logs"))
    assert {id: run.outcomes for id, run in small.runs.items()} == {
        id: run.outcomes for id, run in large.runs.items()
    }
    assert len(next(iter(large.runs.values())).outcomes) == 4
    (here / "data/logs/runs" / name).write_bytes(b"PAR1")
    checked = CliRunner().invoke(main, ["check"])
    assert (checked.exit_code, f"data/logs/runs/{name}: problem [" in checked.output) == (1, True)


LAST = ("2", "0.5")
"""The shots and the temperature of the last log of a sweep."""


@pytest.mark.parametrize(
    ("last", "cell", "output"),
    [
        pytest.param(
            {"scores": {**SCORES, "q3": [None, None]}},
            ("0.8333333333", "6", "5", "", "3 of 4 items were scored"),
            "not all logs have the same items",
            id="failed samples: n is what was scored",
        ),
        pytest.param(
            {"status": "cancelled"},
            ("", "", "", "failed", "cancelled"),
            "1 row without a value",
            id="a cancelled run has a value, which isn't one",
        ),
        pytest.param(
            {"status": "error", "error": "CUDA out of memory"},
            ("", "", "", "oom", "error; CUDA out of memory"),
            "1 row without a value",
            id="out of memory",
        ),
        pytest.param(
            {"scores": dict.fromkeys(SCORES, "II"), "limit": "token"},
            ("0", "8", "0", "", "8 of 8 samples ended at a token limit"),
            "",
            id="a limit is scored as wrong, and it is said",
        ),
        pytest.param(
            {"scores": {**SCORES, "q3": "PP"}},
            ("0.75", "", "", "", "8 scored samples"),
            "logs with partial credit, or without samples, aren't compared item by item",
            id="partial credit counts no successes",
        ),
        pytest.param(
            {"scores": {"q1": ["C", float("nan")], "q2": "CI", "q3": "II", "q4": "CC"}},
            ("0.625", "", "", "", "7 scored samples"),
            "",
            id="a score that isn't a number is none, and items stay equal in weight",
        ),
        pytest.param(
            {"scores": {"q4": "CC", "q2": "CI", "q3": "II", "q1": "CC"}},
            ("0.625", "8", "5", "", ""),
            "",
            id="another order of the items",
        ),
    ],
)
def test_what_a_log_says_decides_what_its_cell_is(here, last, cell, output):
    sweep(here / "logs", **last)
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    assert cells(here, "match n successes state note")[LAST] == cell
    assert output in result.output


def test_cells_of_one_import_are_compared_item_by_item(here):
    sweep(here / "logs", scores={**SCORES, "q1": "II", "q4": "II"})
    assert run("logs", "--yes").exit_code == 0
    grid = load("data")["logs"].assessment.results.grid()
    shares = shares_by_item(grid)
    assert (len(shares), all_paired([*shares.values()])) == (4, True)
    first, last = (shares[at] for at in (("0", "0"), ("0.5", "2")))
    test = paired_p(first.values, last.values)
    # Both items that differ have the same sign: two of four patterns are as extreme.
    assert (round(test.p, 9), test.test) == (0.5, "sign-flip permutation test, exact")


def test_items_of_other_data_pair_nothing(here):
    sweep(here / "logs", dataset={"name": "other", "samples": 4})
    assert run("logs", "--yes").exit_code == 0
    first, second = (set(items) for items in paired(here)["items"])
    assert not first & second


def test_an_id_with_unequal_targets_pairs_nothing(here):
    sweep(here / "logs", targets={"q1": "26", "q2": "62", "q3": "44", "q4": "80"})
    result = run("logs", "--yes")
    assert (
        "note: 2 ids with unequal targets, such as q2: it is another item in each log, so nothing "
        "is paired by it\n"
    ) in result.output
    lists = paired(here)["items"]
    assert [[name.partition(" ")[0] for name in items] for items in lists] == [[*SCORES]] * 2
    assert {name for name in lists[0] if name in lists[1]} == {"q1", "q4"}


@pytest.mark.parametrize(
    ("given", "level"),
    [
        pytest.param({"model_generate_config": {"temperature": 0.7}}, "0.7", id="get_model"),
        pytest.param(
            {"plan": {"steps": [{"solver": "generate", "params": {"temperature": 0.7}}]}},
            "0.7",
            id="solver",
        ),
        pytest.param({"task_args": {"temperature": 0.7, "fewshot": 2}}, "0.7", id="task parameter"),
    ],
)
def test_a_setting_is_a_factor_wherever_the_tool_puts_it(here, given, level):
    sweep(here / "logs", **{"plan": {"steps": [], "config": {}}, **given, "task_args": {
        "fewshot": 2, **given.get("task_args", {})}})  # fmt: skip
    result = run("logs", "--x", "temperature", "--y", "fewshot", "--metric", "match")
    assert result.exit_code == 0, result.output
    assert ("2", level) in cells(here, "match")


def test_of_a_setting_that_stands_twice_the_inner_counts_and_both_are_said(here):
    steps = [{"solver": "generate", "params": {"temperature": 0.7}}]
    sweep(here / "logs", plan={"steps": steps, "config": {"temperature": 0.5}})
    result = run("logs", "--yes")
    assert ("2", "0.7") in cells(here, "match")
    assert (
        "note: temperature: plan.generate counts, not plan.config, which says otherwise (4.eval)\n"
    ) in result.output


@pytest.mark.parametrize(
    ("extra", "reported"),
    [
        pytest.param(
            {"number": 4}, "a copy of 4.eval: the same eval_id: 5.eval", id="a copy of a log"
        ),
        pytest.param(
            {"number": 5, "task_id": "task-4"},
            "tried again: 5.eval is newer, with the same task_id: 4.eval",
            id="a retry",
        ),
        pytest.param(
            {"number": 5, "status": "error", "error": "lost"},
            "error; 4.eval has the same settings, and ended well: 5.eval",
            id="a failure that was made good",
        ),
    ],
)
def test_of_logs_of_one_cell_one_counts(here, extra, reported):
    sweep(here / "logs")
    plan = {"steps": [], "config": {"temperature": 0.5, "max_tokens": 64}}
    own = {"task_args": {"fewshot": 2}, "plan": plan, "config": {"epochs": 2}}
    put_eval(here / "logs/5.eval", SCORES, **{**own, **extra})
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    assert (
        f"5 rows read\n  = 4 cells\n  + 0 repeats of these cells\n  + 1 reported\n  {reported}"
        in (result.output.replace("left out: ", ""))
    )


def test_a_run_that_has_not_ended_is_a_missing_cell(here):
    sweep(here / "logs")
    (here / "logs/4.eval").unlink()
    plan = {"config": {"temperature": 0.5, "max_tokens": 64}}
    start = header(number=4, task_args={"fewshot": 2}, plan=plan)
    del start["status"]
    journal = {"_journal/summaries/1.json": samples({"q1": "C", "q2": "I"})}
    put_members(here / "logs/4.eval", {"_journal/start.json": start, **journal})
    assert run("logs", "--yes").exit_code == 0
    assert cells(here, "match state note")[LAST] == (
        "", "", "started; it hasn't ended: 2 samples in the log, of 4 items",
    )  # fmt: skip


def test_a_log_with_several_reducers_leaves_the_others_in(here):
    for number in (1, 2, 3, 4):
        names = ("mean", "max") if number == 1 else (None,)
        scores = [
            {**results(0.5)["scores"][0], **({"reducer": name} if name else {})} for name in names
        ]
        put_members(
            here / f"logs/{number}.eval",
            {
                "header.json": header(
                    number=number,
                    results={"scores": scores, "headline": results(0.5)["headline"]},
                    task_args={"a": number % 2, "b": number // 3},
                )
            },
        )
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    assert len(cells(here, "match")) == 4
    assert "left out: reducer is max, not mean: 1.eval:max" in result.output


def test_scores_and_reducers_are_chosen(here):
    for number in (1, 2, 3, 4):
        scores = [
            {**results(0.5)["scores"][0], "reducer": "mean"},
            {**results(0.75)["scores"][0], "reducer": "max"},
            results(0.25, name="form")["scores"][0],
        ]
        every = {"scores": scores, "headline": results(0.5)["headline"]}
        put_members(
            here / f"logs/{number}.eval",
            {
                "header.json": header(
                    number=number,
                    results=every,
                    task_args={"a": number % 2, "b": number // 3},
                    config={"epochs": 2},
                ),
                "summaries.json": samples({"q1": "CI", "q2": "CI", "q3": "CI", "q4": "CI"}),
                "reductions.json": [
                    {
                        "scorer": "match",
                        "reducer": "max",
                        "samples": [
                            {"sample_id": f"q{at}", "value": value}
                            for at, value in enumerate("CCCI", 1)
                        ],
                    }
                ],
            },
        )
    first = run("logs", "--yes")
    assert "note: other scores of these logs: form (--metric form)\n" in first.output
    assert "note: reducers: max, mean (--only reducer=max)\n" in first.output
    assert set(cells(here, "match n successes").values()) == {("0.5", "8", "4")}
    assert run("logs", "--yes", "--study", "m", "--only", "reducer=max").exit_code == 0
    assert set(cells(here, "match n successes", "m").values()) == {("0.75", "4", "3")}
    assert run("logs", "--yes", "--study", "form", "--metric", "form").exit_code == 0
    assert set(cells(here, "form n", "form").values()) == {("0.25", "")}
    wrong = run("logs", "--yes", "--study", "x", "--metric", "from")
    assert (wrong.exit_code, wrong.output) == (
        2,
        "Error: nothing was imported\n"
        "  found:    --metric from\n"
        "  expected: a score of these logs: form, match\n"
        "  fix:      write --metric form\n",
    )


def test_logs_in_json_are_read_too(here):
    sweep(here / "logs")
    with zipfile.ZipFile(here / "logs/1.eval"):
        pass
    for number in (1, 2, 3, 4):
        given = {"task_args": {"a": number % 2, "b": number // 3}, "results": results(0.5)}
        scores = {"q1": "C", "q2": "I", "q3": [float("nan")]}
        tree = header(number=number, **given) | {"samples": samples(scores)}
        (here / f"json/{number}.json").parent.mkdir(exist_ok=True)
        (here / f"json/{number}.json").write_text(json.dumps(tree), "utf-8")
    result = run("json", "--yes", "--study", "logs")
    assert result.exit_code == 0, result.output
    assert set(cells(here, "match n successes note").values()) == {
        ("0.5", "2", "1", "2 of 3 items were scored")
    }


def bomb():
    return packed({"header.json": b"0" * 5_000_000}, size=1000)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(b"no log", "4.eval: file is not a zip file", id="foreign"),
        pytest.param(
            packed({"header.json": json.dumps(header()).encode()})[:-30],
            "4.eval: file is not a zip file",
            id="truncated",
        ),
        pytest.param(
            packed({"a.txt": b"a"}),
            "4.eval: a ZIP file without header.json and _journal/start.json",
            id="another ZIP file",
        ),
        pytest.param(bomb(), "4.eval:header.json: ", id="more than it says"),
        pytest.param(
            packed({"header.json": b"{}"}, size=3_000_000_000),
            "4.eval:header.json: 3,000,000,000 bytes or more",
            id="absurd size",
        ),
        pytest.param(
            packed({"../../header.json": b"{}"}),
            '4.eval: a member called "../../header.json"',
            id="path in a name",
        ),
        pytest.param(
            packed({"header.json": b'{"version": 2'}),
            "4.eval:header.json:1: Expecting ',' delimiter at column 14",
            id="half a member",
        ),
        pytest.param(
            packed({"header.json": b"[" * 100_000}),
            "4.eval:header.json: values nested too deeply",
            id="nested",
        ),
        pytest.param(
            packed({"header.json": b'{"version": 3, "status": "success", "eval": {}}'}),
            '4.eval: version "3" of Inspect\'s logs',
            id="unknown version",
        ),
    ],
)
def test_a_log_that_cannot_be_read_is_named(here, content, found):
    sweep(here / "logs")
    (here / "logs/4.eval").write_bytes(content)
    result = run("logs", "--yes")
    assert result.exit_code == 1, result.output
    assert result.output.startswith(f"Error: nothing was imported\n  found:    {found}")
    assert not (here / "data").exists()


# --- lm-evaluation-harness ------------------------------------------------------------------------

SHOTS = (0, 4)


def lm_sweep(folder, **given):
    for model in ("org/small", "org/large"):
        for shots in SHOTS:
            put_lm_eval(
                folder / model.replace("/", "__"),
                f"2026-03-01T10-0{shots}-00.5",
                {"sums": {"strict": [1, 0, 0, 1], "flexible": [1, 1, 0, 1]}},
                model_name=model,
                shots=shots,
                **given,
            )


def test_documents_are_read_beside_results_once_per_filter(here):
    lm_sweep(here / "logs")
    result = run("logs", "--yes", "--only", "filter=strict")
    assert result.exit_code == 0, result.output
    rows = cells(here, "value n successes stderr")
    assert rows == {
        (model, str(shots)): ("0.5", "4", "2", "0.2886751346")
        for model in ("org/small", "org/large")
        for shots in SHOTS
    }
    assert cells(here, "place")["org/small", "0"] == (
        "org__small/results_2026-03-01T10-00-00.5.json:results.sums.acc,strict, "
        "org__small/samples_sums_2026-03-01T10-00-00.5.jsonl",
    )
    assert paired(here)["items"] == [["0", "1", "2", "3"]]
    assert {tuple(cell["correct"]) for cell in paired(here)["cells"]} == {(1, 0, 0, 1)}


def test_filters_are_a_facet_rather_than_an_axis(here):
    lm_sweep(here / "logs")
    result = run("logs", "--dry-run", "--format", "json")
    proposal = json.loads(result.output)
    assert {key: proposal[key] for key in ("x", "y", "facets")} == {
        "x": "num_fewshot", "y": "model", "facets": ["filter"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "levels"),
    [
        pytest.param(
            {"model_args": {"pretrained": "org/small", "dtype": "float16"}},
            {"unset", "float16"},
            id="runs that differ in dtype",
        ),
        pytest.param(
            {"model_args": "pretrained=org/small,dtype=float16"},
            {"unset", "float16"},
            id="arguments as a text",
        ),
    ],
)
def test_what_differs_in_arguments_is_a_factor(here, change, levels):
    for shots in SHOTS:
        for number, given in enumerate(({}, change)):
            time = f"2026-03-01T10-{shots}{number}-00"
            put_lm_eval(
                here / "logs/small", time, {"sums": {"none": [1, 0, 1]}}, shots=shots, **given
            )
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    assert {key[0] for key in cells(here, "value")} == levels


def test_of_runs_with_equal_settings_the_newest_counts(here):
    lm_sweep(here / "logs")
    again = {"sums": {"strict": [1, 1, 1, 1], "flexible": [1, 1, 1, 1]}}
    put_lm_eval(here / "logs/org__small", "2026-03-02T10-00-00", again, date=2.0)
    result = run("logs", "--yes", "--only", "filter=strict")
    assert result.exit_code == 0, result.output
    assert cells(here, "value")["org/small", "0"] == ("1",)
    assert (
        "run again: org__small/results_2026-03-02T10-00-00.json is newer, with its settings: "
        "org__small/results_2026-03-01T10-00-00.5.json:results.sums.acc,strict"
    ) in result.output


def test_a_name_that_the_harness_made_up_is_none(here):
    for shots, name in zip(SHOTS, ("qdpv68r5", "x81kfp2a"), strict=True):
        for model in ("dummy", "other"):
            put_lm_eval(
                here / "logs" / f"{name}{model}",
                f"2026-03-01T10-0{shots}-00",
                {"sums": {"none": [1, 0]}},
                model_name=f"{name}{model}",
                model=model,
                model_args={},
                shots=shots,
            )
    assert run("logs", "--yes").exit_code == 0
    assert {key[0] for key in cells(here, "value")} == {"dummy", "other"}


def test_one_model_at_one_task_is_not_called_by_the_time_of_its_files(here):
    for shots in (0, 2, 4):
        time = f"2026-03-01T10-0{shots}-00"
        put_lm_eval(here / "logs/x", time, {"sums": {"none": [1, 0]}}, shots=shots)
    result = run("logs", "--dry-run", "--format", "json")
    proposal = json.loads(result.output)
    assert {key: proposal[key] for key in ("x", "y", "facets")} == {
        "x": "num_fewshot", "y": None, "facets": [],
    }  # fmt: skip


def test_a_doc_id_of_another_document_pairs_nothing(here):
    lm_sweep(here / "logs")
    put_lm_eval(
        here / "logs/org__small",
        "2026-03-01T10-04-00.5",
        {"sums": {"strict": [1, 0, 0, 1], "flexible": [1, 1, 0, 1]}},
        shots=4,
        hashes=["hash-1", "hash-0", "hash-2", "hash-3"],
    )
    result = run("logs", "--yes", "--only", "filter=strict")
    assert "note: 2 doc_ids with other documents in some files, such as 0" in result.output
    assert len(paired(here)["items"]) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"doc_id": 0', "Expecting ',' delimiter at column 13", id="truncated"),
        pytest.param("no JSON", "Expecting value at column 1", id="foreign"),
        pytest.param("\udcff", "bytes that aren't UTF-8", id="encoding"),
    ],
)
def test_documents_that_cannot_be_read_are_named(here, text, found):
    lm_sweep(here / "logs")
    name = "org__small/samples_sums_2026-03-01T10-04-00.5.jsonl"
    (here / "logs" / name).write_text(text, "utf-8", errors="surrogateescape")
    result = run("logs", "--yes")
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: nothing was imported\n  found:    {name}:1: {found}\n")


@pytest.mark.parametrize("task", ["../../sums", "a/b", "n\u2028ew", "x" * 300])
def test_the_name_of_a_task_is_no_path(here, task):
    lm_sweep(here / "logs")
    for file in (here / "logs").glob("*/results_*.json"):
        file.write_text(file.read_text("utf-8").replace('"sums"', json.dumps(task)), "utf-8")
    result = run("logs", "--dry-run", "--only", "filter=strict")
    assert result.exit_code == 0, result.output
    assert "successes" not in result.output


def test_lines_end_where_json_has_its_lines_end(here):
    lm_sweep(here / "logs")
    for file in (here / "logs").glob("*/samples_*.jsonl"):
        text = file.read_text("utf-8").replace('"filter"', '"doc": "a\u2028b\x85c", "filter"')
        file.write_text(text, "utf-8")
    assert run("logs", "--yes", "--only", "filter=strict").exit_code == 0
    assert paired(here)["items"] == [["0", "1", "2", "3"]]


def test_names_that_are_no_texts_end_in_no_traceback(here):
    sweep(here / "logs", model=[[1]])
    assert run("logs", "--dry-run").exit_code == 0
    lm_sweep(here / "lm")
    for file in (here / "lm").glob("*/samples_*.jsonl"):
        file.write_text(file.read_text("utf-8").replace('["acc"]', '[{"a": 1}]'), "utf-8")
    result = run("lm", "--dry-run", "--only", "filter=strict")
    assert (result.exit_code, "successes" in result.output) == (0, False)


def test_pages_say_that_values_are_from_imported_logs(here):
    sweep(here / "logs")
    assert run("logs", "--yes").exit_code == 0
    built = CliRunner().invoke(main, ["build", "--into", "pages"])
    assert built.exit_code == 0, built.output
    page = (here / "pages/studies/logs/index.md").read_text("utf-8")
    assert "<dd>Imported logs" in page
    assert "Measured here" not in page


def test_it_says_how_far_it_is(here):
    for number in range(1, 46):
        given = {"number": number, "task_args": {"a": number % 5, "b": number // 5}}
        put_eval(here / f"logs/{number}.eval", {"q1": "C", "q2": "I"}, **given)
    reports = []
    with listening(lambda *found: reports.append(found)):
        detect([here / "logs"])
    read = [done for what, done, total in reports if (what, total) == ("logs read", 45)]
    assert read == [*range(46)]


# --- sweeps ---------------------------------------------------------------------------------------

TRIALS = [
    # lr, batch_size, seed, score; how it ended
    ("0.1", "16", "0", "0.7", "finished"),
    ("0.1", "16", "1", "0.8", "finished"),
    ("0.01", "16", "0", "0.6", "finished"),
    ("0.01", "16", "1", "0.5", "failed"),
    ("0.001", "16", "0", "0.6", "finished"),
    ("0.001", "16", "1", "", "failed"),
    ("0.1", "64", "0", "0.7", "finished"),
    ("0.1", "64", "1", "0.9", "finished"),
    ("0.01", "64", "0", "0.6", "finished"),
    ("0.01", "64", "1", "0.6", "finished"),
    ("0.001", "64", "0", "", "failed"),
    ("0.001", "64", "1", "", "failed"),
]
"""A sweep that is written as each program writes it; the scores are made up."""


def as_optuna(folder):
    states = {"finished": "COMPLETE"}
    lines = ["number,value,duration,params_batch_size,params_lr,params_seed,state"]
    for at, (lr, batch, seed, score, end) in enumerate(TRIALS):
        state = states.get(end, "PRUNED" if score else "FAIL")
        lines.append(f"{at},{score},0 days 00:00:00.{at}1,{batch},{lr},{seed},{state}")
    put(folder / "trials.csv", lines)


def as_optuna_json(folder):
    trees = [
        {
            "number": at,
            "value": float(score) if score else None,
            "params": {"batch_size": int(batch), "lr": float(lr), "seed": int(seed)},
            "state": "COMPLETE" if end == "finished" else "PRUNED" if score else "FAIL",
        }
        for at, (lr, batch, seed, score, end) in enumerate(TRIALS)
    ]
    put(folder / "trials.json", [json.dumps(trees)])


def as_mlflow_table(folder):
    lines = ["run_id,experiment_id,status,metrics.acc,params.batch_size,params.lr,params.seed"]
    for at, (lr, batch, seed, score, end) in enumerate(TRIALS):
        status = {"finished": "FINISHED"}.get(end, "KILLED" if score else "FAILED")
        lines.append(f"{at:032x},1,{status},{score},{batch},{lr},{seed}")
    put(folder / "runs.csv", lines)


def as_wandb(folder):
    trees = [
        {
            "name": f"run-{at}",
            "state": "finished" if end == "finished" else "crashed",
            "config": {"batch_size": int(batch), "lr": float(lr), "seed": int(seed)},
            "summary": {"acc": float(score) if score else None, "_step": 100},
        }
        for at, (lr, batch, seed, score, end) in enumerate(TRIALS)
    ]
    put(folder / "runs.json", [json.dumps(trees)])


def as_mlflow(folder):
    put(folder / "7/meta.yaml", ["name: tuning"])
    for at, (lr, batch, seed, score, end) in enumerate(TRIALS):
        run_folder = folder / f"7/{at:032x}"
        status = 3 if end == "finished" else 4
        meta = ["experiment_id: '7'", "lifecycle_stage: active", f"status: {status}"]
        put(run_folder / "meta.yaml", meta)
        for name, text in (("lr", lr), ("batch_size", batch), ("seed", seed)):
            (run_folder / "params").mkdir(exist_ok=True)
            (run_folder / "params" / name).write_text(text, "utf-8")
        if score:
            # The last step isn't the last line.
            put(run_folder / "metrics/acc", [f"1772359200002 {score} 1", "1772359200001 0.1 0"])
        put(run_folder / "tags/mlflow.user", ["somebody"])


def as_ray(folder):
    for at, (lr, batch, seed, score, end) in enumerate(TRIALS):
        trial = folder / f"train_{at:05d}_lr={float(lr):.1f}"
        config = {"batch_size": int(batch), "lr": float(lr), "seed": int(seed)}
        put(trial / "params.json", [json.dumps(config)])
        report = {"acc": 0.1, "pid": 7, "hostname": "h", "node_ip": "127.0.0.1", "config": config}
        last = {**report, "acc": float(score or 0)}
        put(trial / "result.json", [json.dumps(report), json.dumps(last)] if score else [])
        if end == "finished":
            put(trial / "progress.csv", ["acc", score])
        else:
            put(trial / "error.txt", ["Traceback", "ValueError: lost"])


def as_hydra(folder):
    for at, (lr, batch, seed, score, end) in enumerate(TRIALS):
        job = folder / f"2026-03-01/10-00-00/{at}"
        put(job / ".hydra/config.yaml", [f"lr: {lr}", f"batch_size: {batch}", f"seed: {seed}"])
        if end == "finished":
            put(job / "metrics.json", [json.dumps({"acc": float(score)})])


def put(file, lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


@pytest.mark.parametrize(
    "write", [as_optuna, as_optuna_json, as_mlflow_table, as_mlflow, as_ray, as_hydra, as_wandb]
)
def test_a_sweep_keeps_its_failed_trials_without_their_values(here, write):
    write(here / "logs")
    result = run("logs", "--yes")
    assert result.exit_code == 0, result.output
    with open(here / "data/logs/cells.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    metric = next(name for name in head if name.endswith(("acc", "value")))
    keys = [next(name for name in head if name.endswith(end)) for end in ("lr", "batch_size")]
    found = sorted(
        (*(row[head.index(key)] for key in keys), row[head.index(metric)], row[head.index("state")])
        for row in rows
    )
    assert found == sorted(
        (lr, batch, score if end == "finished" else "", "" if end == "finished" else "failed")
        for lr, batch, _, score, end in TRIALS
    )
    study = (here / "data/logs/study.yml").read_text("utf-8")
    assert (f"\nx: {keys[0]}\ny: {keys[1]}\n" in study, ": replicate}" in study) == (True, True)
    for private in ("127.0.0.1", "hostname", "somebody"):
        assert private not in (here / "data/logs/cells.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("write", "file", "found"),
    [
        pytest.param(
            as_ray,
            "train_00000_lr=0.1/result.json",
            "train_00000_lr=0.1/result.json:1: Expecting value at column 1",
            id="ray",
        ),
        pytest.param(
            as_mlflow,
            f"7/{0:032x}/metrics/acc",
            f'7/{0:032x}/metrics/acc:1: "half a line"',
            id="mlflow",
        ),
        pytest.param(
            as_hydra,
            "2026-03-01/10-00-00/0/metrics.json",
            "0/metrics.json:1: Expecting value at column 1",
            id="hydra",
        ),
    ],
)
def test_a_file_of_a_sweep_that_cannot_be_read_is_named(here, write, file, found):
    write(here / "logs")
    (here / "logs" / file).write_text("half a line\n", "utf-8")
    result = run("logs", "--yes")
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: nothing was imported\n  found:    {found}\n")
