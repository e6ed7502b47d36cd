"""Labels of the importance predictor: how much of the answer's attention each token received."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.attention import queries_seen, received

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Labelled:
    """The thought of one trace.

    Attributes:
        hidden: [tokens, width], after the final norm.
        received: [tokens]: attention from the answer.
    """

    hidden: Tensor
    received: Tensor


def attention_from_answer(model: Any, ids: Sequence[int], answer: int) -> tuple[Tensor, Tensor]:
    """One pass over a whole trace.

    As in full eager attention, whose matrix isn't kept: only the answer's rows of it are worked
    out, layer by layer, with the diagonal set to 0.

    Args:
        ids: Prompt, thought, `</think>` and answer.
        answer: Index of the first token after `</think>`.

    Returns:
        [tokens, width] hidden states after the final norm, and [tokens] the mean over layers,
        heads and the answer's rows.
    """
    import torch

    rows = len(ids) - answer
    if rows < 1:
        raise ValueError("the trace has no answer")
    total = torch.zeros(1, len(ids), device=next(model.parameters()).device)

    def see(layer: int, queries: Tensor, keys: Tensor) -> None:
        total.add_(received(queries, keys, diagonal=False))

    with torch.inference_mode(), queries_seen(model, see, last=rows):
        given = torch.tensor([list(ids)], device=total.device)
        out = model.model(input_ids=given, use_cache=True)
    return out.last_hidden_state[0], total[0] / (rows * len(model.model.layers))


def labelled(model: Any, ids: Sequence[int], prompt: int, thought_end: int) -> Labelled | None:
    """The tokens to train on: those of the thought; None for a trace without thought or answer.

    Args:
        prompt: Number of tokens of the prompt.
        thought_end: The token `</think>`.
    """
    ids = list(ids)
    if thought_end not in ids[prompt:]:
        return None
    last = len(ids) - 1 - ids[::-1].index(thought_end)
    if last == prompt or last + 1 == len(ids):
        return None
    hidden, found = attention_from_answer(model, ids, last + 1)
    return Labelled(hidden[prompt:last], found[prompt:last])


def mapped(path: Path) -> Labelled:
    """The labels in a file of safetensors; read from the disk as they are used.

    Hidden states of thousands of thoughts are hundreds of gigabytes.
    """
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return Labelled(file.get_tensor("hidden"), file.get_tensor("received"))
