"""A run of the toy script's units, and a study that they are cells of."""

import pytest
from hub import Hub, serving
from toy_run import toy_rows, toy_units
from warm import Warm

from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import Manifest
from gridatlas_reproduce.runner.units import plan_as_json

STUDY = """format: 1
title: A demo
metric: {name: "Pass@1", column: pass_at_1, unit: "%", range: [0, 100], decimals: 1}
x: ratio
y: local_window
facets: [model]
"""

ENVIRONMENT = {
    "commit": "0" * 40,
    "dirty": False,
    "packages": {"torch": "2.13.0"},
    "python": "3.12.1",
    "platform": "Linux",
    "gpu": {"name": "H100", "memory": 80, "driver": "550", "cuda": "13.0"},
}


LONGEST = ("test_digits", "test_pages", "test_kv_slots", "test_kv_sweep", "test_cluster")
"""Files that take longest, so that no process is left alone with one of them at the end."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: (*LONGEST, item.path.stem).index(item.path.stem))


@pytest.fixture(scope="session")
def hub(tmp_path_factory):
    """The hub that the runs of `warm` ask; what it has is put into its folder."""
    return Hub(tmp_path_factory.mktemp("hub"), frozenset({"datasets/Idavidrein/gpqa"}))


@pytest.fixture(scope="session")
def warm(tmp_path_factory, hub):
    """Runs scripts, each in a process of its own; see `warm.py`."""
    folder = tmp_path_factory.mktemp("warm")
    with serving(hub) as address:
        environment = {"HF_ENDPOINT": address, "HF_HOME": str(folder / "home")}
        environment |= {"HF_HUB_OFFLINE": "0", "OMP_NUM_THREADS": "1"}
        started = Warm(folder, environment | {"TOKENIZERS_PARALLELISM": "false"})
        yield started
        started.close()


@pytest.fixture
def one_thread():
    """PyTorch computes with one thread: for tiny models more are slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A tiny model by its family and its attention: `models("llama", "sdpa")`."""
    import tiny
    import torch

    from gridatlas_reproduce.kv.models import choose_model, load_model

    folder = tmp_path_factory.mktemp("models")
    loaded = {}

    def load(family, attention):
        path = folder / family
        if not path.exists():
            tiny.save_tiny(path, family)
        if (family, attention) not in loaded:
            choice = choose_model(str(path))
            device = torch.device("cpu")
            model = load_model(choice, device, "float32")
            model.set_attn_implementation(attention)
            loaded[family, attention] = model
        return loaded[family, attention]

    return load


@pytest.fixture
def make_manifest():
    """A manifest that doesn't depend on this machine: `make_manifest(units, seeds=1)`."""

    def make(units=None, **changes):
        content = {
            "study": "demo",
            "script": "toy_run",
            "settings": {"temperature": 0.6, "window": {"kind": "last", "size": 500}},
            "model": {"id": "toy", "revision": "abc", "sha256": None},
            "data": None,
            "seeds": 0,
            "plan": plan_as_json(toy_units(2, 3) if units is None else units),
            "arguments": ("--out", "a"),
            "environment": ENVIRONMENT,
            "now": "2026-05-01T12:00:00Z",
        }
        return Manifest(**(content | changes))

    return make


@pytest.fixture
def reported():
    """What a run's folder has reported."""
    return []


@pytest.fixture
def make_run(tmp_path, make_manifest, reported):
    """A run's folder in which all units but `but` are done: `make_run(units, but=units[:1])`."""

    def make(units, name="run", but=(), **changes):
        manifest = make_manifest(units, **changes)
        run = RunFolder.start(tmp_path / name, manifest, reported.append)
        for unit in units:
            if unit not in but:
                run.write(unit, toy_rows(unit, 0))
        return run

    return make


@pytest.fixture
def data(tmp_path):
    """A data folder with the study `demo`, which has one reading of one cell."""
    folder = tmp_path / "data" / "demo"
    folder.mkdir(parents=True)
    (folder / "study.yml").write_text(STUDY)
    (folder / "cells.csv").write_text("model,local_window,ratio,pass_at_1\ntoy,500,0.1,50.0\n")
    return folder.parent
