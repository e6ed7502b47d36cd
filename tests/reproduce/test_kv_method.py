"""What is as published, what isn't, and where it is declared."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gridatlas_reproduce.kv.selection import Sampling
from gridatlas_reproduce.kv.sweep import DEVIATIONS, Sweep, deviations_of
from gridatlas_reproduce.runner.runs import flat

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "data" / "dynts-window-ratio" / "study.yml"
SCRIPTS = sorted((ROOT / "docs" / "reproduce").glob("*.py"))
OURS = Sweep("r1-qwen", "aime24")


def test_study_declares_what_runs_declare():
    reproduce = yaml.safe_load(STUDY.read_text(encoding="utf-8"))["reproduce"]
    assert reproduce["deviations"] == DEVIATIONS == deviations_of(OURS)


def test_study_asks_for_what_runs_have():
    reproduce = yaml.safe_load(STUDY.read_text(encoding="utf-8"))["reproduce"]
    own = flat(OURS.settings())
    asked = {key: value for key, value in reproduce["settings"].items() if "id" not in key}
    assert asked == {key: own[key] for key in asked}
    assert {"dtype", "trigger", "grader"} <= {*asked}
    assert {key for key in own if key.startswith("sampling.")} <= {*asked}


@pytest.mark.parametrize(
    ("sweep", "name", "text"),
    [
        (replace(OURS, dtype="bfloat16"), "dtype", '"bfloat16". Published: "float16".'),
        (replace(OURS, trigger=5000), "trigger", "5000. Published: 5001."),
        (replace(OURS, scorer="random"), "scorer", '"random". Published: "importance".'),
        (
            replace(OURS, sampling=Sampling(order="temperature, top_k, top_p")),
            "sampling.order",
            '"temperature, top_k, top_p". Published: "temperature, top_p, top_k".',
        ),
    ],
)
def test_settings_that_are_not_as_published_are_declared(sweep, name, text):
    assert deviations_of(sweep) == DEVIATIONS | {name: f"It is {text}"}


def test_whole_cache_has_no_deviation_of_pruning():
    found = deviations_of(replace(OURS, scorer="full"))
    assert {*found} == {"attention", "grader", "seeds", "scorer", "trigger", "protect"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_uv_takes_the_tested_versions(script):
    """Those that a script names are of requirements.lock, and its own lock has them."""
    pinned = re.findall(
        r'^#   "([\w-]+)==([\w.]+)",$', script.read_text(encoding="utf-8"), re.MULTILINE
    )
    tested = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    lock = tomllib.loads(script.with_name(f"{script.name}.lock").read_text(encoding="utf-8"))
    locked = {(package["name"], package.get("version")) for package in lock["package"]}
    assert {"torch", "transformers", "math-verify"} <= {name for name, _ in pinned}
    for name, version in pinned:
        assert f"{name}=={version}" in tested
        assert (name, version) in locked
    named = {each["name"]: each["specifier"] for each in lock["manifest"]["constraints"]}
    assert named == {name: f"=={version}" for name, version in pinned}
