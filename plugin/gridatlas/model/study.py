"""What a checked study is, as frozen data: readings, factors, levels, grids and cells."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple

from gridatlas.model.schema import (
    AcceptedEntry,
    AgreementEntry,
    ClaimEntry,
    HistoryEntry,
    Metric,
    ReadingEntry,
    ReproduceEntry,
    Role,
    SeeAlso,
    Source,
    SpreadEntry,
    Trials,
)

if TYPE_CHECKING:
    from gridatlas.table.study_table import Repeats, StudyTable

State = Literal["ok", "missing", "failed", "oom", "disputed"]
STATES: tuple[State, ...] = ("ok", "missing", "failed", "oom", "disputed")
STATE_LABELS: Mapping[State, str] = {
    "ok": "measured",
    "missing": "missing",
    "failed": "run failed",
    "oom": "out of memory",
    "disputed": "disputed",
}

IMPORTED = "import-"
"""What the ids of runs begin with that `gridatlas import` read from logs."""

Levels = tuple[str, ...]
"""Level keys of the facets, in the order of `Study.facets`."""
Point = tuple[str, str]
"""Level keys of x and y."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a factor; `number` is set where the level is a number.

    Attributes:
        former: Keys that it had before.
        group: What it belongs with; empty without.
        in_text: What it is called within a sentence; empty without.
    """

    key: str
    label: str
    slug: str
    number: Decimal | None = None
    items: int | None = None
    aggregate: str | None = None
    group: str = ""
    in_text: str = ""
    description: str = ""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Factor:
    """A varied quantity with its levels, in the order in which they are shown."""

    id: str
    label: str
    unit: str
    levels: tuple[Level, ...]
    direction: Literal["up", "down"] = "up"
    description: str = ""
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places: dict[str, int] = {}
        for place, level in enumerate(self.levels):
            places.setdefault(level.key, place)
        object.__setattr__(self, "_places", places)

    @property
    def title(self) -> str:
        """Label with the unit: `Local window size (tokens)`."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def keys(self) -> KeysView[str]:
        """The keys of its levels, in their order."""
        return self._places.keys()

    def level(self, key: str) -> Level:
        """The level with this key; KeyError where there is none."""
        return self.levels[self._places[key]]

    def place(self, key: str) -> int:
        """Where the level with this key stands in `levels`; KeyError where there is none."""
        return self._places[key]


NO_AXIS = Factor("", "", "", (Level("", "", ""),))
"""Stands for y in a study with one axis: one level without a name."""


class Cell(NamedTuple):
    """One point of a grid. `None` and empty texts mean that something isn't known.

    Attributes:
        value: The metric in its unit, as printed, with trailing zeros.
        state: `ok` has a value, `disputed` may have one, the others have none.
        reading: Id of the reading; empty for a computed aggregate.
        n: Trials behind the value, 1 or more.
        successes: Trials that succeeded, from 0 to n.
        stderr: Standard error, in the unit.
        note: What readers must know.
        place: Where the value is in its source.
        run: Id of the run that measured it.
        line: Line (CSV) or row (Parquet) of the file, from 1.
        repeats: How many rows the value is the mean of.
        ends: The lowest and the highest value of these rows; `None` of a single row.
        spread: The number after ±, in the unit.
    """

    # A tuple, since a study may have a million.

    value: Decimal | None
    state: State
    reading: str = ""
    n: int | None = None
    successes: int | None = None
    stderr: Decimal | None = None
    note: str = ""
    place: str = ""
    run: str = ""
    line: int | None = None
    repeats: int = 1
    ends: tuple[Decimal, Decimal] | None = None
    spread: Decimal | None = None


MISSING = Cell(None, "missing")


