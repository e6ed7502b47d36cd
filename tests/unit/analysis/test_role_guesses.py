"""What columns of strangers' tables seem to be."""

import numpy as np
import pytest

from gridatlas.analysis.roles import guess_roles


def guessed(levels, value=None):
    shape = [len(labels) for labels in levels.values()]
    codes = dict(zip(levels, np.indices(shape).reshape(len(shape), -1), strict=True))
    if value is None:
        value = np.random.default_rng(0).normal(50, 5, int(np.prod(shape)))
    return {name: guess.role for name, guess in guess_roles(levels, codes, value).items()}


MODELS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "labels", "role"),
    [
        ("seed", ["1", "2", "3"], "replicate"),
        ("random_state", ["0", "1"], "replicate"),
        ("Fold", ["1", "2"], "replicate"),
        ("sample", [str(at) for at in range(20)], "replicate"),
        ("step", ["100", "200"], "progress"),
        ("epoch", ["1", "2"], "progress"),
        ("hours", [*map(str, range(0, 70, 10))], "progress"),
        ("time", ["1 min", "15 min", "30 min"], "condition"),
        ("time", ["before", "after"], "choice"),
        ("B", ["I", "II", "III", "IV"], "block"),
        ("phase", ["I", "II", "III"], "choice"),
        ("split", ["train", "dev", "test"], "split"),
        ("benchmark", ["AIME24", "GPQA"], "block"),
        ("subset", ["x", "y"], "block"),
        ("block", ["1", "2", "3", "5"], "block"),
        ("block", ["256", "32", "64", "128"], "condition"),
        ("learning rate", ["0.1", "0.01"], "choice"),
        ("lr", ["1e-3", "1e-4"], "choice"),
        ("dropout", ["0", "0.1"], "choice"),
        ("lora_rank", ["8", "16"], "choice"),
        ("days", ["0", "1", "2"], "condition"),
        ("language", ["German", "Thai", "Urdu", "Hindi"], "block"),
        ("language", ["C/gcc", "Rust", "Go", "Zig"], "choice"),
        ("rank", ["8", "16"], "choice"),
        ("isl", ["512", "8k"], "condition"),
        ("concurrency", ["1", "8"], "condition"),
        ("size", ["7B", "13B"], "condition"),
        ("commit", ["abc", "def"], "condition"),
        ("model", ["Qwen", "Llama"], "choice"),
        ("GPU", ["H100", "H200"], "choice"),
        ("column", ["acc", "f1"], "metrics"),
        ("heading", ["WER", "RTFx"], "choice"),
        ("question_id", ["q1", "q2"], "item"),
    ],
)
def test_by_names(name, labels, role):
    assert guessed({"model2": MODELS, name: labels})[name] == role


def test_outcomes_make_items_whatever_their_name():
    questions = [f"q{at}" for at in range(30)]
    outcomes = np.random.default_rng(0).integers(0, 2, 90).astype(float)
    assert guessed({"model": MODELS, "seed": questions}, outcomes)["seed"] == "item"
    assert guessed({"model": MODELS, "name": questions}, 100 * outcomes)["name"] == "item"


def test_one_row_per_level_is_an_identifier():
    assert guessed({"run": ["a", "b", "c", "d"]}) == {"run": None}


def test_levels_that_are_measured_otherwise_are_metrics():
    value = np.tile([4.0, 900.0], 3)
    assert guessed({"model": MODELS, "heading": ["WER", "RTFx"]}, value)["heading"] == "metrics"


def test_why_and_what_is_asked():
    levels = {"model": MODELS, "seed": ["1", "2"]}
    codes = dict(zip(levels, np.indices((3, 2)).reshape(2, -1), strict=True))
    guess = guess_roles(levels, codes, np.zeros(6))["seed"]
    assert (guess.why, guess.ask) == ("the experiment made again, by its name", True)
