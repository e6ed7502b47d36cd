"""Decode speed and KV memory of pruned caches and the full cache, with random weights.

Neither depends on what the weights are, only on the model's shape: no checkpoint is needed. Latency
at equal rows and throughput at equal memory are different questions, and different arms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

from gridatlas_reproduce.kv.batches import RESERVE, USED, Decoder, slots_for
from gridatlas_reproduce.kv.memory import SPARE, shape_of
from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.selection import Budget, Protect

WARM_UP = 64
"""Steps of a warm-up after its first prune."""
Question = Literal["equal rows", "equal memory"]
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "r1-qwen": {
        "model_type": "qwen2",
        "vocab_size": 152_064,
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": False,
    },
    "r1-llama": {
        "model_type": "llama",
        "vocab_size": 128_256,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131_072,
        "tie_word_embeddings": False,
    },
    "tiny": {
        "model_type": "qwen2",
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
    },
}
"""The shapes of DeepSeek-R1-Distill-Qwen-7B and -Llama-8B, and one for tests on a CPU."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What is measured several times.

    Attributes:
        asks: What it is compared for: latency at equal rows, or throughput at equal memory.
        budget: None for the full cache.
    """

    asks: Question
    decoder: Decoder
    rows: int
    budget: Budget | None

    def levels(self) -> dict[str, Any]:
        """What tells it from the others, for the file."""
        window = None if self.budget is None else self.budget.window
        ratio = None if self.budget is None else str(self.budget.ratio)
        return {
            "asks": self.asks,
            "decoder": self.decoder,
            "rows": self.rows,
            "local_window": window,
            "ratio": ratio,
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured.

    Attributes:
        shape: A key of `SHAPES`.
        rows: Samples decoded together, in the arms at equal rows.
        cache_bytes: Memory for caches, in the arms at equal memory; None for what the GPU has.
        repeats: Of each arm, after a warm-up.
        prompt: Tokens of the prompt.
        new_tokens: Per sample; nothing ends earlier.
    """

    shape: str
    scorer: str = "importance"
    windows: tuple[int, ...] = (2000,)
    ratios: tuple[Decimal, ...] = (Decimal("0.3"),)
    trigger: int = 5000
    protect: Protect = "tie"
    decoders: tuple[Decoder, ...] = ("loop", "slots")
    rows: tuple[int, ...] = (1, 5, 20, 64)
    cache_bytes: int | None = None
    repeats: int = 5
    prompt: int = 220
    new_tokens: int = 16_384
    dtype: str = "bfloat16"
    attention: str = "sdpa"
    seed: int = 0

    def budgets(self) -> list[Budget]:
        """The grid."""
        return [
            Budget(window, ratio, self.trigger, self.protect)
            for window in self.windows
            for ratio in self.ratios
        ]

    def longest(self, budget: Budget | None) -> int:
        """Tokens that a sample's cache holds at most."""
        most = self.prompt + self.new_tokens
        return most if budget is None else min(budget.bound(self.prompt), most)

    def row_bytes(self, budget: Budget | None) -> int:
        """Bytes of a row of slots."""
        token = shape_of(config_of(self.shape)).token_bytes(WIDTHS[self.dtype])
        return slots_for(self.longest(budget)) * token

    def needed(self, arm: Arm) -> float:
        """Bytes of GPU memory that an arm takes."""
        shape, width = shape_of(config_of(self.shape)), WIDTHS[self.dtype]
        weights, caches = shape.weight_bytes(width), arm.rows * self.row_bytes(arm.budget)
        if arm.decoder == "slots":
            return weights + caches + RESERVE / 2
        # A layer's cache is there twice while a step's token is put to it.
        return weights + caches * (1 + 1 / shape.layers) + SPARE

    def fits(self, arm: Arm, memory: int | None) -> bool:
        """Whether an arm fits into so many bytes of a GPU; always on a CPU."""
        return memory is None or self.needed(arm) <= USED * memory

    def arms(self, memory: int | None) -> list[Arm]:
        """All arms, whether they fit or not.

        Args:
            memory: Of the GPU; None for a CPU.
        """
        budgets = [None, *self.budgets()]
        found = [
            Arm("equal rows", decoder, rows, budget)
            for rows in self.rows
            for decoder in self.decoders
            for budget in budgets
        ]
        cache = self.cache_bytes
        if cache is None and memory is not None:
            weights = shape_of(config_of(self.shape)).weight_bytes(WIDTHS[self.dtype])
            cache = int(USED * memory - weights - RESERVE)
        if cache is not None and "slots" in self.decoders:
            for budget in budgets:
                if rows := cache // self.row_bytes(budget):
                    found.append(Arm("equal memory", "slots", rows, budget))
        return found

    def settings(self) -> dict[str, Any]:
        """For the file."""
        content = asdict(self)
        return {
            key: [str(each) if isinstance(each, Decimal) else each for each in value]
            if isinstance(value, tuple)
            else value
            for key, value in content.items()
        }


def config_of(shape: str) -> Any:
    """The transformers configuration of a shape."""
    from transformers import AutoConfig

    content = dict(SHAPES[shape])
    return AutoConfig.for_model(content.pop("model_type"), **content)
