"""Supervised training: the start, which answers some problems, and the control beside GRPO."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.digits.model import ModelSize, new_model, new_tokenizer, sampled
from gridatlas_reproduce.digits.problems import Problem
from gridatlas_reproduce.runner.units import seed_of

if TYPE_CHECKING:
    from torch.optim import Optimizer

StepDone = Callable[[int], None]
"""Called with the number of steps done."""


@dataclass(frozen=True, slots=True)
class Supervised:
    """How the start is trained.

    The skill of a model this small jumps within a few dozen steps, at other steps with each seed.
    So its training ends by what it can do, not after a number of steps.

    Attributes:
        steps: Optimizer steps (AdamW) at most.
        batch: Problems per step.
        rate: Learning rate, reached after `warm_up` steps.
        until: Ends the training: share of right answers to problems of GRPO's kind, 0 to 1.
        temperature: At which these answers are sampled.
        every: Steps between two looks at that share.
        checked: Problems of a look; none that is held out.
    """

    steps: int = 800
    batch: int = 256
    rate: float = 2e-3
    warm_up: int = 30
    until: float = 0.1
    temperature: float = 1.0
    every: int = 10
    checked: int = 400


@dataclass(frozen=True, slots=True)
class Check:
    """What the start is looked at with.

    Attributes:
        problems: Of GRPO's kind; none that is held out.
        temperature: Of the answers; 0 is greedy decoding.
        longest: Characters of an answer, with its end.
    """

    problems: Sequence[Problem]
    temperature: float
    longest: int

    def share(self, model: Any) -> float:
        """The share of right answers, 0 to 1; the same random numbers at every look."""
        seeds = [seed_of(0, f"check/{problem.name}", 0) for problem in self.problems]
        answers = sampled(model, self.problems, seeds, self.temperature, self.longest)
        right = [
            ended and text == problem.answer
            for problem, (text, ended) in zip(self.problems, answers, strict=True)
        ]
        return sum(right) / len(right)


def train_start(
    size: ModelSize,
    how: Supervised,
    problems: Iterator[Problem],
    check: Check,
    seed: int,
    device: str,
    step_done: StepDone = lambda done: None,
) -> Any:
    """Train a new model on the answers' characters (cross-entropy) until it is right often enough.

    Args:
        problems: Without end; none that is held out.
    """
    import torch

    model, tokenizer = new_model(size, seed).to(device), new_tokenizer()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=how.rate, betas=(0.9, 0.95), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / how.warm_up)
    )
    for step in range(1, how.steps + 1):
        _step(model, optimizer, list(islice(problems, how.batch)), tokenizer)
        schedule.step()
        step_done(step)
        if step % how.every == 0 and check.share(model) >= how.until:
            break
    return model.eval()


def train_further(
    model: Any,
    steps: int,
    batch: int,
    rate: float,
    problems: Iterator[Problem],
    device: str,
    step_done: StepDone = lambda done: None,
    tokenizer: Any = None,
) -> Any:
    """Train a model on right answers: the control beside GRPO, with its optimizer.

    Args:
        model: Is changed.
        steps, batch, rate: Those of GRPO: steps, problems per step, constant learning rate.
        problems: Those that GRPO gets, in its order.
        tokenizer: The model's; of characters where none is given.
    """
    import torch

    model = model.to(device)
    tokenizer = tokenizer or new_tokenizer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    for step in range(1, steps + 1):
        _step(model, optimizer, list(islice(problems, batch)), tokenizer)
        step_done(step)
    return model.eval()


def _step(model: Any, optimizer: Optimizer, problems: Sequence[Problem], tokenizer: Any) -> None:
    """One step of an optimizer, on the loss of the answers' characters."""
    import torch

    model.train()
    inputs, labels = _batch(problems, tokenizer)
    device = model.device
    loss = model(
        input_ids=torch.tensor(inputs, device=device),
        labels=torch.tensor(labels, device=device),
    ).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def _batch(problems: Sequence[Problem], tokenizer: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Inputs and labels, filled up on the right; only the answers' tokens count."""
    prompts = tokenizer([problem.prompt for problem in problems])["input_ids"]
    texts = [problem.answer + problem.end for problem in problems]
    answers = tokenizer(texts, add_special_tokens=False)["input_ids"]
    pairs = list(zip(prompts, answers, strict=True))
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    ignored = -100

    def rows(filled: int, hidden: int | None) -> list[list[int]]:
        return [
            (prompt if hidden is None else [hidden] * len(prompt))
            + answer
            + [filled] * (longest - len(prompt) - len(answer))
            for prompt, answer in pairs
        ]

    return rows(tokenizer.pad_token_id, None), rows(ignored, ignored)
