"""Decodes the answers to many prompts, in all cells of a grid, in one batch of fixed size.

A row is a sample: until the first prune one for all cells (the *prefix*), then one per cell (a
*tail*); with one cell it stays where it is. Rows that end are replaced from one queue, so that the
batch stays full. Each row has its own length, prunes at its own trigger, and draws from its own
numbers: in one shape (rows, slots) a sample's tokens don't depend on the other rows.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gridatlas_reproduce.kv.memory import room_for
from gridatlas_reproduce.kv.selection import (
    Budget,
    Sampling,
    Scorer,
    drawn,
    select,
    uniform_numbers,
)
from gridatlas_reproduce.kv.slots import SlotCache, slot_pass
from gridatlas_reproduce.runner.errors import readable
from gridatlas_reproduce.runner.files import compact, strict_json, write_atomic

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(slots=True)
class Sample:
    """One answer.

    Attributes:
        tokens: Ids, from the first that was drawn; with the one that ended it.
        finish: `stop`, or `length` where the limit ended it.
        peak: The largest number of tokens that its cache held.
        seconds: The time that it was in the batch.
        batch_tokens: Tokens that the batch drew in this time.
        prefix: Hash of the tokens that all cells share.
        refilled: Whether these were decoded by an earlier run, and passed through the model again.
        pruned_at: Tokens drawn before each prune.
    """

    tokens: list[int] = field(default_factory=list)
    finish: Literal["stop", "length"] = "length"
    peak: int = 0
    seconds: float = 0.0
    batch_tokens: int = 0
    prefix: str | None = None
    refilled: bool = False
    pruned_at: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ends:
    """Tokens with a meaning: `</think>`, and those that end an answer."""

    thought: int
    stop: frozenset[int]


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, to be answered in some cells.

    Attributes:
        key: Of the prompt.
        seeds: One per sample; the cells share them.
        cells: With their budgets; with None nothing is ever pruned.
    """

    key: str
    prompt: tuple[int, ...]
    seeds: tuple[int, ...]
    cells: tuple[tuple[Hashable, Budget | None], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A sample that has ended, in one cell."""

    key: str
    cell: Hashable
    number: int
    sample: Sample


@dataclass(frozen=True, slots=True)
class Prefix:
    """The tokens that a sample has in all cells; `ended` where that is the whole answer."""

    tokens: tuple[int, ...]
    ended: bool = False

    @property
    def id(self) -> str:
        """Hash of the tokens."""
        return hashlib.sha256(json.dumps(list(self.tokens)).encode()).hexdigest()[:16]


class Prefixes:
    """The beginnings that the cells of a question share, kept in the run's folder.

    A run that is gone on with, cell by cell or after a stop, passes them through the model again
    and doesn't decode them: on a GPU another text could come out, which the other cells wouldn't
    share. One file per question and sample, written whole; without a run nothing is kept.
    """

    def __init__(self, run: Path | None = None) -> None:
        self.run = run

    def _path(self, key: str, number: int) -> Path | None:
        name = f"{hashlib.sha256(key.encode()).hexdigest()[:24]}-{number}.json"
        return self.run and self.run / "prefixes" / name

    def find(self, key: str, number: int) -> Prefix | None:
        """That of a sample, where the run has it.

        Raises:
            CannotRun: For a file that isn't whole.
        """
        path = self._path(key, number)
        if path is None or not path.exists():
            return None
        expected = "the tokens that the cells of a question share, as the script wrote them"
        fix = "remove it: they are decoded again, and may be others than those of finished cells"
        with readable(path, expected, fix):
            content = strict_json(path.read_bytes())
            tokens, ended = content["tokens"], content["ended"]
            if (content["key"], content["number"]) != (key, number) or not isinstance(ended, bool):
                raise ValueError("it is of another sample")
            return Prefix(tuple(int(token) for token in tokens), ended)

    def keep(self, key: str, number: int, prefix: Prefix) -> None:
        """Write it; of two processes that decode the same question the first one's stays.

        Raises:
            CannotRun: For a full disk, or a folder that can't be written to.
        """
        content = {"key": key, "number": number, **asdict(prefix)}
        if path := self._path(key, number):
            write_atomic(path, f"{compact(content)}\n".encode(), replace=False)


@dataclass(frozen=True, slots=True)
class State:
    """All that a sample goes on from.

    Attributes:
        keys, values: [layers, L, kv heads, d].
        positions: [L] absolute positions of the tokens in the cache.
        scores: [L]; 0 for the prompt, whose tokens are protected.
        protected: [L]: tokens whose score is +∞.
        logits: [vocabulary] after the last token.
    """

    keys: Tensor
    values: Tensor
    positions: Tensor
    scores: Tensor
    protected: Tensor
    logits: Tensor

    def selected(self, index: Tensor) -> State:
        """Only the tokens at `index`, [kept]."""
        place = index.to(self.keys.device)
        keys, values = self.keys[:, place], self.values[:, place]
        scores, protected = self.scores[index], self.protected[index]
        return State(keys, values, self.positions[index], scores, protected, self.logits)


def prefilled(
    model: Any, prompt: Sequence[int], tokens: Sequence[int], scorer: Scorer, seed: int, ends: Ends
) -> State:
    """The state after a prompt and the first tokens of a sample, where they are known."""
    import torch
    from transformers import DynamicCache

    device, cache = next(model.parameters()).device, DynamicCache(config=model.config)
    scores, hidden = [], torch.empty(0)
    for start, part in ((0, prompt), (len(prompt), tokens)):
        if not part:
            continue
        hidden = model.model(
            input_ids=torch.tensor([list(part)], device=device),
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state[0]
        positions = torch.arange(start, start + len(part), device=device)
        found = scorer(hidden, positions, torch.full_like(positions, seed))
        scores.append(found if start else torch.zeros_like(found))
    after = torch.tensor([*prompt, *tokens], device=device) == ends.thought
    after[: len(prompt)] = False
    protected = after.cumsum(dim=0) > 0
    protected[: len(prompt)] = True
    return State(
        torch.stack([layer.keys[0].transpose(0, 1) for layer in cache.layers]),
        torch.stack([layer.values[0].transpose(0, 1) for layer in cache.layers]),
        torch.arange(len(protected), device=device),
        torch.cat(scores),
        protected,
        model.lm_head(hidden[-1]).float(),
    )


@dataclass(slots=True)
class _Row:
    """What a row of the batch is doing; without a cell it is a prefix.

    Attributes:
        thought: Whether `</think>` was among the tokens that the model has seen.
    """

    task: Task
    number: int
    sample: Sample
    uniform: Tensor
    thought: bool
    cell: Hashable = None
    budget: Budget | None = None
    drawn_before: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def prompt(self) -> int:
        return len(self.task.prompt)


_Fork = tuple[_Row, State, deque[tuple[Hashable, Budget]]]
"""A prefix that was decoded, and the cells that don't go on from it yet."""


class SlotDecoder:
    """The batch.

    Attributes:
        passes: Forward passes of the whole batch.
        drawn: Tokens that were drawn.
    """

    def __init__(
        self,
        model: Any,
        scorer: Scorer,
        rows: int,
        slots: int,
        sampling: Sampling,
        ends: Ends,
        *,
        reading: str = "grouped",
        prefixes: Prefixes | None = None,
    ) -> None:
        import torch

        self.model, self.scorer = model, scorer
        self.sampling, self.ends, self.reading = sampling, ends, reading
        self.prefixes = prefixes or Prefixes()
        self.device = next(model.parameters()).device
        self.cache = SlotCache(model.config, rows, slots, model.dtype, self.device)
        self.rows: list[_Row | None] = [None] * rows
        self.scores = torch.zeros(rows, slots, device=self.device)
        self.protected = torch.zeros(rows, slots, dtype=torch.bool, device=self.device)
        self.seeds = torch.zeros(rows, dtype=torch.long, device=self.device)
        self.logits = torch.zeros(rows, model.config.vocab_size, device=self.device)
        self.tokens = [0] * rows
        self.pending: set[int] = set()
        self.passes = self.drawn = 0
        self._begun: deque[tuple[_Row, State]] = deque()
        self._forks: deque[_Fork] = deque()

    def run(self, tasks: Iterable[Task]) -> Iterator[Answer]:
        """Answer all prompts; each answer as soon as it has ended."""
        import torch

        source = iter(tasks)
        while True:
            with torch.inference_mode():
                answers = list(self._step(source))
            yield from answers
            if not (answers or any(self.rows) or self._forks or self._begun):
                return

    def _step(self, source: Iterator[Task]) -> Iterator[Answer]:
        """Fill the rows, draw a token for each, and pass them through the model."""
        while True:
            yield from self._admit(source)
            if not self.pending:
                break
            yield from self._draw()
        if any(self.rows):
            self._pass()
            for number, row in enumerate(self.rows):
                if row is not None:
                    self._look(number, row)

    # --- rows come --------------------------------------------------------------------------------

    def _admit(self, source: Iterator[Task]) -> Iterator[Answer]:
        """Put tails that wait into idle rows, then prefixes."""
        for number in [number for number, row in enumerate(self.rows) if row is None]:
            while not self._forks and not self._begun:
                task = next(source, None) if self._may_begin() else None
                if task is None:
                    return
                yield from self._begin(task)
            if self._forks:
                self._start_tail(number)
            else:
                self._put(number, *self._begun.popleft())

    def _may_begin(self) -> bool:
        """Prefixes that part are limited: each that is done waits in memory for its cells."""
        rows = [row for row in self.rows if row is not None and row.cell is None]
        parting = [len(row.task.cells) for row in rows if _parts(row.task)]
        number = len(self.rows)
        return len(parting) < max(number // 4, number // max(parting, default=1), 1)

    def _begin(self, task: Task) -> Iterator[Answer]:
        """Prefill a prompt, or what was decoded of its answers before."""
        state: State | None = None
        for number, seed in enumerate(task.seeds):
            prefix = self.prefixes.find(task.key, number)
            if prefix is None:
                if state is None:
                    state = self._prefilled(task, (), seed)
                row = self._row(task, number, Sample(peak=len(task.prompt)))
                if self._is_full(task, len(task.prompt)):
                    self._fork(row, state)
                else:
                    self._begun.append((row, state))
                continue
            sample = Sample(tokens=list(prefix.tokens), prefix=prefix.id, refilled=True)
            sample.peak = len(task.prompt) + len(prefix.tokens) - prefix.ended
            if prefix.ended:
                sample.finish = "stop" if prefix.tokens[-1] in self.ends.stop else "length"
                yield from self._in_all_cells(task, number, sample)
            else:
                row = self._row(task, number, sample)
                self._fork(row, self._prefilled(task, prefix.tokens, seed))

    def _prefilled(self, task: Task, tokens: tuple[int, ...], seed: int) -> State:
        return prefilled(self.model, task.prompt, tokens, self.scorer, seed, self.ends)

    def _row(self, task: Task, number: int, sample: Sample) -> _Row:
        uniform = uniform_numbers([task.seeds[number]], self.sampling.max_new_tokens)[0]
        thought = self.ends.thought in sample.tokens
        row = _Row(task, number, sample, uniform, thought, drawn_before=self.drawn)
        if len(task.cells) == 1 and _parts(task):
            [(row.cell, row.budget)] = task.cells
        return row

    def _is_full(self, task: Task, length: int) -> bool:
        """Whether a prefix has reached the length at which its cells part."""
        return any(budget is not None and length >= budget.trigger for _, budget in task.cells)

    def _put(self, number: int, row: _Row, state: State) -> None:
        """A sample comes into an idle row."""
        row.began, row.drawn_before = time.monotonic(), self.drawn
        self.cache.fill(number, state.keys, state.values, state.positions)
        length = len(state.positions)
        self.scores[number, :length] = state.scores
        self.protected[number, :length] = state.protected
        self.seeds[number] = row.task.seeds[row.number]
        self.logits[number] = state.logits
        self.rows[number] = row
        self.pending.add(number)

    def _start_tail(self, number: int) -> None:
        """The first cell that waits goes on from its prefix, pruned to its budget."""
        row, state, left = self._forks[0]
        cell, budget = left.popleft()
        if not left:
            self._forks.popleft()
        index = select(state.scores, state.protected, state.positions < row.prompt, budget)
        tokens = list(row.sample.tokens)
        sample = replace(row.sample, tokens=tokens, pruned_at=[len(tokens)])
        tail = replace(row, sample=sample, cell=cell, budget=budget)
        self._put(number, tail, state.selected(index))

    # --- rows go on -------------------------------------------------------------------------------

    def _draw(self) -> Iterator[Answer]:
        """A token for each row that has logits; rows that end become idle."""
        import torch

        uniform = torch.zeros(len(self.rows), dtype=torch.float64)
        pending = {number: row for number in sorted(self.pending) if (row := self.rows[number])}
        for number, row in pending.items():
            uniform[number] = row.uniform[len(row.sample.tokens)]
        tokens = drawn(self.logits, uniform, self.sampling).tolist()
        self.drawn += len(pending)
        for number, row in pending.items():
            self.tokens[number] = token = tokens[number]
            row.sample.tokens.append(token)
            if token in self.ends.stop:
                row.sample.finish = "stop"
            elif len(row.sample.tokens) < self.sampling.max_new_tokens:
                continue
            yield from self._ended(number, row)
        self.pending.clear()

    def _pass(self) -> None:
        """One token of every row through the model; idle rows go with it."""
        import torch

        active = [number for number, row in enumerate(self.rows) if row is not None]
        # The token that is passed has been drawn already.
        seen = [0 if r is None else r.prompt + len(r.sample.tokens) - 1 for r in self.rows]
        hidden = slot_pass(self.model, self.cache, self.reading, self.tokens, seen)
        for row, token in zip(self.rows, self.tokens, strict=True):
            if row is not None:
                row.thought = row.thought or token == self.ends.thought
        thoughts = [row is not None and row.thought for row in self.rows]
        self.protected[self.cache.every, self.cache.at] = torch.tensor(thoughts).to(self.device)
        new = self.scorer(hidden, self.cache.own[:, 0], self.seeds)
        self.scores[self.cache.every, self.cache.at] = new
        self.logits = self.model.lm_head(hidden).float()
        self.cache.end(active)
        self.pending = set(active)
        self.passes += 1

    def _look(self, number: int, row: _Row) -> None:
        """After a pass: prune or fork a row that has reached its trigger."""
        length = self.cache.lengths[number]
        row.sample.peak = max(row.sample.peak, length)
        if row.cell is None:
            if self._is_full(row.task, length):
                self._fork(row, self._state(number))
                self._leave(number)
        elif row.budget is not None and length >= row.budget.trigger:
            self._prune(number, row)

    def _prune(self, number: int, row: _Row) -> None:
        """Only what the budget leaves of a row stays in its slots."""
        assert row.budget is not None
        if row.sample.prefix is None:
            self._keep_prefix(row)
        length = self.cache.lengths[number]
        question = self.cache.positions[number, :length] < row.prompt
        own = (self.scores[number], self.protected[number])
        index = select(own[0][:length], own[1][:length], question, row.budget)
        for noted in own:
            noted[: len(index)] = noted[index]
        self.cache.compact(number, index)
        row.sample.pruned_at.append(len(row.sample.tokens))

    # --- rows leave -------------------------------------------------------------------------------

    def _state(self, number: int) -> State:
        """A copy of all that a row holds."""
        keys, values, positions = self.cache.taken(number)
        length = len(positions)
        scores, protected = self.scores[number, :length], self.protected[number, :length]
        logits = self.logits[number].clone()
        return State(keys, values, positions, scores.clone(), protected.clone(), logits)

    def _fork(self, row: _Row, state: State) -> None:
        """The cells of a prefix wait for rows; it waits on the GPU where there is room for it."""
        self._count(row)
        if not row.sample.refilled:
            self._keep_prefix(row)
        left = deque((cell, budget) for cell, budget in row.task.cells if budget is not None)
        if not room_for(self.device, 2 * state.keys.nbytes):
            state = replace(state, keys=state.keys.cpu(), values=state.values.cpu())
        self._forks.append((row, state, left))

    def _ended(self, number: int, row: _Row) -> Iterator[Answer]:
        self._leave(number)
        self._count(row)
        if row.sample.prefix is None:
            self._keep_prefix(row, ended=True)
        if row.cell is not None:
            yield Answer(row.task.key, row.cell, row.number, row.sample)
        else:
            yield from self._in_all_cells(row.task, row.number, row.sample)

    def _keep_prefix(self, row: _Row, *, ended: bool = False) -> None:
        """What was decoded so far is the same in all cells, whichever of them are decoded here."""
        prefix = Prefix(tuple(row.sample.tokens), ended)
        row.sample.prefix = prefix.id
        self.prefixes.keep(row.task.key, row.number, prefix)

    def _leave(self, number: int) -> None:
        self.cache.leave(number)
        self.rows[number] = None
        self.tokens[number] = 0
        self.pending.discard(number)

    def _count(self, row: _Row) -> None:
        """The batch's time and tokens while the row was in it."""
        row.sample.seconds += time.monotonic() - row.began
        row.sample.batch_tokens += self.drawn - row.drawn_before

    def _in_all_cells(self, task: Task, number: int, sample: Sample) -> Iterator[Answer]:
        for cell, _ in task.cells:
            yield Answer(task.key, cell, number, sample)


def _parts(task: Task) -> bool:
    """Whether its cells ever part."""
    return any(budget is not None for _, budget in task.cells)
