"""What names of metrics say of which values are better."""

import pytest

from gridatlas.model.directions import HIGHER, LOWER, direction_of, says_lower


@pytest.mark.parametrize(
    ("name", "unit", "better", "is_lower"),
    [
        ("Validation loss", "", "lower", True),
        ("val_loss", "", "lower", True),
        ("valLoss@5", "", "lower", True),
        ("WER", "%", "lower", True),
        ("Time to first token", "ms", "lower", True),
        ("mse2", "", "lower", True),
        ("Hallucination rate", "%", "lower", True),
        ("neg_log_loss", "", "higher", False),
        ("Accuracy", "%", "higher", False),
        ("pass@8", "%", "higher", False),
        ("bleu4", "", "higher", False),
        ("Error score", "", "lower", False),
        ("tokens_per_seconds", "tokens/s", "higher", False),
        ("time_per_token", "", "lower", True),
        ("per_sample_loss", "", "lower", True),
        ("usd_per_hour", "", None, False),
        ("Throughput at a latency of 50 ms", "", "lower", False),
        ("Decoding", "ms", "lower", False),
        ("Generation", "tokens/s", "higher", False),
        ("Sentiment", "", None, False),
        ("Lossless ratio", "", None, False),
        ("Value", "%", None, False),
        ("Tokens per answer", "", None, False),
        ("", "", None, False),
    ],
)
def test_whole_words_say_it(name, unit, better, is_lower):
    assert (direction_of(name, unit)[0], says_lower(name)) == (better, is_lower)


def test_no_word_says_both():
    assert set() == LOWER & HIGHER
