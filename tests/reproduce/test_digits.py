"""The digits study: its problems, its models, what GRPO makes of them, and the command."""

from __future__ import annotations

import csv
import errno
import importlib.util
import json
import re
import shutil
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pytest
import tiny
import torch
from click.testing import CliRunner
from safetensors import SafetensorError
from test_kv_sweep import SCRIPTS, page
from warm import Done

from gridatlas.cli.main import main as gridatlas
from gridatlas_reproduce.digits.grpo import Grpo, last_checkpoint, rewards, train_on
from gridatlas_reproduce.digits.model import (
    ModelSize,
    load_model,
    load_tokenizer,
    new_model,
    new_tokenizer,
    sampled,
)
from gridatlas_reproduce.digits.pretrained import uses_vllm
from gridatlas_reproduce.digits.problems import (
    CHARACTERS,
    Problem,
    answer_width,
    ended,
    held_out,
    training,
)
from gridatlas_reproduce.digits.study import (
    DigitsFactory,
    DigitsStudy,
    DigitsWorker,
    expected,
    model_of,
)
from gridatlas_reproduce.digits.supervised import Check, Supervised, train_further, train_start
from gridatlas_reproduce.runner.collect import collect
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, enough_space
from gridatlas_reproduce.runner.records import RunFolder, seed_of

SCRIPT = str(SCRIPTS / "grpo_digits.py")
STUDY = """format: 1
title: A try
metric: {name: "Share of right answers", column: share, unit: "%", range: [0, 100], decimals: 1}
x: x_digits
y: y_digits
facets: [setting, temperature, seed]
"""
ID = "digits-pass-1"
CELLS_CSV = "setting,temperature,seed,x_digits,y_digits,share\nbefore,0,9,1,1,50.0\n"
CELLS = ((1, 1), (1, 2), (2, 1), (2, 2))


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# --- problems -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "prompt", "answer", "name"),
    [
        (Problem(12, 345, "+", 4), "2100+5430=", "75300", "12+345"),
        (Problem(99, 1, "+", 2), "99+10=", "001", "99+1"),
        (Problem(0, 0, "+", 1), "0+0=", "00", "0+0"),
        (Problem(12, 34, "*", 2), "21*43=", "8040", "12*34"),
        (Problem(999, 999, "*", 3), "999*999=", "100899", "999*999"),
    ],
)
def test_numbers_are_written_from_their_last_digit(problem, prompt, answer, name):
    assert (problem.prompt, problem.answer, problem.name) == (prompt, answer, name)
    assert len(answer) == answer_width(problem.operation, problem.width)


@pytest.mark.parametrize(
    ("cell", "wanted", "number"),
    [((1, 1), 100, 50), ((1, 1), 20, 20), ((1, 2), 1000, 450), ((3, 2), 100, 100)],
)
def test_held_out_problems_are_at_most_half(cell, wanted, number):
    found = held_out(cell, "+", 3, wanted, 0)
    assert len(found) == len(set(found)) == number
    for problem in found:
        assert (len(str(problem.x)), len(str(problem.y))) == cell
    assert held_out(cell, "+", 3, wanted, 0) == found
    assert held_out(cell, "+", 3, wanted, 1) != found
    # A shorter list is the beginning of a longer one: a try asks problems of the whole study.
    assert held_out(cell, "+", 3, 10, 0) == found[:10]


def test_held_out_problems_are_never_trained_on():
    study = DigitsStudy(digits=2, region=1)
    asked = frozenset(problem for cell in study.cells for problem in study.problems(cell))
    assert len(asked) == 50 + 3 * 100
    worker = DigitsWorker(study, Path(), "cpu")
    seen = list(islice(worker._training(study.cells, "supervised/1"), 20_000))
    assert asked.isdisjoint(seen)
    # Nearly every other problem of the smallest cell is.
    assert len({problem for problem in seen if max(problem.x, problem.y) < 10}) == 50
    short = list(islice(worker._training(study.train_region, "grpo/1"), 500))
    assert all(max(problem.x, problem.y) < 10 for problem in short)
    assert asked.isdisjoint(short)


def test_training_draws_the_same_for_the_same_seed():
    def drawn(seed):
        return list(islice(training(CELLS, "*", 2, frozenset(), seed), 200))

    assert drawn("1") == drawn("1") != drawn("2")


# --- models ---------------------------------------------------------------------------------------


