"""Passes a prompt through the model, and gives what its samples go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.scorers import Scorer
from gridatlas_reproduce.kv.tasks import Ends

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class State:
    """All that a sample goes on from.

    Attributes:
        keys, values: [layers, L, kv heads, d].
        positions: [L] absolute positions of the tokens in the cache.
        scores: [L]; 0 for the prompt, whose tokens are protected.
        protected: [L]: tokens whose score is +∞.
        logits: [vocabulary] after the last token.
    """

    keys: Tensor
    values: Tensor
    positions: Tensor
    scores: Tensor
    protected: Tensor
    logits: Tensor

    def in_ram(self) -> State:
        """With its tokens in the RAM, for a GPU that has no room for them."""
        return replace(self, keys=self.keys.cpu(), values=self.values.cpu())

    def selected(self, index: Tensor) -> State:
        """Only the tokens at `index`, [kept]."""
        place = index.to(self.keys.device)
        return State(
            self.keys[:, place],
            self.values[:, place],
            self.positions[index],
            self.scores[index],
            self.protected[index],
            self.logits,
        )


def prefilled(
    model: Any,
    prompt: Sequence[int],
    tokens: Sequence[int],
    scorer: Scorer,
    seed: int,
    ends: Ends,
) -> State:
    """The state after a prompt and the first tokens of a sample, where they are known."""
    import torch
    from transformers import DynamicCache

    device, cache = next(model.parameters()).device, DynamicCache(config=model.config)
    scores, hidden = [], torch.empty(0)
    for start, part in ((0, prompt), (len(prompt), tokens)):
        if not part:
            continue
        hidden = model.model(
            input_ids=torch.tensor([list(part)], device=device),
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state[0]
        positions = torch.arange(start, start + len(part), device=device)
        found = scorer(hidden, positions, torch.full_like(positions, seed))
        scores.append(found if start else torch.zeros_like(found))
    after = torch.tensor([*prompt, *tokens], device=device) == ends.thought
    after[: len(prompt)] = False
    protected = after.cumsum(dim=0) > 0
    protected[: len(prompt)] = True
    return State(
        torch.stack([layer.keys[0].transpose(0, 1) for layer in cache.layers]),
        torch.stack([layer.values[0].transpose(0, 1) for layer in cache.layers]),
        torch.arange(len(protected), device=device),
        torch.cat(scores),
        protected,
        model.lm_head(hidden[-1]).float(),
    )
