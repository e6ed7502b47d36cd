"""One batch of slots gives what the loop gives: logits, kept tokens and texts, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import test_kv_decode as decode
import tiny
import torch
from test_kv_decode import Models, Recorded, predictor_of

from gridatlas_reproduce.kv import slots, work
from gridatlas_reproduce.kv.continuous import SlotDecoder
from gridatlas_reproduce.kv.decode import Decoding, Ends, Sample
from gridatlas_reproduce.kv.prefill import State
from gridatlas_reproduce.kv.sampling import Sampling
from gridatlas_reproduce.kv.scorers import NAMES, Scorer, new_scorer
from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.kv.slots import SlotCache, varlen_works
from gridatlas_reproduce.kv.tasks import Prefix, Prefixes, Task
from gridatlas_reproduce.runner.errors import CannotRun
from gridatlas_reproduce.runner.units import seed_of

TRIGGER = 40
BUDGETS = {
    "wide": Budget(8, Decimal("0.7"), TRIGGER),
    "narrow": Budget(20, Decimal("0.1"), TRIGGER),
    "always": Budget(3, Decimal("0.3"), TRIGGER, "always"),
}
SAMPLED = decode.SAMPLING
GREEDY = Sampling(temperature=0, max_new_tokens=70)
SLOTS = 112
ENDS = Ends(tiny.THOUGHT, frozenset({tiny.VOCABULARY["7"]}))
LONGEST = 200
pytestmark = pytest.mark.usefixtures("one_thread")

ASKED = ("what is 6?", "so what is 12+7 then?", "a?")


def prompt_of(text: str) -> tuple[int, ...]:
    return tuple(tiny.VOCABULARY[word] for word in ["<user>", *text, "<assistant>", "<think>"])


def task_of(
    name: str, text: str, cells: Sequence[str], samples: int = 3, prompt: Sequence[int] = ()
) -> Task:
    """A prompt of ragged length, with seeds of its own."""

    def scorer(seeds: Sequence[int]) -> Scorer:
        return new_scorer(name, predictor=predictor_of(32), seeds=list(seeds), longest=LONGEST)

    found = tuple((cell, BUDGETS[cell]) for cell in cells) if name != "full" else (("full", None),)
    seeds = tuple(seed_of(0, text, number) for number in range(samples))
    return Task(text, tuple(prompt) or prompt_of(text), seeds, found, scorer)


Key = tuple[str, Any, int]


class RecordedSlots(SlotDecoder):
    """Notes the logits that each token is drawn from, and the positions that stay at each prune."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.noted: dict[Key, list[torch.Tensor]] = {}
        self.retained: dict[Key, list[list[int]]] = {}
        self.together: set[int] = set()

    def _key(self, number: int) -> Key:
        row = self.rows[number]
        assert row is not None
        return row.task.key, row.cell, row.number

    def _put(self, number: int, row: Any, state: State) -> None:
        super()._put(number, row, state)
        if row.sample.prunes:
            self.retained.setdefault(self._key(number), []).append(state.positions.tolist())

    def _draw(self) -> Iterator[Any]:
        for number in self.pending:
            self.noted.setdefault(self._key(number), []).append(self.logits[number].clone())
        yield from super()._draw()

    def _pass(self) -> None:
        super()._pass()
        self.together.add(len({length for length in self.cache.lengths if length}))

    def _prune(self, number: int, row: Any) -> None:
        super()._prune(number, row)
        positions = self.cache.positions[number, : self.cache.lengths[number]].tolist()
        self.retained.setdefault(self._key(number), []).append(positions)

    def logits_of(self, key: Key) -> torch.Tensor:
        """[tokens, vocabulary]: those of the beginning, then those of the cell."""
        shared = self.noted.get((key[0], None, key[2]), [])
        return torch.stack([*shared, *self.noted.get(key, [])])


def decoded(decoder: SlotDecoder, tasks: Sequence[Task]) -> dict[Key, Sample]:
    return {
        (answer.key, answer.cell, answer.number): answer.sample for answer in decoder.run(tasks)
    }