@dataclass(frozen=True, slots=True)
class Reading:
    """All cells that one source gives.

    Attributes:
        outside: Cells at levels that the study doesn't have.
        measured: Whether runs measured it: each of its values names one.
        document: The text that its values were typed from; None where it names none.
        repeats: The rows that its values are means of; None where each cell has one.
    """

    id: str
    label: str
    entry: ReadingEntry
    table: StudyTable
    outside: tuple[tuple[tuple[tuple[str, str], ...], Cell], ...] = ()
    measured: bool = False
    document: str | None = None
    repeats: Repeats | None = None

    @property
    def cells(self) -> StudyTable:
        """The table, for `claims` and `assessment/answers` alone."""
        return self.table


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What a run gave in one cell, item by item.

    Attributes:
        samples: Graded samples per item.
        correct: Those that are right.
    """

    items: tuple[str, ...]
    samples: tuple[int, ...]
    correct: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """What a cell's graded samples have in common besides being right or wrong; all counts.

    Attributes:
        n: Graded samples.
        unanswered: Samples in which no answer was found.
        truncated: Samples that the limit ended.
        tokens: Of all samples together.
        prunes: Of all samples together; None where no cache is pruned.
    """

    n: int
    unanswered: int
    truncated: int
    tokens: int
    prunes: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of a cell's units of work a run has done, and what its samples were like."""

    done: int
    of: int
    answers: Answers | None = None

    @property
    def complete(self) -> bool:
        """Whether all are done."""
        return self.done == self.of


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of an evaluation script, as `runs/<run>.json` has it.

    Attributes:
        started: UTC, ISO 8601.
        stderr_over: What standard errors are taken over: `items`, or `units`, where each unit is a
            sample of its own, such as a training seed.
        commit: Of the code; None where it isn't known, as is `dirty`, whether it was changed since.
        gpu: As the manifest has it; None without one, empty where that isn't known.
        limit: Number of items of a mere try; None for a whole run.
        details: What else the manifest has, in its order: (name, value) as texts.
        cells: How far each cell is.
        outcomes: Of complete cells, where the run has them.
    """

    id: str
    script: str
    started: str
    stderr_over: Literal["items", "units"]
    arguments: tuple[str, ...]
    commit: str | None
    dirty: bool | None
    packages: Mapping[str, str]
    gpu: Mapping[str, object] | None
    limit: int | None
    details: tuple[tuple[str, str], ...]
    cells: Mapping[tuple[Levels, Point], Progress]
    outcomes: Mapping[tuple[Levels, Point], Outcomes]


@dataclass(frozen=True, slots=True)
class Region:
    """An outline on the grids: the points that it encloses."""

    label: str
    points: frozenset[Point]


@dataclass(frozen=True, slots=True)
class Study:
    """One experiment, checked: every reading's cells lie on its factors.

    Attributes:
        runs: By their ids.
        compare: Facets whose levels are compared with each other.
        roles: What each factor means for tests, and each column that tells rows of a cell apart.
        cells: Whether each cell is a run of its own.
        colour: What the colours of heatmaps beside each other stand for.
        alike: The largest difference of two levels that doesn't matter, in the metric's unit.
        spread: What cells' `spread` is; None where nothing is printed beside values.
        authors: Who publishes it; empty where it doesn't say.
        terms: Words that pages explain, with their meanings.
        license: Of the data: an SPDX identifier or an address; empty where unknown.
        former: Names that it had before.
        see_also: Other studies that its page links to.
        accounts: The readings that shown values come from: those that no run measured; in a study
            that has only measured ones, these.
        reruns: The measured readings beside published ones: compared with them, never shown in
            their place.
    """

    id: str
    title: str
    summary: str
    source: Source | None
    metric: Metric
    x: Factor
    y: Factor
    facets: tuple[Factor, ...]
    baseline: Mapping[str, str]
    compare: tuple[str, ...]
    trials: Trials | None
    readings: tuple[Reading, ...]
    reconcile: Literal["primary", "agreement", "median"]
    regions: tuple[Region, ...] = ()
    folder: str = ""
    accepted: tuple[AcceptedEntry, ...] = ()
    accepted_lines: tuple[int, ...] = ()
    claims: tuple[ClaimEntry, ...] = ()
    claim_lines: tuple[int, ...] = ()
    reproduce: ReproduceEntry | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    authors: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    license: str = ""
    roles: Mapping[str, Role] = field(default_factory=dict)
    cells: Literal["runs"] | None = None
    colour: Literal["evidence", "value"] = "evidence"
    alike: Decimal | None = None
    spread: SpreadEntry | None = None
    former: tuple[str, ...] = ()
    former_lines: tuple[int, ...] = ()
    agreement: tuple[AgreementEntry, ...] = ()
    agreement_lines: tuple[int, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    see_also: tuple[SeeAlso, ...] = ()
    see_also_lines: tuple[int, ...] = ()
    accounts: tuple[Reading, ...] = field(init=False, repr=False, compare=False)
    reruns: tuple[Reading, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Looked at for every cell.
        published = tuple(reading for reading in self.readings if not reading.measured)
        reruns = tuple(reading for reading in self.readings if reading.measured)
        object.__setattr__(self, "accounts", published or self.readings)
        object.__setattr__(self, "reruns", reruns if published else ())

    @property
    def second(self) -> Factor | None:
        """The y axis; None in a study with one axis."""
        return self.y if self.y.id else None

    @property
    def varied(self) -> tuple[Factor, ...]:
        """The axes: x and y, or x alone."""
        return (self.x, self.y) if self.y.id else (self.x,)

    @property
    def replicates(self) -> str:
        """Id of the facet whose levels repeat the experiment and have a mean; empty without one."""
        return next(
            (
                facet.id
                for facet in self.facets
                if self.roles.get(facet.id) == "replicate"
                and any(level.aggregate for level in facet.levels)
            ),
            "",
        )

    @property
    def axes_are_conditions(self) -> bool:
        """Whether nobody chooses among the levels of its axes, such as difficulty."""
        return not any(self.roles.get(axis.id, "choice") == "choice" for axis in self.varied)

    @property
    def extreme(self) -> str:
        """What the best value is called: the highest, where none is the best."""
        return "best" if self.has_best else "lowest" if self.metric.falls else "highest"

    @property
    def has_best(self) -> bool:
        """Whether a cell can be the best: conditions aren't chosen, and a direction is given."""
        return not self.axes_are_conditions and self.metric.better is not None

    def facet(self, facet_id: str) -> Factor:
        """The facet with this id; KeyError where there is none."""
        for facet in self.facets:
            if facet.id == facet_id:
                return facet
        raise KeyError(facet_id)

    def levels_of(self, levels: Levels) -> tuple[Level, ...]:
        """The facet levels that the keys name."""
        return tuple(facet.level(key) for facet, key in zip(self.facets, levels, strict=True))

    def in_order(self, combinations: Iterable[Levels]) -> list[Levels]:
        """Combinations of facet levels, in the order in which the study lists these."""
        return sorted(
            combinations,
            key=lambda levels: [
                facet.place(key) for facet, key in zip(self.facets, levels, strict=True)
            ],
        )

    def trials_at(self, levels: Levels) -> int | None:
        """N of a cell at these facet levels by `trials`; None where the items are unknown."""
        if self.trials is None:
            return None
        index = [facet.id for facet in self.facets].index(self.trials.items)
        items = self.facets[index].level(levels[index]).items
        return None if items is None else items * self.trials.samples


