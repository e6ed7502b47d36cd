"""The options that all evaluation scripts share."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from gridatlas.model.problems import join_names
from gridatlas.model.schema import level_key
from gridatlas_reproduce.runner.engine import Pool, Shard, WorkerFactory, run_units
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
    engine: str
    address: str | None
    shard: Shard | None
    only: tuple[tuple[str, str], ...]
    device: str
    workers: int | None
    retries: int

    def __post_init__(self) -> None:
        if self.address is not None and self.engine != "ray":
            raise click.UsageError("--address is of a Ray cluster; add --engine ray")

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
        factory: WorkerFactory,
        key: Callable[[Unit], Hashable] | None = None,
        together: int = 1,
    ) -> RunFolder:
        """Begin the run, or go on with it, and do these of its units; see `run_units`."""
        chosen = self.chosen(units)
        folder = RunFolder.start(self.out, manifest)
        pool = Pool(self.address, 0 if self.device == "cpu" else 1, self.workers, self.retries)
        used = pool if self.engine == "ray" else None
        run_units(chosen, factory, folder, key, shard=self.shard, together=together, pool=used)
        return folder


option = functools.partial(click.option, show_default=True)
NUMBER = click.IntRange(min=1)


def grouped(
    record: type, name: str, options: Sequence[Callable[..., Any]]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a click command some options, in the order of its help, as one parameter.

    Args:
        record: A dataclass with a field per option.
        name: Of the parameter.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def called(**values: Any) -> Any:
            chosen = {each.name: values.pop(each.name) for each in fields(record)}
            return command(**{name: record(**chosen)}, **values)

        for each in reversed(options):
            called = each(called)
        return called

    return decorate


def _shard(context: click.Context, option: click.Parameter, value: str | None) -> Shard | None:
    found = _SHARD.fullmatch((value or "").strip())
    if value is None:
        return None
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f'"{value}" is no part; write 1/4 for the first of four parts')
    return int(found[1]), int(found[2])


def _levels(
    context: click.Context, option: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    pairs = []
    for value in values:
        factor, _, level = value.partition("=")
        if not (factor and level):
            raise click.BadParameter(f'"{value}" names no level; write ratio=0.1')
        pairs.append((factor, level_key(level)))
    return tuple(pairs)


def run_options(
    out: str, *, seed: int = 0, device: str = "cuda"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a click command the shared options, as its parameter `options`.

    Args:
        out: Default of `--out`.
        seed: Default of `--seed`.
        device: Default of `--device`.
    """
    folder = click.Path(path_type=Path, file_okay=False)
    resumed = "Folder of the run. An existing run is resumed."
    own = "Only the first N items, for a try; a run of its own."
    dry = "Print the units, tokens, memory and GPU hours expected, and run nothing."
    engine = "local: in this process. ray: a worker per GPU, on one or more machines."
    cluster = "Of a Ray cluster, or auto; without it Ray is started on this machine."
    part = "Only the i-th of n parts, for job arrays; all parts may share --out."
    only = (
        "Only cells at this level; several of one factor, or of several. Cells of one run may be "
        "done one after the other: each command goes on with it."
    )
    where = "cuda, cuda:1, …, cpu, or auto: a GPU where there is one."
    workers = "With --engine ray: number of workers; else one per GPU, or one on the CPU."
    again = "With --engine ray: how often work is tried again after a failure."
    options = [
        option("--out", type=folder, default=Path(out), help=resumed),
        option("--seed", type=int, default=seed, help="Base of all seeds."),
        option("--limit", type=NUMBER, metavar="N", help=own),
        option("--dry-run", is_flag=True, help=dry),
        option("--engine", type=click.Choice(["local", "ray"]), default="local", help=engine),
        option("--address", metavar="HOST:PORT", help=cluster),
        option("--shard", callback=_shard, metavar="I/N", help=part),
        option("--only", callback=_levels, multiple=True, metavar="FACTOR=LEVEL", help=only),
        option("--device", default=device, metavar="NAME", help=where),
        option("--workers", type=NUMBER, metavar="N", help=workers),
        option("--retries", type=click.IntRange(min=0), default=3, metavar="N", help=again),
    ]
    return grouped(RunOptions, "options", options)
