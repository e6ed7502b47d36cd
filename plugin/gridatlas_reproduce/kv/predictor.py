"""DynTS's importance predictor: what it is, how it is saved, and for which model it is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.models import reaching
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, readable
from gridatlas_reproduce.runner.files import indented, write_atomic

WEIGHTS = "predictor.safetensors"
ABOUT = "predictor.json"


@dataclass(frozen=True, slots=True)
class PredictorSize:
    """Widths of the predictor's layers between the model's hidden state and the score."""

    first: int = 8192
    second: int = 2048


def new_predictor(hidden: int, size: PredictorSize, seed: int = 0) -> Any:
    """A perceptron hidden → first → second → 1 without biases, Softplus after every layer.

    It takes [..., hidden] and gives [...].
    """
    import torch
    from torch import nn

    torch.manual_seed(seed)
    widths = [hidden, size.first, size.second, 1]
    layers: list[Any] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after, bias=False), nn.Softplus()]
    return nn.Sequential(*layers, nn.Flatten(-2))


def save_predictor(
    predictor: Any, folder: Path, size: PredictorSize, about: dict[str, Any]
) -> None:
    """Write the weights, and what they are for beside them.

    Args:
        about: `hidden`, `model` (id, revision, sha256) and how it was trained.
    """
    from safetensors.torch import save

    named = sorted(predictor.state_dict().items())
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in named}
    data = save(weights)
    write_atomic(folder / WEIGHTS, data)
    digest = hashlib.sha256(data).hexdigest()
    write_atomic(folder / ABOUT, indented({**about, "size": asdict(size), "sha256": digest}))


def find_predictor(name: str, revision: str | None) -> Path:
    """The folder of a predictor; with a revision it is downloaded from the hub, by its id.

    Raises:
        WrongUsage: For a revision of a folder.
        CannotRun: Where the hub doesn't give it.
    """
    if revision is None:
        return Path(name).absolute()
    if Path(name).is_dir():
        raise WrongUsage(
            f"--predictor-revision {revision} for the folder {name}",
            "a revision only for a predictor on the hub",
            "leave --predictor-revision out",
        )
    with reaching("predictor", name, "--predictor"):
        from huggingface_hub import hf_hub_download

        files = [hf_hub_download(name, file, revision=revision) for file in (ABOUT, WEIGHTS)]
    return Path(files[0]).parent


def about_predictor(folder: Path, model: dict[str, Any], hidden: int) -> dict[str, Any]:
    """What a saved predictor is, if it is this model's.

    Args:
        model: As `models.about_model` gives it.
        hidden: The model's width.

    Raises:
        CannotRun: Where there is none, or it is of another model.
    """
    train = f"python docs/reproduce/train_predictor.py --model … --out {folder}"
    path = folder / ABOUT
    if not path.exists():
        raise CannotRun(
            f"there is no predictor in {folder}",
            f"{WEIGHTS} and {ABOUT}, which the scorer importance needs; none is published",
            f"train one ({train}), name another folder with --predictor, or take another --scorer",
        )
    with readable(path, "what train_predictor.py wrote", f"train it again: {train}"):
        about: dict[str, Any] = json.loads(path.read_bytes())
        of, _ = about["model"], [about[key] for key in ("hidden", "size", "sha256")]
    if about["hidden"] != hidden or (of.get("id"), of.get("sha256")) != (
        model["id"],
        model["sha256"],
    ):
        raise CannotRun(
            f"the predictor in {folder} is for {of.get('id')} (width {about['hidden']}), and the "
            f"model is {model['id']} (width {hidden})",
            "a predictor that was trained on this model's hidden states",
            f"name its folder with --predictor, or train one: {train}",
        )
    return about


def load_predictor(folder: Path, about: dict[str, Any], device: Any, dtype: str) -> Any:
    """The predictor, ready to score.

    Args:
        about: From `about_predictor`.
        dtype: As the model's.

    Raises:
        CannotRun: Where the weights aren't those that it says.
    """
    import torch
    from safetensors.torch import load

    path = folder / WEIGHTS
    expected = "the weights that train_predictor.py wrote"
    with readable(path, expected, "train it again, or bring the file back"):
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != about["sha256"]:
            raise ValueError(f"it isn't the file that {ABOUT} speaks of")
        predictor = new_predictor(about["hidden"], PredictorSize(**about["size"]))
        predictor.load_state_dict(load(data))
    return predictor.to(device=device, dtype=getattr(torch, dtype)).eval()
