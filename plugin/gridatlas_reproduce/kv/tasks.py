"""What a batch of slots is asked, what it answers, and the beginnings that cells share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from gridatlas_reproduce.kv.selection import Budget
from gridatlas_reproduce.runner.errors import readable
from gridatlas_reproduce.runner.files import compact, strict_json, write_atomic


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