def same(first: Sample, other: Sample) -> bool:
    """Whether two samples are the same text, from the same cache."""
    return (first.tokens, first.finish, first.prunes, first.peak) == (
        other.tokens,
        other.finish,
        other.prunes,
        other.peak,
    )


# --- against the loop -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sampling", [SAMPLED, GREEDY], ids=["sampled", "greedy"])
def test_rows_that_join_and_leave_are_those_of_the_loop(
    models: Models, family: str, name: str, sampling: Sampling
) -> None:
    """Seven rows for 27 samples of three lengths; equal to 1e-5 of the largest logit."""
    model = models(family, "sdpa")
    greedy = sampling.temperature == 0
    tasks = [task_of(name, text, list(BUDGETS), 1 if greedy else 3) for text in ASKED]
    decoder = RecordedSlots(model, 7, SLOTS, sampling, ENDS)
    found = decoded(decoder, tasks)
    for task in tasks:
        for cell, budget in task.cells:
            scorer = task.scorer(task.seeds)
            loop = Recorded(model, task.prompt, task.seeds, sampling, ENDS, scorer, budget).run()
            for number, sample in enumerate(loop.samples):
                key = task.key, cell, number
                assert same(found.pop(key), sample)
                assert decoder.retained.get(key, []) == loop.retained[number]
                wanted = torch.tensor(np.array(loop.logits[number]))
                difference = (decoder.logits_of(key) - wanted).abs().max()
                assert difference < 1e-5 * wanted.abs().max()
    assert not found
    # Rows of several lengths were in one pass.
    assert max(decoder.together) > 2
    if name != "full" and not greedy:
        assert max(map(len, decoder.retained.values())) >= 3


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_any_number_of_rows(models: Models, rows: int) -> None:
    model = models("qwen2", "sdpa")
    tasks = [task_of("h2o", text, ["wide"], 2) for text in ASKED]
    found = decoded(SlotDecoder(model, rows, SLOTS, SAMPLED, ENDS), tasks)
    for task in tasks:
        scorer = task.scorer(task.seeds)
        loop = Decoding(model, task.prompt, task.seeds, SAMPLED, ENDS, scorer, BUDGETS["wide"])
        for number, sample in enumerate(loop.run().samples):
            assert same(found[task.key, "wide", number], sample)


def test_prompt_longer_than_the_trigger_and_answers_of_one_token(models: Models) -> None:
    model = models("llama", "sdpa")
    long = prompt_of("what is " + "1+" * 20 + "1?")
    assert len(long) > TRIGGER
    for most in (1, 30):
        sampling = Sampling(1.5, 1.0, 100, most)
        task = task_of("snapkv", "long", ["narrow"], 2, long)
        found = decoded(SlotDecoder(model, 3, SLOTS, sampling, ENDS), [task])
        scorer = task.scorer(task.seeds)
        loop = Decoding(model, long, task.seeds, sampling, ENDS, scorer, BUDGETS["narrow"]).run()
        for number, sample in enumerate(loop.samples):
            assert same(found["long", "narrow", number], sample)


def test_model_is_as_before(models: Models) -> None:
    model = models("llama", "sdpa")
    ids = torch.tensor([prompt_of(ASKED[0])])
    with torch.inference_mode():
        before = model(ids).logits
        decoded(SlotDecoder(model, 2, SLOTS, SAMPLED, ENDS), [task_of("h2o", "a?", ["wide"])])
        assert torch.equal(model(ids).logits, before)


