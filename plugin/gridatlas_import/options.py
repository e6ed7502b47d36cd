"""What the user says of an import, and what is found of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gridatlas.model.directions import Better
from gridatlas_import.numerals import DecimalMark

ROWS = "rows"
"""In the place of a column of repeats: several rows of a cell are repeats, without a number."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user says; what isn't said (None, or empty) is proposed.

    Attributes:
        y: Empty for no second axis.
        labels: What pages call columns.
        counts: Columns with n, successes and standard errors; an empty name for none.
        spread: The column of what is printed beside values; empty for none.
        spread_kind: `sd`, `se` or `ci95`.
        spread_n: How many repeats a value is the mean of.
        wide: Whether headings are levels.
        pattern: Names of the parts of the files' paths.
        fill: Level for rows without one.
        link: Address of each cell's log, with `{file}`.
        dry: Whether only to show what would be written.
        yes: Whether the proposal is accepted.
        why: Whether to show what speaks for the proposal, and for the next best.
        as_json: Whether to show the proposal as JSON.
    """

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
    unit: str | None = None
    range: tuple[Decimal, Decimal] | None = None
    better: Better | None = None
    decimals: int | None = None
    labels: tuple[tuple[str, str], ...] = ()
    spread: str | None = None
    spread_kind: str | None = None
    spread_n: int | None = None
    wide: bool | None = None
    encoding: str | None = None
    table: int | None = None
    pattern: str | None = None
    fill: str | None = None
    study: str | None = None
    title: str | None = None
    url: str = ""
    link: str = ""
    site: bool | None = None
    skip: bool = False
    replace: bool = False
    dry: bool = False
    yes: bool = False
    why: bool = False
    as_json: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing that matters is left to guess."""
        return None not in (self.x, self.y, self.metric)


NOTHING = ImportOptions()
"""Of a user who says nothing."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is, what was seen in it, and why it is that."""

    role: str
    column: str
    seen: str
    why: str
