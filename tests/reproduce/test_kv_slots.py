"""One batch of slots is full attention with a mask: logits, kept tokens and texts, row by row."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import masked
import pytest
import tiny
import torch

from gridatlas_reproduce.kv import slots
from gridatlas_reproduce.kv.continuous import Ends, Prefix, Prefixes, SlotDecoder, Task
from gridatlas_reproduce.kv.predictor import PredictorSize, new_predictor
from gridatlas_reproduce.kv.selection import (
    NAMES,
    Budget,
    Sampling,
    drawn,
    new_scorer,
    random_numbers,
    uniform_numbers,
)
from gridatlas_reproduce.kv.slots import SlotCache, varlen_error
from gridatlas_reproduce.runner.units import seed_of

TRIGGER = 40
BUDGETS = {
    "wide": Budget(8, Decimal("0.7"), TRIGGER),
    "narrow": Budget(20, Decimal("0.1"), TRIGGER),
    "always": Budget(3, Decimal("0.3"), TRIGGER, "always"),
}
SAMPLED = Sampling(temperature=1.5, top_p=1.0, top_k=100, max_new_tokens=70)
"""So warm that `</think>` comes up."""
GREEDY = Sampling(temperature=0, max_new_tokens=70)
SLOTS = 112
ENDS = Ends(tiny.THOUGHT, frozenset({tiny.VOCABULARY["7"]}))
PRUNING = [name for name in NAMES if name != "full"]
pytestmark = pytest.mark.usefixtures("one_thread")

ASKED = ("what is 6?", "so what is 12+7 then?", "a?")


def predictor_of(hidden):
    predictor = new_predictor(hidden, PredictorSize(16, 8), seed=3)
    with torch.no_grad():
        predictor[0].weight.mul_(4)  # far from constant
    return predictor.eval()


def scorer_of(name):
    return new_scorer(name, predictor_of(32))


def prompt_of(text):
    return tuple(tiny.VOCABULARY[word] for word in ["<user>", *text, "<assistant>", "<think>"])


def task_of(name, text, cells, samples=3, prompt=()):
    """A prompt of ragged length, with seeds of its own."""
    found = tuple((cell, BUDGETS[cell]) for cell in cells) if name != "full" else (("full", None),)
    seeds = tuple(seed_of(0, text, number) for number in range(samples))
    return Task(text, tuple(prompt) or prompt_of(text), seeds, found)


def expected_scores(name, seed):
    """The scores by the whole sequence."""

    def scores(found, cache):
        if name == "streaming":
            return {position: position for position in cache}
        if name == "random":
            places = torch.tensor(cache)
            numbers = random_numbers(torch.full_like(places, seed), places)
            return dict(zip(cache, numbers.tolist(), strict=True))
        with torch.inference_mode():
            predicted = predictor_of(32)(torch.tensor(found.hidden)).numpy()
        return {position: predicted[position] for position in cache}

    return scores


def assert_is_masked(model, decoder, name, task, cell, number, sample):
    """Logits equal to 1e-5 of the largest one, the same tokens kept, and drawn as they should."""
    budget, seed = dict(task.cells)[cell], task.seeds[number]
    whole = budget or Budget(0, Decimal(0), 10**6)
    ids = [*task.prompt, *sample.tokens]
    scores = expected_scores(name, seed)
    wanted = masked.decoded(model, ids, len(task.prompt), whole, scores, tiny.THOUGHT)
    logits = torch.tensor(wanted.logits)
    key = task.key, cell, number
    assert (decoder.logits_of(key) - logits).abs().max() < 1e-5 * logits.abs().max()
    assert decoder.retained.get(key, []) == wanted.retained
    assert len(sample.pruned_at) == len(wanted.retained)
    assert sample.peak == wanted.longest
    if budget:
        assert sample.peak <= budget.bound(len(task.prompt))
    uniform = uniform_numbers([seed], decoder.sampling.max_new_tokens)[0]
    drawn_again = drawn(decoder.logits_of(key), uniform[: len(sample.tokens)], decoder.sampling)
    assert drawn_again.tolist() == sample.tokens
    stopped = sample.tokens[-1] in decoder.ends.stop
    assert sample.finish == ("stop" if stopped else "length")
    assert stopped or len(sample.tokens) == decoder.sampling.max_new_tokens


Key = tuple[str, Any, int]


class RecordedSlots(SlotDecoder):
    """Notes the logits that each token is drawn from, and the positions that stay at each prune."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.noted: dict[Key, list[torch.Tensor]] = {}
        self.retained: dict[Key, list[list[int]]] = {}
        self.together: set[int] = set()

    def _key(self, number):
        row = self.rows[number]
        return row.task.key, row.cell, row.number

    def _put(self, number, row, state):
        super()._put(number, row, state)
        if row.sample.pruned_at:
            self.retained.setdefault(self._key(number), []).append(state.positions.tolist())

    def _draw(self):
        for number in self.pending:
            self.noted.setdefault(self._key(number), []).append(self.logits[number].clone())
        yield from super()._draw()

    def _pass(self):
        super()._pass()
        self.together.add(len({length for length in self.cache.lengths if length}))

    def _prune(self, number, row):
        super()._prune(number, row)
        positions = self.cache.positions[number, : self.cache.lengths[number]].tolist()
        self.retained.setdefault(self._key(number), []).append(positions)

    def logits_of(self, key):
        """[tokens, vocabulary]: those of the beginning, then those of the cell."""
        shared = self.noted.get((key[0], None, key[2]), [])
        return torch.stack([*shared, *self.noted.get(key, [])])


