"""Decoding with a pruned cache is full attention with a mask, whatever ranks the tokens."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import masked
import numpy as np
import pytest
import tiny
import torch
from transformers import (
    AutoConfig,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from gridatlas_reproduce.kv.decode import Decoding, Ends
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.kv.press import Press, check_family
from gridatlas_reproduce.kv.sampling import Sampling, drawn
from gridatlas_reproduce.kv.scorers import NAMES, Scorer, new_scorer
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage
from gridatlas_reproduce.runner.units import seed_of

PROMPT = [tiny.VOCABULARY[word] for word in ["<user>", *"what is 6?", "<assistant>", "<think>"]]
SEEDS = [seed_of(0, "q", sample) for sample in range(3)]
BUDGET = Budget(8, Decimal("0.7"), 40)
"""k is 22: the prompt's 13 tokens stay, and 9 by their scores."""
SAMPLING = Sampling(temperature=1.5, top_p=1.0, top_k=100, max_new_tokens=70)
"""So warm that `</think>` comes up."""
LONGEST = len(PROMPT) + SAMPLING.max_new_tokens
GOES_ON = Ends(tiny.THOUGHT, frozenset())
"""No token ends an answer."""
PRUNING = [name for name in NAMES if name != "full"]
Models = Callable[[str, str], Any]

pytestmark = pytest.mark.usefixtures("one_thread")


def predictor_of(hidden: int) -> Any:
    predictor = new_predictor(hidden, PredictorSize(16, 8), seed=3)
    with torch.no_grad():
        predictor[0].weight.mul_(4)  # far from constant
    return predictor.eval()


def scorer_of(name: str, seeds: list[int] = SEEDS) -> Scorer:
    return new_scorer(name, predictor=predictor_of(32), seeds=seeds, longest=LONGEST)


def expected_scores(name: str, sample: int) -> masked.Scores:
    if name == "importance":
        predictor = predictor_of(32)

        def importance(found: masked.Masked, cache: list[int]) -> dict[int, float]:
            with torch.inference_mode():
                predicted = predictor(torch.tensor(found.hidden)).numpy()
            return {position: predicted[position] for position in cache}

        return importance
    if name == "random":
        numbers = torch.rand(LONGEST, generator=torch.Generator().manual_seed(SEEDS[sample]))
        return lambda found, cache: {position: float(numbers[position]) for position in cache}
    return {
        "streaming": masked.streaming,
        "h2o": masked.h2o,
        "snapkv": masked.snapkv,
        "r-kv": masked.r_kv,
    }[name]


