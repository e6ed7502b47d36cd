"""Tokens are drawn as published; models of other families, and logits that are none, are told."""

import pytest
import torch
from transformers import AutoConfig, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from gridatlas_reproduce.kv.models import check_family
from gridatlas_reproduce.kv.selection import Sampling, drawn
from gridatlas_reproduce.runner.errors import CannotRun


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(),
        Sampling(2.0),
        Sampling(1.3, 0.5, 7),
        Sampling(1.0, 1.0, 100),
        Sampling(0.1),
        Sampling(3.0, 0.95, 5),
    ],
)
def test_tokens_are_drawn_with_the_published_probabilities(sampling):
    """Temperature, then top-p, then top-k, as transformers would apply them in this order."""
    logits = torch.randn(1, 60, generator=torch.Generator().manual_seed(1)) * 3
    warped = logits
    for warper in (
        TemperatureLogitsWarper(sampling.temperature),
        TopPLogitsWarper(sampling.top_p),
        TopKLogitsWarper(sampling.top_k),
    ):
        warped = warper(None, warped)
    wanted = torch.softmax(warped.double(), dim=-1)[0]
    number = 20_000
    uniform = (torch.arange(number, dtype=torch.float64) + 0.5) / number
    tokens = drawn(logits.expand(number, -1), uniform, sampling)
    shares = torch.bincount(tokens, minlength=60).double() / number
    assert not shares[wanted == 0].any()
    assert float((shares - wanted).abs().max()) < 2 / number


def test_logits_that_are_no_numbers_are_told():
    logits = torch.full((2, 60), float("nan"))
    with pytest.raises(CannotRun, match="aren't numbers: they are too large for this dtype"):
        drawn(logits, torch.zeros(2, dtype=torch.float64), Sampling())


def test_other_families_are_refused():
    sliding = AutoConfig.for_model("qwen2", use_sliding_window=True, max_window_layers=0)
    for config, why in [
        (AutoConfig.for_model("gpt2"), "./m is of the family gpt2"),
        (sliding, "./m has layers with a sliding window"),
    ]:
        with pytest.raises(CannotRun) as refused:
            check_family(config, "./m")
        assert refused.value.message == (
            f"{why}\n"
            "  expected: a Llama or Qwen2 model, whose layers all attend to all tokens\n"
            "  fix:      give --model one of these; DeepSeek-R1-Distill-Qwen-7B and -Llama-8B are"
        )
