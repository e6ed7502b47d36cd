"""Labels of the importance predictor: how much of the answer's attention each token received."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

CHUNK = 256
"""Query rows whose weights are worked out at a time."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The thought of one trace.

    Attributes:
        hidden: [tokens, width], after the final norm.
        received: [tokens]: attention from the answer.
    """

    hidden: Tensor
    received: Tensor


@contextmanager
def queries_seen(model: Any, see: Callable[[Tensor, Tensor], None], last: int) -> Iterator[None]:
    """While it is open, `see` is called in each forward pass, layer by layer.

    Args:
        see: Given the last queries [heads, n, d] of the pass's first row, and the keys
            [kv heads, L, d] in the cache, of which the last n are their own; all rotated.
    """
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    def after(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        hidden = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        cos, sin = (part[:, -last:] for part in kwargs["position_embeddings"])
        hidden = hidden[:, -last:]
        shape = (*hidden.shape[:-1], -1, module.head_dim)
        queries = module.q_proj(hidden).view(shape).transpose(1, 2)
        queries, _ = apply_rotary_pos_emb(queries, queries, cos, sin)
        see(queries[0], kwargs["past_key_values"].layers[module.layer_idx].keys[0])

    with ExitStack() as hooks:
        for layer in model.model.layers:
            handle = layer.self_attn.register_forward_hook(after, with_kwargs=True)
            hooks.callback(handle.remove)
        yield


def received(queries: Tensor, keys: Tensor) -> Tensor:
    """[L]: what each key receives, in single precision, without what a token gives itself.

    The weights' mean over heads, summed over the queries, which are those of the last keys.
    """
    import torch

    heads, number, width = queries.shape
    total = torch.zeros(keys.shape[1], device=keys.device)
    places = torch.arange(keys.shape[1], device=keys.device)
    for start in range(0, number, CHUNK):
        part = queries[:, start : start + CHUNK].float()
        grouped = part.reshape(len(keys), heads // len(keys), -1, width)
        own = (keys.shape[1] - number + start) + torch.arange(part.shape[1], device=keys.device)
        logits = torch.einsum("kgnd,kld->kgnl", grouped, keys.float()) / math.sqrt(width)
        logits.masked_fill_(places > own[:, None], -math.inf)
        shares = torch.softmax(logits, dim=-1).masked_fill_(places == own[:, None], 0)
        total += shares.mean(dim=(0, 1)).sum(dim=0)
    return total


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
    total = torch.zeros(len(ids), device=next(model.parameters()).device)

    def see(queries: Tensor, keys: Tensor) -> None:
        total.add_(received(queries, keys))

    with torch.inference_mode(), queries_seen(model, see, last=rows):
        given = torch.tensor([list(ids)], device=total.device)
        out = model.model(input_ids=given, use_cache=True)
    return out.last_hidden_state[0], total / (rows * len(model.model.layers))


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
