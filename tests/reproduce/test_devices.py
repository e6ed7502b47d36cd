"""The device that is computed on, and what is said where it isn't there."""

import pytest
import torch

from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage

EXPECTED = (
    "  expected: a GPU for --device {name}\n"
    "  fix:      run it where there is one, or add --device cpu for a try with a tiny model"
)


def _gpus(monkeypatch, number, cuda="13.0"):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: number > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: number)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch, "__version__", "2.13.0")


@pytest.mark.parametrize(
    ("gpus", "name", "device"),
    [
        (0, "cpu", "cpu"),
        (0, "auto", "cpu"),
        (2, "cpu", "cpu"),
        (2, "auto", "cuda"),
        (2, "cuda", "cuda"),
        (2, "cuda:1", "cuda:1"),
    ],
)
def test_devices_that_are_there(gpus, name, device, monkeypatch):
    _gpus(monkeypatch, gpus)
    assert choose_device(name) == torch.device(device)


@pytest.mark.parametrize(
    ("gpus", "cuda", "name", "found"),
    [
        (0, None, "cuda", "no GPU: this PyTorch (2.13.0) is built without CUDA"),
        (
            0,
            "13.0",
            "cuda",
            "no GPU that PyTorch (2.13.0, for CUDA 13.0) can use; nvidia-smi shows why",
        ),
        (1, "13.0", "cuda:1", "only 1 GPU, numbered from 0"),
        (2, "13.0", "cuda:2", "only 2 GPUs, numbered from 0"),
    ],
)
def test_a_gpu_that_is_not_there_is_told(gpus, cuda, name, found, monkeypatch):
    _gpus(monkeypatch, gpus, cuda)
    with pytest.raises(CannotRun) as error:
        choose_device(name)
    assert error.value.message == f"{found}\n{EXPECTED.format(name=name)}"
    assert error.value.exit_code == 1


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "", "cpu:0"])
def test_a_name_that_is_none_is_wrong_usage(name):
    with pytest.raises(WrongUsage, match="cuda:0, cuda:1"):
        choose_device(name)
