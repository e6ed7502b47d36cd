"""What a model and its KV cache take, and whether that fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.slots import ROUND, Reading
from gridatlas_reproduce.runner.errors import UNREADABLE, CannotRun, why

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


def check_fits(shape: Shape, width: int, tokens: int, rows: int, free: int | None) -> None:
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


@contextmanager
def enough_memory(what: str, rows: int = 0) -> Iterator[None]:
    """Tells that a GPU's memory ran out in what is done while this is open.

    Args:
        what: There must be room for.
        rows: Samples that are decoded together, where some are.

    Raises:
        CannotRun: In place of PyTorch's own error.
    """
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        together = f" with {rows} samples at a time" if rows else ""
        larger = "free the GPU of other programs, or use a larger one"
        fewer = f"give --rows {rows // 2}, or free the GPU of other programs"
        raise CannotRun(
            f"the GPU's memory ran out{together}: {why(error)}",
            f"room for {what}",
            fewer if rows > 1 else larger if rows else f"{larger}; what was made is kept",
        ) from error


VERSION = 2
"""Of what may change a text in a shape."""
SLOT_STEP = 16
CPU_ROWS = 32
"""Rows on a CPU, where no memory says how many; for tries with tiny models."""
USED = 0.95
"""Share of a GPU's memory that is planned with."""
WAITING = 5
"""Beginnings that there is room for on a GPU: the samples of a question."""
RESERVE = 3 * 10**9
"""For the prefill, activations, the logits and what the driver takes."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a text may depend on besides seeds and settings, on one machine.

    Attributes:
        rows: Samples decoded together.
        slots: Tokens that a row has room for.
        reading: How attention reads the slots.
    """

    rows: int = 5
    slots: int = 0
    reading: Reading = "grouped"

    def settings(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "name": "slots",
            "version": VERSION,
            "rows": self.rows,
            "slots": self.slots,
            "rounded_to": ROUND,
            "reading": self.reading,
            "num_splits": 1 if self.reading == "varlen" else None,
        }


def slots_for(longest: int) -> int:
    """Slots of a row whose cache never holds more tokens than these."""
    return -(-longest // SLOT_STEP) * SLOT_STEP


def rows_that_fit(shape: Shape, width: int, slots: int, memory: float) -> int:
    """How many rows of so many slots fit beside the weights; 0 for none.

    Of many, some leave their room to the beginnings that wait for their cells.

    Args:
        width: Bytes per number.
        memory: Of the whole GPU: what is free varies, and rows are part of a run's settings.
    """
    room = USED * memory - shape.weight_bytes(width) - RESERVE
    fit = max(int(room / (slots * shape.token_bytes(width))), 0)
    return fit - min(WAITING, fit // 5)


def rows_for(shape: Shape, width: int, slots: int, memory: float | None, most: int) -> int:
    """The rows that memory decides, no more than there are samples.

    Raises:
        CannotRun: Where not one fits.
    """
    if memory is None:
        return min(most, CPU_ROWS)
    fit = rows_that_fit(shape, width, slots, memory)
    if not fit:
        weights, row = shape.weight_bytes(width), slots * shape.token_bytes(width)
        needed = (weights + row + RESERVE) / USED
        raise CannotRun(
            f"the GPU has {memory / GIB:.1f} GiB of memory; the weights take "
            f"{weights / GIB:.1f} GiB, a row of {slots:,} tokens {row / GIB:.1f} GiB, and all else "
            f"{RESERVE / GIB:.1f} GiB",
            "room for one row at least",
            f"use a GPU with at least {needed / GIB:.0f} GiB",
        )
    return min(most, fit)


def gpu_memory(device: Any) -> int | None:
    """Bytes of memory that a GPU has; None for a CPU."""
    import torch

    if device.type != "cuda":
        return None
    return int(torch.cuda.get_device_properties(device).total_memory)


def recorded_rows(run: Path) -> int | None:
    """The rows of the run in a folder, which is gone on with in its shape; None where none is."""
    try:
        rows = json.loads((run / "run.json").read_bytes())["settings"]["decoder"].get("rows")
    except UNREADABLE:
        return None  # `RunFolder.start` tells what is wrong with it
    return rows if isinstance(rows, int) and rows > 0 else None
