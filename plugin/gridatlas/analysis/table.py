"""A study's observations as columns, and its factors with their roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gridatlas.model.schema import Role

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Bools = NDArray[np.bool_]
SAYS_NOTHING = re.compile(r"[\d\W_]*|yes|no|true|false|on|off|none", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Factor:
    """A varied quantity.

    Attributes:
        label: In lower case, as sentences name it: `learning rate`.
        levels: What its levels are called.
        role: What it means for tests.
        numbers: Of each level; None where levels are names.
        baseline: The level that the others are compared with.
        aggregates: Levels that sum up others. They are no observations.
        in_text: What some levels are called within sentences, by their names.
    """

    label: str
    levels: tuple[str, ...]
    role: Role
    numbers: tuple[float, ...] | None = None
    baseline: int | None = None
    aggregates: frozenset[int] = frozenset()
    in_text: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def spoken(self) -> tuple[str, ...]:
        """Its levels within sentences; with the factor, if alone they would say nothing."""
        if any(SAYS_NOTHING.fullmatch(level) for level in self.levels):
            return tuple(self.in_text.get(level, f"{self.label} {level}") for level in self.levels)
        return tuple(self.in_text.get(level, level) for level in self.levels)


@dataclass(frozen=True, slots=True)
class Metric:
    """What was measured.

    Attributes:
        better: None where nobody knows: means and ranks are then as of `higher`, sentences neutral.
        scale: `log` or `linear` where the study says so.
        decimals: As printed; None where values are floats of a program.
        high: The upper end of its range.
        alike: Differences within this don't matter; in the metric's unit.
    """

    name: str
    unit: str = ""
    better: Literal["higher", "lower"] | None = "higher"
    scale: Literal["log", "linear"] | None = None
    decimals: int | None = None
    high: float | None = None
    alike: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Observations in long form: all columns have one length, of at most some millions.

    Attributes:
        factors: By name, in the order in which sentences name them.
        codes: By name, the level of each observation; a place in `Factor.levels`.
        value: In the metric's unit; nan where a run failed or nothing is known.
        n: Trials of each observation; 0 or nan where unknown.
        k: Trials that succeeded.
        failed: Observations that are known to have failed; they count as absent.
        cells_are_runs: Whether each cell is a training run of its own.
        items: How many questions the counts of each level of the block factor are about, by its
            label; of a study without blocks by an empty label.
    """

    factors: Mapping[str, Factor]
    codes: Mapping[str, Codes]
    value: Floats
    metric: Metric
    n: Floats | None = None
    k: Floats | None = None
    failed: Bools | None = None
    cells_are_runs: bool = False
    items: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        columns = {"n": self.n, "k": self.k, "failed": self.failed, **self.codes}
        for name, column in columns.items():
            if column is not None and len(column) != len(self.value):
                raise ValueError(
                    f"the column {name} has {len(column)} rows, value has {len(self.value)}"
                )
        for name, factor in self.factors.items():
            codes = self.codes[name]
            if len(codes) and not 0 <= codes.min() <= codes.max() < len(factor.levels):
                raise ValueError(f"{name} has codes outside its {len(factor.levels)} levels")
