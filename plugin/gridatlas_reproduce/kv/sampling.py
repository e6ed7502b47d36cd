"""Draws the next token of each sample from its own random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gridatlas_reproduce.runner.errors import CannotRun

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn; the study's values.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_p, top_k: Of all tokens the smallest number of likeliest ones whose probabilities sum to
            p, then of these the k likeliest.
        max_new_tokens: Of one answer.
        order: Of the filters; another order gives other probabilities.
    """

    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_new_tokens: int = 16_384
    order: str = "temperature, top_p, top_k"


def uniform_numbers(seeds: Sequence[int], number: int) -> Tensor:
    """[samples, number] in double precision, each row from its own seed."""
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    rows = [
        torch.rand(number, generator=generator, dtype=torch.float64) for generator in generators
    ]
    return torch.stack(rows)


def drawn(logits: Tensor, uniform: Tensor, sampling: Sampling) -> Tensor:
    """One token per row, on the CPU.

    A row's token depends on its own logits and number alone: tokens are ordered by their logits,
    equal ones by their id, and the first is taken whose cumulated probability exceeds the number.

    Args:
        logits: [rows, vocabulary].
        uniform: [rows], in [0, 1).

    Raises:
        CannotRun: For logits that aren't numbers.
    """
    import torch

    logits = logits.float()
    values, ids = logits.topk(min(sampling.top_k, logits.shape[-1]), dim=-1)
    values, ids = values.double().cpu(), ids.cpu()
    if not values.isfinite().all():
        raise CannotRun(
            "the model's logits aren't numbers: they are too large for this dtype",
            "a model that computes within the range of its dtype",
            "give --dtype bfloat16, with another --out",
        )
    by_id = ids.argsort(dim=-1)
    values, ids = values.gather(1, by_id), ids.gather(1, by_id)
    order = values.argsort(dim=-1, descending=True, stable=True)
    values, ids = values.gather(1, order), ids.gather(1, order)
    if sampling.temperature == 0:
        return ids[:, 0]
    # Of all tokens, not of the k likeliest: p is asked for before k.
    every = (logits / sampling.temperature).logsumexp(dim=-1, keepdim=True).double().cpu()
    shares = (values / sampling.temperature - every).exp()
    before = shares.cumsum(dim=-1) - shares
    shares = shares.masked_fill(before >= sampling.top_p, 0)
    cumulated = (shares / shares.sum(dim=-1, keepdim=True)).cumsum(dim=-1)
    index = torch.searchsorted(cumulated, uniform[:, None].double(), right=True)
    last = (shares > 0).sum(dim=-1, keepdim=True) - 1
    return ids.gather(1, torch.minimum(index, last))[:, 0]
