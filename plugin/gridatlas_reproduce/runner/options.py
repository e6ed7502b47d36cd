"""The options that all evaluation scripts share."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gridatlas.model.problems import join_names
from gridatlas.model.schema import level_key
from gridatlas_reproduce.runner.engine import Devices, Engine, Shard, WorkerFactory, run_units
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import Manifest
from gridatlas_reproduce.runner.units import Unit

_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the shared options say; see their help."""

    out: Path
    seed: int
    limit: int | None
    dry_run: bool
    engine: Engine
    address: str | None
    shard: Shard | None
    only: tuple[tuple[str, str], ...]
    device: str
    workers: int | None
    retries: int

    def settings(self) -> dict[str, Any]:
        """Those that determine results, for the manifest; the seed is in its `seeds`."""
        return {"limit": self.limit}

    def chosen(self, units: Sequence[Unit]) -> list[Unit]:
        """The units of the cells that `--only` names: of each factor any of the levels given.

        Raises:
            click.UsageError: For a factor or a level that no unit has.
        """
        wanted: dict[str, set[str]] = {}
        for factor, level in self.only:
            wanted.setdefault(factor, set()).add(level)
        for factor, levels in wanted.items():
            of_run = dict.fromkeys(unit.levels.get(factor) for unit in units)
            if None in of_run:
                names = join_names(units[0].levels)
                raise click.UsageError(f"--only {factor}=…: the run's factors are {names}")
            for level in levels - of_run.keys():
                raise click.UsageError(
                    f"--only {factor}={level}: the run's levels of {factor} are "
                    f"{join_names(of_run)}"
                )
        return [
            unit
            for unit in units
            if all(unit.levels[factor] in levels for factor, levels in wanted.items())
        ]

    def run(
        self,
        manifest: Manifest,
        units: Sequence[Unit],
        worker_factory: WorkerFactory,
        key: Callable[[Unit], Hashable] | None = None,
        together: int = 1,
    ) -> RunFolder:
        """Begin the run, or go on with it, and do these of its units; see `run_units`."""
        chosen = self.chosen(units)
        folder = RunFolder.start(self.out, manifest)
        run_units(
            chosen,
            worker_factory,
            folder=folder,
            key=key,
            together=together,
            engine=self.engine,
            address=self.address,
            shard=self.shard,
            retries=self.retries,
            devices=Devices(gpus=0 if self.device == "cpu" else 1, workers=self.workers),
        )
        return folder


class _ShardType(click.ParamType):  # type: ignore[type-arg]
    name = "i/n"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        if isinstance(value, tuple):
            return value
        found = _SHARD.fullmatch(str(value).strip())
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            self.fail(f'"{value}" is no part; write 1/4 for the first of four parts', param, ctx)
        return int(found[1]), int(found[2])


class _LevelType(click.ParamType):  # type: ignore[type-arg]
    name = "factor=level"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        factor, equals, level = str(value).partition("=")
        if not (factor and equals and level):
            self.fail(f'"{value}" names no level; write ratio=0.1', param, ctx)
        return factor, level_key(level)


def _shared_options(out: str, seed: int, device: str) -> list[Callable[..., Any]]:
    """The options, in the order of the help."""
    return [
        click.option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path(out),
            show_default=True,
            help="Folder of the run. An existing run is resumed.",
        ),
        click.option(
            "--seed", type=int, default=seed, show_default=True, help="Base of all seeds."
        ),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            metavar="N",
            help="Only the first N items, for a try; a run of its own.",
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Print the units, tokens, memory and GPU hours expected, and run nothing.",
        ),
        click.option(
            "--engine",
            type=click.Choice(["local", "ray"]),
            default="local",
            show_default=True,
            help="local: in this process. ray: a worker per GPU, on one or more machines.",
        ),
        click.option(
            "--address",
            metavar="HOST:PORT",
            help="Of a Ray cluster, or auto; without it Ray is started on this machine.",
        ),
        click.option(
            "--shard",
            type=_ShardType(),
            help="Only the i-th of n parts, for job arrays; all parts may share --out.",
        ),
        click.option(
            "--only",
            type=_LevelType(),
            multiple=True,
            help="Only cells at this level; several of one factor, or of several. Cells of one run"
            " may be done one after the other: each command goes on with it.",
        ),
        click.option(
            "--device",
            default=device,
            show_default=True,
            metavar="NAME",
            help="cuda, cuda:1, …, cpu, or auto: a GPU where there is one.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            metavar="N",
            help="With --engine ray: number of workers; else one per GPU, or one on the CPU.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(min=0),
            default=3,
            show_default=True,
            metavar="N",
            help="With --engine ray: how often work is tried again after a failure.",
        ),
    ]


def run_options(
    out: str, *, seed: int = 0, device: str = "cuda"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a click command the shared options, as its parameter `options`.

    Args:
        out: Default of `--out`.
        seed: Default of `--seed`.
        device: Default of `--device`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        names = RunOptions.__dataclass_fields__

        @functools.wraps(command)
        def called(**values: Any) -> Any:
            chosen = RunOptions(**{name: values.pop(name) for name in names})
            if chosen.address is not None and chosen.engine != "ray":
                raise click.UsageError("--address is of a Ray cluster; add --engine ray")
            return command(options=chosen, **values)

        for option in reversed(_shared_options(out, seed, device)):
            called = option(called)
        return called

    return decorate
