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


def weights(
    queries: Tensor, keys: Tensor, own: Tensor | None = None, positions: Tensor | None = None
) -> Tensor:
    """Attention weights [rows, heads, n, L] in single precision, as eager attention has them.

    Without positions the queries are those of the last n keys. In a pruned cache a query's
    neighbours may be gone, and it may even be older than all that stay: then its weights are 0.

    Args:
        queries: [rows, heads, n, d].
        keys: [rows, kv heads, L, d].
        own: [rows or 1, n] absolute positions of the queries.
        positions: [rows or 1, L] absolute positions of the keys.
    """
    import torch

    own, positions = _positions(queries, keys, own, positions)
    grouped = _grouped(queries, keys.shape[1]).float()
    logits = torch.einsum("bkgnd,bkld->bkgnl", grouped, keys.float())
    logits = logits / math.sqrt(queries.shape[-1])
    later = (positions[:, None, :] > own[:, :, None])[:, None, None]
    shares = torch.softmax(logits.masked_fill(later, -math.inf), dim=-1)
    return shares.masked_fill(later, 0).flatten(1, 2)


def received(
    queries: Tensor,
    keys: Tensor,
    own: Tensor | None = None,
    positions: Tensor | None = None,
    *,
    diagonal: bool = True,
) -> Tensor:
    """What each key receives: the weights' mean over heads, summed over the queries; [rows, L].

    Args:
        queries, keys, own, positions: See `weights`.
        diagonal: Whether what a token gives itself counts.
    """
    import torch

    own, positions = _positions(queries, keys, own, positions)
    total = torch.zeros(keys.shape[0], keys.shape[2], device=keys.device)
    for start in range(0, queries.shape[2], CHUNK):
        part = own[:, start : start + CHUNK]
        found = weights(queries[:, :, start : start + CHUNK], keys, part, positions)
        if not diagonal:
            itself = (positions[:, None, :] == part[:, :, None])[:, None]
            found = found.masked_fill(itself, 0)
        total += found.mean(dim=1).sum(dim=1)
    return total


def _positions(
    queries: Tensor, keys: Tensor, own: Tensor | None, positions: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Those that were given, or those of the last keys."""
    import torch

    if own is None or positions is None:
        positions = torch.arange(keys.shape[2], device=keys.device)[None]
        own = positions[:, keys.shape[2] - queries.shape[2] :]
    return own, positions


def _grouped(queries: Tensor, kv_heads: int) -> Tensor:
    """Queries [rows, kv heads, heads per kv head, n, d]: no key is copied for its heads."""
    rows, heads, n, d = queries.shape
    return queries.reshape(rows, kv_heads, heads // kv_heads, n, d)
