"""Runs the arms of a bench in turns, and notes each measurement at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.batches import Decoder, gpu_memory, slots_for
from gridatlas_reproduce.kv.bench import WARM_UP, Arm, Bench, config_of
from gridatlas_reproduce.kv.bench_timing import Timed, timed_loop, timed_slots
from gridatlas_reproduce.kv.memory import GIB, out_of_memory
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.kv.scorers import Scorer, new_scorer
from gridatlas_reproduce.kv.slots import Reading, varlen_works
from gridatlas_reproduce.runner.devices import choose_device
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.files import digest, indented, write_atomic
from gridatlas_reproduce.runner.records import SettingsDiffer
from gridatlas_reproduce.runner.runs import differences, environment, gpu_state, utc_now

FILE = "bench.json"


def random_model(bench: Bench, device: Any) -> Any:
    """A model of the shape with random weights, made where it shall be."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.manual_seed(bench.seed)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(
            config_of(bench.shape),
            dtype=getattr(torch, bench.dtype),
            attn_implementation=bench.attention,
        ).eval()


@dataclass(slots=True)
class Measuring:
    """A model, and what is measured with it.

    Attributes:
        reading: How slots are read here.
        scorer: Makes the scorer of an arm.
    """

    bench: Bench
    model: Any
    reading: Reading
    predictor: Any = None
    warm: set[tuple[Decoder, int]] = field(default_factory=set)

    def scorer(self, arm: Arm, seeds: Sequence[int]) -> Scorer:
        """The scorer of an arm, for samples with these seeds."""
        bench = self.bench
        return new_scorer(
            bench.scorer if arm.budget else "full",
            predictor=self.predictor,
            seeds=list(seeds),
            longest=bench.prompt + bench.new_tokens,
        )

    def timed(self, arm: Arm, new_tokens: int | None = None) -> Timed:
        """Decode an arm to its end."""
        bench = self.bench
        if new_tokens is not None:
            bench = replace(bench, new_tokens=new_tokens)
        slots = slots_for(bench.longest(arm.budget))
        if arm.decoder == "loop":
            return timed_loop(self.model, bench, arm, self.scorer)
        return timed_slots(self.model, bench, arm, self.scorer, slots, self.reading)

    def warm_up(self, arm: Arm) -> None:
        """Decode through a prune, once per decoder and rows: it comes before all that counts."""
        if (arm.decoder, arm.rows) in self.warm:
            return
        self.warm.add((arm.decoder, arm.rows))
        tokens = min(self.bench.new_tokens, self.bench.trigger - self.bench.prompt + WARM_UP)
        pruned = replace(arm, budget=self.bench.budgets()[0])
        self.timed(pruned if self.bench.needed(pruned) <= self.bench.needed(arm) else arm, tokens)


def _measuring(bench: Bench, device: Any) -> Measuring:
    import torch

    model = random_model(bench, device)
    predictor = None
    if bench.scorer == "importance":
        size = PredictorSize() if bench.shape != "tiny" else PredictorSize(16, 8)
        predictor = new_predictor(model.config.hidden_size, size, bench.seed)
        predictor = predictor.to(device=device, dtype=model.dtype).eval()
    reading: Reading = "varlen" if varlen_works(device, getattr(torch, bench.dtype)) else "grouped"
    return Measuring(bench, model, reading, predictor)


def in_turns(arms: Sequence[Arm], repeats: int) -> Iterator[tuple[int, Arm]]:
    """Each arm once per repeat, and every other time from the last: what drifts meets all alike."""
    for repeat in range(repeats):
        for arm in arms if repeat % 2 == 0 else reversed(arms):
            yield repeat, arm


def measure(
    bench: Bench,
    folder: Path,
    device_name: str,
    report: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Measure what isn't in the folder's file yet; it is written after each measurement.

    All are measured on one machine in one file: figures of another GPU don't stand beside them.

    Raises:
        CannotRun: For no GPU, a CPU with a real shape, or too little memory.
        SettingsDiffer: Where the file has other settings, or another machine's figures.
    """
    import torch

    device = choose_device(device_name)
    if device.type == "cpu" and bench.shape != "tiny":
        raise CannotRun(
            f"the shape {bench.shape} on a CPU",
            "a GPU: figures of a CPU say nothing about decoding on one",
            "run it with --device cuda, or try it with --shape tiny --device cpu",
        )
    memory = gpu_memory(device)
    arms = bench.arms(memory)
    fitting = [arm for arm in arms if bench.fits(arm, memory)]
    if not fitting:
        raise CannotRun(
            f"the GPU has {(memory or 0) / GIB:.1f} GiB of memory",
            f"{min(map(bench.needed, arms)) / GIB:.1f} GiB for the smallest arm",
            "use a larger GPU, or give --rows fewer",
        )
    record = _recorded(bench, folder)
    record["left_out"] = [
        arm.levels() | {"bytes": int(bench.needed(arm))} for arm in arms if arm not in fitting
    ]
    results: list[dict[str, Any]] = record["results"]
    done = [{key: result[key] for key in ("repeat", *arms[0].levels())} for result in results]
    left = [
        (repeat, arm)
        for repeat, arm in in_turns(fitting, bench.repeats)
        if {"repeat": repeat, **arm.levels()} not in done
    ]
    measuring = _measuring(bench, device) if left else None
    for repeat, arm in left:
        assert measuring is not None
        try:
            measuring.warm_up(arm)
            timed = measuring.timed(arm)
        except torch.cuda.OutOfMemoryError as error:
            raise out_of_memory(error, arm.rows, "--rows") from error
        reading = measuring.reading if arm.decoder == "slots" else bench.attention
        results.append({"repeat": repeat, **arm.levels(), "attention": reading, **asdict(timed)})
        write_atomic(folder / FILE, indented(record))
        report(results[-1])
    return record


def _recorded(bench: Bench, folder: Path) -> dict[str, Any]:
    """The file's content, or that of a new one."""
    now = environment()
    settings = bench.settings()
    run = f"bench_kv-{digest(settings)[:8]}"
    fresh = {"format": 2, "run": run, "settings": settings, "started": utc_now(), **now}
    path = folder / FILE
    if not path.exists():
        return {**fresh, "gpu_state": gpu_state(), "left_out": [], "results": []}
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        found = differences(
            {"settings": record["settings"], "gpu": record["gpu"], "packages": record["packages"]},
            {"settings": settings, "gpu": now["gpu"], "packages": now["packages"]},
        )
        assert record["format"] == 2
        assert isinstance(record["results"], list)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise CannotRun(
            f"{path} can't be read: {error!r}",
            "what bench_kv.py wrote",
            "remove it, or name another folder with --out",
        ) from error
    if found:
        raise SettingsDiffer(str(folder), found)
    return record
