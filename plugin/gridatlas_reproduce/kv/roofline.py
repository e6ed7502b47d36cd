"""What the bandwidth of a GPU's memory allows, computed: the least time of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gridatlas_reproduce.kv.memory import shape_of
from gridatlas_reproduce.kv.selection import Budget

BANDWIDTH = 3.35e12
"""Bytes per second of an H100's memory, by its data sheet."""


def mean_cache(prompt: int, new_tokens: int, budget: Budget | None) -> float:
    """Tokens in a sample's cache, the mean over its steps."""
    length, total = prompt, 0
    for _ in range(new_tokens):
        length += 1
        total += length
        if budget is not None and length >= budget.trigger:
            length = budget.size_after(length, prompt)
    return total / new_tokens


COPIED = 3
"""How often a step moves the cache in transformers' `DynamicCache`: a copy reads and writes it, and
attention reads the copy."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """The least time of steps of a model.

    Attributes:
        weights: Bytes that a step reads of them: all but the table of embeddings.
        token: Bytes of a token in the cache.
        bandwidth: Bytes per second.
    """

    weights: int
    token: int
    bandwidth: float = BANDWIDTH

    @classmethod
    def of(cls, config: Any, width: int) -> Roofline:
        """Of a transformers configuration, at `width` bytes per number."""
        shape = shape_of(config)
        table = 0 if config.tie_word_embeddings else config.vocab_size * config.hidden_size
        return cls((shape.parameters - table) * width, shape.token_bytes(width))

    def seconds(self, rows: int, cache: float, traffic: float = 1) -> float:
        """Of one step.

        Args:
            cache: Tokens per row.
            traffic: How often the caches are moved.
        """
        return (self.weights + traffic * rows * cache * self.token) / self.bandwidth

    def gain(
        self, rows: int, full: float, pruned: Sequence[float], traffic: float = 1
    ) -> list[float]:
        """The full cache's time divided by each pruned one's, at the same rows."""
        whole = self.seconds(rows, full, traffic)
        return [whole / self.seconds(rows, cache, traffic) for cache in pruned]