def save(folder, seed=1):
    """A small model of large weights, so that other tokens give other answers."""
    model = new_model(ModelSize(16, 1, 2), seed).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.mul_(8)
    model.save_pretrained(folder)
    new_tokenizer().save_pretrained(folder)
    return model


def test_model_is_the_same_for_the_same_seed_and_after_saving(tmp_path):
    model = save(tmp_path / "model")
    weights = load_model(tmp_path / "model").state_dict()
    assert weights.keys() == model.state_dict().keys()
    assert all(torch.equal(weights[name], weight) for name, weight in model.state_dict().items())
    first, same, other = (
        new_model(ModelSize(), seed).get_input_embeddings().weight for seed in (1, 1, 2)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_a_character_is_a_token(tmp_path):
    from transformers import AutoTokenizer

    new_tokenizer().save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer("210+543=75300$")["input_ids"]
    assert ids == [CHARACTERS.index(character) for character in "210+543=75300$"]
    assert tokenizer.decode(ids) == "210+543=75300$"
    assert tokenizer.decode(ids, skip_special_tokens=True) == "210+543=75300"
    assert tokenizer(["1+1=", "1="], padding=True)["attention_mask"] == [[1] * 4, [0, 0, 1, 1]]


def test_an_answer_does_not_depend_on_the_others(tmp_path):
    model = save(tmp_path)
    problems = held_out((2, 2), "+", 2, 40, 0)
    seeds = [seed_of(0, problem.name, 0) for problem in problems]
    together = sampled(model, problems, seeds, 0.6, 4)
    alone = [
        sampled(model, [problem], [seed], 0.6, 4)[0]
        for problem, seed in zip(problems, seeds, strict=True)
    ]
    assert together == alone == sampled(model, problems, seeds, 0.6, 4)
    # Some end by themselves, some don't; other seeds give other answers.
    assert {ended for _, ended in together} == {True, False}
    assert all(len(text) == 4 for text, ended in together if not ended)
    assert all(len(text) < 4 and "$" not in text for text, ended in together if ended)
    assert sampled(model, problems, [seed + 1 for seed in seeds], 0.6, 4) != together


def test_temperature_0_takes_the_likeliest(tmp_path):
    model = save(tmp_path)
    problems = held_out((2, 2), "+", 2, 20, 0)
    found = sampled(model, problems, range(20), 0, 4)
    assert found == sampled(model, problems, range(20, 40), 0, 4)
    for problem, answer in zip(problems, found, strict=True):
        ids = [CHARACTERS.index(character) for character in problem.prompt]
        for _ in range(4):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
        written = "".join((CHARACTERS + "_")[index] for index in ids[len(problem.prompt) :])
        assert answer == (written.split("$")[0], "$" in written)


BROKEN = {
    "half-written weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"half"),
        "Error while deserializing header: header too small",
    ),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        "Error no file named model.safetensors, or pytorch_model.bin, found in directory {folder}.",
    ),
    "no config": (
        lambda folder: (folder / "config.json").unlink(),
        "[Errno 2] No such file or directory: '{folder}/config.json'",
    ),
    "half-written config": (
        lambda folder: (folder / "config.json").write_text("{"),
        "It looks like the config file at '{folder}/config.json' is not a valid JSON file.",
    ),
    "more layers than weights": (
        lambda folder: _change(folder / "config.json", num_hidden_layers=2),
        "its weights aren't those of its config.json",
    ),
    "other width": (
        lambda folder: _change(folder / "config.json", hidden_size=32),
        "its weights aren't those of its config.json",
    ),
}


