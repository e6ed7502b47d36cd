"""A pretrained model in place of one from nothing: getting it, and what it takes on a GPU."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

from gridatlas.meter import duration
from gridatlas_reproduce.digits.grpo import Grpo
from gridatlas_reproduce.kv.cost import BANDWIDTH, GPU
from gridatlas_reproduce.kv.memory import GIB, shape_of
from gridatlas_reproduce.kv.models import SIZES, ModelChoice, load_config, reaching, sizes_of
from gridatlas_reproduce.runner.errors import CannotRun

RATE = 1e-6
"""Learning rate, where none is given: weights that were trained for long bear no larger one."""
VLLM_SHARE = 0.3
"""Share of the GPU's memory that TRL leaves to vLLM."""
FLOPS, STEP, ALL_ELSE = 0.4 * 989e12, 0.03, 1.5
"""Assumed of an H100: operations per second, the least seconds of a step of decoding, and the
seconds of a step of GRPO beside its arithmetic."""


def load_start(choice: ModelChoice) -> tuple[Any, Any]:
    """The model as it was published, in its own precision, and its tokenizer.

    Raises:
        CannotRun: Where it can't be reached, or is of another family than Llama or Qwen2.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    load_config(choice)
    given = {"revision": choice.revision or "main"}
    with reaching("model", choice.source, "--pretrained"):
        model = AutoModelForCausalLM.from_pretrained(choice.source, dtype="auto", **given)
        return model, AutoTokenizer.from_pretrained(choice.source, **given)


def uses_vllm(device: str) -> bool:
    """Whether vLLM samples the rollouts: on every GPU.

    Raises:
        CannotRun: For a GPU without vLLM.
    """
    if device == "cpu":
        return False
    if importlib.util.find_spec("vllm") is None:
        raise CannotRun(
            "vLLM isn't installed",
            "vLLM, which samples the rollouts of a pretrained model on a GPU",
            "pip install 'trl[vllm]', or add --device cpu for a try with a tiny model",
        )
    return True


def estimate(
    choice: ModelChoice, grpo: Grpo, prompt: int, answer: int, steps: int, units: int
) -> Iterator[str]:
    """Lines on the memory and the hours that a study takes on one H100, with what is assumed.

    Args:
        prompt, answer: Tokens of a prompt and of an answer, at most.
        steps: Of GRPO, in all its trainings.
        units: Cells to answer, of all models.
    """
    config = sizes_of(choice.source) if choice.source in SIZES else load_config(choice)
    weights = shape_of(config).parameters
    rows = grpo.prompts * grpo.num_generations
    tokens = rows * (prompt + answer)
    # Single precision: weights, gradients and AdamW's two moments. With checkpoints of gradients,
    # a layer's input is kept of all layers, and all else (17 widths) of one.
    trained = 16 * weights
    activations = 2 * tokens * config.hidden_size * (config.num_hidden_layers + 17)
    logits = 3 * 4 * rows * answer * config.vocab_size
    memory = trained + activations + logits + VLLM_SHARE * GPU
    # Forward, backward, and forward again.
    arithmetic = 8 * weights * tokens / FLOPS
    rollouts = answer * max(STEP, 2 * weights / BANDWIDTH)
    hours = (steps * (arithmetic + rollouts + ALL_ELSE) + units * answer * STEP) / 3600
    yield f"{choice.source}: {weights:,} weights"
    yield (
        f"memory: {memory / GIB:.0f} GiB: {trained / GIB:.1f} for training in single precision, "
        f"{(activations + logits) / GIB:.1f} for activations and logits, "
        f"{VLLM_SHARE * GPU / GIB:.1f} for vLLM"
    )
    yield f"time: {duration(3600 * hours)} on one H100"
    yield (
        f"  assumed: {FLOPS / 1e12:.0f} TFLOP/s, {STEP * 1000:.0f} ms per step of decoding, "
        f"{ALL_ELSE} s per step of GRPO beside it; never run on a GPU"
    )