def point_slug(x: Level, y: Level) -> str:
    """The address of a cell within its grid: `<x>,<y>`, or `<x>` of a study with one axis."""
    return f"{x.slug},{y.slug}".removesuffix(",")


def renamed(studies: Iterable[Study]) -> dict[str, str]:
    """The ids of studies by the names that they had before."""
    return {former: study.id for study in studies for former in study.former}


def keyword(factor_id: str) -> str:
    """A factor's id as the name of an argument: `prompt-style` is written `prompt_style`."""
    name = "".join(c if c.isalnum() else "_" for c in factor_id)
    return f"_{name}" if name[:1].isdigit() else name


def keys_by_name(factors: Iterable[Factor]) -> dict[str, list[str]]:
    """The keys of factors' levels, by the factors' names as arguments."""
    return {keyword(factor.id): list(factor.keys) for factor in factors}


def inline(label: str) -> str:
    """A label within a sentence: lower case at its start, but not `R1` or `KV cache`."""
    return label[0].lower() + label[1:] if label[1:2].islower() else label


def cell_name(factors: Iterable[Factor | None], point: Point) -> str:
    """`ratio 0.1, local window size 500`."""
    return ", ".join(
        f"{inline(factor.label)} {factor.level(key).label}"
        for factor, key in zip(factors, point, strict=True)
        if factor is not None
    )
