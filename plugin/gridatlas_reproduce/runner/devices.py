"""The device that a worker computes on."""

from __future__ import annotations

import re
from typing import Any

from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage


def choose_device(name: str) -> Any:
    """The `torch.device` for `--device`: cuda, cuda:1, cpu, or auto (a GPU where there is one).

    Raises:
        WrongUsage: For a name that is none of these.
        CannotRun: For a GPU that isn't there.
    """
    import torch

    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise WrongUsage(
            f'the device "{name}"', "cuda, cuda:0, cuda:1, …, cpu or auto", "correct --device"
        )
    if name == "cpu":
        return torch.device("cpu")
    number = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return torch.device("cuda" if number else "cpu")
    device = torch.device(name)
    if number <= (device.index or 0):
        raise CannotRun(
            _found(torch.__version__, torch.version.cuda, number),
            f"a GPU for --device {name}",
            "run it where there is one, or add --device cpu for a try with a tiny model",
        )
    return device


def _found(version: str, cuda: str | None, number: int) -> str:
    if number:
        return f"only {number} GPU{'s' if number > 1 else ''}, numbered from 0"
    if cuda is None:
        return f"no GPU: this PyTorch ({version}) is built without CUDA"
    return f"no GPU that PyTorch ({version}, for CUDA {cuda}) can use; nvidia-smi shows why"
