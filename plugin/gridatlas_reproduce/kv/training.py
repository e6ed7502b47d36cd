"""Trains the importance predictor on labelled traces; the model itself isn't changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.labels import Labelled, labelled, mapped
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.files import write_atomic

if TYPE_CHECKING:
    from torch import Tensor


CHUNK = 8192
"""Tokens that the predictor is given at a time: a batch of traces has more than fit a GPU."""


@dataclass(frozen=True, slots=True)
class Training:
    """How the predictor is trained; the published values.

    Attributes:
        batch: Traces per step. The paper gives the number without saying of what.
        rate: Highest learning rate of AdamW; a tenth of the steps leads up to it, and half a
            cosine down to 0.
        low, high, weight: Tokens whose target is at least low and below high count so often.
    """

    epochs: int = 15
    batch: int = 256
    rate: float = 5e-4
    betas: tuple[float, float] = (0.9, 0.95)
    decay: float = 0.01
    warm_up: float = 0.1
    low: float = 4.0
    high: float = 5.0
    weight: float = 5.0

    def steps(self, traces: int) -> int:
        """Steps of the whole training on so many traces."""
        return self.epochs * -(-traces // self.batch)


@dataclass(frozen=True, slots=True)
class Trace:
    """A correct answer to train on.

    Attributes:
        id: Of the question and sample.
        prompt: Ids of the prompt's tokens.
        answer: Ids of what the model wrote: thought, `</think>` and answer.
    """

    id: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def target(received: Tensor, family: str) -> Tensor:
    """What the predictor learns: labels · 10,000 for Llama, 10 · x^0.3 / 0.3 for Qwen."""
    return received * 10_000 if family == "llama" else 10 * received**0.3 / 0.3


def labels_of(
    model: Any,
    traces: Sequence[Trace],
    thought_end: int,
    folder: Path,
    report: Callable[[int], None] = lambda done: None,
) -> list[Labelled]:
    """The labels of all traces, memory-mapped; from the folder where they were made before.

    Args:
        folder: For one file per trace, written whole.
        report: Given the number of traces that are done.

    Raises:
        CannotRun: Where no trace has both a thought and an answer.
    """
    from safetensors.torch import save

    found = []
    for number, trace in enumerate(traces, 1):
        ids = [*trace.prompt, *trace.answer]
        name = hashlib.sha256(",".join(map(str, [len(trace.prompt), *ids])).encode()).hexdigest()
        path = folder / f"{name[:20]}.safetensors"
        if path.exists():
            found.append(mapped(path))
        elif (labels := labelled(model, ids, len(trace.prompt), thought_end)) is not None:
            content = {"hidden": labels.hidden, "received": labels.received}
            write_atomic(
                path, save({key: each.cpu().contiguous() for key, each in content.items()})
            )
            found.append(mapped(path))
        report(number)
    if not found:
        raise CannotRun(
            f"none of {len(traces)} traces has a thought, </think> and an answer after it",
            "correct answers of this model, from its first token to its end",
            "make some with kv_sweep.py --scorer full, and give its folder with --run",
        )
    return found


def train(
    found: Sequence[Labelled],
    family: str,
    size: PredictorSize,
    how: Training,
    seed: int,
    device: Any,
    report: Callable[[int, int, float], None] = lambda step, of, loss: None,
) -> Any:
    """A predictor trained on labelled traces; in bfloat16 on a GPU, with weights of full precision.

    Args:
        family: `llama` or `qwen2`.
        report: Given the step, their number and the loss.
    """
    import torch

    width = found[0].hidden.shape[1]
    predictor = new_predictor(width, size, seed).to(device)
    steps = how.steps(len(found))
    optimiser = torch.optim.AdamW(
        predictor.parameters(), lr=how.rate, betas=how.betas, weight_decay=how.decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _share(step, steps, how.warm_up)
    )
    order = torch.Generator().manual_seed(seed)
    step = 0
    for _ in range(how.epochs):
        for batch in torch.randperm(len(found), generator=order).split(how.batch):
            optimiser.zero_grad()
            loss = _gradients(predictor, [found[place] for place in batch], family, how, device)
            optimiser.step()
            schedule.step()
            step += 1
            report(step, steps, loss)
    return predictor.eval()


def _gradients(
    predictor: Any, batch: Sequence[Labelled], family: str, how: Training, device: Any
) -> float:
    """Add the gradients of the mean loss over all tokens of some traces; give that loss."""
    import torch

    tokens = sum(len(labels.received) for labels in batch)
    total = 0.0
    for labels in _chunks(batch):
        wanted = target(labels.received.to(device).float(), family)
        counts = torch.where((wanted >= how.low) & (wanted < how.high), how.weight, 1.0)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            predicted = predictor(labels.hidden.to(device).float())
        loss = ((predicted.float() - wanted) ** 2 * counts).sum() / tokens
        loss.backward()
        total += float(loss.detach())
    return total


def _chunks(batch: Sequence[Labelled]) -> Iterator[Labelled]:
    """The tokens of some traces, one after the other, `CHUNK` at a time."""
    waiting: list[Labelled] = []
    room = CHUNK
    for labels in batch:
        start = 0
        while start < len(labels.received):
            part = slice(start, start + room)
            waiting.append(Labelled(labels.hidden[part], labels.received[part]))
            room -= len(waiting[-1].received)
            start = part.stop
            if not room:
                yield _joined(waiting)
                waiting, room = [], CHUNK
    if waiting:
        yield _joined(waiting)


def _joined(parts: Sequence[Labelled]) -> Labelled:
    import torch

    return Labelled(
        torch.cat([labels.hidden for labels in parts]),
        torch.cat([labels.received for labels in parts]),
    )


def _share(step: int, steps: int, warm_up: float) -> float:
    """The learning rate's share of its highest value."""
    import math

    up = max(round(warm_up * steps), 1)
    if step < up:
        return (step + 1) / up
    return 0.5 * (1 + math.cos(math.pi * (step - up) / max(steps - up, 1)))