def decoded(decoder, tasks):
    return {
        (answer.key, answer.cell, answer.number): answer.sample for answer in decoder.run(tasks)
    }


def same(first, other):
    """Whether two samples are the same text, from the same cache."""
    return (first.tokens, first.finish, first.pruned_at, first.peak) == (
        other.tokens,
        other.finish,
        other.pruned_at,
        other.peak,
    )


# --- against full attention with a mask -----------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize(
    ("sampling", "name"),
    [*((SAMPLED, name) for name in NAMES), (GREEDY, "importance"), (GREEDY, "full")],
    ids=[*(f"sampled-{name}" for name in NAMES), "greedy-importance", "greedy-full"],
)
def test_rows_that_join_and_leave_are_masked_full_attention(models, family, name, sampling):
    """Seven rows for 27 samples of three lengths."""
    greedy = sampling.temperature == 0
    tasks = [task_of(name, text, list(BUDGETS), 1 if greedy else 3) for text in ASKED]
    decoder = RecordedSlots(models(family, "sdpa"), scorer_of(name), 7, SLOTS, sampling, ENDS)
    found = decoded(decoder, tasks)
    by_key = {task.key: task for task in tasks}
    assert len(found) == sum(len(task.cells) * len(task.seeds) for task in tasks)
    for (key, cell, number), sample in found.items():
        model = models(family, "eager")
        assert_is_masked(model, decoder, name, by_key[key], cell, number, sample)
    # Rows of several lengths were in one pass, and the rule about </think> had something to decide.
    assert max(decoder.together) > 2
    if name != "full" and not greedy:
        assert max(map(len, decoder.retained.values())) >= 3
        assert any(tiny.THOUGHT in sample.tokens[:-10] for sample in found.values())


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
def test_budgets(models, protect, window, ratio, trigger):
    budget = Budget(window, Decimal(ratio), trigger, protect)
    task = Task("q", prompt_of(ASKED[0]), (5,), (("cell", budget),))
    for most in (1, 50):
        sampling = Sampling(1.5, 1.0, 100, most)
        decoder = RecordedSlots(
            models("llama", "sdpa"), scorer_of("importance"), 3, 160, sampling, ENDS
        )
        [sample] = decoded(decoder, [task]).values()
        model = models("llama", "eager")
        assert_is_masked(model, decoder, "importance", task, "cell", 0, sample)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_greedy_whole_cache_is_what_generate_gives(models, family):
    model = models(family, "sdpa")
    never = Ends(tiny.THOUGHT, frozenset())
    decoder = SlotDecoder(model, scorer_of("full"), 2, SLOTS, GREEDY, never)
    for (text, _, _), sample in decoded(
        decoder, [task_of("full", t, [], 1) for t in ASKED]
    ).items():
        ids = model.generate(
            torch.tensor([prompt_of(text)]),
            max_new_tokens=70,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        assert ids[0, len(prompt_of(text)) :].tolist() == sample.tokens


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_any_number_of_rows(models, rows):
    model = models("qwen2", "sdpa")
    tasks = [task_of("importance", text, ["wide", "narrow"], 2) for text in ASKED]
    runs = [
        decoded(SlotDecoder(model, scorer_of("importance"), n, SLOTS, SAMPLED, ENDS), tasks)
        for n in (rows, 7)
    ]
    assert all(same(sample, runs[1][key]) for key, sample in runs[0].items())


def test_model_is_as_before(models):
    model = models("llama", "sdpa")
    ids = torch.tensor([prompt_of(ASKED[0])])
    with torch.inference_mode():
        before = model(ids).logits
        decoder = SlotDecoder(model, scorer_of("random"), 2, SLOTS, SAMPLED, ENDS)
        decoded(decoder, [task_of("random", "a?", ["wide"])])
        assert torch.equal(model(ids).logits, before)


@pytest.mark.parametrize("room", [True, False])
def test_beginnings_wait_on_the_gpu_or_in_the_ram(models, monkeypatch, room):
    asked = []

    def room_for(device, needed):
        asked.append(needed)
        return room

    monkeypatch.setattr("gridatlas_reproduce.kv.continuous.room_for", room_for)
    model, tasks = models("llama", "sdpa"), [task_of("random", ASKED[0], list(BUDGETS))]
    decoder = RecordedSlots(model, scorer_of("random"), 2, SLOTS, SAMPLED, ENDS)
    for (_, cell, number), sample in decoded(decoder, tasks).items():
        eager = models("llama", "eager")
        assert_is_masked(eager, decoder, "random", tasks[0], cell, number, sample)
    # Keys and values of 40 tokens: 2 layers, 2 heads of 8 numbers, 4 bytes each.
    assert set(asked) == {2 * 40 * 2 * 2 * 8 * 4}


def test_random_numbers_are_spread_and_of_seed_and_position():
    places = torch.arange(20_000)
    first, second = (random_numbers(torch.full_like(places, seed), places) for seed in (1, 2))
    for numbers in (first, second):
        assert 0 <= numbers.min() < 0.01
        assert 0.99 < numbers.max() < 1
        assert abs(float(numbers.mean()) - 0.5) < 0.01
        assert abs(float(torch.corrcoef(torch.stack([numbers[1:], numbers[:-1]]))[0, 1])) < 0.03
    assert abs(float(torch.corrcoef(torch.stack([first, second]))[0, 1])) < 0.03


# --- one shape ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("name", PRUNING)
def test_other_neighbours_change_no_bit(models, family, name):
    """The same samples in other rows, beside other samples, at another width."""
    model = models(family, "sdpa")
    first, second, third = (task_of(name, text, list(BUDGETS)) for text in ASKED)
    alone = task_of(name, ASKED[0], ["narrow"])
    long = task_of(name, "long", ["wide"], 3, prompt_of("so " * 10))
    runs = []
    for tasks in ([first, second, third], [long, third, alone]):
        decoder = RecordedSlots(model, scorer_of(name), 9, SLOTS, SAMPLED, ENDS)
        found = decoded(decoder, tasks)
        keys = [(ASKED[0], "narrow", number) for number in range(3)]
        keys += [(ASKED[2], cell, number) for cell in BUDGETS for number in range(3)]
        runs.append([(found[key].tokens, decoder.logits_of(key)) for key in keys])
    for first, other in zip(*runs, strict=True):
        assert first[0] == other[0]
        assert torch.equal(first[1], other[1])


# --- beginnings that were decoded before ----------------------------------------------------------


class Noted(Prefixes):
    """Prefixes in a dictionary."""

    def __init__(self):
        self.found: dict[tuple[str, int], Prefix] = {}

    def find(self, key, number):
        return self.found.get((key, number))

    def keep(self, key, number, prefix):
        assert (key, number) not in self.found
        self.found[key, number] = prefix


@pytest.mark.parametrize("name", PRUNING)
def test_beginning_is_decoded_once_and_filled_in_again(models, name):
    model = models("qwen2", "sdpa")
    texts = [*ASKED, "b?", "c?"]
    whole = decoded(
        SlotDecoder(model, scorer_of(name), 6, SLOTS, SAMPLED, ENDS),
        [task_of(name, t, list(BUDGETS)) for t in texts],
    )
    noted = Noted()
    for cell in BUDGETS:
        decoder = SlotDecoder(model, scorer_of(name), 6, SLOTS, SAMPLED, ENDS, prefixes=noted)
        for key, sample in decoded(decoder, [task_of(name, t, [cell]) for t in texts]).items():
            assert same(sample, whole[key])
            assert sample.prefix == whole[key].prefix == noted.found[key[0], key[2]].id
            assert sample.refilled == (cell != "wide")
            assert sample.pruned_at == whole[key].pruned_at
    assert {prefix.ended for prefix in noted.found.values()} == {True, False}


# --- the flash kernel -----------------------------------------------------------------------------


def test_varlen_is_given_the_slots_and_lengths(models, monkeypatch):
    """In place of the kernel, which needs CUDA, its definition, row by row."""
    from torch.nn.attention import varlen

    calls = []

    def varlen_attn(
        query,
        key,
        value,
        cu_seq_q,
        cu_seq_k,
        max_q,
        max_k,
        *,
        scale,
        enable_gqa,
        seqused_k,
        num_splits,
    ):
        assert (max_q, enable_gqa, num_splits) == (1, True, None if reading == "split" else 1)
        assert {cu_seq_q.dtype, cu_seq_k.dtype, seqused_k.dtype} == {torch.int32}
        assert int(seqused_k.max()) <= max_k
        assert int(cu_seq_k[-1]) == key.shape[0]
        calls.append(seqused_k.tolist())
        out = torch.empty_like(query)
        for row, used in enumerate(seqused_k.tolist()):
            start = int(cu_seq_k[row])
            keys, values = key[start : start + used], value[start : start + used]
            for head in range(query.shape[1]):
                own = head // (query.shape[1] // key.shape[1])
                [at] = range(int(cu_seq_q[row]), int(cu_seq_q[row + 1]))
                shares = torch.softmax(scale * keys[:, own] @ query[at, head], dim=0)
                out[at, head] = shares @ values[:, own]
        return out

    monkeypatch.setattr(varlen, "varlen_attn", varlen_attn)
    model = models("qwen2", "sdpa")
    tasks = [task_of("importance", text, ["wide", "narrow"], 2) for text in ASKED]
    runs = []
    for reading in ("grouped", "varlen", "split"):
        decoder = RecordedSlots(
            model, scorer_of("importance"), 5, SLOTS, SAMPLED, ENDS, reading=reading
        )
        found = decoded(decoder, tasks)
        runs.append({key: (s.tokens, decoder.logits_of(key)) for key, s in found.items()})
    for key, (tokens, logits) in runs[0].items():
        for other in runs[1:]:
            assert other[key][0] == tokens
            assert (other[key][1] - logits).abs().max() < 1e-5 * logits.abs().max()
    assert any(len(set(lengths)) > 3 for lengths in calls)


def test_varlen_is_taken_only_where_it_is_right(monkeypatch):
    cpu = torch.device("cpu")
    assert varlen_error(cpu, "float16") == "it isn't there for cpu and float16"
    # As if the CPU were a GPU: the kernel refuses it, then answers rightly, then wrongly.
    monkeypatch.setattr(slots, "_has_kernel", lambda device, dtype: True)
    assert "NotImplementedError" in str(varlen_error(cpu, "bfloat16"))

    def right(*args, scaling, slot_cache):
        return slots.grouped_attention(*args, scaling=scaling)

    monkeypatch.setattr(slots, "varlen_attention", right)
    assert varlen_error(cpu, "bfloat16") is None
    worded = []
    assert slots.fastest_reading(cpu, "bfloat16", worded.append) == "varlen"
    monkeypatch.setattr(
        slots, "varlen_attention", lambda *args, **kwargs: (0.9 * right(*args, **kwargs)[0], None)
    )
    assert str(varlen_error(cpu, "bfloat16")).startswith("it differs from SDPA by 0.")
    assert slots.fastest_reading(cpu, "bfloat16", worded.append) == "grouped"
    assert worded[0] == "slots are read with varlen_attn"
    assert worded[1].startswith("slots are read with SDPA; varlen_attn: it differs from SDPA by 0.")


def test_idle_rows_have_numbers():
    """A row that sees nothing would give no number, or silently the mean of all values."""
    config = SimpleNamespace(
        num_hidden_layers=1, num_key_value_heads=1, head_dim=4, num_attention_heads=2
    )
    cache = SlotCache(config, 3, 8, torch.float32, torch.device("cpu"))
    mask = cache.begin([0, 0, 0])
    assert mask[:, 0, 0].sum(dim=1).tolist() == [1, 1, 1]
    assert not cache.keys.any()
