"""What a pruned cache must do, worked out from the whole sequence with a mask, in loops."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch


@dataclass
class Masked:
    """Full attention in which tokens that were removed can't be seen.

    Attributes:
        logits: [tokens, vocabulary].
        attention: [layers, heads, tokens, tokens].
        keys: [layers, kv heads, tokens, d].
        hidden: [tokens, width].
    """

    logits: np.ndarray
    attention: np.ndarray
    keys: np.ndarray
    hidden: np.ndarray


def full_attention(model, ids, seen):
    """One pass; `seen[i, j]` says whether token i attends to token j. The model is eager."""
    mask = torch.where(torch.tensor(seen), 0.0, torch.finfo(torch.float32).min)[None, None]
    with torch.inference_mode():
        out = model(
            input_ids=torch.tensor([list(ids)]),
            attention_mask=mask,
            position_ids=torch.arange(len(ids))[None],
            output_attentions=True,
            output_hidden_states=True,
            use_cache=True,
        )
    return Masked(
        out.logits[0].numpy(),
        torch.stack(out.attentions)[:, 0].numpy(),
        torch.stack([layer.keys[0] for layer in out.past_key_values.layers]).numpy(),
        out.hidden_states[-1][0].numpy(),
    )


def streaming(found, cache):
    return {position: position for position in cache}


def retained(cache, scores, budget, prompt, thought):
    """The positions that stay, by the rule's words.

    Args:
        thought: Position of the first `</think>`; it and all after it have the score +∞.
    """
    older = cache[: max(len(cache) - budget.window, 0)]
    window = cache[len(older) :]
    places = int(Fraction(len(older)) * Fraction(str(budget.ratio)))

    def score(position):
        infinite = position < prompt or (thought is not None and position >= thought)
        return float("inf") if infinite else scores[position]

    beside = (
        [position for position in older if position < prompt] if budget.protect == "always" else []
    )
    ranked = sorted(set(older) - set(beside), key=lambda position: (-score(position), position))
    return sorted([*beside, *ranked[:places]]) + window


@dataclass
class Expected:
    """What decoding must have done: logits per pass, and the positions kept at each prune."""

    logits: np.ndarray
    retained: list[list[int]]
    longest: int


def decoded(model, ids, prompt, budget, score, end_of_thought):
    """Work through a sequence: the prompt in one pass, then token by token.

    Args:
        ids: Prompt and answer; the answer's last token was drawn, and never given to the model.
    """
    given = len(ids) - 1
    thought = next((i for i in range(prompt, given) if ids[i] == end_of_thought), None)
    seen = np.zeros((given, given), dtype=bool)
    seen[:prompt, :prompt] = np.tri(prompt, dtype=bool)
    cache, history, longest = list(range(prompt)), [], prompt
    for last in range(prompt - 1, given):
        if last >= prompt:
            cache = [*cache, last]
            seen[last, cache] = True
        longest = max(longest, len(cache))
        if len(cache) >= budget.trigger:
            so_far = full_attention(model, ids[: last + 1], seen[: last + 1, : last + 1])
            cache = retained(cache, score(so_far, cache), budget, prompt, thought)
            history.append(cache)
    logits = full_attention(model, ids[:given], seen).logits[prompt - 1 :]
    return Expected(logits, history, longest)
