"""The shape of the batch that samples are decoded in, and how many rows fit into a GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas_reproduce.kv.memory import GIB, Shape
from gridatlas_reproduce.kv.slots import ROUND, Reading
from gridatlas_reproduce.runner.errors import CannotRun

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
        content = json.loads((run / "run.json").read_bytes())
    except (OSError, ValueError):
        return None  # `RunFolder.start` tells what is wrong with it
    settings = content.get("settings") if isinstance(content, Mapping) else None
    decoder = settings.get("decoder") if isinstance(settings, Mapping) else None
    rows = decoder.get("rows") if isinstance(decoder, Mapping) else None
    return rows if isinstance(rows, int) and rows > 0 else None