# --- one shape ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "full"])
def test_other_neighbours_change_no_bit(models: Models, family: str, name: str) -> None:
    """The same samples in other rows, beside other samples, at another width."""
    model = models(family, "sdpa")
    first, second, third = (task_of(name, text, list(BUDGETS)) for text in ASKED)
    alone = task_of(name, ASKED[0], ["narrow"])
    long = task_of(name, "long", ["wide"], 3, prompt_of("so " * 10))
    runs = []
    for tasks in ([first, second, third], [long, third, alone]):
        decoder = RecordedSlots(model, 9, SLOTS, SAMPLED, ENDS)
        found = decoded(decoder, tasks)
        keys = [(ASKED[0], "narrow", number) for number in range(3)]
        keys += [(ASKED[2], cell, number) for cell in BUDGETS for number in range(3)]
        runs.append([(found[key].tokens, decoder.logits_of(key)) for key in keys])
    for first, other in zip(*runs, strict=True):
        assert first[0] == other[0]
        assert torch.equal(first[1], other[1])


# --- passes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["7", None], ids=["ragged", "to the limit"])
def test_twenty_cells_take_a_fifteenth_of_the_passes(models: Models, stop: str | None) -> None:
    """20 cells, 5 samples, 6 questions: forward passes of the loop and of 128 rows."""
    model = models("llama", "sdpa")
    ends = Ends(tiny.THOUGHT, frozenset({tiny.VOCABULARY[stop]} if stop else ()))
    sampling = Sampling(1.5, 1.0, 100, 48)
    cells = tuple(
        ((window, ratio), Budget(window, Decimal(ratio), 24))
        for window in (2, 4, 6, 8)
        for ratio in ("0.1", "0.2", "0.3", "0.4", "0.5")
    )
    tasks = [
        Task(f"q{i}", prompt_of("a?"), tuple(seed_of(0, f"q{i}", n) for n in range(5)), cells, _any)
        for i in range(6)
    ]
    passes = {"slots": 0, "loop": 0}
    counted = "slots"

    def count(*_: Any) -> None:
        passes[counted] += 1

    handle = model.model.register_forward_hook(count)
    try:
        found = decoded(SlotDecoder(model, 128, 80, sampling, ends), tasks)
        counted = "loop"
        for task in tasks:
            scorer = task.scorer(task.seeds)
            begun = Decoding(model, task.prompt, task.seeds, sampling, ends, scorer).run(24)
            begun.prepare_forks()
            for cell, budget in cells:
                for number, sample in enumerate(begun.fork(budget).run().samples):
                    assert same(found[task.key, cell, number], sample)
    finally:
        handle.remove()
    assert passes["loop"] >= 15 * passes["slots"]


def _any(seeds: Sequence[int]) -> Scorer:
    return new_scorer("streaming")


# --- compiled -------------------------------------------------------------------------------------


