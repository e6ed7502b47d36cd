"""What tokens of a KV cache are ranked by.

Every scorer gives a token one number, when the token is decoded; budget, trigger and window are
applied to these numbers (`selection`) in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

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
