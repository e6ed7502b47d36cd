"""What the user says of the columns, and what is found of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gridatlas_import.metric import MetricAsked
from gridatlas_import.numerals import DecimalMark

ROWS = "rows"
"""In the place of a column of repeats: several rows of a cell are repeats, without a number."""


@dataclass(frozen=True, slots=True)
class SpreadAsked:
    """What the user says of what is printed beside values.

    Attributes:
        column: Its column; empty for none, None where it isn't said.
        kind: `sd`, `se` or `ci95`; None where it isn't said.
        n: How many repeats a value is the mean of; None where it isn't said.
    """

    column: str | None = None
    kind: str | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user says; what isn't said is proposed."""

    x: str | None = None
    y: str | None = None
    metric: str | None = None
    facets: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    keep: tuple[tuple[str, str], ...] = ()
    counts: Mapping[str, str] = field(default_factory=dict)
    mark: DecimalMark | None = None
    fill: str | None = None
    about: MetricAsked = field(default_factory=MetricAsked)
    spread: SpreadAsked = field(default_factory=SpreadAsked)

    @property
    def complete(self) -> bool:
        """Whether nothing that matters is left to guess."""
        return None not in (self.x, self.y, self.metric)


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is, what was seen in it, and why it is that."""

    role: str
    column: str
    seen: str
    why: str
