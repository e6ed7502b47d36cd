"""Passes a prompt through the model, and gives what its samples go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.decode import Ends
from gridatlas_reproduce.kv.press import Press
from gridatlas_reproduce.kv.scorers import Scorer

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class State:
    """All that a sample goes on from.

    Attributes:
        keys, values: [layers, L, kv heads, d].
        positions: [L] absolute positions of the tokens in the cache.
        protected: [L]: tokens whose score is +∞.
        thought: Whether `</think>` was among them.
        seen: Tokens that there ever were; `prompt` of them in the prompt.
        scorer: Of this one sample.
        logits: [vocabulary] after the last token.
    """

    keys: Tensor
    values: Tensor
    positions: Tensor
    protected: Tensor
    thought: bool
    seen: int
    prompt: int
    scorer: Scorer
    logits: Tensor

    def in_ram(self) -> State:
        """With its tokens in the RAM: the GPU's memory is for rows that are decoded."""
        return replace(
            self,
            keys=self.keys.cpu(),
            values=self.values.cpu(),
            positions=self.positions.cpu(),
            protected=self.protected.cpu(),
        )

    def selected(self, index: Tensor) -> State:
        """Only the tokens at `index`, [1, kept]."""
        scorer = self.scorer.fork()
        scorer.keep(index.to(self.logits.device))
        place = index[0]
        return replace(
            self,
            keys=self.keys[:, place],
            values=self.values[:, place],
            positions=self.positions[place],
            protected=self.protected[place],
            scorer=scorer,
        )


def prefilled(
    model: Any, prompt: Sequence[int], scorer: Scorer, ends: Ends, samples: int
) -> list[State]:
    """A state per sample of a prompt, in one pass."""
    press, cache, logits = _passed(model, [prompt], scorer, ends, samples)
    return [_state(press, cache, logits, sample) for sample in range(samples)]


def refilled(
    model: Any, prompt: Sequence[int], tokens: Sequence[int], scorer: Scorer, ends: Ends
) -> State:
    """The state of a sample whose first tokens are known."""
    press, cache, logits = _passed(model, [prompt, tokens], scorer, ends, 1)
    return _state(press, cache, logits, 0)


def _passed(
    model: Any, parts: Sequence[Sequence[int]], scorer: Scorer, ends: Ends, rows: int
) -> tuple[Press, Any, Tensor]:
    import torch
    from transformers import DynamicCache

    device = next(model.parameters()).device
    press, cache = Press(scorer, None, ends.thought), DynamicCache(config=model.config)
    logits = torch.empty(0)
    with press.on(model):
        for part in parts:
            if part:
                logits = model(
                    input_ids=torch.tensor([list(part)] * rows, device=device),
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                ).logits[:, -1]
    return press, cache, logits


def _state(press: Press, cache: Any, logits: Tensor, sample: int) -> State:
    import torch

    assert press.positions is not None
    assert press.protected is not None
    assert press.thought is not None
    scorer = press.scorer.fork()
    scorer.rows(torch.tensor([sample], device=logits.device))
    return State(
        torch.stack([layer.keys[sample].transpose(0, 1) for layer in cache.layers]),
        torch.stack([layer.values[sample].transpose(0, 1) for layer in cache.layers]),
        press.positions[sample],
        press.protected[sample],
        bool(press.thought[sample]),
        press.seen,
        press.prompt,
        scorer,
        logits[sample].float(),
    )
