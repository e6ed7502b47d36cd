"""What a model and its KV cache take, and whether that fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gridatlas_reproduce.runner.errors import CannotRun

GIB = 2**30
SPARE = 1.5 * GIB
"""For activations, the logits and what the driver takes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a decoder that its memory depends on.

    Attributes:
        parameters: Number of weights.
        layers, kv_heads, head_dim: Of the cache: each token has layers · 2 · kv_heads · head_dim
            numbers in it.
    """

    parameters: int
    layers: int
    kv_heads: int
    head_dim: int

    def token_bytes(self, width: int) -> int:
        """Bytes of one token in the cache, at `width` bytes per number."""
        return 2 * self.layers * self.kv_heads * self.head_dim * width

    def weight_bytes(self, width: int) -> int:
        """Bytes of the weights."""
        return self.parameters * width


def shape_of(config: Any) -> Shape:
    """The shape that a transformers configuration of Llama or Qwen2 has."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or hidden // heads
    kv_heads = config.num_key_value_heads
    per_layer = (
        2 * hidden * heads * head_dim
        + 2 * hidden * kv_heads * head_dim
        + 3 * hidden * config.intermediate_size
        + 2 * hidden
    )
    if config.model_type == "qwen2":
        per_layer += (heads + 2 * kv_heads) * head_dim
    tables = 1 if config.tie_word_embeddings else 2
    parameters = config.num_hidden_layers * per_layer + tables * config.vocab_size * hidden + hidden
    return Shape(parameters, config.num_hidden_layers, kv_heads, head_dim)


def room_for(device: Any, needed: int) -> bool:
    """Whether a GPU has room for so many more bytes; a CPU is taken to have it."""
    import torch

    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return bool(free + unused > needed + SPARE)


def free_memory(device: Any) -> int | None:
    """Bytes that are free on a GPU; None for a CPU."""
    import torch

    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else None


def check_fits(
    shape: Shape,
    width: int,
    tokens: int,
    rows: int,
    free: int | None,
) -> None:
    """Refuse before anything is loaded what won't fit.

    Args:
        width: Bytes per number.
        tokens: The largest number that a sample's cache holds.
        rows: Samples decoded together.
        free: See `free_memory`.

    Raises:
        CannotRun: Says what would fit.
    """
    if free is None:
        return
    weights = shape.weight_bytes(width)
    row = tokens * shape.token_bytes(width)
    needed = weights + rows * row + SPARE
    if needed <= free:
        return
    fit = int((free - weights - SPARE) / row)
    raise CannotRun(
        f"{free / GIB:.1f} GiB of GPU memory are free; the weights take {weights / GIB:.1f} GiB "
        f"and {rows} rows of {tokens:,} tokens {rows * row / GIB:.1f} GiB",
        f"{needed / GIB:.1f} GiB free, with {SPARE / GIB:.1f} GiB for all else",
        f"--rows {fit} would fit"
        if fit >= 1
        else f"use a GPU with at least {(weights + row + SPARE) / GIB:.0f} GiB free",
    )


def out_of_memory(error: Exception, rows: int) -> CannotRun:
    """The message for memory that ran out while it was decoding."""
    return CannotRun(
        f"the GPU's memory ran out with {rows} samples at a time: {str(error).splitlines()[0]}",
        "room for the weights and the caches",
        f"give --rows {max(rows // 2, 1)}, or free the GPU of other programs"
        if rows > 1
        else "free the GPU of other programs, or use a larger one",
    )


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Tells that a GPU's memory ran out in what is done while this is open.

    Raises:
        CannotRun: In place of PyTorch's own error.
    """
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise CannotRun(
            f"the GPU's memory ran out: {str(error).splitlines()[0]}",
            f"room for {what}",
            "free the GPU of other programs, or use a larger one; what was made is kept",
        ) from error
