"""Decodes the answers to many prompts, in all cells of a grid, in one batch of fixed size.

A row is a sample: until the first prune one for all cells (the *prefix*), then one per cell (a
*tail*); with one cell it stays where it is. Rows that end are replaced from one queue, so that the
batch stays full. Each row has its own length, prunes at its own trigger, and draws from its own
numbers: in one shape (rows, slots) a sample's tokens don't depend on the other rows.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gridatlas_reproduce.kv.decode import Ends, Sample
from gridatlas_reproduce.kv.prefill import State, prefilled, refilled
from gridatlas_reproduce.kv.ranking import Ranking, new_ranking
from gridatlas_reproduce.kv.sampling import Sampling, drawn, uniform_numbers
from gridatlas_reproduce.kv.selection import Budget, select
from gridatlas_reproduce.kv.slots import (
    Reading,
    RowView,
    SlotCache,
    compiled_forward,
    slot_attention,
)
from gridatlas_reproduce.kv.tasks import Answer, Prefix, Prefixes, Task

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(slots=True)
class _Row:
    """What a row of the batch is doing; without a cell it is a prefix."""

    task: Task
    number: int
    sample: Sample
    uniform: Tensor
    seen: int
    prompt: int
    thought: bool
    cell: Hashable = None
    budget: Budget | None = None
    drawn_before: int = 0
    began: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _Fork:
    """A prefix that was decoded, and the cells that don't go on from it yet."""

    task: Task
    number: int
    sample: Sample
    uniform: Tensor
    state: State
    scores: Tensor
    left: deque[tuple[Hashable, Budget]]


