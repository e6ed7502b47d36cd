"""What tokens of a KV cache are ranked by.

Every scorer has the same form, and the same budget, trigger and window are applied to its scores
(`selection`). All of them work with sdpa and with eager attention: those that need attention
weights work these out from the queries of the pass and the keys in the cache.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.attention import queries_seen, received, weights

if TYPE_CHECKING:
    from torch import Tensor

NAMES = ("importance", "streaming", "h2o", "snapkv", "r-kv", "random", "full")
"""What `--scorer` may be; `full` ranks nothing and prunes nothing."""


class Scorer(ABC):
    """Ranks the tokens of a batch of samples of one prompt.

    Tensors in it are replaced, never changed, so that a copy may share them.
    """

    name = ""

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """What it needs to see of the model's passes; open while the model decodes."""
        return nullcontext()

    def observe(self, hidden: Tensor, cache: Any) -> None:  # noqa: B027 - most do nothing
        """Called after each pass.

        Args:
            hidden: [rows, n, width], after the final norm, of the tokens that the pass was given.
            cache: With these tokens' keys and values.
        """

    @abstractmethod
    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """[rows, L]: a score per token in the cache; higher stays.

        Args:
            positions: [rows, L] absolute positions of the tokens in the cache.
        """

    def keep(self, index: Tensor) -> None:  # noqa: B027 - most do nothing
        """Only these tokens stay in the cache: [rows, kept] indices."""

    def rows(self, index: Tensor) -> None:  # noqa: B027 - most do nothing
        """Only these samples are decoded further."""

    def fork(self) -> Scorer:
        """Another one in the same state."""
        return copy.copy(self)


class PerToken(Scorer):
    """One that gives each token its score when it is decoded, or adds to it later."""

    def __init__(self) -> None:
        self.per_token: Tensor | None = None

    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """The scores so far."""
        assert self.per_token is not None
        return self.per_token

    def keep(self, index: Tensor) -> None:
        """Forget the scores of removed tokens."""
        assert self.per_token is not None
        self.per_token = self.per_token.gather(1, index)

    def rows(self, index: Tensor) -> None:
        """Forget the scores of samples that are done."""
        if self.per_token is not None:
            self.per_token = self.per_token[index]


class Importance(PerToken):
    """DynTS: what a predictor says of the token's last hidden state, once, when it is decoded."""

    name = "importance"

    def __init__(self, predictor: Any) -> None:
        super().__init__()
        self.predictor = predictor

    def observe(self, hidden: Tensor, cache: Any) -> None:
        """Score the new tokens."""
        import torch

        new = self.predictor(hidden).float()
        old = [] if self.per_token is None else [self.per_token]
        self.per_token = torch.cat([*old, new], dim=1)


class H2O(PerToken):
    """Heavy hitters: the attention that a token has received since it was decoded.

    Zhang et al. 2023, arXiv 2306.14048. There each head has its own tokens; here the mean over
    heads and layers decides for all, as the other scorers' does.
    """

    name = "h2o"

    def __init__(self) -> None:
        super().__init__()
        self._new: Tensor | None = None
        self._layers = 0

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """All queries of every pass."""
        return queries_seen(model, self._see)

    def _see(self, layer: int, queries: Tensor, keys: Tensor) -> None:
        found = received(queries, keys)
        self._new = found if self._new is None else self._new + found
        self._layers += 1

    def observe(self, hidden: Tensor, cache: Any) -> None:
        """Add what the pass's queries gave."""
        import torch

        assert self._new is not None
        total = self._new / self._layers
        if self.per_token is not None:
            total = total + torch.nn.functional.pad(
                self.per_token, (0, total.shape[1] - self.per_token.shape[1])
            )
        self.per_token, self._new, self._layers = total, None, 0


class Streaming(Scorer):
    """StreamingLLM: the most recent tokens. Its attention sinks are the prompt's first tokens.

    Xiao et al. 2024, arXiv 2309.17453. Positions stay absolute here, as they do for all scorers;
    there they are those within the cache.
    """

    name = "streaming"

    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """The later, the higher."""
        return positions.float()


class Observed(Scorer):
    """One that looks at what the last queries attend to."""

    window = 1
    """Number of these queries."""

    def __init__(self) -> None:
        self.queries: dict[int, Tensor] = {}

    def hooks(self, model: Any) -> AbstractContextManager[None]:
        """The last queries of every pass, rotated to their absolute positions."""
        return queries_seen(model, self._see, self.window)

    def _see(self, layer: int, queries: Tensor, keys: Tensor) -> None:
        import torch

        old = [self.queries[layer]] if layer in self.queries else []
        self.queries[layer] = torch.cat([*old, queries], dim=2)[:, :, -self.window :]

    def rows(self, index: Tensor) -> None:
        """Forget the queries of samples that are done."""
        self.queries = {layer: queries[index] for layer, queries in self.queries.items()}

    def fork(self) -> Observed:
        """Another one in the same state."""
        other = copy.copy(self)
        other.queries = dict(self.queries)
        return other

    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """The mean over the layers."""
        import torch

        found = []
        for layer, queries in sorted(self.queries.items()):
            # They are the last that were decoded; of their own tokens some may have been removed.
            back = torch.arange(1 - queries.shape[2], 1, device=positions.device)
            own = positions[:, -1:] + back
            found.append(self.layer_scores(queries, cache.layers[layer].keys, own, positions))
        total = found[0]
        for scores in found[1:]:
            total = total + scores
        return total / len(found)

    @abstractmethod
    def layer_scores(self, queries: Tensor, keys: Tensor, own: Tensor, positions: Tensor) -> Tensor:
        """[rows, L] of one layer; arguments as `attention.weights` has them."""


