"""One measurement: decodes forced lengths, and notes time, memory and prunes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.continuous import SlotDecoder
from gridatlas_reproduce.kv.decode import Decoding, Ends
from gridatlas_reproduce.kv.memory import bytes_of, shape_of
from gridatlas_reproduce.kv.sampling import Sampling
from gridatlas_reproduce.kv.scorers import Scorer
from gridatlas_reproduce.kv.slots import Reading
from gridatlas_reproduce.kv.tasks import Task

if TYPE_CHECKING:
    from gridatlas_reproduce.kv.bench import Arm, Bench

NO_END = Ends(-1, frozenset())
"""No token ends an answer or a thought."""
MakeScorer = Callable[["Arm", Sequence[int]], Scorer]


@dataclass(frozen=True, slots=True)
class Timed:
    """One measurement.

    Attributes:
        seconds: From the prompt to the last token of all rows; without making the cache's slots.
        compaction: Seconds of them that prunes took.
        peak_tokens: The most that a row's cache held.
        kv_computed: Bytes of the caches at their largest: rows · tokens · bytes per token.
        kv_measured: Bytes of the tensors that held them.
        peak_allocated, peak_reserved: Bytes of the whole GPU, as PyTorch counts them.
    """

    seconds: float
    compaction: float
    prunes: int
    peak_tokens: int
    kv_computed: int
    kv_measured: int
    peak_allocated: int | None
    peak_reserved: int | None


class _Clock:
    """Seconds of what is done while it is open, with all that a GPU still has to do."""

    def __init__(self, device: Any) -> None:
        self.device, self.total = device, 0.0

    def now(self) -> float:
        import torch

        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    @contextmanager
    def counting(self) -> Iterator[None]:
        started = self.now()
        try:
            yield
        finally:
            self.total += self.now() - started


class _Loop(Decoding):
    """Notes the bytes of its cache, and the time of its prunes."""

    largest = 0

    def watch(self, clock: _Clock) -> None:
        prune = self.press.prune

        def counted(*args: Any, **kwargs: Any) -> None:
            self._note()
            with clock.counting():
                prune(*args, **kwargs)

        self.press.prune = counted  # type: ignore[method-assign]

    def _note(self) -> None:
        self.largest = max(self.largest, bytes_of(self.cache))

    def _pass(self) -> None:
        super()._pass()
        self._note()


class _Slots(SlotDecoder):
    """Notes the time of its prunes."""

    clock: _Clock

    def _prune(self, number: int, row: Any) -> None:
        with self.clock.counting():
            super()._prune(number, row)


def timed_loop(model: Any, bench: Bench, arm: Arm, scorer: MakeScorer) -> Timed:
    """With transformers' own cache."""
    clock, whole = _clocks(model)
    seeds = range(arm.rows)
    sampling = Sampling(max_new_tokens=bench.new_tokens)
    prompt = _prompt(model, bench)
    own = scorer(arm, seeds)
    loop = _Loop(model, prompt, list(seeds), sampling, NO_END, own, arm.budget)
    loop.watch(clock)
    with whole.counting():
        loop.run()
    sample = loop.samples[0]
    return _timed(model, arm, whole, clock, sample.prunes, sample.peak, loop.largest)


def timed_slots(
    model: Any, bench: Bench, arm: Arm, scorer: MakeScorer, slots: int, reading: Reading
) -> Timed:
    """In a batch of slots."""
    clock, whole = _clocks(model)
    sampling = Sampling(max_new_tokens=bench.new_tokens)
    decoder = _Slots(model, arm.rows, slots, sampling, NO_END, reading=reading)
    decoder.clock = clock
    task = Task(
        "bench",
        tuple(_prompt(model, bench)),
        tuple(range(arm.rows)),
        (("cell", arm.budget),),
        lambda seeds: scorer(arm, seeds),
    )
    with whole.counting():
        answers = list(decoder.run([task]))
    measured = decoder.cache.keys.nbytes + decoder.cache.values.nbytes
    prunes = max(answer.sample.prunes for answer in answers)
    peak = max(answer.sample.peak for answer in answers)
    return _timed(model, arm, whole, clock, prunes, peak, measured)


def _clocks(model: Any) -> tuple[_Clock, _Clock]:
    """For prunes, and for all; the GPU's memory is counted from now on."""
    import torch

    device = next(model.parameters()).device
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    return _Clock(device), _Clock(device)


def _prompt(model: Any, bench: Bench) -> list[int]:
    import torch

    numbers = torch.Generator().manual_seed(bench.seed)
    found = torch.randint(model.config.vocab_size, (bench.prompt,), generator=numbers)
    return [int(token) for token in found]


def _timed(
    model: Any, arm: Arm, whole: _Clock, clock: _Clock, prunes: int, peak: int, measured: int
) -> Timed:
    import torch

    on_gpu = whole.device.type == "cuda"
    per_token = shape_of(model.config).token_bytes(model.dtype.itemsize)
    return Timed(
        round(whole.total, 6),
        round(clock.total, 6),
        prunes,
        peak,
        arm.rows * peak * per_token,
        measured,
        torch.cuda.max_memory_allocated(whole.device) if on_gpu else None,
        torch.cuda.max_memory_reserved(whole.device) if on_gpu else None,
    )
