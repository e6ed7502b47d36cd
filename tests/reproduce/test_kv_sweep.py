"""The scripts of the KV study, run as they are, with tiny models loaded from their folder."""

import importlib.util
import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
import torch
from builders import cases
from click.testing import CliRunner
from huggingface_hub.errors import HfHubHTTPError

from gridatlas.meter import duration
from gridatlas_reproduce.kv import cost, memory, models
from gridatlas_reproduce.kv.memory import (
    GIB,
    Batch,
    Shape,
    check_fits,
    rows_for,
    rows_that_fit,
    shape_of,
)
from gridatlas_reproduce.kv.models import LEVELS, SIZES, about_model, choose_model, sizes_of
from gridatlas_reproduce.kv.questions import read_jsonl
from gridatlas_reproduce.kv.sweep import Sweep
from gridatlas_reproduce.kv.work import SweepFactory
from gridatlas_reproduce.runner.collect import collect
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.units import seed_of

SCRIPTS = Path(__file__).parents[2] / "docs" / "reproduce"
STUDY = """format: 1
title: A try
metric: {name: "Pass@1", column: pass_at_1, unit: "%", range: [0, 100], decimals: 1}
x: ratio
y: local_window
facets: [model, benchmark]
"""
SMALL = [
    *("--local-window", "6", "--local-window", "12", "--ratio", "0.10", "--ratio", "0.5"),
    *("--trigger", "40", "--samples", "2", "--max-new-tokens", "90"),
    *("--device", "cpu", "--dtype", "float32"),
]