def _change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(("damage", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_model_is_told(damage, why, tmp_path):
    folder = tmp_path / "model"
    save(folder)
    damage(folder)
    with pytest.raises(CannotRun) as refused:
        load_model(folder)
    assert refused.value.message == (
        f"{folder} has no model that can be read: {why.format(folder=folder)}\n"
        "  expected: a model as the run saved it\n"
        f"  fix:      remove {folder} and run the same command again: it trains it from the start"
    )


# --- the study ------------------------------------------------------------------------------------


def test_units_are_all_cells_of_each_model():
    study = DigitsStudy(digits=2, region=1, seeds=(1, 2), items=10)
    units = study.units()
    assert len(units) == len(set(units)) == 2 * 3 * 3 * 4
    assert [model_of(unit) for unit in units[::12]] == [
        (seed, setting) for seed in ("1", "2") for setting in ("before", "grpo", "supervised")
    ]
    assert [unit.levels["temperature"] for unit in units[:12:4]] == ["0", "0.6", "1"]
    # Greedily a problem has one answer; sampled it has eight.
    assert [unit.rows for unit in units[:12:4]] == [10, 80, 80]
    # Several rollout temperatures are a model each, which bears its own.
    both = replace(study, rollouts=(Decimal("1.25"), Decimal("1.0"))).units()
    assert list(dict.fromkeys(unit.levels["setting"] for unit in both)) == [
        *("before", "grpo-1.25", "grpo-1.0", "supervised")
    ]
    assert units[0].levels == {
        "seed": "1",
        "setting": "before",
        "temperature": "0",
        "x_digits": "1",
        "y_digits": "1",
    }


def test_settings_are_all_that_determines_the_results():
    study = DigitsStudy()
    settings = study.settings()
    assert json.loads(json.dumps(settings)) == settings
    changes = {
        "digits": 5,
        "region": 3,
        "rollouts": (Decimal("1.25"),),
        "temperatures": (Decimal("1.0"),),
        "operation": "*",
        "items": 50,
        "samples": 4,
        "size": ModelSize(32),
        "supervised": Supervised(until=0.2),
        "grpo": Grpo(learning_rate=1e-4),
    }
    assert {*changes, "seeds", "base", "pretrained"} == set(DigitsStudy.__dataclass_fields__)
    for name, value in changes.items():
        assert replace(study, **{name: value}).settings() != settings


def test_the_smallest_cell_has_fewer_problems():
    study = DigitsStudy(seeds=(1,), temperatures=(Decimal(0), Decimal("0.6")))
    rows = {tuple(unit.levels.values())[2:]: unit.rows for unit in study.units()}
    assert [rows[levels] for levels in rows if levels[1:] == ("1", "1")] == [50, 400]
    assert [rows[levels] for levels in rows if levels[1:] == ("6", "6")] == [100, 800]


# --- the start and its control --------------------------------------------------------------------

ONES = tuple(Problem(x, y, "+", 1) for x in range(10) for y in range(10))


class NotingCheck(Check):
    """Notes the share of right answers at each look."""

    shares: ClassVar[list[float]] = []

    def share(self, model):
        self.shares.append(super().share(model))
        return self.shares[-1]


SIZE = ModelSize(32, 1, 4)
UNTIL = Supervised(steps=400, batch=64, rate=1e-2, until=0.2, every=10)


@pytest.fixture(scope="module")
def able(tmp_path_factory):
    """A model that is right in a fifth of the sums of one digit, and the steps that took."""
    steps = []
    check = NotingCheck(ONES, 1.0, 3)
    model = train_start(SIZE, UNTIL, problems_of_one(), check, 1, "cpu", steps.append)
    folder = tmp_path_factory.mktemp("able")
    model.save_pretrained(folder)
    return folder, steps


def test_the_start_ends_where_it_is_right_often_enough(able):
    folder, steps = able
    assert steps == list(range(1, len(steps) + 1))
    assert 10 < len(steps) < 400
    # The first look that is good enough ends it.
    *before, last = NotingCheck.shares
    assert len(steps) == 10 * (len(before) + 1)
    assert max(before) < 0.2 <= last == Check(ONES, 1.0, 3).share(load_model(folder))
    # Where it never is, the steps end it.
    few = []
    hard = replace(UNTIL, steps=20, until=1.0)
    train_start(SIZE, hard, problems_of_one(), Check(ONES, 1.0, 3), 1, "cpu", few.append)
    assert len(few) == 20


def test_the_control_learns_right_answers(able):
    check, model = Check(ONES, 1.0, 3), load_model(able[0])
    before = check.share(model)
    steps = []
    model = train_further(model, 100, 64, 1e-2, problems_of_one(), "cpu", steps.append)
    assert len(steps) == 100
    assert check.share(model) > before + 0.2


# --- GRPO -----------------------------------------------------------------------------------------


def test_rewards():
    cases = [
        ("75$", 1.0),
        ("75$9_", 1.0),
        ("75", 1.0),  # TRL takes the end away from what it gives
        ("7$5", 0.0),
        ("750$", 0.0),
        ("$", 0.0),
        ("", 0.0),
        ("74$", 0.0),
    ]
    texts = [text for text, _ in cases]
    assert rewards(texts, ["75"] * len(texts), prompts=["…"]) == [value for _, value in cases]


def problems_of_one():
    return training(((1, 1),), "+", 1, frozenset(), "1")


HOW = Grpo(max_steps=6, prompts=8, num_generations=8, save_steps=2)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A model that is right sometimes: without that nothing is rewarded, and nothing learned."""
    folder = tmp_path_factory.mktemp("start")
    how = Supervised(steps=60, batch=64, rate=1e-2, until=1.0)
    check = Check(ONES[:10], 1.0, 3)
    model = train_start(ModelSize(16, 1, 2), how, problems_of_one(), check, 1, "cpu")
    model.save_pretrained(folder)
    return folder


def weights_after(start, folder, stop_at=None, step_done=None):
    """The weights after GRPO; it may be stopped at a step."""

    class Stopped(Exception):
        pass

    def count(step):
        if step_done:
            step_done(step)
        if step == stop_at:
            raise Stopped

    try:
        model = train_on(start, HOW, 1.0, problems_of_one(), 1, 3, folder, "cpu", count)
    except Stopped:
        return None
    return model.state_dict()


def test_grpo_goes_on_from_its_last_whole_checkpoint(start, tmp_path):
    whole = weights_after(start, tmp_path / "whole")
    before = load_model(start).state_dict()
    assert any(not torch.equal(before[name], whole[name]) for name in whole)
    folder = tmp_path / "stopped"
    assert weights_after(start, folder, stop_at=5) is None
    assert last_checkpoint(folder) == folder / "checkpoint-4"
    # Killed while the next one was written: the model is there, and not what is written after it.
    shutil.copytree(folder / "checkpoint-4", folder / "checkpoint-6")
    (folder / "checkpoint-6" / "trainer_state.json").write_text('{"global_step": 6, "best')
    (folder / "checkpoint-6" / "optimizer.pt").write_bytes(b"")
    steps = []
    after = weights_after(start, folder, step_done=steps.append)
    assert steps == [5, 6]
    assert after.keys() == whole.keys()
    assert all(torch.equal(after[name], whole[name]) for name in whole)


def test_each_rollout_temperature_trains_a_model_from_the_same_start(tmp_path, monkeypatch):
    from trl import GRPOConfig

    study = DigitsStudy(
        digits=1,
        region=1,
        rollouts=(Decimal("1.25"), Decimal("1.0")),
        size=ModelSize(16, 1, 2),
        supervised=Supervised(steps=60, batch=64, rate=1e-2, until=1.0),
        grpo=HOW,
    )
    worker = DigitsWorker(study, tmp_path, "cpu", quiet=True)
    temperatures = []
    given = GRPOConfig.__init__

    def noted(self, *, temperature, **more):
        temperatures.append(temperature)
        given(self, temperature=temperature, **more)

    monkeypatch.setattr(GRPOConfig, "__init__", noted)
    models = [load_model(worker._model(1, setting)).state_dict() for setting in study.trainings]
    assert temperatures == [1.25, 1.0]
    assert len({model["model.norm.weight"].numpy().tobytes() for model in models}) == 4


def test_grpo_learns(able, tmp_path):
    """The share of right answers to all sums of one digit, 4 samples of each."""
    problems = ONES * 4

    def share(model):
        answers = sampled(model, problems, range(400), 1.0, 3)
        pairs = zip(problems, answers, strict=True)
        return sum(answer == (problem.answer, True) for problem, answer in pairs) / 400

    start, _ = able
    before = share(load_model(start))
    grpo = Grpo(max_steps=120, prompts=16, learning_rate=2e-3)
    after = share(train_on(start, grpo, 1.0, problems_of_one(), 1, 3, tmp_path, "cpu"))
    # Each is known to about 2.5 points: this is four times the error of their difference.
    assert 0.15 < before < 0.4, before
    assert after > before + 0.12, (before, after)


def test_a_full_disk_is_told_in_training(start, tmp_path):
    folder = tmp_path / "checkpoints"

    def fill(step):
        (folder / "checkpoint-2").mkdir(parents=True, exist_ok=True)
        if step == 2:
            (folder / "checkpoint-2" / "optimizer.pt").symlink_to("/dev/full")

    with pytest.raises(CannotRun) as refused, enough_space(tmp_path / "work" / "model"):
        weights_after(start, folder, step_done=fill)
    found, expected_, fix = refused.value.message.split("\n")
    assert found.startswith(f"no space to write {tmp_path}/work/model (")
    assert re.search(r"\(\d+\.\d MiB free on the disk at /.*\)$", found)
    assert expected_ == "  expected: room for the records; earlier records are complete and count"
    assert fix == (
        "  fix:      free some space, or move the run's folder to a larger disk, and run the same "
        "command again: it resumes"
    )


def test_full_disk_is_told_whichever_package_writes(tmp_path):
    # By a link: a package that renames would put its file in place of the device.
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    for write in (
        lambda: full.write_bytes(b"x" * 100_000),
        lambda: torch.save(torch.zeros(100_000), full),
        # What safetensors says, which writes to another name and renames.
        lambda: _raise(SafetensorError("I/O error: No space left on device (os error 28)")),
    ):
        with pytest.raises(CannotRun, match="no space to write"), enough_space(tmp_path / "a"):
            write()
    with pytest.raises(OSError, match="denied"), enough_space(tmp_path / "a"):
        raise OSError(errno.EACCES, "denied")


def _raise(error):
    raise error


# --- the command ----------------------------------------------------------------------------------

SMALL = ["--digits", "2", "--region", "1", "--seeds", "1", "--items", "10", "--samples", "4"]
SMALL += ["--temperature", "0", "--temperature", "0.6"]
SMALL += ["--supervised-steps", "20", "--grpo-steps", "4"]
UNITS = 3 * 2 * 4


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a study, for the runs."""
    folder = tmp_path_factory.mktemp("digits")
    study = folder / "data" / ID
    study.mkdir(parents=True)
    (study / "study.yml").write_text(STUDY)
    (study / "cells.csv").write_text(CELLS_CSV)
    return folder


@pytest.fixture(scope="module")
def whole(warm, here):
    """A run that nothing disturbed."""
    done = warm.run(["python", SCRIPT, *SMALL, "--out", "whole"], here)
    assert done.code == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("seed 1, before: 1 of at most 20 steps of training\n")
    assert done.stderr.splitlines()[-1].startswith(f"{UNITS} of {UNITS} units, ")
    return here / "whole"


def read(folder):
    """The rows of a run without their seconds."""
    run = RunFolder.open(folder)
    found = {}
    for unit in run.plan():
        found[unit] = [json.loads(line) for line in run.path(unit).read_text().splitlines()[1:]]
        for row in found[unit]:
            assert row.pop("seconds") >= 0
    return found


def reading(folder):
    """What `gridatlas collect` makes of a run: the reading's cells and its outcomes."""
    data = folder.with_name(f"data-{folder.name}")
    shutil.copytree(folder.with_name("data"), data)
    done = CliRunner().invoke(
        gridatlas, ["collect", str(folder), "--data", str(data), "--study", ID, "--reading", "ours"]
    )
    assert done.exit_code == 0, done.output
    study = data / ID
    outcomes = next((study / "runs").glob("*.outcomes.json"))
    return {"cells": (study / "ours.csv").read_bytes(), outcomes.name: outcomes.read_bytes()}


def test_rows_are_graded_answers_to_problems_held_out(whole):
    run = RunFolder.open(whole)
    manifest = run.manifest()
    assert (manifest["study"], manifest["model"], manifest["data"]) == (ID, None, None)
    assert manifest["seeds"] == {"training": [1], "answers": 0}
    assert manifest["settings"]["grpo"]["max_steps"] == 4
    assert "limit" not in manifest["settings"]
    rows = read(whole)
    study = DigitsStudy(
        digits=2,
        region=1,
        seeds=(1,),
        items=10,
        samples=4,
        temperatures=(Decimal(0), Decimal("0.6")),
    )
    assert list(rows) == study.units()
    for unit, answers in rows.items():
        levels = unit.levels
        problems = study.problems((int(levels["x_digits"]), int(levels["y_digits"])))
        samples = range(1 if levels["temperature"] == "0" else 4)
        asked = [(problem, sample) for problem in problems for sample in samples]
        assert len(answers) == len(asked) == unit.rows
        for (problem, sample), row in zip(asked, answers, strict=True):
            ended = row["finish"] == "stop"
            assert (row["item"], row["sample"]) == (problem.name, sample)
            assert row["seed"] == seed_of(0, problem.name, sample)
            assert row["gold"] == problem.answer
            assert row["tokens"] == len(row["text"]) + ended
            assert row["prediction"] == (row["text"] if ended else None)
            assert row["correct"] == (row["prediction"] == problem.answer)
    names = {(row["item"], row["seed"]) for answers in rows.values() for row in answers}
    assert len(names) == 4 * 10 * 4  # the same problems and the same numbers for all models
    assert read_greedy(whole, rows) == 3 * 4 * 10


def read_greedy(folder, rows):
    """How many greedy answers there are; each is the likeliest that its model gives."""
    study, number = DigitsStudy(digits=2, region=1, items=10), 0
    for unit, answers in rows.items():
        levels = unit.levels
        if levels["temperature"] == "0":
            problems = study.problems((int(levels["x_digits"]), int(levels["y_digits"])))
            model = load_model(folder / "work" / "seed-1" / levels["setting"])
            likeliest = sampled(model, problems, range(10), 0, 4)
            assert [(row["text"], row["finish"] == "stop") for row in answers] == likeliest
            number += len(answers)
    return number


def test_killed_at_every_stage_it_goes_on_and_its_reading_is_the_same(warm, here, whole):
    command = ["python", SCRIPT, *SMALL, "--out", "killed"]
    folder = here / "killed"
    work = folder / "work" / "seed-1"
    stages = [
        lambda: (work / "before").is_dir() and any((folder / "records").glob("*.jsonl")),
        lambda: "grpo: 1 of 4" in started.log,
        lambda: len(list((folder / "records").glob("*.jsonl"))) > 9,
        lambda: "supervised: 1 of 4" in started.log,
    ]
    done = 0
    for reached in stages:
        started = warm.start(command, here)
        started.kill_when(reached)
        at_kill = len(list((folder / "records").glob("*.jsonl")))
        assert done <= at_kill < UNITS
        done = at_kill
    before = {path: path.stat().st_mtime_ns for path in (folder / "records").glob("*.jsonl")}
    last = warm.run(command, here)
    assert last.code == 0, last.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before  # nothing done twice
    assert "before: " not in last.stderr
    assert read(folder) == read(whole)
    assert reading(folder) == reading(whole)


def test_two_shards_equal_one_whole(warm, here, whole):
    parts = [
        warm.start(["python", SCRIPT, *SMALL, "--out", "parts", "--shard", part], here)
        for part in ("1/2", "2/2")
    ]
    for part in parts:
        done = part.wait()
        assert done.code == 0, done.stderr
    assert read(here / "parts") == read(whole)


def first_items(unit):
    """The names of the first five problems of a unit's cell."""
    levels = unit.levels
    cell = int(levels["x_digits"]), int(levels["y_digits"])
    return [problem.name for problem in held_out(cell, "+", 2, 5, 0)]


def test_limit_is_a_try_with_fewer_problems(warm, here, whole):
    given = ["python", SCRIPT, *SMALL, "--limit", "5", "--out", "try"]
    assert warm.run(given, here).code == 0
    rows, all_rows = read(here / "try"), read(whole)
    assert len(rows) == UNITS
    # The start doesn't depend on the limit beyond what is held out: the first problems are asked.
    for unit, answers in rows.items():
        same = [row for row in all_rows if row.cell == unit.cell]
        assert [row["item"] for row in answers] == [
            row["item"] for row in all_rows[same[0]] if row["item"] in first_items(unit)
        ]
    lines = list(collect([here / "try"], here / "data", ID, "try"))
    assert "  a try: only the first 5 items (--limit)" in lines
    # More than there are is all.
    more = page("grpo_digits").main
    output = CliRunner().invoke(more, [*SMALL, "--limit", "500", "--dry-run"]).output
    assert output.startswith("24 units\n")


def test_one_run_gives_the_share_of_answers_and_of_problems_solved(here, whole):
    data = here / "data-of-pass-4"
    for study, see_also in ((ID, ""), ("solved", f"see_also: [{{study: {ID}, {SAME_RUNS}}}]\n")):
        (data / study).mkdir(parents=True)
        (data / study / "study.yml").write_text(STUDY + see_also)
    list(collect([whole], data, ID, "ours"))
    lines = list(collect([whole], data, "solved", "ours", k=4))
    # Greedily there is one answer to a problem, so that cells have no pass@4.
    assert "12 of 24 cells haven't 4 samples per item" in lines[0]
    tables = {
        study: list(csv.DictReader((data / study / "ours.csv").read_text().splitlines()))
        for study in (ID, "solved")
    }
    assert {(row["temperature"], row["n"]) for row in tables[ID]} == {("0", "10"), ("0.6", "40")}
    assert {(row["temperature"], row["n"]) for row in tables["solved"]} == {("0.6", "10")}
    solved = {
        unit.cell: len({row["item"] for row in rows if row["correct"]})
        for unit, rows in read(whole).items()
        if unit.levels["temperature"] == "0.6"
    }
    keys = ("seed", "setting", "temperature", "x_digits", "y_digits")
    assert {
        tuple((key, row[key]) for key in keys): int(row["successes"]) for row in tables["solved"]
    } == solved


SAME_RUNS = "text: Shares, same_runs: true"


def test_other_settings_are_refused(warm, here, whole):
    given = [*SMALL, "--grpo-steps", "5", "--seed", "1", "--out", "whole"]
    done = warm.run(["python", SCRIPT, *given], here)
    assert done == Done(
        2,
        "",
        f"Error: {whole} has a run with other settings\n"
        "    setting                  then  now\n"
        "    seeds.answers            0     1\n"
        "    settings.grpo.max_steps  4     5\n"
        "  expected: the settings with which the run was started\n"
        "  fix:      name another folder with --out, or give the settings of then\n",
    )


def test_a_broken_model_of_a_run_is_told(warm, here, whole):
    folder = shutil.copytree(whole, here / "broken")
    for path in (folder / "records").glob("1_before_*"):
        path.unlink()
    (folder / "work" / "seed-1" / "before" / "model.safetensors").write_bytes(b"half")
    done = warm.run(["python", SCRIPT, *SMALL, "--out", "broken"], here)
    assert done.code == 1
    assert done.stderr.endswith(
        f"Error: {folder}/work/seed-1/before has no model that can be read: Error while "
        "deserializing header: header too small\n"
        "  expected: a model as the run saved it\n"
        f"  fix:      remove {folder}/work/seed-1/before and run the same command again: it "
        "trains it from the start\n"
    )
    shutil.rmtree(folder / "work" / "seed-1" / "before")
    assert warm.run(["python", SCRIPT, *SMALL, "--out", "broken"], here).code == 0
    assert read(folder) == read(whole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--digits", "3"), "--region 4 is larger than --digits 3"),
        (("--until", "1.5"), "Invalid value for '--until': 1.5 is not in the range "),
        (("--rate", "0"), "Invalid value for '--rate': 0.0 is not in the range "),
        (
            ("--rollout-temperature", "0"),
            "Invalid value for '--rollout-temperature': 0.0 is not in the range ",
        ),
        (("--operation", "-"), "Invalid value for '--operation': '-' is not one of '+', '*'."),
        (("--seeds", "0"), "Invalid value for '--seeds': 0 is not in the range "),
        (("--temperature", "-1"), "Invalid value for '--temperature': -1.0 is not in the range "),
        (("--temperature", "0.001"), "--temperature 0.001 is neither 0 nor at least 0.01"),
        (("--device", "gpu"), 'the device "gpu"\n  expected: cuda, cuda:0, cuda:1, …, cpu or auto'),
    ],
)
def test_wrong_usage(arguments, message, tmp_path):
    main = page("grpo_digits").main
    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert f"Error: {message}" in done.stderr


def test_no_gpu_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    main = page("grpo_digits").main
    done = CliRunner().invoke(main, [*SMALL, "--device", "cuda", "--out", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert done.stderr.endswith(
        f"Error: no GPU: this PyTorch ({torch.__version__}) is built without CUDA\n"
        "  expected: a GPU for --device cuda\n"
        "  fix:      run it where there is one, or add --device cpu for a try with a tiny model\n"
    )
    with pytest.raises(WrongUsage):
        DigitsFactory(DigitsStudy(), tmp_path, "cpu:0")()
    assert DigitsFactory(DigitsStudy(), tmp_path)().device == "cpu"


def test_dry_run_says_what_it_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(page("grpo_digits").main, [*SMALL, "--dry-run"])
    assert (done.exit_code, done.output) == (
        0,
        "24 units\n"
        "        20 supervised steps of the starts, at most\n"
        "         4 supervised steps of the control\n"
        "         4 GRPO steps\n"
        "     1,024 rollouts\n"
        "       600 answers\n",
    )
    assert list(tmp_path.iterdir()) == []
    study = DigitsStudy()
    # 35 cells with 100 problems and one with 50, for nine models: once greedily, and 2 × 8 times.
    assert f"{9 * 3550 * 17:>10,} answers" in expected(study, study.units())
    # 99 cells with 100 problems and one with 50, for 20 models: once greedily, and 4 times.
    both = [*ROLLOUTS, "--dry-run"]
    assert CliRunner().invoke(page("grpo_digits").main, both).output.splitlines() == [
        "4000 units",
        "     7,500 supervised steps of the starts, at most",
        "     2,000 supervised steps of the control",
        "     4,000 GRPO steps",
        " 1,024,000 rollouts",
        "   995,000 answers",
    ]


ROLLOUTS = ["--study", "digits-rollout-temperature"]


def test_dry_run_says_what_a_pretrained_model_takes():
    chosen = [*ROLLOUTS, "--pretrained", "Qwen/Qwen2.5-0.5B", "--dry-run"]
    assert CliRunner().invoke(page("grpo_digits").main, chosen).output.splitlines() == [
        "4000 units",
        "     2,000 supervised steps of the control",
        "     4,000 GRPO steps",
        " 1,024,000 rollouts",
        "   995,000 answers",
        "Qwen/Qwen2.5-0.5B: 494,032,768 weights",
        # 16 bytes per weight; 256 rows of 22 + 13 tokens, 896 wide, of 24 + 17 layers in 2 bytes;
        # 3 × 4 bytes for each of 151,936 logits of 256 × 13 tokens; 30 % of 80 GB.
        "memory: 36 GiB: 7.4 for training in single precision, 6.3 for activations and logits, "
        "22.4 for vLLM",
        "time: 2 h 38 min on one H100",
        "  assumed: 396 TFLOP/s, 30 ms per step of decoding, 1.5 s per step of GRPO beside it; "
        "never run on a GPU",
    ]


def test_a_gpu_samples_rollouts_with_vllm(monkeypatch):
    assert not uses_vllm("cpu")
    monkeypatch.setattr(importlib.util, "find_spec", {"vllm": None}.get)
    with pytest.raises(CannotRun) as refused:
        uses_vllm("cuda")
    assert refused.value.message == (
        "vLLM isn't installed\n"
        "  expected: vLLM, which samples the rollouts of a pretrained model on a GPU\n"
        "  fix:      pip install 'trl[vllm]', or add --device cpu for a try with a tiny model"
    )
    monkeypatch.setattr(importlib.util, "find_spec", {"vllm": "there"}.get)
    assert uses_vllm("cuda")


def test_a_pretrained_model_is_trained_on(warm, here):
    tiny.save_tiny(here / "tiny", "qwen2")
    given = [*SMALL, "--pretrained", "./tiny", "--device", "cpu", "--grpo-steps", "2"]
    done = warm.run(["python", SCRIPT, *given, "--out", "pretrained"], here)
    assert done.code == 0, done.stderr
    manifest = RunFolder.open(here / "pretrained").manifest()
    assert manifest["model"]["id"] == "tiny"
    assert manifest["settings"]["grpo"]["learning_rate"] == 1e-6
    assert {"size", "supervised", "pretrained"}.isdisjoint(manifest["settings"])
    rows = read(here / "pretrained")
    assert len(rows) == UNITS
    for row in (row for answers in rows.values() for row in answers):
        x, y = map(int, row["item"].split("+"))
        assert row["gold"] == str(x + y)
        assert row["correct"] == (row["prediction"] == row["gold"])
    weights = [
        load_model(here / "pretrained" / "work" / name).state_dict()["model.norm.weight"]
        for name in ("before", "seed-1/supervised")
    ]
    assert not torch.equal(*weights)


def test_prompts_of_unequal_length_are_answered_as_alone(tmp_path):
    tiny.save_tiny(tmp_path, "qwen2")
    model, tokenizer = load_model(tmp_path), load_tokenizer(tmp_path)
    problems = [Problem(1, 2, "+", 0), Problem(123, 45, "+", 0), Problem(9, 12345, "+", 0)]
    together = sampled(model, problems, range(3), 1.0, 6, tokenizer)
    assert together == [
        sampled(model, [problem], [seed], 1.0, 6, tokenizer)[0]
        for seed, problem in enumerate(problems)
    ]
    assert [problem.prompt for problem in problems] == ["1+2=", "123+45=", "9+12345="]
    assert [problem.answer + problem.end for problem in problems] == ["3\n", "168\n", "12354\n"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("753$0_", ("753", True)),
        (" 357\n12+", ("357", True)),
        ("357<end>", ("357", True)),
        ("35 7", ("35 7", False)),
        ("", ("", False)),
    ],
)
def test_an_answer_is_read_to_its_end(text, found):
    assert ended(text, "<end>") == found


def test_page_runs_nothing_and_has_help():
    result = CliRunner().invoke(page("grpo_digits").main, ["--help"])
    assert result.exit_code == 0
    assert "Examples:" in result.output
    lines = [line.strip() for line in result.output.splitlines()]
    assert len([line for line in lines if line.startswith("grpo_digits.py ")]) == 3
    assert Path(SCRIPT).read_text().startswith("# %% [markdown]\n# # ")