class Recorded(Decoding):
    """Notes each pass's logits and each prune's positions, per sample."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.logits: list[list[np.ndarray]] = [[] for _ in self.samples]
        self.retained: list[list[list[int]]] = [[] for _ in self.samples]

    def _pass(self) -> None:
        before = self.press.prunes
        super()._pass()
        assert self._logits is not None
        for place, row in enumerate(self.alive):
            self.logits[row].append(self._logits[place].numpy())
            if self.press.prunes > before:
                assert self.press.retained is not None
                self.retained[row].append(self.press.retained[place].tolist())
        lengths = {layer.get_seq_length() for layer in self.cache.layers}
        assert lengths == {self.press.positions.shape[1]}


def assert_same(found: list[np.ndarray], expected: np.ndarray) -> None:
    """Equal to 1e-5 of the largest logit, which single precision can tell."""
    assert np.shape(found) == expected.shape
    assert np.abs(np.array(found) - expected).max() < 1e-5 * np.abs(expected).max()


# --- against full attention with a mask -----------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", PRUNING)
def test_pruned_decoding_is_masked_full_attention(
    models: Models, family: str, attention: str, name: str
) -> None:
    decoding = Recorded(
        models(family, attention), PROMPT, SEEDS, SAMPLING, GOES_ON, scorer_of(name), BUDGET
    )
    decoding.run()
    ended = 0
    for number, sample in enumerate(decoding.samples):
        ids = [*PROMPT, *sample.tokens]
        expected = masked.decoded(
            models(family, "eager"),
            ids,
            len(PROMPT),
            BUDGET,
            expected_scores(name, number),
            tiny.THOUGHT,
        )
        assert decoding.retained[number] == expected.retained
        assert_same(decoding.logits[number], expected.logits)
        assert sample.prunes == len(expected.retained) >= 3
        assert sample.peak == expected.longest <= BUDGET.bound(len(PROMPT))
        ended += tiny.THOUGHT in sample.tokens[:-10]
    # The rule about </think> had something to decide.
    assert ended


@pytest.mark.parametrize("name", ["h2o", "snapkv", "r-kv"])
@pytest.mark.parametrize("protect", ["tie", "always"])
@pytest.mark.parametrize(
    ("window", "ratio", "trigger"),
    [
        (20, "0.1", 30),  # k is smaller than the prompt
        (4, "0", 14),
        (8, "0.9", 40),
        (2, "0.3", 6),  # the prompt is longer than the trigger
    ],
)
def test_budgets(
    models: Models, name: str, protect: Any, window: int, ratio: str, trigger: int
) -> None:
    budget = Budget(window, Decimal(ratio), trigger, protect)
    model = models("llama", "eager")
    scorer = scorer_of(name, SEEDS[:1])
    decoding = Recorded(model, PROMPT, SEEDS[:1], SAMPLING, GOES_ON, scorer, budget).run()
    ids = [*PROMPT, *decoding.samples[0].tokens]
    expected = masked.decoded(
        model, ids, len(PROMPT), budget, expected_scores(name, 0), tiny.THOUGHT
    )
    assert decoding.retained[0] == expected.retained != []
    assert_same(decoding.logits[0], expected.logits)
    assert decoding.samples[0].peak == expected.longest <= budget.bound(len(PROMPT))
    if protect == "always":
        assert all(set(range(len(PROMPT))) <= set(retained) for retained in expected.retained)


def test_full_keeps_all(models: Models) -> None:
    model = models("qwen2", "sdpa")
    decoding = Recorded(model, PROMPT, SEEDS, SAMPLING, GOES_ON, scorer_of("full")).run()
    for number, sample in enumerate(decoding.samples):
        ids = [*PROMPT, *sample.tokens][:-1]
        seen = np.tri(len(ids), dtype=bool)
        expected = masked.full_attention(models("qwen2", "eager"), ids, seen)
        assert_same(decoding.logits[number], expected.logits[len(PROMPT) - 1 :])
        assert (sample.prunes, sample.peak, sample.finish) == (0, len(ids), "length")


# --- cells that share their beginning -------------------------------------------------------------


@pytest.mark.parametrize("name", PRUNING)
def test_forked_cells_are_those_decoded_alone(models: Models, name: str) -> None:
    model = models("llama", "sdpa")
    ends = Ends(tiny.THOUGHT, frozenset({tiny.VOCABULARY["7"]}))
    seeds = [seed_of(0, "forks", sample) for sample in range(6)]
    budgets = [BUDGET, Budget(20, Decimal("0.1"), 40), Budget(3, Decimal("0.3"), 40, "always")]

    def new(budget: Budget | None) -> Decoding:
        return Decoding(model, PROMPT, seeds, SAMPLING, ends, scorer_of(name, seeds), budget)

    begun = new(None).run(until=40).prepare_forks()
    forked = [begun.fork(budget).run() for budget in budgets]
    alone = [new(budget).run() for budget in budgets]
    for decoding, other in zip(forked, alone, strict=True):
        for a, b in zip(decoding.samples, other.samples, strict=True):
            assert (a.tokens, a.finish, a.prunes, a.peak) == (b.tokens, b.finish, b.prunes, b.peak)
    # Some samples ended before the first prune, others went on under each budget.
    assert {sample.prunes > 0 for sample in forked[0].samples} == {True, False}
    assert len({str([sample.tokens for sample in decoding.samples]) for decoding in forked}) > 1


@pytest.mark.parametrize("name", PRUNING)
def test_samples_that_end_leave_the_others_as_they_are(models: Models, name: str) -> None:
    model = models("qwen2", "sdpa")
    ends = Ends(tiny.THOUGHT, frozenset({tiny.VOCABULARY["7"]}))
    seeds = [seed_of(0, "leave", sample) for sample in range(6)]

    def samples(own: list[int]) -> list[tuple[list[int], int]]:
        scorer = scorer_of(name, own)
        done = Decoding(model, PROMPT, own, SAMPLING, ends, scorer, BUDGET).run().samples
        return [(sample.tokens, sample.prunes) for sample in done]

    together = samples(seeds)
    assert together == [samples([seed])[0] for seed in seeds]
    lengths = [len(tokens) for tokens, _ in together]
    # The first sample ends, and a later one is pruned after that.
    assert lengths[0] < max(lengths[1:])
    assert max(prunes for _, prunes in together) >= 2


def test_cells_share_their_random_numbers_and_samples_do_not(models: Models) -> None:
    model = models("llama", "sdpa")
    runs = [
        Decoding(model, PROMPT, seeds, SAMPLING, GOES_ON, scorer_of("full", seeds)).run().samples
        for seeds in (SEEDS, SEEDS[1:], SEEDS[:1])
    ]
    assert runs[0][0].tokens == runs[2][0].tokens
    assert [run.tokens for run in runs[0][1:]] == [run.tokens for run in runs[1]]
    assert len({tuple(run.tokens) for run in runs[0]}) == len(SEEDS)


def test_first_token_and_the_end_are_recorded(models: Models) -> None:
    model = models("llama", "sdpa")
    greedy = Sampling(temperature=0, max_new_tokens=5)
    with torch.inference_mode():
        first = int(model(torch.tensor([PROMPT])).logits[0, -1].argmax())

    def run(ends: Ends) -> Any:
        return Decoding(model, PROMPT, [0], greedy, ends, scorer_of("full")).run().samples[0]

    going = run(GOES_ON)
    assert (len(going.tokens), going.tokens[0], going.finish) == (5, first, "length")
    stopped = run(Ends(tiny.THOUGHT, frozenset({first})))
    assert (stopped.tokens, stopped.finish) == ([first], "stop")
    # The limit's last token may be the end.
    last = going.tokens.index(going.tokens[4]) + 1
    ended = run(Ends(tiny.THOUGHT, frozenset({going.tokens[4]})))
    assert (len(ended.tokens), ended.finish) == (last, "stop")


# --- sampling -------------------------------------------------------------------------------------


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
def test_tokens_are_drawn_with_the_published_probabilities(sampling: Sampling) -> None:
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


def test_logits_that_are_no_numbers_are_told() -> None:
    logits = torch.full((2, 60), float("nan"))
    with pytest.raises(CannotRun, match="aren't numbers: they are too large for this dtype"):
        drawn(logits, torch.zeros(2, dtype=torch.float64), Sampling())


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "found"),
    [
        (
            {
                "input_ids": torch.tensor([[1, 2, 3], [1, 2, 3]]),
                "attention_mask": torch.tensor([[0, 1, 1], [1, 1, 1]]),
            },
            "a batch with padding",
        ),
        ({"input_ids": torch.tensor([[1, 2, 3], [1, 2, 4]])}, "a batch of different prompts"),
    ],
)
def test_padded_batch_is_refused(models: Models, inputs: dict[str, Any], found: str) -> None:
    press = Press(scorer_of("streaming"), BUDGET, tiny.THOUGHT)
    with press.on(models("llama", "sdpa")), pytest.raises(WrongUsage) as refused:
        models("llama", "sdpa")(**inputs)
    assert refused.value.message == (
        f"{found}\n"
        "  expected: copies of one prompt: their caches are pruned at the same length\n"
        "  fix:      decode one question at a time, and its samples together"
    )


def test_other_families_are_refused() -> None:
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


def test_model_is_as_before_when_the_press_is_off(models: Models) -> None:
    model = models("llama", "sdpa")
    ids = torch.tensor([PROMPT])
    with torch.inference_mode():
        before = model(ids).logits
        Decoding(model, PROMPT, SEEDS, SAMPLING, GOES_ON, scorer_of("h2o"), BUDGET).run()
        assert torch.equal(model(ids).logits, before)


def test_hooks_work_with_generate(models: Models, tmp_path: Path) -> None:
    """The press needs only transformers' own cache: its `generate` prunes alike."""
    model = models("qwen2", "sdpa")
    greedy = Sampling(temperature=0, max_new_tokens=60)
    own = Decoding(model, PROMPT, [0], greedy, GOES_ON, scorer_of("h2o"), BUDGET).run()
    press = Press(scorer_of("h2o"), BUDGET, tiny.THOUGHT)
    with press.on(model):
        ids = model.generate(
            torch.tensor([PROMPT]),
            max_new_tokens=60,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
    assert ids[0, len(PROMPT) :].tolist() == own.samples[0].tokens
    assert press.prunes == own.samples[0].prunes > 0
