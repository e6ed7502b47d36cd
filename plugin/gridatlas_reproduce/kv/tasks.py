"""What a batch of slots is asked, what it answers, and the beginnings that cells share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

from gridatlas_reproduce.kv.selection import Budget


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
    """Prefixes that were decoded before: here none; see `prefixes.StoredPrefixes`."""

    def find(self, key: str, number: int) -> Prefix | None:
        """That of a sample, where it was decoded before."""
        return None

    def keep(self, key: str, number: int, prefix: Prefix) -> None:
        """Note it, so that all cells have the same, whenever they are decoded."""
