"""Attention weights from queries and keys, whatever attention the model computes with."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

CHUNK = 256
"""Query rows whose weights are worked out at a time."""

OnLayer = Callable[[int, "Tensor", "Tensor"], None]
"""Given the layer's number, its queries [rows, heads, n, d] and the keys [rows, kv heads, L, d] in
the cache, of which the last n are their own; both rotated to their absolute positions."""


@contextmanager
def queries_seen(model: Any, see: OnLayer, last: int | None = None) -> Iterator[None]:
    """While it is open, `see` is called in each forward pass, layer by layer.

    Args:
        model: A `LlamaForCausalLM` or `Qwen2ForCausalLM`.
        see: See `OnLayer`.
        last: Only so many of the pass's queries, from its end.
    """
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    def after(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        hidden = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        cos, sin = kwargs["position_embeddings"]
        if last is not None:
            hidden, cos, sin = hidden[:, -last:], cos[:, -last:], sin[:, -last:]
        shape = (*hidden.shape[:-1], -1, module.head_dim)
        queries = module.q_proj(hidden).view(shape).transpose(1, 2)
        queries, _ = apply_rotary_pos_emb(queries, queries, cos, sin)
        keys = kwargs["past_key_values"].layers[module.layer_idx].keys
        see(module.layer_idx, queries, keys)

    with ExitStack() as hooks:
        for layer in model.model.layers:
            handle = layer.self_attn.register_forward_hook(after, with_kwargs=True)
            hooks.callback(handle.remove)
        yield


def weights(queries: Tensor, keys: Tensor, first: int | None = None) -> Tensor:
    """Attention weights [rows, heads, n, L] in single precision, as eager attention has them.

    Args:
        queries: [rows, heads, n, d].
        keys: [rows, kv heads, L, d].
        first: Index among the keys of the first query's own; by default the queries are the last.
    """
    import torch

    n, length = queries.shape[2], keys.shape[2]
    first = length - n if first is None else first
    grouped = _grouped(queries, keys.shape[1]).float()
    logits = torch.einsum("bkgnd,bkld->bkgnl", grouped, keys.float())
    logits = logits / math.sqrt(queries.shape[-1])
    later = (
        torch.arange(length, device=keys.device)
        > (torch.arange(first, first + n, device=keys.device)[:, None])
    )
    return torch.softmax(logits.masked_fill(later, -math.inf), dim=-1).flatten(1, 2)


def received(queries: Tensor, keys: Tensor, *, diagonal: bool = True) -> Tensor:
    """What each key receives: the weights' mean over heads, summed over the queries; [rows, L].

    Args:
        queries: [rows, heads, n, d], the last n tokens'.
        keys: [rows, kv heads, L, d].
        diagonal: Whether what a token gives itself counts.
    """
    import torch

    n, length = queries.shape[2], keys.shape[2]
    total = torch.zeros(keys.shape[0], length, device=keys.device)
    for start in range(0, n, CHUNK):
        part = queries[:, :, start : start + CHUNK]
        first = length - n + start
        found = weights(part, keys, first)
        if not diagonal:
            own = torch.arange(part.shape[2], device=keys.device)
            found[:, :, own, first + own] = 0
        total += found.mean(dim=1).sum(dim=1)
    return total


def _grouped(queries: Tensor, kv_heads: int) -> Tensor:
    """Queries [rows, kv heads, heads per kv head, n, d]: no key is copied for its heads."""
    rows, heads, n, d = queries.shape
    return queries.reshape(rows, kv_heads, heads // kv_heads, n, d)