class SnapKV(Observed):
    """SnapKV: the attention of the last 32 queries, averaged over 5 neighbours in the cache.

    Li et al. 2024, arXiv 2404.14469. There each head has its own tokens, chosen once, for the
    prompt; here the mean over heads and layers decides for all, at every prune.
    """

    name = "snapkv"
    window = 32
    kernel = 5

    def layer_scores(self, queries: Tensor, keys: Tensor, own: Tensor, positions: Tensor) -> Tensor:
        """Mean over heads and queries, then over neighbours that there are."""
        import torch

        found = received(queries, keys, own, positions) / queries.shape[2]
        pooled: Tensor = torch.nn.functional.avg_pool1d(
            found[:, None],
            self.kernel,
            stride=1,
            padding=self.kernel // 2,
            count_include_pad=False,
        )[:, 0]
        return pooled


class RKV(Observed):
    """R-KV: λ · importance − (1 − λ) · redundancy, λ = 0.1.

    Cai et al. 2025, arXiv 2505.24133. Importance is the attention of the last 8 queries, the
    largest among 7 neighbours. Redundancy is the softmax over the tokens of the mean cosine
    similarity of a token's key to the others', where of its near duplicates (similarity above 0.5)
    the most recent one isn't counted, so that the last of a series isn't redundant for it.

    Different from there: the mean over heads and layers decides for all; the cache is pruned at the
    study's trigger and to its budget, not every 128 tokens; importance is the mean over the heads
    that share a key.
    """

    name = "r-kv"
    window = 8
    kernel = 7
    mix = 0.1
    similar = 0.5

    def layer_scores(self, queries: Tensor, keys: Tensor, own: Tensor, positions: Tensor) -> Tensor:
        """Mean over the heads."""
        import torch

        found = weights(queries, keys, own, positions).mean(dim=2)
        rows, heads, length = found.shape
        found = found.view(rows, keys.shape[1], heads // keys.shape[1], length).mean(dim=2)
        importance = torch.nn.functional.max_pool1d(
            found, self.kernel, stride=1, padding=self.kernel // 2
        )
        # Row by row and head by head: similarities of 5,000 tokens are 100 MB each.
        redundancy = torch.stack(
            [torch.stack([self._redundancy(head) for head in row]) for row in keys]
        )
        mixed: Tensor = (self.mix * importance - (1 - self.mix) * redundancy).mean(dim=1)
        return mixed

    def _redundancy(self, keys: Tensor) -> Tensor:
        """[L] of keys [L, d]."""
        import torch

        unit = torch.nn.functional.normalize(keys.float(), dim=-1)
        similarity = unit @ unit.T
        similarity.fill_diagonal_(0)
        length = similarity.shape[0]
        near = similarity > self.similar
        order = torch.arange(1, length + 1, device=keys.device)
        latest = (near * order).argmax(dim=1, keepdim=True)
        largest = similarity.gather(1, latest)
        spared = torch.where(near.gather(1, latest), torch.zeros_like(largest), largest)
        similarity.scatter_(1, latest, spared)
        return torch.softmax(similarity.mean(dim=1), dim=0)


class Random(Scorer):
    """Random numbers, one per absolute position, drawn from each sample's own seed."""

    name = "random"

    def __init__(self, seeds: Sequence[int], longest: int) -> None:
        import torch

        drawn = [torch.rand(longest, generator=torch.Generator().manual_seed(s)) for s in seeds]
        self.drawn = torch.stack(drawn)

    def rows(self, index: Tensor) -> None:
        """Forget the numbers of samples that are done."""
        self.drawn = self.drawn[index.to(self.drawn.device)]

    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """The numbers at the positions."""
        return self.drawn.to(positions.device).gather(1, positions)


class Nothing(Scorer):
    """For `full`, where nothing is removed: no token ranks before another."""

    name = "full"

    def scores(self, cache: Any, positions: Tensor) -> Tensor:
        """The same for all."""
        return positions.new_zeros(positions.shape)


def new_scorer(
    name: str, *, predictor: Any = None, seeds: Sequence[int] = (), longest: int = 0
) -> Scorer:
    """A scorer for a batch of samples.

    Args:
        name: One of `NAMES`.
        predictor: For `importance`: a module that gives [rows, n] scores.
        seeds: For `random`: one per sample.
        longest: For `random`: tokens that prompt and answer can have together.
    """
    if name == "importance":
        return Importance(predictor)
    if name == "random":
        return Random(seeds, longest)
    kinds: dict[str, type[Scorer]] = {
        "streaming": Streaming,
        "h2o": H2O,
        "snapkv": SnapKV,
        "r-kv": RKV,
        "full": Nothing,
    }
    return kinds[name]()
