"""What a run was: its settings, and the machine, packages and code that it ran with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from gridatlas_reproduce.runner.files import compact, digest
from gridatlas_reproduce.runner.units import Unit, plan_as_json

FORMAT = 1
PACKAGES = (
    *("accelerate", "datasets", "gridatlas", "math-verify", "numpy"),
    *("ray", "tokenizers", "torch", "transformers", "trl"),
)
"""Packages that a result may depend on."""

Difference = tuple[str, str, str]
"""A key, its value then, its value now."""


@dataclass(frozen=True)
class Manifest:
    """A run, as `run.json` has it.

    Attributes:
        study: Id of the study that it measures.
        script: Name of the script, without its ending; the run's id begins with it.
        settings: Everything that determines the results and isn't below.
        model: id, revision, sha256 of its configuration; None for a model that the run makes.
        data: id, revision, sha256 of the questions; None where the run makes them.
        seeds: The base seed, or a seed by name.
        plan: The units, as `plan_as_json` gives them.
        arguments: The command line as given.
        environment: See `environment`.
        now: UTC, ISO 8601.
        stderr_over: What the standard error of a cell is taken over: `items` (questions), or
            `units`, where each unit is a sample of its own, such as a training seed.
        deviations: By name, in what the run isn't as published.
    """

    study: str
    script: str
    settings: Mapping[str, Any]
    model: Mapping[str, Any] | None
    data: Mapping[str, Any] | None
    seeds: Any
    plan: Mapping[str, Any]
    arguments: tuple[str, ...]
    environment: Mapping[str, Any]
    now: str
    stderr_over: Literal["items", "units"] = "items"
    deviations: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Numbers of cells, units and rows."""
        lists = self.plan["units"]
        units = [lists[entry["units"]] for entry in self.plan["cells"]]
        return {
            "cells": len(units),
            "units": sum(map(len, units)),
            "rows": sum(rows for items in units for _, rows in items),
        }

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run to go on: all that determines its results."""
        return {
            "study": self.study,
            "script": self.script,
            "settings": dict(self.settings),
            "model": self.model,
            "data": self.data,
            "seeds": self.seeds,
            "plan": digest(self.plan)[:16],
            **self.counts,
        }

    @cached_property
    def digest(self) -> str:
        """Hash of all that determines the results."""
        return digest(self.identity())

    @property
    def run(self) -> str:
        """The run's id: the script's name, and the beginning of the hash."""
        return f"{self.script}-{self.digest[:8]}"

    def as_json(self) -> dict[str, Any]:
        """The content of `run.json`."""
        return {
            "format": FORMAT,
            "run": self.run,
            "hash": self.digest,
            "started": self.now,
            "arguments": list(self.arguments),
            "stderr_over": self.stderr_over,
            **({"deviations": dict(self.deviations)} if self.deviations else {}),
            **self.identity(),
            **self.environment,
        }


def manifest(
    study: str, script: str, settings: Mapping[str, Any], units: Sequence[Unit], **more: Any
) -> Manifest:
    """The manifest of a run that is about to start on this machine.

    Args:
        units: All units of the run, whatever part of them this process does.
        more: `seeds`, and what else of `Manifest` isn't known here.
    """
    here = {"arguments": tuple(sys.argv[1:]), "environment": environment(), "now": utc_now()}
    given = {"model": None, "data": None, "plan": plan_as_json(units), **here, **more}
    return Manifest(study, script, settings, **given)


def utc_now() -> str:
    """The time as `2026-05-01T12:00:00Z`; SOURCE_DATE_EPOCH stands for it where it is set."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- where it runs --------------------------------------------------------------------------------


def environment() -> dict[str, Any]:
    """The code, the packages and the machine: what may change a result without being a setting."""
    commit, dirty = _commit(Path(__file__))
    # On a processor with other vectors sums round otherwise, and a training ends elsewhere.
    vectors = {"avx2", "avx512f"} & {*(_output("lscpu") or "").split()}
    return {
        "commit": commit,
        "dirty": dirty,
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "python": platform.python_version(),
        "platform": ", ".join([platform.platform(), *sorted(vectors)]),
        "gpu": _gpu(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit(file: Path) -> tuple[str | None, bool | None]:
    """The commit that the code is of, and whether tracked files were changed since."""
    # An installed copy may lie in somebody else's repository.
    if _git(file.parent, "ls-files", "--error-unmatch", file.name) is None:
        return None, None
    changed = _git(file.parent, "status", "--porcelain", "--untracked-files=no")
    return _git(file.parent, "rev-parse", "HEAD"), None if changed is None else bool(changed)


def _git(folder: Path, *arguments: str) -> str | None:
    return _output("git", "-C", str(folder), *arguments)


def _output(*command: str) -> str | None:
    """What a command prints; None where it fails or isn't there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _gpu() -> dict[str, Any] | None:
    """The GPU that PyTorch uses, or None."""
    # Importing PyTorch takes seconds: not where there is no driver that it could use.
    drivers = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
    if not any(Path(driver).exists() for driver in drivers):
        return None
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    device = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "name": device.name,
        "memory": device.total_memory,
        "driver": (_of_nvidia("driver_version") or {}).get("driver_version"),
        "cuda": torch.version.cuda,
    }


def gpu_state() -> dict[str, str] | None:
    """Clocks and power limit of the first GPU, with their units, as nvidia-smi has them."""
    return _of_nvidia("clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit")


def _of_nvidia(*names: str) -> dict[str, str] | None:
    """What nvidia-smi says of the first GPU."""
    found = _output("nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader")
    if not found:
        return None
    return dict(zip(names, found.splitlines()[0].split(", "), strict=True))


# --- what differs ---------------------------------------------------------------------------------


def flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with dotted keys in place of mappings in it."""
    found: dict[str, Any] = {}
    for key, entry in value.items():
        if isinstance(entry, Mapping) and entry:
            found |= {f"{key}.{name}": inner for name, inner in flat(entry).items()}
        else:
            found[key] = entry
    return found


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """The keys of `now`, and those below them, that differ; absent ones stand as `(none)`."""
    before = flat({key: then.get(key) for key in now})
    after = flat(now)
    return [
        (key, _text(before.get(key)), _text(after.get(key)))
        for key in sorted({*before, *after})
        if _text(before.get(key)) != _text(after.get(key))
    ]


def _text(value: Any) -> str:
    return "(none)" if value is None else compact(value)
