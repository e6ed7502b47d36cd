"""Samples answers to one prompt; the cells of a grid share what they have in common.

Until the first prune all cells of a question are the same: this beginning is decoded once, and each
cell goes on from it with a cache of its own.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from gridatlas_reproduce.kv.memory import bytes_of, room_for
from gridatlas_reproduce.kv.press import Press
from gridatlas_reproduce.kv.sampling import Sampling, drawn, uniform_numbers
from gridatlas_reproduce.kv.scorers import Scorer
from gridatlas_reproduce.kv.selection import Budget

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(slots=True)
class Sample:
    """One answer.

    Attributes:
        tokens: Ids, from the first that was drawn; with the one that ended it.
        finish: `stop`, or `length` where the limit ended it.
        prunes: How often its cache was pruned.
        peak: The largest number of tokens that its cache held.
        seconds: Its share of the time; that of the beginning counts in every cell. In a batch of
            answers to several prompts: the time that it was in it.
        batch_tokens: Tokens that such a batch drew in this time.
        prefix: Hash of the tokens that all cells share, in such a batch.
        refilled: Whether these were decoded by an earlier run, and passed through the model again.
        pruned_at: Tokens drawn before each prune, in such a batch.
    """

    tokens: list[int] = field(default_factory=list)
    finish: Literal["stop", "length"] = "length"
    prunes: int = 0
    peak: int = 0
    seconds: float = 0.0
    batch_tokens: int = 0
    prefix: str | None = None
    refilled: bool = False
    pruned_at: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ends:
    """Tokens with a meaning: `</think>`, and those that end an answer."""

    thought: int
    stop: frozenset[int]


class Decoding:
    """Answers to one prompt that are being decoded, as copies of it in one batch.

    Samples that have ended leave the batch. A sample's tokens depend on its own seed; the other
    samples change them only as far as the batch's size changes how the device rounds.
    """

    def __init__(
        self,
        model: Any,
        prompt: Sequence[int],
        seeds: Sequence[int],
        sampling: Sampling,
        ends: Ends,
        scorer: Scorer,
        budget: Budget | None = None,
    ) -> None:
        import torch
        from transformers import DynamicCache

        self.model, self.sampling, self.ends = model, sampling, ends
        self.press = Press(scorer, budget, ends.thought)
        self.cache = DynamicCache(config=model.config)
        self.samples = [Sample() for _ in seeds]
        self.alive = list(range(len(seeds)))
        self._uniform = uniform_numbers(seeds, sampling.max_new_tokens)
        device = next(model.parameters()).device
        self._input: Tensor = torch.tensor([list(prompt)] * len(seeds), device=device)
        self._logits: Tensor | None = None
        self._step = 0
        self._scores: Tensor | None = None

    def run(self, until: int | None = None) -> Decoding:
        """Decode to the end of all answers, or until the cache holds so many tokens."""
        import torch

        started = time.monotonic()
        with torch.inference_mode(), self.press.on(self.model):
            while self.alive:
                if self._logits is None:
                    self._pass()
                    if until is not None and self.press.longest >= until:
                        break
                self._draw()
        for sample in self.samples:
            sample.seconds += (time.monotonic() - started) / len(self.samples)
        return self

    def _pass(self) -> None:
        out = self.model(
            input_ids=self._input, past_key_values=self.cache, use_cache=True, logits_to_keep=1
        )
        self._logits = out.logits[:, -1]
        for row in self.alive:
            self.samples[row].peak = self.press.longest
            self.samples[row].prunes = self.press.prunes

    def _draw(self) -> None:
        """One token per sample; those that end leave the batch."""
        import torch

        assert self._logits is not None
        tokens = drawn(self._logits, self._uniform[self.alive, self._step], self.sampling)
        self._step += 1
        self._logits = None
        going = []
        for place, (row, token) in enumerate(zip(self.alive, tokens.tolist(), strict=True)):
            self.samples[row].tokens.append(token)
            if token in self.ends.stop:
                self.samples[row].finish = "stop"
            elif self._step < self.sampling.max_new_tokens:
                going.append(place)
        device = self._input.device
        self._input = tokens[going, None].to(device)
        if len(going) < len(self.alive):
            self.alive = [self.alive[place] for place in going]
            index = torch.tensor(going, dtype=torch.long, device=device)
            self.press.rows(index)
            self.cache.batch_select_indices(index)

    # --- cells ------------------------------------------------------------------------------------

    def prepare_forks(self) -> Decoding:
        """Score the tokens once for all forks; without room for two caches, put it in the RAM."""
        import torch

        if self.alive:
            with torch.inference_mode():
                self._scores = self.press.scores(self.cache)
            if not room_for(self._input.device, bytes_of(self.cache)):
                for layer in self.cache.layers:
                    layer.keys, layer.values = layer.keys.cpu(), layer.values.cpu()
        return self

    def fork(self, budget: Budget) -> Decoding:
        """The same answers, pruned now and decoded further under a budget of their own."""
        import torch

        other = copy.copy(self)
        other.samples, other.alive = copy.deepcopy(self.samples), list(self.alive)
        other.press = self.press.fork(budget)
        # The tensors are shared: whoever changes a cache's contents puts new ones in their place.
        other.cache = copy.copy(self.cache)
        other.cache.layers = [copy.copy(layer) for layer in self.cache.layers]
        if other.alive:
            started = time.monotonic()
            with torch.inference_mode():
                other.press.prune(other.cache, self._scores)
            for sample in other.samples:
                sample.seconds += (time.monotonic() - started) / len(other.samples)
            for row in other.alive:
                other.samples[row].prunes = other.press.prunes
        return other