class SlotDecoder:
    """The batch.

    Attributes:
        passes: Forward passes of the whole batch.
        prefills: Those of prompts.
        drawn: Tokens that were drawn.
    """

    def __init__(
        self,
        model: Any,
        rows: int,
        slots: int,
        sampling: Sampling,
        ends: Ends,
        *,
        reading: Reading = "grouped",
        prefixes: Prefixes | None = None,
        ahead: int | None = None,
        compiled: bool = False,
    ) -> None:
        import torch

        self.model, self.sampling, self.ends, self.reading = model, sampling, ends, reading
        self.prefixes = prefixes or Prefixes()
        self.device = next(model.parameters()).device
        self.cache = SlotCache(model.config, rows, slots, model.dtype, self.device)
        self.forward = compiled_forward(model, self.cache) if compiled else model.model
        self.ranking: Ranking | None = None
        self.rows: list[_Row | None] = [None] * rows
        self.protected = torch.zeros(rows, slots, dtype=torch.bool, device=self.device)
        self.logits = torch.zeros(rows, model.config.vocab_size, device=self.device)
        self.tokens = [0] * rows
        self.pending: set[int] = set()
        self.ahead = ahead
        self.passes = self.prefills = self.drawn = 0
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
                row, state = self._begun.popleft()
                row.began, row.drawn_before = time.monotonic(), self.drawn
                self._put(number, row, state)

    def _may_begin(self) -> bool:
        """Prefixes that part are limited: each that is done waits in memory for its cells."""
        rows = [row for row in self.rows if row is not None and row.cell is None]
        parting = [len(row.task.cells) for row in rows if _parts(row.task)]
        if self.ahead is not None:
            return len(parting) < self.ahead
        number = len(self.rows)
        return len(parting) < max(number // 4, number // max(parting, default=1), 1)

    def _begin(self, task: Task) -> Iterator[Answer]:
        """Prefill a prompt, or what was decoded of its answers before."""
        stored = [self.prefixes.find(task.key, number) for number in range(len(task.seeds))]
        states: list[State] = []
        if not all(stored):
            self.prefills += 1
            scorer = task.scorer(task.seeds)
            states = prefilled(self.model, task.prompt, scorer, self.ends, len(task.seeds))
        for number, prefix in enumerate(stored):
            if prefix is None:
                row = self._row(task, number, states[number], Sample(peak=len(task.prompt)))
                if self._is_full(task, len(task.prompt)):
                    self._fork(row, states[number])
                else:
                    self._begun.append((row, states[number]))
                continue
            sample = Sample(tokens=list(prefix.tokens), prefix=prefix.id, refilled=True)
            sample.peak = len(task.prompt) + len(prefix.tokens) - prefix.ended
            if prefix.ended:
                sample.finish = "stop" if prefix.tokens[-1] in self.ends.stop else "length"
                yield from self._in_all_cells(task, number, sample)
            else:
                self.prefills += 2
                scorer = task.scorer(task.seeds[number : number + 1])
                state = refilled(self.model, task.prompt, prefix.tokens, scorer, self.ends)
                self._fork(self._row(task, number, state, sample), state)

    def _row(self, task: Task, number: int, state: State, sample: Sample) -> _Row:
        uniform = uniform_numbers([task.seeds[number]], self.sampling.max_new_tokens)[0]
        seen, prompt, thought = state.seen, state.prompt, state.thought
        row = _Row(task, number, sample, uniform, seen, prompt, thought, drawn_before=self.drawn)
        if len(task.cells) == 1 and _parts(task):
            [(row.cell, row.budget)] = task.cells
        return row

    def _is_full(self, task: Task, length: int) -> bool:
        """Whether a prefix has reached the length at which its cells part."""
        return any(budget is not None and length >= budget.trigger for _, budget in task.cells)

    def _put(self, number: int, row: _Row, state: State) -> None:
        """A sample comes into an idle row."""
        if self.ranking is None:
            self.ranking = new_ranking(state.scorer, self.cache)
        self.cache.fill(number, state.keys, state.values, state.positions)
        length = state.positions.shape[0]
        self.protected[number, :length] = state.protected.to(self.device)
        self.ranking.take(number, state.scorer, state.seen)
        self.logits[number] = state.logits.to(self.device)
        self.rows[number] = row
        self.pending.add(number)

    def _start_tail(self, number: int) -> None:
        """The first cell that waits goes on from its prefix, pruned to its budget."""
        fork = self._forks[0]
        cell, budget = fork.left.popleft()
        if not fork.left:
            self._forks.popleft()
        state = fork.state
        question = state.positions < state.prompt
        index = select(fork.scores, state.protected[None], question[None], budget)
        pruned = state.selected(index)
        sample = replace(
            fork.sample,
            tokens=list(fork.sample.tokens),
            pruned_at=[len(fork.sample.tokens)],
            prunes=1,
        )
        row = _Row(
            fork.task,
            fork.number,
            sample,
            fork.uniform,
            state.seen,
            state.prompt,
            state.thought,
            cell,
            budget,
            drawn_before=self.drawn,
        )
        self._put(number, row, pruned)

    # --- rows go on -------------------------------------------------------------------------------

    def _draw(self) -> Iterator[Answer]:
        """A token for each row that has logits; rows that end become idle."""
        import torch

        uniform = torch.zeros(len(self.rows), dtype=torch.float64)
        for number in self.pending:
            row = self.rows[number]
            assert row is not None
            uniform[number] = row.uniform[len(row.sample.tokens)]
        tokens = drawn(self.logits, uniform, self.sampling).tolist()
        self.drawn += len(self.pending)
        for number in sorted(self.pending):
            row = self.rows[number]
            assert row is not None
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

        assert self.ranking is not None
        active = [number for number, row in enumerate(self.rows) if row is not None]
        seen = [0 if row is None else row.seen for row in self.rows]
        mask = self.cache.begin(seen)
        for number in active:
            row = self.rows[number]
            assert row is not None
            row.thought = row.thought or self.tokens[number] == self.ends.thought
        thoughts = [row is not None and row.thought for row in self.rows]
        self.protected[self.cache.every, self.cache.at] = torch.tensor(thoughts).to(self.device)
        with slot_attention(self.model, self.reading), self.ranking.hooks(self.model):
            hidden = self.forward(
                input_ids=torch.tensor(self.tokens, device=self.device)[:, None],
                attention_mask=mask,
                position_ids=self.cache.own,
                cache_position=self.cache.own[0],
                past_key_values=self.cache,
                use_cache=True,
                slot_cache=self.cache,
            ).last_hidden_state
        self.ranking.observe(hidden)
        self.logits = self.model.lm_head(hidden)[:, -1].float()
        self.cache.end(active)
        self.pending = set(active)
        self.passes += 1

    def _look(self, number: int, row: _Row) -> None:
        """After a pass: count, and prune or fork a row that has reached its trigger."""
        row.seen += 1
        length = self.cache.lengths[number]
        row.sample.peak = max(row.sample.peak, length)
        if row.cell is None:
            if self._is_full(row.task, length):
                self._fork(row, self._state(number, row))
                self._leave(number, row)
        elif row.budget is not None and length >= row.budget.trigger:
            self._prune(number, row)

    def _prune(self, number: int, row: _Row) -> None:
        """Only what the budget leaves of a row stays in its slots."""
        assert self.ranking is not None
        assert row.budget is not None
        if row.sample.prefix is None:
            self._keep_prefix(row)
        length = self.cache.lengths[number]
        positions = self.cache.positions[number, :length][None]
        scorer = self.ranking.give(number, row.seen)
        scores = scorer.scores(RowView(self.cache.keys[:, number, :length]), positions)
        protected = self.protected[number : number + 1, :length]
        index = select(scores, protected, positions < row.prompt, row.budget)
        scorer.keep(index)
        self.protected[number, : index.shape[1]] = protected[0, index[0]]
        self.cache.compact(number, index[0])
        self.ranking.take(number, scorer, row.seen)
        row.sample.prunes += 1
        row.sample.pruned_at.append(len(row.sample.tokens))

    # --- rows leave -------------------------------------------------------------------------------

    def _state(self, number: int, row: _Row) -> State:
        """A copy of all that a row holds."""
        assert self.ranking is not None
        keys, values, positions = self.cache.taken(number)
        protected = self.protected[number, : positions.shape[0]].clone()
        scorer = self.ranking.give(number, row.seen)
        logits = self.logits[number].clone()
        return State(
            keys, values, positions, protected, row.thought, row.seen, row.prompt, scorer, logits
        )

    def _fork(self, row: _Row, state: State) -> None:
        """The cells of a prefix wait for rows; it waits in the RAM, scored once for all of them."""
        self._count(row)
        if not row.sample.refilled:
            self._keep_prefix(row)
        scores = state.scorer.scores(RowView(state.keys), state.positions[None])
        left = deque((cell, budget) for cell, budget in row.task.cells if budget is not None)
        self._forks.append(
            _Fork(row.task, row.number, row.sample, row.uniform, state.in_ram(), scores.cpu(), left)
        )

    def _ended(self, number: int, row: _Row) -> Iterator[Answer]:
        self._leave(number, row)
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

    def _leave(self, number: int, row: _Row) -> None:
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
