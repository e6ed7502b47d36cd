"""The rule of the budget: which tokens of a KV cache stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from gridatlas_reproduce.runner.errors import CannotRun

if TYPE_CHECKING:
    from torch import Tensor

Protect = Literal["tie", "always"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a cache stays when it is pruned.

    A cache of L tokens is pruned after a step that leaves L ≥ `trigger`. Its last `window` tokens
    stay, and of the rest the k = int((L − window) · ratio) with the highest scores.

    Attributes:
        window: Local window: recent tokens that always stay.
        ratio: Share of the older tokens that stays; 0 ≤ ratio < 1, exact.
        trigger: Length at which the cache is pruned.
        protect: What becomes of the prompt's tokens. `tie`: they have the score +∞, as `</think>`
            and all after it have, and compete for the k places with these. `always`: they stay
            beside the k.

    Raises:
        ValueError: For sizes that never prune.
    """

    window: int
    ratio: Decimal
    trigger: int
    protect: Protect = "tie"

    def __post_init__(self) -> None:
        if not 0 <= self.ratio < 1:
            raise ValueError(f"the ratio {self.ratio} isn't at least 0 and below 1")
        if not 0 <= self.window < self.trigger:
            raise ValueError(
                f"the local window {self.window} isn't smaller than the trigger {self.trigger}"
            )

    def places(self, length: int) -> int:
        """The k of a cache with so many tokens; without rounding errors of binary fractions."""
        return int(max(length - self.window, 0) * self.ratio)

    def size_after(self, length: int, question: int) -> int:
        """Tokens that stay of a cache of this length.

        Args:
            question: Tokens of the prompt that are still in it, outside the window.
        """
        beside = question if self.protect == "always" else 0
        return min(length, self.window + self.places(length) + beside)

    def bound(self, prompt: int) -> int:
        """The largest number of tokens that the cache of a prompt of this length ever holds.

        With `always` a long prompt can leave nothing to remove at the trigger: the cache grows
        until (L − window) · (1 − ratio) exceeds the prompt.
        """
        longest = max(self.trigger, prompt)
        if self.protect == "always":
            longest = max(longest, self.window + math.floor(prompt / (1 - self.ratio)) + 1)
        return longest


def select(scores: Tensor, protected: Tensor, question: Tensor, budget: Budget) -> Tensor:
    """The indices that stay, in order; the same for all layers and heads.

    Among equal scores the earlier token stays, so of a prompt that is longer than k its first k
    tokens do.

    Args:
        scores: [L]; higher stays.
        protected: [L]; True for tokens whose score is +∞.
        question: [L]; True for tokens of the prompt.
        budget: See `Budget`.

    Returns:
        [kept] indices, ascending.
    """
    import torch

    length = len(scores)
    older, places = max(length - budget.window, 0), budget.places(length)
    ranked = scores[:older].float().masked_fill(protected[:older], math.inf)
    order = ranked.argsort(descending=True, stable=True)
    if budget.protect == "always":
        # Ahead of +∞, which others may have.
        ahead = question[:older]
        places = min(places + int(ahead.sum()), older)
        order = order[ahead[order].to(torch.int8).argsort(descending=True, stable=True)]
    window = torch.arange(older, length, device=scores.device)
    return torch.cat([order[:places].sort().values, window])


NAMES = ("importance", "streaming", "random", "full")
"""What `--scorer` may be; `full` prunes nothing."""

Scorer = Callable[["Tensor", "Tensor", "Tensor"], "Tensor"]
"""Gives [n] scores, of which higher ones stay, for hidden states [n, width] after the final norm,
absolute positions [n] and the samples' seeds [n]."""


def new_scorer(name: str, predictor: Any = None) -> Scorer:
    """A scorer.

    `importance` (DynTS) is what a predictor says of the token's hidden state. `streaming`
    (StreamingLLM, Xiao et al. 2024, arXiv 2309.17453) keeps the latest tokens; its sinks are the
    prompt. `random` is a random number, of the sample's seed and the position.

    Args:
        name: One of `NAMES`.
        predictor: For `importance`: a module that gives [n] scores of [n, width].
    """
    if name == "importance":
        return lambda hidden, positions, seeds: predictor(hidden).float()
    if name == "random":
        return lambda hidden, positions, seeds: random_numbers(seeds, positions)
    return lambda hidden, positions, seeds: positions.float()


def random_numbers(seeds: Tensor, positions: Tensor) -> Tensor:
    """[n] numbers in [0, 1), one for each seed and position: the finaliser of SplitMix64.

    Steele et al. 2014, "Fast Splittable Pseudorandom Number Generators".
    """
    mixed = seeds + (positions + 1) * -0x61C8864680B583EB
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15), (31, 1)):
        # int64 has an arithmetic shift: the sign must not come in.
        mixed = (mixed ^ ((mixed >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return ((mixed >> 40) & 0xFFFFFF).float() / (1 << 24)


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
