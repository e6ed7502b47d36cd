"""What scorers know of each row of a slot cache, beside each other in one batch.

A scorer works on the samples of one prompt, all equally long. Here rows differ in length; what a
scorer notes token by token is kept per slot, and at a prune the row's part is given to a scorer of
its own, with one sample.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.attention import queries_seen, received
from gridatlas_reproduce.kv.scorers import H2O, Importance, Observed, PerToken, Scorer
from gridatlas_reproduce.kv.slots import SlotCache

if TYPE_CHECKING:
    from torch import Tensor


class Ranking:
    """For scorers that note nothing: each row has its own."""

    def __init__(self, cache: SlotCache) -> None:
        self.cache = cache
        self.scorers: list[Scorer | None] = [None] * cache.rows

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """What it needs to see of a pass; open during it."""
        return nullcontext()

    def observe(self, hidden: Tensor) -> None:
        """Called after each pass, with [rows, 1, width] after the final norm."""

    def take(self, row: int, scorer: Scorer, seen: int) -> None:
        """A sample comes into a row, with what was noted of it; `seen` tokens so far."""
        self.scorers[row] = scorer

    def give(self, row: int, seen: int) -> Scorer:
        """The row's scorer, with all that was noted of it."""
        scorer = self.scorers[row]
        assert scorer is not None
        return scorer.fork()


class TokenRanking(Ranking):
    """For scorers with a number per token."""

    def __init__(self, cache: SlotCache) -> None:
        import torch

        super().__init__(cache)
        self.scores = torch.zeros(cache.rows, cache.slots, device=cache.positions.device)

    def take(self, row: int, scorer: Scorer, seen: int) -> None:
        """Put the numbers so far into the row."""
        assert isinstance(scorer, PerToken)
        assert scorer.per_token is not None
        super().take(row, scorer, seen)
        self.scores[row, : scorer.per_token.shape[1]] = scorer.per_token[0]

    def give(self, row: int, seen: int) -> Scorer:
        """With a copy of the row's numbers."""
        scorer = super().give(row, seen)
        assert isinstance(scorer, PerToken)
        scorer.per_token = self.scores[row : row + 1, : self.cache.lengths[row]].clone()
        return scorer


class ImportanceRanking(TokenRanking):
    """The predictor's word on each new token."""

    def __init__(self, cache: SlotCache, predictor: Any) -> None:
        super().__init__(cache)
        self.predictor = predictor

    def observe(self, hidden: Tensor) -> None:
        """Score the new tokens."""
        self.scores[self.cache.every, self.cache.at] = self.predictor(hidden).float()[:, 0]


class H2ORanking(TokenRanking):
    """The attention that each token has received."""

    def __init__(self, cache: SlotCache) -> None:
        super().__init__(cache)
        self._new: Tensor | None = None

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """The query of every row."""
        self._new = None
        return queries_seen(model, self._see)

    def _see(self, layer: int, queries: Tensor, keys: Tensor) -> None:
        positions = self.cache.positions[:, : self.cache.width]
        found = received(queries, keys, self.cache.own, positions)
        self._new = found if self._new is None else self._new + found

    def observe(self, hidden: Tensor) -> None:
        """Add what the pass's queries gave."""
        assert self._new is not None
        self.scores[self.cache.every, self.cache.at] = 0
        self.scores[:, : self.cache.width] += self._new / len(self.cache.layers)


class QueryRanking(Ranking):
    """For scorers that look at the last queries: of each row, in a ring per layer."""

    def __init__(self, cache: SlotCache, window: int) -> None:
        super().__init__(cache)
        self.window = window
        self.queries: dict[int, Tensor] = {}

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """The query of every row."""
        return queries_seen(model, self._see)

    def _ring(self, layer: int, like: Tensor) -> Tensor:
        if layer not in self.queries:
            _, heads, _, d = like.shape
            self.queries[layer] = like.new_zeros(self.cache.rows, self.window, heads, d)
        return self.queries[layer]

    def _see(self, layer: int, queries: Tensor, keys: Tensor) -> None:
        place = self.cache.own[:, 0] % self.window
        self._ring(layer, queries)[self.cache.every, place] = queries[:, :, 0]

    def take(self, row: int, scorer: Scorer, seen: int) -> None:
        """Put the last queries into the rings."""
        assert isinstance(scorer, Observed)
        super().take(row, scorer, seen)
        for layer, queries in scorer.queries.items():
            places = self._places(seen, queries.shape[2], queries)
            self._ring(layer, queries)[row, places] = queries[0].transpose(0, 1)

    def give(self, row: int, seen: int) -> Scorer:
        """With a copy of the row's last queries."""
        scorer = super().give(row, seen)
        assert isinstance(scorer, Observed)
        number = min(self.window, seen)
        scorer.queries = {
            layer: ring[row, self._places(seen, number, ring)].transpose(0, 1)[None]
            for layer, ring in self.queries.items()
        }
        return scorer

    def _places(self, seen: int, number: int, like: Tensor) -> Tensor:
        """Where the last queries are, from the oldest."""
        import torch

        return torch.arange(seen - number, seen, device=like.device) % self.window


def new_ranking(scorer: Scorer, cache: SlotCache) -> Ranking:
    """The one that goes with a scorer."""
    if isinstance(scorer, Importance):
        return ImportanceRanking(cache, scorer.predictor)
    if isinstance(scorer, H2O):
        return H2ORanking(cache)
    if isinstance(scorer, Observed):
        return QueryRanking(cache, scorer.window)
    return Ranking(cache)
