"""The supervised start: a model that has seen right and wrong answers, and is right sometimes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gridatlas.reproduce.digits.model import PAD, ModelSize, ids_of, new_model
from gridatlas.reproduce.digits.problems import END, Problem, wrong_answer


@dataclass(frozen=True, slots=True)
class Supervised:
    """How the start is trained.

    Attributes:
        steps: Optimizer steps (AdamW, one cycle with 10 % warm-up).
        batch: Problems per step.
        rate: Largest learning rate.
        wrong: Share of the answers that have one wrong digit, 0 to 1; so that "before" is low.
    """

    steps: int = 450
    batch: int = 256
    rate: float = 2e-3
    wrong: float = 0.3


def train_start(
    size: ModelSize,
    how: Supervised,
    problems: Iterator[Problem],
    seed: int,
    device: str,
    step_done: Callable[[int], None] | None = None,
) -> Any:
    """Train a new model on the answers' characters (cross-entropy).

    Args:
        problems: Without end; none that is held out.
        step_done: Called with the number of steps done.
    """
    import torch

    random_ = random.Random(f"wrong answers/{seed}")
    model = new_model(size, seed).to(device).train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=how.rate, betas=(0.9, 0.95), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, how.rate, total_steps=how.steps, pct_start=0.1
    )
    for step in range(1, how.steps + 1):
        inputs, labels = _batch(islice(problems, how.batch), how.wrong, random_)
        loss = model(
            input_ids=torch.tensor(inputs, device=device),
            labels=torch.tensor(labels, device=device),
        ).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step_done:
            step_done(step)
    return model.eval()


def _batch(
    problems: Iterator[Problem], wrong: float, random_: random.Random
) -> tuple[list[list[int]], list[list[int]]]:
    """Inputs and labels, filled up on the right; only the answers' characters count."""
    pairs = []
    for problem in problems:
        answer = problem.answer
        if random_.random() < wrong:
            answer = wrong_answer(random_, answer)
        pairs.append((problem.prompt, answer + END))
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    inputs = ids_of([(prompt + answer).ljust(longest, PAD) for prompt, answer in pairs])
    ignored = -100
    labels = [
        [
            number if len(prompt) <= place < len(prompt) + len(answer) else ignored
            for place, number in enumerate(row)
        ]
        for row, (prompt, answer) in zip(inputs, pairs, strict=True)
    ]
    return inputs, labels
