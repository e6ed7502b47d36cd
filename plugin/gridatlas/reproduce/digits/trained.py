"""The models of another run, to ask them in another way without training them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from gridatlas.reproduce.digits.study import DigitsStudy
from gridatlas.reproduce.runner.errors import WrongUsage
from gridatlas.reproduce.runner.records import WORK, RunFolder, difference_table
from gridatlas.reproduce.runner.runs import differences

_OF_ANSWERS = frozenset({"n", "items", "temperature", "limit"})
"""Settings of the answers alone. Training depends on them only by what it holds out."""


def models_of_run(folder: Path, study: DigitsStudy, script: str) -> Path:
    """Return the folder of a run's models, for a study that asks them.

    Raises:
        WrongUsage: For a run whose models aren't those that the study would train.
        CannotRun: Where the folder has no run.
    """
    run = RunFolder.open(folder)
    manifest = run.manifest()
    if manifest["script"] != script:
        raise WrongUsage(
            f"{run.folder} is a run of {manifest['script']}.py",
            f"a run of {script}.py",
            "correct --models",
        )
    _check_training(run.folder, manifest, study)
    _check_held_out(run.folder, manifest["settings"], study)
    return run.folder / WORK


def _check_training(folder: Path, manifest: Mapping[str, Any], study: DigitsStudy) -> None:
    then, now = (
        {key: settings[key] for key in settings.keys() - _OF_ANSWERS}
        for settings in (manifest["settings"], study.settings())
    )
    seeds = manifest["seeds"]
    shared = [seed for seed in study.seeds if seed in seeds["training"]]
    found = differences(
        {"settings": then, "seeds": {"answers": seeds["answers"], "training": shared}},
        {"settings": now, "seeds": {"answers": study.base, "training": list(study.seeds)}},
    )
    if found:
        raise WrongUsage(
            f"the models of {folder} were trained with other settings\n{difference_table(found)}",
            "models trained with the settings of this run",
            "give the settings of then, or leave out --models: the run then trains its own",
        )


def _check_held_out(folder: Path, settings: Mapping[str, Any], study: DigitsStudy) -> None:
    """Refuse models that may have been trained on what they are asked."""
    trained = replace(
        study,
        n=settings["n"],
        items=settings["items"],
        temperature=Decimal(settings["temperature"]),
    )
    asked, held = ({cell: of.problems(cell) for cell in study.cells} for of in (study, trained))
    short = [cell for cell in study.cells if not set(asked[cell]) <= set(held[cell])]
    if short:
        (x, y), most = short[0], min(len(held[cell]) for cell in short)
        raise WrongUsage(
            f"the training of {folder} held out {len(held[x, y])} problems with {x} and {y} "
            f"digits, and this run asks {len(asked[x, y])}",
            "only problems that the models weren't trained on",
            f"add --n {most}, or leave out --models: the run then trains its own",
        )
