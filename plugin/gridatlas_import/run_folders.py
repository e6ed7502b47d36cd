"""Folders of runs: in each a file with results and one that says what was varied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from gridatlas_import.json_values import as_text, flat, parse_json, parse_settings
from gridatlas_import.vocabulary import CONFIG_FILES, RESULT_FILES

RESULT_ENDINGS = (".json", ".jsonl", ".csv", ".tsv")
HYDRA = ".hydra"
"""Folder in which Hydra keeps a run's settings."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder of a run: its results, and the file with its settings."""

    folder: Path
    results: Path
    config: Path


def run_folders(folder: Path) -> list[RunFolder]:
    """The runs below a folder; none where there are fewer than two."""
    found = []
    for parent in sorted({folder, *(path for path in folder.rglob("*") if path.is_dir())}):
        if any(part.startswith(".") for part in parent.relative_to(folder).parts):
            continue
        config = next((parent / name for name in CONFIG_FILES if (parent / name).is_file()), None)
        if config is None:
            continue
        results = [
            path
            for path in sorted(parent.iterdir())
            if path.is_file() and path.suffix.lower() in RESULT_ENDINGS and path != config
            and path.name not in CONFIG_FILES
        ]  # fmt: skip
        results.sort(
            key=lambda path: (not RESULT_FILES.fullmatch(path.stem), path.suffix != ".json")
        )
        if results and (len(results) == 1 or RESULT_FILES.fullmatch(results[0].stem)):
            found.append(RunFolder(parent, results[0], config))
    return found if len(found) >= 2 else []


def lost_runs(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """The runs of Hydra that left settings and no results, beside those that left some.

    Hydra keeps no state, and what a program returns isn't written: their scores are lost.
    """
    found = {run.folder for run in runs}
    beside = {run.folder.parent for run in runs if run.config.parent.name == HYDRA}
    lost = []
    for folder in sorted(path for parent in beside for path in parent.iterdir()):
        config = folder / HYDRA / "config.yaml"
        if folder not in found and config.is_file():
            lost.append(RunFolder(folder, config, config))
    return lost


def settings_of(run: RunFolder, text: str, name: str) -> dict[str, str]:
    """What a file of settings says, by keys with points.

    Raises:
        CannotImport: For a file that can't be read.
    """
    tree: Any = (parse_json if run.config.suffix == ".json" else parse_settings)(text, name)
    if isinstance(tree, Sequence) and not isinstance(tree, str):  # `key=value` of Hydra's overrides
        pairs = (str(part).partition("=") for part in tree)
        tree = {key.lstrip("+~"): value for key, equals, value in pairs if equals}
    if not isinstance(tree, Mapping):
        return {}
    return {key: _text(value) for key, value in flat(_plain(tree)).items() if _is_short(value)}


def _plain(tree: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): _plain(v) if isinstance(v, Mapping) else v for key, v in tree.items()}


def _is_short(value: Any) -> bool:
    return not isinstance(value, list | tuple) or all(
        not isinstance(part, list | Mapping) for part in value
    )


def _text(value: Any) -> str:
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list | tuple):
        return json.dumps([str(part) for part in value])
    return as_text(value) or ""