def test_compiled_layers_give_the_same(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the parts of the compiler that need no C++; rows join, leave, and are pruned."""
    monkeypatch.setattr(slots, "BACKEND", "aot_eager")
    model = models("qwen2", "sdpa")
    tasks = [task_of("importance", text, ["wide", "narrow"], 2) for text in ASKED]
    runs = []
    for compiled in (False, True):
        decoder = RecordedSlots(model, 5, SLOTS, SAMPLED, ENDS, compiled=compiled)
        found = decoded(decoder, tasks)
        runs.append({key: (s.tokens, decoder.logits_of(key)) for key, s in found.items()})
    # No graph is made anew for each width.
    assert 0 < torch._dynamo.utils.counters["stats"]["unique_graphs"] < 6
    assert not torch._dynamo.utils.counters["graph_break"]
    for key, (tokens, logits) in runs[0].items():
        assert runs[1][key][0] == tokens
        assert (runs[1][key][1] - logits).abs().max() < 1e-5 * logits.abs().max()


def test_compiler_that_does_not_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "BACKEND", "eager")
    assert slots.compiler_error(torch.device("cpu")) is None
    monkeypatch.setattr(slots, "BACKEND", "no-such-backend")
    assert "no-such-backend" in str(slots.compiler_error(torch.device("cpu")))
    with pytest.raises(CannotRun) as refused:
        work._check_compiler(torch.device("cpu"))
    assert refused.value.found.startswith("PyTorch can't compile for cpu here: InvalidBackend")
    assert refused.value.fix == "install it, or leave --compile out, with another --out"


# --- beginnings that were decoded before ----------------------------------------------------------


class Noted(Prefixes):
    """Prefixes in a dictionary."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], Prefix] = {}

    def find(self, key: str, number: int) -> Prefix | None:
        return self.found.get((key, number))

    def keep(self, key: str, number: int, prefix: Prefix) -> None:
        assert (key, number) not in self.found
        self.found[key, number] = prefix


@pytest.mark.parametrize("name", [name for name in NAMES if name != "full"])
def test_beginning_is_decoded_once_and_filled_in_again(models: Models, name: str) -> None:
    model = models("qwen2", "sdpa")
    texts = [*ASKED, "b?", "c?"]
    whole = decoded(
        SlotDecoder(model, 6, SLOTS, SAMPLED, ENDS),
        [task_of(name, t, list(BUDGETS)) for t in texts],
    )
    noted = Noted()
    for cell in BUDGETS:
        decoder = SlotDecoder(model, 6, SLOTS, SAMPLED, ENDS, prefixes=noted)
        for key, sample in decoded(decoder, [task_of(name, t, [cell]) for t in texts]).items():
            assert same(sample, whole[key])
            assert sample.prefix == whole[key].prefix == noted.found[key[0], key[2]].id
            assert sample.refilled == (cell != "wide")
            assert sample.pruned_at == whole[key].pruned_at
    assert {prefix.ended for prefix in noted.found.values()} == {True, False}


# --- the flash kernel -----------------------------------------------------------------------------


def test_varlen_is_given_the_slots_and_lengths(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the kernel, which needs CUDA, its definition, row by row."""
    from torch.nn.attention import varlen

    calls = []

    def varlen_attn(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        cu_seq_q: torch.Tensor,
        cu_seq_k: torch.Tensor,
        max_q: int,
        max_k: int,
        *,
        scale: float,
        enable_gqa: bool,
        seqused_k: torch.Tensor,
        num_splits: int,
    ) -> torch.Tensor:
        assert (max_q, enable_gqa, num_splits) == (1, True, 1)
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
    for reading in ("grouped", "varlen"):
        decoder = RecordedSlots(model, 5, SLOTS, SAMPLED, ENDS, reading=reading)
        found = decoded(decoder, tasks)
        runs.append({key: (s.tokens, decoder.logits_of(key)) for key, s in found.items()})
    for key, (tokens, logits) in runs[0].items():
        assert runs[1][key][0] == tokens
        assert (runs[1][key][1] - logits).abs().max() < 1e-5 * logits.abs().max()
    assert any(len(set(lengths)) > 3 for lengths in calls)


def test_varlen_is_taken_only_where_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not varlen_works(torch.device("cpu"), torch.bfloat16)
    # As if the CPU were a GPU: the kernel refuses it, then answers rightly, then wrongly.
    monkeypatch.setattr(slots, "_has_kernel", lambda device, dtype: True)
    device = torch.device("cpu")
    assert not varlen_works(device, torch.bfloat16)

    def right(*args: Any, scaling: float, slot_cache: SlotCache) -> Any:
        return slots.grouped_attention(*args, scaling=scaling)

    monkeypatch.setattr(slots, "varlen_attention", right)
    assert varlen_works(device, torch.bfloat16)
    monkeypatch.setattr(
        slots, "varlen_attention", lambda *args, **kwargs: (0.9 * right(*args, **kwargs)[0], None)
    )
    assert not varlen_works(device, torch.bfloat16)


def test_idle_rows_have_numbers() -> None:
    """A row that sees nothing would give no number, or silently the mean of all values."""
    config = SimpleNamespace(
        num_hidden_layers=1, num_key_value_heads=1, head_dim=4, num_attention_heads=2
    )
    cache = SlotCache(config, 3, 8, torch.float32, torch.device("cpu"))
    mask = cache.begin([0, 0, 0])
    assert mask[:, 0, 0].sum(dim=1).tolist() == [1, 1, 1]
    assert not cache.keys.any()
