"""The rule of the budget: which tokens stay, worked out by hand."""

from decimal import Decimal

import pytest
import torch

from gridatlas_reproduce.kv.selection import Budget, select


def chosen(scores, prompt, budget, thought=None):
    tensor = torch.tensor(scores)
    positions = torch.arange(len(scores))
    question = positions < prompt
    after = positions >= (len(scores) if thought is None else thought)
    return select(tensor, question | after, question, budget).tolist()


def budget(window, ratio, protect="tie", trigger=10):
    return Budget(window, Decimal(ratio), trigger, protect)


SCORES = [0, 0, 5, 1, 4, 2, 3, 9, 9, 9]
CASES = {
    "window 3, k = 3 of 7, two of them the prompt": (2, None, budget(3, "0.5"), [0, 1, 2, 7, 8, 9]),
    "k = 4": (2, None, budget(2, "0.5"), [0, 1, 2, 7, 8, 9]),
    "no window": (2, None, budget(0, "0.3"), [0, 1, 7]),
    "nothing but the window": (2, None, budget(4, "0"), [6, 7, 8, 9]),
    "k is smaller than the prompt: its beginning": (5, None, budget(3, "0.3"), [0, 1, 7, 8, 9]),
    "the prompt beside k": (5, None, budget(3, "0.3", "always"), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    "the prompt beside k, one is lost": (
        5,
        None,
        budget(3, "0.2", "always"),
        [0, 1, 2, 3, 4, 6, 7, 8, 9],
    ),
    "thought's end and all after it": (1, 4, budget(3, "0.6"), [0, 4, 5, 6, 7, 8, 9]),
    "they tie with the prompt, which is earlier": (3, 5, budget(3, "0.6"), [0, 1, 2, 5, 7, 8, 9]),
    "always: they compete for k": (3, 5, budget(3, "0.2", "always"), [0, 1, 2, 5, 7, 8, 9]),
    "the prompt reaches into the window": (9, None, budget(3, "0.5", "always"), list(range(10))),
}


@pytest.mark.parametrize(
    ("prompt", "thought", "rule", "expected"), CASES.values(), ids=CASES.keys()
)
def test_kept_tokens(prompt, thought, rule, expected):
    assert chosen(SCORES, prompt, rule, thought) == expected


def test_earlier_token_stays_among_equals():
    assert chosen([0, 1, 1, 1, 1, 1, 1, 1, 0, 0], 1, budget(2, "0.5")) == [0, 1, 2, 3, 8, 9]


@pytest.mark.parametrize(
    ("window", "ratio", "length", "places"),
    [
        (3000, "0.1", 5000, 200),
        (500, "0.1", 5000, 450),
        (500, "0.7", 5000, 3150),  # in binary fractions 4500 · 0.7 is below 3150
        (500, "0.1", 5001, 450),
        (500, "0.1", 400, 0),
    ],
)
def test_places_are_exact(window, ratio, length, places):
    assert budget(window, ratio, trigger=5000).places(length) == places


@pytest.mark.parametrize(
    ("window", "ratio", "why"),
    [
        (10, "0.1", "the local window 10 isn't smaller than the trigger 10"),
        (-1, "0.1", "the local window -1 isn't smaller than the trigger 10"),
        (3, "1", "the ratio 1 isn't at least 0 and below 1"),
        (3, "-0.1", "the ratio -0.1 isn't at least 0 and below 1"),
    ],
)
def test_sizes_that_never_prune_are_refused(window, ratio, why):
    with pytest.raises(ValueError, match="isn't") as refused:
        budget(window, ratio)
    assert str(refused.value) == why


@pytest.mark.parametrize("protect", ["tie", "always"])
@pytest.mark.parametrize("prompt", [1, 7, 15, 40])
@pytest.mark.parametrize(("window", "ratio"), [(0, "0"), (3, "0.5"), (9, "0.9"), (8, "0.25")])
def test_cache_never_exceeds_its_bound(protect, prompt, window, ratio):
    rule = budget(window, ratio, protect)
    length, longest = prompt, prompt
    for _ in range(400):
        if length >= rule.trigger:
            positions = torch.arange(length)
            question = positions < min(prompt, length) if protect == "always" else positions < 0
            size = len(select(positions.float(), question, question, rule))
            inside = max(length - window, 0)
            assert size == rule.size_after(length, min(prompt, inside))
            length = size
        length += 1
        longest = max(longest, length)
    assert longest <= rule.bound(prompt)
    # And it is no looser than the step that finds it.
    assert rule.bound(prompt) - longest <= 1
