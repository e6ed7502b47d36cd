"""What a batch of slots is asked, what it answers, and the beginnings that cells share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from gridatlas_reproduce.kv.decode import Sample
from gridatlas_reproduce.kv.scorers import Scorer
from gridatlas_reproduce.kv.selection import Budget


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, to be answered in some cells.

    Attributes:
        key: Of the prompt.
        seeds: One per sample; the cells share them.
        cells: With their budgets; with None nothing is ever pruned.
        scorer: Makes the scorer of samples by their numbers.
    """

    key: str
    prompt: tuple[int, ...]
    seeds: tuple[int, ...]
    cells: tuple[tuple[Hashable, Budget | None], ...]
    scorer: Callable[[Sequence[int]], Scorer]


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