def page(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with two models, questions, answers to train on, and a study."""
    folder = tmp_path_factory.mktemp("kv")
    for number, family in enumerate(tiny.FAMILIES):
        tiny.save_tiny(folder / family, family, seed=number)
    lines = [{"id": f"q{i}", "question": f"what is {i}+{i}?", "answer": i + i} for i in range(9)]
    lines[1] |= {"answer": "B", "choices": ["1", "2", "3", "4"]}
    (folder / "q.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    traces = [
        {"id": f"t{i}", "question": f"what is {i}?", "text": f"it is {i}, i say.</think>{i}."}
        for i in range(4)
    ]
    (folder / "traces.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in traces))
    study = folder / "data" / "dynts-window-ratio"
    study.mkdir(parents=True)
    (study / "study.yml").write_text(STUDY)
    (study / "cells.csv").write_text(
        "model,benchmark,local_window,ratio,pass_at_1\nr1-qwen,aime24,6,0.1,50.0\n"
    )
    return folder


@pytest.fixture
def run(here, monkeypatch):
    monkeypatch.chdir(here)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def invoke(script, *arguments):
        return CliRunner().invoke(page(script).main, arguments, catch_exceptions=False)

    yield invoke
    torch.set_num_threads(threads)


def on_tiny(family="qwen2"):
    level = {"qwen2": "r1-qwen", "llama": "r1-llama"}[family]
    return ["--model", f"{level}=./{family}", "--benchmark", "aime24", "--data", "q.jsonl"]


def read(folder):
    """The rows of a run by window, ratio and item, without what the rest of the batch changes."""
    run = RunFolder.open(folder)
    found = {}
    for unit in run.plan():
        rows = [json.loads(line) for line in run.path(unit).read_text().splitlines()[1:]]
        for row in rows:
            assert row.pop("seconds") >= 0
            assert row.pop("batch_tokens", 1) >= 0
            row.pop("refilled", None)
        levels = unit.levels
        found[levels.get("local_window", ""), levels.get("ratio", ""), str(unit.item)] = rows
    return found


# --- what a run measures --------------------------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_predictor_then_sweep_then_collect(run, here, family):
    level = on_tiny(family)[1].partition("=")[0]
    made = run(
        "train_predictor",
        *("--model", f"./{family}", "--traces", "traces.jsonl", "--out", f"runs/predictor-{level}"),
        *("--first", "16", "--second", "8", "--epochs", "2", "--device", "cpu"),
        *("--dtype", "float32"),
    )
    assert made.exit_code == 0, made.output
    about = json.loads((here / f"runs/predictor-{level}/predictor.json").read_text())
    assert (about["answers"], about["hidden"], about["model"]["id"]) == (4, 32, family)

    done = run("kv_sweep", *on_tiny(family), *SMALL, "--limit", "3", "--out", f"runs/{family}")
    assert done.exit_code == 0, done.output
    assert "12 of 12 units" in done.stderr
    manifest = RunFolder.open(here / "runs" / family).manifest()
    assert manifest["study"] == "dynts-window-ratio"
    assert manifest["seeds"] == 0
    assert manifest["model"]["id"] == family
    assert manifest["data"]["id"] == "q.jsonl"
    assert manifest["settings"]["predictor"] == about["sha256"]
    assert manifest["settings"]["ratios"] == ["0.1", "0.5"]
    assert manifest["settings"]["sampling"]["order"] == "temperature, top_p, top_k"
    assert manifest["settings"]["grader"] == 3
    assert manifest["deviations"]["dtype"] == 'It is "float32". Published: "float16".'
    assert "pruned together" in manifest["deviations"]["batches"]
    rows = read(here / "runs" / family)
    assert len(rows) == 2 * 2 * 3
    per_token = 2 * 2 * 2 * 8 * 4  # keys and values, layers, heads, their width, bytes
    for (_, _, item), pair in rows.items():
        assert [row["sample"] for row in pair] == [0, 1]
        for row in pair:
            assert row["seed"] == seed_of(0, item, row["sample"])
            assert 1 <= row["tokens"] <= 90
            assert row["finish"] == ("length" if row["tokens"] == 90 else "stop")
            assert row["peak_kv_bytes"] % per_token == 0
            assert row["peak_kv_bytes"] <= 40 * per_token
            assert row["prunes"] == 0 or row["peak_kv_bytes"] == 40 * per_token
            assert not row["correct"] or row["prediction"] is not None
    assert any(row["prunes"] for pair in rows.values() for row in pair)
    # The cells share their random numbers: until the first prune they are the same.
    begun = {pair[0]["text"][:15] for (_, _, item), pair in rows.items() if item == "q0"}
    assert len(begun) == 1

    lines = list(collect([here / "runs" / family], here / "data", "dynts-window-ratio", family))
    assert lines
    table = (here / "data" / "dynts-window-ratio" / f"{family}.csv").read_text().splitlines()
    assert table[0] == "model,benchmark,ratio,local_window,pass_at_1,n,successes,stderr,run"
    assert len(table) == 1 + 4
    assert table[1].startswith(f"{level},aime24,0.1,6,")


def test_full_has_one_cell_and_its_answers_train_a_predictor(run, here):
    arguments = [*on_tiny(), "--scorer", "full", "--samples", "2", "--max-new-tokens", "60"]
    arguments += ["--device", "cpu", "--dtype", "float32", "--limit", "2", "--out", "runs/full"]
    assert run("kv_sweep", *arguments).exit_code == 0
    found = RunFolder.open(here / "runs" / "full")
    assert {unit.cell for unit in found.plan()} == {(("benchmark", "aime24"), ("model", "r1-qwen"))}
    given = ["--model", "r1-qwen=./qwen2", "--run", "runs/full", "--data", "q.jsonl"]
    # What a model of random weights says is never right.
    none = run("train_predictor", *given, "--out", "runs/none", "--device", "cpu")
    assert none.exit_code == 1
    assert "none of 0 traces has a thought, </think> and an answer after it" in none.output
    for unit in found.plan():
        path = found.path(unit)
        lines = path.read_text().splitlines()
        for number in (1, 2):
            row = json.loads(lines[number])
            row |= {"correct": True, "finish": "stop", "text": "it is 4</think>4"}
            lines[number] = json.dumps(row)
        path.write_text("".join(f"{line}\n" for line in lines))
    made = run("train_predictor", *given, "--dry-run")
    assert "4 answers, 36 tokens" in made.output
    other = run("train_predictor", "--model", "./llama", *given[2:], "--dry-run")
    assert other.exit_code == 2
    assert "runs/full is a run of qwen2 with the scorer full" in other.output


def test_two_shards_equal_one_whole(run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "random", "--limit", "3"]
    assert run("kv_sweep", *given, "--out", "runs/whole").exit_code == 0
    for part in ("1/2", "2/2"):
        assert run("kv_sweep", *given, "--out", "runs/parts", "--shard", part).exit_code == 0
    assert read(here / "runs" / "whole") == read(here / "runs" / "parts")


def test_ray_gives_the_records_of_one_process(warm, here):
    """In one shape: the same rows and slots; Ray is started on this machine."""
    script = str(SCRIPTS / "kv_sweep.py")
    given = ["python", script, *on_tiny(), *SMALL, "--scorer", "streaming", "--rows", "8"]
    given += ["--limit", "8", "--out"]
    for more in (["runs/here"], ["runs/ray", "--engine", "ray"]):
        # By default Ray's workers wait for all else that a machine does.
        done = warm.run([*given, *more], here, RAY_worker_niceness="0")
        assert done.code == 0, done.stderr
    assert read(here / "runs" / "ray") == read(here / "runs" / "here")


def test_single_cell_is_the_cell_of_the_sweep(run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "random", "--limit", "2"]
    assert run("kv_sweep", *given, "--out", "runs/sweep").exit_code == 0
    single = [*on_tiny(), *SMALL[8:], "--scorer", "random", "--limit", "2"]
    # As the site's cards give it, in a folder of its own.
    done = run("kv_sweep", *single, "--local-window", "12", "--ratio", "0.1")
    assert done.exit_code == 0, done.output
    (folder,) = (here / "runs" / "kv").iterdir()
    assert folder.name == RunFolder.open(folder).run
    rows = read(here / "runs" / "sweep")
    assert read(folder) == {key: rows[key] for key in rows if key[:2] == ("12", "0.1")}


def test_killed_run_goes_on_and_its_reading_is_the_same(warm, run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "streaming", "--limit", "8"]
    command = ["python", str(SCRIPTS / "kv_sweep.py"), *given, "--out", "runs/killed"]
    records = here / "runs" / "killed" / "records"
    warm.start(command, here).kill_when(lambda: any(records.glob("*.jsonl")))
    killed = RunFolder.open(here / "runs" / "killed")
    left = len(killed.missing(killed.plan()))
    assert 0 < left < 32
    done = run("kv_sweep", *given, "--out", "runs/killed")
    assert f"{32 - left} of 32 units" in done.stderr or "32 of 32 units" in done.stderr
    assert run("kv_sweep", *given, "--out", "runs/unbroken").exit_code == 0

    def reading(name):
        data = here / f"data-{name}"
        shutil.copytree(here / "data", data)
        list(collect([here / "runs" / name], data, "dynts-window-ratio", "ours"))
        study = data / "dynts-window-ratio"
        outcomes = next((study / "runs").glob("*.outcomes.json"))
        return {"cells": (study / "ours.csv").read_bytes(), outcomes.name: outcomes.read_bytes()}

    assert reading("killed") == reading("unbroken")
    assert read(here / "runs" / "killed") == read(here / "runs" / "unbroken")
    # Nothing is done again, and other settings are refused.
    assert "32 of 32 units" in run("kv_sweep", *given, "--out", "runs/killed").stderr
    other = run("kv_sweep", *given, "--out", "runs/killed", "--protect-question", "always")
    assert other.exit_code == 2
    assert 'settings.protect  "tie"  "always"' in other.output


# --- what a run takes -----------------------------------------------------------------------------


def test_dry_run_needs_neither_model_nor_data(run, here):
    given = ["--model", "r1-llama", "--benchmark", "gpqa_d", "--dry-run"]
    result = run("kv_sweep", *given, "--price-per-hour", "2.5")
    assert result.output == (
        "3,960 units: 20 cells × 198 questions, 5 samples each\n"
        "324,403,200 tokens at most (16,384 per answer)\n"
        "67.3 GiB of GPU memory: weights 15.0, caches 49.5 (81 rows of at most 5,008 tokens), "
        "spare 2.8\n"
        "60.3 million tokens to decode at 1,940 per second (assumed: 7,000 tokens per answer, and "
        "2 times the time in which an H100 reads weights and caches, at least 25 ms, for a step "
        "with 80% of the rows busy; --bench replaces the step, --measure 20 all of it)\n"
        "GPU time, an estimate: 8 h 38 min, 21.59 at 2.50 per hour\n"
    )
    limited = run("kv_sweep", *on_tiny(), *SMALL, "--limit", "2", "--dry-run")
    assert limited.output.startswith("8 units: 4 cells × 2 questions, 2 samples each\n")
    assert "(16 rows of at most" in limited.output
    assert not (here / "runs" / "kv_sweep").exists()


def test_measured_rate_replaces_the_assumed_one(run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "streaming", "--rows", "4", "--out", "runs/measured"]
    first = run("kv_sweep", *given, "--measure", "2", "--price-per-hour", "3600")
    assert first.exit_code == 0, first.output
    assert "8 of 8 units" in first.stderr
    folder = RunFolder.open(here / "runs" / "measured")
    measured = json.loads((folder.folder / "measured.json").read_text())
    rows = [row for unit in folder.plan() if unit.item in ("q0", "q1") for row in folder.read(unit)]
    shared = {(row.item, row.sample): min(row.tokens, *(row.pruned_at or [999])) for row in rows}
    tails = [row.tokens - row.pruned_at[0] for row in rows if row.pruned_at]
    assert measured["tokens"] == (sum(shared.values()) + sum(tails)) / 2
    speed = sum(row.batch_tokens or 0 for row in rows) / sum(row.seconds for row in rows)
    assert measured["per_second"] == pytest.approx(speed)
    words = f"at {speed:,.0f} per second (measured with 2 questions of this run)\n"
    assert words in first.stdout
    assert words in run("kv_sweep", *given, "--dry-run").output
    # A rate of another batch says nothing of this one.
    assert "(assumed: " in run("kv_sweep", *given, "--rows", "5", "--dry-run").output
    (folder.folder / "measured.json").write_text("[]")
    broken = run("kv_sweep", *given, "--dry-run")
    assert broken.exit_code == 1
    assert "expected: what --measure wrote\n  fix:      remove it" in broken.output
    # What was measured is part of the run.
    done = run("kv_sweep", *given)
    assert "36 of 36 units" in done.stderr


def test_runs_say_how_they_were_decoded_and_keep_to_it(run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "random", "--limit", "2", "--out", "runs/shape"]
    one_cell = [*given, "--only", "ratio=0.1", "--only", "local_window=6"]
    assert run("kv_sweep", *one_cell, "--rows", "3").exit_code == 0
    manifest = RunFolder.open(here / "runs" / "shape").manifest()
    assert manifest["settings"]["decoder"] == {
        "name": "slots",
        "version": 2,
        "rows": 3,
        "slots": 48,
        "rounded_to": 64,
        "reading": "grouped",
        "num_splits": None,
    }
    for other, setting in [
        (["--rows", "4"], "settings.decoder.rows  3     4"),
        (["--reading", "varlen"], 'settings.decoder.reading     "grouped"  "varlen"'),
        (["--dtype", "bfloat16"], 'settings.dtype  "float32"  "bfloat16"'),
    ]:
        refused = run("kv_sweep", *given, *other)
        assert refused.exit_code == 2
        assert "has a run with other settings" in refused.output
        assert setting in refused.output
        assert "name another folder with --out, or give the settings of then" in refused.output
    # Nor is a run that was drawn in another order gone on with.
    path = here / "runs" / "shape" / "run.json"
    now = path.read_text()
    then = json.loads(now)
    del then["settings"]["sampling"]["order"], then["settings"]["grader"]
    path.write_text(json.dumps(then))
    refused = run("kv_sweep", *given)
    assert refused.exit_code == 2
    assert "settings.grader          (none)  3" in refused.output
    assert 'settings.sampling.order  (none)  "temperature, top_p, top_k"' in refused.output
    path.write_text(now)
    # Without --rows it goes on in the batch that it has; beginnings are those of the first cell.
    assert run("kv_sweep", *given).exit_code == 0
    folder = RunFolder.open(here / "runs" / "shape")
    by_sample = {}
    for unit in folder.plan():
        first = unit.levels["ratio"] == "0.1" and unit.levels["local_window"] == "6"
        for row in folder.read(unit):
            assert row.refilled == (not first)
            by_sample.setdefault((row.item, row.sample), set()).add(row.prefix)
            assert len(row.pruned_at) == row.prunes
    assert len(by_sample) == 4
    assert all(len(prefixes) == 1 for prefixes in by_sample.values())
    # All at once gives the same.
    whole = [*given[:-1], "runs/shape-whole", "--rows", "3"]
    assert run("kv_sweep", *whole).exit_code == 0
    assert read(here / "runs" / "shape") == read(here / "runs" / "shape-whole")


def test_broken_beginning_is_told(run, here):
    given = [*on_tiny(), *SMALL, "--scorer", "random", "--limit", "1", "--out", "runs/torn"]
    assert run("kv_sweep", *given, "--only", "ratio=0.1").exit_code == 0
    path = sorted((here / "runs" / "torn" / "prefixes").iterdir())[0]
    path.write_text("{")
    torn = run("kv_sweep", *given)
    assert torn.exit_code == 1
    assert f"{path} can't be read: " in torn.output
    assert "fix:      remove it: they are decoded again" in torn.output
    path.unlink()
    assert run("kv_sweep", *given).exit_code == 0


def test_rows_follow_from_the_memory():
    shape = choose_model("r1-llama").shape
    assert rows_for(shape, 2, 5008, 80e9, 1000) == 81
    assert rows_for(shape, 2, 5008, 80e9, 20) == 20
    assert rows_for(shape, 2, 5008, None, 1000) == 32
    with pytest.raises(CannotRun) as refused:
        rows_for(shape, 2, 5008, 16 * GIB, 1000)
    assert refused.value.message == (
        "the GPU has 16.0 GiB of memory; the weights take 15.0 GiB, a row of 5,008 tokens 0.6 GiB, "
        "and all else 2.8 GiB\n"
        "  expected: room for one row at least\n"
        "  fix:      use a GPU with at least 19 GiB"
    )


PARAMETERS = {"r1-qwen": 7_615_616_512, "r1-llama": 8_030_261_248}


@pytest.mark.parametrize("name", SIZES)
def test_shapes_are_those_of_the_models(name):
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = sizes_of(name)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**vars(sizes)))
    number = sum(parameter.numel() for parameter in model.parameters())
    assert shape_of(sizes).parameters == number == PARAMETERS.get(name, number)
    assert shape_of(sizes) == shape_of(model.config)


def test_estimate_of_the_whole_study():
    """Both models and all benchmarks on one GPU: a night or two."""
    hours = tokens = 0.0
    cells = {}
    for level in LEVELS:
        shape = choose_model(level).shape
        for benchmark, number in (("aime24", 30), ("aime25", 30), ("amc23", 40), ("gpqa_d", 198)):
            plan = Sweep(level, benchmark)
            slots = plan.slots([cost.PROMPT])
            rows = rows_that_fit(shape, 2, slots, cost.GPU)
            assert rows == {"r1-qwen": 196, "r1-llama": 81}[level]
            plan = replace(plan, batch=Batch(rows, slots))
            rate = cost.assumed_rate(plan, shape)
            seconds = number * rate.tokens / rate.per_second
            cells.setdefault(benchmark, [number]).append(seconds)
            hours += seconds / 3600
            tokens += number * rate.tokens
    assert 10 < hours < 30
    assert 100e6 < tokens / 2 < 115e6
    # The page's table of what a night buys.
    page = (SCRIPTS.parent / "reproducing" / "index.md").read_text()
    rows = re.findall(r"^\| ([\w ]+) \| (\d+) \| ([\w ]+) \| ([\w ]+) \|$", page, re.MULTILINE)
    cells["all four"] = [sum(column) for column in zip(*cells.values(), strict=True)]
    assert {name.lower(): (int(number), *of) for name, number, *of in rows} == {
        name: (number, duration(qwen), duration(llama))
        for name, (number, qwen, llama) in cells.items()
    }


def test_too_little_memory_says_what_would_fit():
    shape = Shape(8 * 10**9, 32, 8, 128)
    check_fits(shape, 2, 5000, 5, None)
    check_fits(shape, 2, 5000, 5, 20 * GIB)
    with pytest.raises(CannotRun) as refused:
        check_fits(shape, 2, 5000, 5, 18 * GIB)
    assert refused.value.message == (
        "18.0 GiB of GPU memory are free; the weights take 14.9 GiB and 5 rows of 5,000 tokens "
        "3.1 GiB\n"
        "  expected: 19.5 GiB free, with 1.5 GiB for all else\n"
        "  fix:      --rows 2 would fit"
    )
    with pytest.raises(CannotRun, match="use a GPU with at least 17 GiB free"):
        check_fits(shape, 2, 5000, 5, 12 * GIB)


def test_memory_that_runs_out_is_told():
    with pytest.raises(CannotRun) as refused, memory.enough_memory("the weights and the caches", 5):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.\nTried")
    assert refused.value.message == (
        "the GPU's memory ran out with 5 samples at a time: CUDA out of memory.\n"
        "  expected: room for the weights and the caches\n"
        "  fix:      give --rows 2, or free the GPU of other programs"
    )


def test_memory_that_runs_out_in_training_is_told():
    with pytest.raises(CannotRun) as refused, memory.enough_memory("a model"):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.\nTried")
    assert refused.value.message == (
        "the GPU's memory ran out: CUDA out of memory.\n"
        "  expected: room for a model\n"
        "  fix:      free the GPU of other programs, or use a larger one; what was made is kept"
    )


def test_worker_can_be_made_in_another_process(here):
    questions = read_jsonl(here / "q.jsonl").questions
    choice = choose_model(f"r1-qwen={here / 'qwen2'}")
    batch = Batch(8, 64)
    plan = Sweep("r1-qwen", "aime24", scorer="random", dtype="float32", batch=batch)
    factory = SweepFactory(plan, questions, 0, choice, about_model(choice), None, "cpu")
    sent = pickle.loads(pickle.dumps(factory))
    assert sent == factory
    assert type(sent().model).__name__ == "Qwen2ForCausalLM"


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "code", "words"), cases(__file__, "refused"))
def test_what_cannot_run_is_told(run, arguments, code, words):
    given = {"tiny": on_tiny(), "small": SMALL}
    spelled = [part for word in arguments.split() for part in given.get(word, [word])]
    result = run("kv_sweep", *spelled, "--out", "runs/refused")
    assert result.exit_code == code, result.output
    for word in words:
        assert word in result.output


def test_other_family_is_told(run, here):
    (here / "gpt").mkdir(exist_ok=True)
    (here / "gpt" / "config.json").write_text('{"model_type": "gpt2"}')
    result = run("kv_sweep", "--model", "./gpt", "--benchmark", "b", "--data", "q.jsonl")
    assert result.exit_code == 1
    assert "is of the family gpt2\n  expected: a Llama or Qwen2 model" in result.output


def test_tokenizer_that_does_not_fit_is_told(here, tmp_path):
    folder = shutil.copytree(here / "llama", tmp_path / "llama")
    tokenizer = tiny.new_tokenizer()
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    with pytest.raises(CannotRun, match="has no chat template"):
        models.load_tokenizer(choose_model(str(folder)))

    class Plain:
        unk_token_id = 0

        def convert_tokens_to_ids(self, token):
            return 0

    with pytest.raises(CannotRun, match="the tokenizer has no token </think>"):
        models.ends_of(None, Plain())


def test_levels_of_models(here, monkeypatch):
    monkeypatch.chdir(here)
    hub = "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"
    for text, level, source in [
        ("r1-llama", "r1-llama", hub),
        (hub, "r1-llama", hub),
        ("./llama", "llama", str(here / "llama")),
        ("r1-llama=llama", "r1-llama", str(here / "llama")),
        ("Some/Model_7B", "model_7b", "Some/Model_7B"),
    ]:
        choice = choose_model(text)
        assert (choice.level, choice.source) == (level, source)
    about = about_model(choose_model("./llama"))
    assert about["id"] == "llama"
    assert about != about_model(choose_model("./qwen2"))


def test_errors_of_the_hub_are_told(monkeypatch):
    assert issubclass(HfHubHTTPError, OSError)
    refused = pytest.raises(CannotRun, match=r"the model a/b can't be had from the hub")
    with refused, models.reaching("model", "a/b", "--model"):
        raise OSError("a/b is not a valid model identifier")
    with pytest.raises(KeyError), models.reaching("model", "a/b", "--model"):
        raise KeyError("a fault of our own isn't told as one of the hub")


# --- the pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kv_sweep", "train_predictor", "bench_kv"])
def test_page_runs_nothing_and_has_help(name):
    module = page(name)
    result = CliRunner().invoke(module.main, ["--help"])
    assert result.exit_code == 0
    assert "Examples:" in result.output
    text = (SCRIPTS / f"{name}.py").read_text()
    assert text.startswith("# %% [markdown]\n# # ")
    examples = [
        line for line in result.output.splitlines() if line.strip().startswith(f"{name}.py")
    ]
    assert len(examples) >= 3
