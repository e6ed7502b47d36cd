"""The form of `study.yml` in data format 1, as types."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

FORMAT = 1
Role = Literal["choice", "condition", "block", "replicate", "item", "progress"]
"""What a factor means for tests."""
REPEATING: tuple[Role, ...] = ("replicate", "item")
"""Roles of columns that may tell the rows of a cell apart."""
REPEAT = "repeat"
"""Rows of a cell that no column tells apart: their order means nothing."""
PAGE_FILES = ("index.html", "index.md", "readme.md")
"""Names of the files that pages are: no folder of pages can have them."""
_FILES = ("cells.csv", "changes", "checks", "croissant.json", "data.zip", "history", "reproduction")
RESERVED_FACETS = (*_FILES, *PAGE_FILES)
"""Names of pages and files beside the pages of facets."""
LONGEST_NAME = 1000
"""Characters of what is drawn or stands in a heading; drawings cut it at some fifty."""
MOST_TRIALS = 10**9
"""Trials of a cell, and items and samples that they are of; more is taken for a mistake."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def level_key(value: object) -> str:
    """The text by which a level is known: numbers by their value, so 0.10 = 0.1 and 500.0 = 500.

    Raises:
        ValueError: For a value that is neither text nor a number, or is empty.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal | float):
        raise ValueError("a level is a text or a number")
    text = str(value).strip()
    if not text:
        raise ValueError("a level is not empty")
    return _text_key(text)


@lru_cache(maxsize=2**16)
def _text_key(text: str) -> str:
    """A level stands in many rows, and is then one text for all of them."""
    return format_number(Decimal(text)) if _NUMBER.fullmatch(text) else text


def format_number(number: Decimal) -> str:
    """A decimal without exponent and without trailing zeros: 0.1, 500, -3."""
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


def level_number(key: str) -> Decimal | None:
    """The number that a level's key stands for, or None for a level that is a text."""
    return Decimal(key) if _NUMBER.fullmatch(key) else None


_SCALAR = {"type": ["string", "number"]}
LevelKey = Annotated[
    str, BeforeValidator(level_key), Field(max_length=LONGEST_NAME), WithJsonSchema(_SCALAR)
]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100)]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Unit = Annotated[str, Field(max_length=LONGEST_NAME)]
Number = Annotated[Decimal, Field(allow_inf_nan=False), WithJsonSchema({"type": "number"})]
Positive = Annotated[
    Decimal,
    Field(gt=0, allow_inf_nan=False),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
Range = Annotated[
    tuple[Number, Number],
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
]


class Entry(BaseModel):
    """Common to all parts of the file: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


_LICENSE = r"https?://\S+|[A-Za-z0-9][A-Za-z0-9.+-]*"


def _license(text: str) -> str:
    if not re.fullmatch(_LICENSE, text):
        raise ValueError("an SPDX identifier, such as CC-BY-4.0, or an address with https://")
    return text


License = Annotated[
    str, AfterValidator(_license), WithJsonSchema({"type": "string", "pattern": f"^({_LICENSE})$"})
]


class Source(Entry):
    """Where the study was published."""

    title: Text
    """Title of the paper, report or figure."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Begins with `https://` or `http://`."""
    authors: tuple[Text, ...] = ()
    """Names of people: the creators in the [metadata](#metadata)."""
    year: int | None = Field(default=None, ge=1600, le=2200)
    """When it was published."""
    bibtex: str | None = None
    """A BibTeX entry to copy; the default comes from the other keys."""
    note: str | None = None
    """What readers must know about the source."""


class SeeAlso(Entry):
    """Another study of the same folder that readers should know."""

    study: Identifier
    """The id of the other study: the name of its folder."""
    text: Name
    """The text of the link."""
    same_runs: bool = False
    """Whether it has another metric of the same runs, named in `text`. Pages then switch to it."""


class Metric(Entry):
    """What was measured in each cell."""

    name: Name
    """The name on pages and pictures."""
    description: str = ""
    """What it is, in a few words."""
    column: Name = "value"
    """The column of the values."""
    unit: Unit = ""
    """The unit; with `%`, differences are in points. Pages give it [a prefix that
    fits](statistics.md#rounding).
    """
    range: Range | None = None
    """Lowest and highest possible value."""
    better: Literal["higher", "lower"] | None = None
    """Without it, pages mark no best, and a name such as Loss or Latency is a problem."""
    scale: Literal["log", "linear"] | None = None
    """Whether answers compare ratios (`log`) or differences; the default depends on the values."""
    decimals: int | None = Field(default=None, ge=0, le=12)
    """Decimals in pictures; the default is the most that any value has, up to 4, or as many as give
    small values four digits.
    """

    @property
    def falls(self) -> bool:
        """Whether lower values are better."""
        return self.better == "lower"


class SpreadEntry(Entry):
    """What is printed beside each value, after a ± or in a column of its own."""

    column: Name
    """The column of the spread, in the unit of the metric."""
    kind: Literal["sd", "se", "ci95"] | None = None
    """Standard deviation of the repeats, standard error of the value, or half of its 95 %
    interval. Without it, pages only show the spread.
    """
    n: int | None = Field(default=None, ge=2, le=MOST_TRIALS)
    """How many repeats each value is the mean of; required for intervals from `sd`."""


class Aggregate(Entry):
    """A level that sums up the other levels of its facet."""

    by: Literal["mean"]
    """How to compute it from the other levels of its facet."""


class LevelEntry(Entry):
    """One level of a factor."""

    id: LevelKey
    """The level in the tables."""
    label: Name | None = None
    """The name on pages; the default is the id."""
    in_text: Name | None = None
    """What it is called within a sentence; the default is the label."""
    description: str = ""
    """What it is, in a few words."""
    items: int | None = Field(default=None, ge=1, le=MOST_TRIALS)
    """Number of items, such as questions; see [trials](#trials)."""
    aggregate: Aggregate | None = None
    """Makes this level an [aggregate](#aggregates) of the others."""
    group: Name | None = None
    """Its subject, by which [leaderboards](#leaderboards) order columns."""
    former: tuple[LevelKey, ...] = ()
    """Ids that it had before; their [addresses](#renamed-studies-and-levels) redirect."""


def _setting(value: Any) -> Any:
    return value if isinstance(value, dict) else {"": {"*": level_key(value)}}


Setting = Annotated[
    dict[str, dict[LevelKey, LevelKey]],
    BeforeValidator(
        _setting, json_schema_input_type=LevelKey | dict[str, dict[LevelKey, LevelKey]]
    ),
]
"""What a run must have, by factor and level; the factor is empty where it is the same for all."""


def _level_entry(value: Any) -> Any:
    return value if isinstance(value, dict) else {"id": value}


LevelOrEntry = Annotated[
    LevelEntry, BeforeValidator(_level_entry, json_schema_input_type=LevelKey | LevelEntry)
]


class FactorEntry(Entry):
    """One varied quantity; without `levels` they are taken from the data."""

    label: Name | None = None
    """The name on pages; the default is the key, with spaces for `_`."""
    description: str = ""
    """What it is, in a few words."""
    unit: Unit = ""
    """The unit of its levels."""
    levels: tuple[LevelOrEntry, ...] | None = Field(default=None, min_length=1)
    """The levels in their order; the default is those in the tables."""
    direction: Literal["up", "down"] = "up"
    """For y: the first level at the bottom (`up`) or at the top (`down`)."""


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


class Trials(Entry):
    """How many trials a cell counts: the items of the named facet's level, times `samples`."""

    items: Text
    """The facet whose levels have `items`."""
    samples: int = Field(default=1, ge=1, le=MOST_TRIALS)
    """Samples per item."""


class StatedRange(Entry):
    """The ends of a colour bar as a reading states them, for the grids at these facet levels."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, LevelKey]

    range: Range
    """Its lower and its upper end; the other keys are facets, each with its level."""


class ReadingEntry(Entry):
    """One source's account of the cells."""

    id: Identifier
    """The id of the reading."""
    file: Text
    """Path in the folder of the study: `.csv`, or `.parquet` with the extra `parquet`."""
    text: Text | None = None
    """Path of the [document](#documents) that the values were typed from."""
    label: Name | None = None
    """The name on pages, such as the figure and its reader; the default is the id."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """The address of the source."""
    link: str | None = Field(default=None, pattern=r"^https?://[^\s{}]*\{file\}[^\s{}]*$")
    """The address of a cell's log. `{file}` is the file at the start of its `place`."""
    note: str | None = None
    """What readers must know about it."""
    derived_from: Identifier | None = None
    """The reading that it was made from: their agreement proves nothing."""
    machine_made: bool = False
    """Whether a program, not the paper, made the statements about the figure."""
    approximate: bool = False
    """Whether its values are estimates, as from colours, which contradict no printed values."""
    stated_range: tuple[StatedRange, ...] = ()
    """Stated ends of colour bars: levels of facets, and `range` with two numbers."""


class AgreementEntry(Entry):
    """How many cells two readings agree in, as it was when somebody looked."""

    readings: tuple[Identifier, Identifier]
    """The two readings."""
    same: int = Field(ge=0, le=MOST_TRIALS)
    """In how many cells both have the same number."""
    of: int = Field(ge=0, le=MOST_TRIALS)
    """In how many cells both have a value."""


class ClaimEntry(Entry):
    """A sentence about the results."""

    text: Text
    """The sentence."""
    check: Text | None = None
    """An expression in the [language of claims](claims.md) that says the same."""
    reads: Text | None = None
    """The weakest fair meaning of a vague sentence, which `check` expresses."""
    source: Identifier | None = None
    """The reading that the sentence is about, where it is evaluated as well."""
    holds: Literal[True, False, "unknown"] = True
    """The expected result; `unknown` if a cell is absent."""
    not_checkable: Text | None = None
    """Instead of `check`: why no expression can check the sentence."""
    about: str | None = Field(default=None, pattern=r"^(axis \S+|setting|pair|interaction|level)$")
    """The [question](claims.md#what-a-sentence-is-about) of a sentence that says more than its
    numbers: `axis NAME`, `setting`, `pair`, `interaction` or `level`."""


class AcceptedEntry(Entry):
    """A finding that is known: its kind, the cells it is about, and the reason."""

    finding: Identifier
    """The kind: {findings}."""
    at: dict[
        str,
        Annotated[
            tuple[LevelKey, ...],
            BeforeValidator(_as_tuple, json_schema_input_type=LevelKey | tuple[LevelKey, ...]),
        ],
    ] = Field(default_factory=dict)
    """Levels by factor: accepts the findings whose cells are all there; the default is everywhere.
    """
    because: Text
    """The reason."""


CHANGES = ("problems", "checks", "answers", "meaning", "removed", "claims")
"""Kinds of changes that a review stops on, the worst first."""


def _date(text: str) -> str:
    date.fromisoformat(text)
    return text


class HistoryEntry(Entry):
    """A change on purpose, and what a review then lets pass in the study."""

    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_date)]
    """The day of the change, such as `2026-11-23`."""
    text: Text
    """What changed, and why."""
    covers: tuple[Literal["answers", "meaning", "removed", "claims"], ...] = ()
    """The kinds of changes that it explains: see [history](review.md#explain-a-change)."""


class RegionEntry(Entry):
    """An outline drawn on every grid: the union of boxes, each the levels it covers on x and y."""

    label: Name
    """The name of the region."""
    boxes: tuple[dict[str, tuple[LevelKey, ...]], ...] = Field(min_length=1)
    """The levels of x and of y in each box; the region is all boxes together."""


PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A factor's name in `args`, where the cell's level of it is put in."""
_PART = "[A-Za-z0-9_][A-Za-z0-9_.-]*"
_SCRIPT = rf"{_PART}(/{_PART})*\.py"


def _script(path: str) -> str:
    if not re.fullmatch(_SCRIPT, path):
        raise ValueError(
            "a path below the repository that ends with .py, of letters, digits, '_', '.', '-', '/'"
        )
    return path


class ReproduceEntry(Entry):
    """How a cell is measured again."""

    script: Annotated[
        str, AfterValidator(_script), WithJsonSchema({"type": "string", "pattern": f"^{_SCRIPT}$"})
    ]
    """Path in the repository that ends with `.py`, of letters, digits, `_`, `.`, `-` and `/`,
    without `..`.
    """
    interpreter: Text = "python"
    """What runs the script: a command such as `uv run`."""
    args: Text
    """Its arguments, as for a shell, with `{name}` for the level of a factor; both axes are
    required.
    """
    grid_args: Text | None = None
    """Likewise, with the facets alone, to measure a whole grid; the default is a loop over its
    cells.
    """
    before: dict[str, Text] = Field(default_factory=dict)
    """The commands that come first, each after what it does and takes."""
    margin: Positive | None = None
    """The largest difference that doesn't matter, in the unit of the metric: less than half of its
    range. Without it, no cell agrees.
    """
    settings: dict[str, Setting] = Field(default_factory=dict)
    """What a run must have, such as `sampling.top_k`, `model.id` and `data.id`. By the level of a
    factor, it is `model.id: {model: {small: org/small-1b}}`.
    """
    deviations: dict[str, Text] = Field(default_factory=dict)
    """In what the script isn't as published, by names of yours."""


class StudyFile(Entry):
    """A whole `study.yml`."""

    format: Literal[1]
    """The version of this format."""
    title: Name
    """The name of the study on pages."""
    summary: str = ""
    """A sentence or two about what you varied and measured."""
    source: Source | None = None
    """The publication."""
    see_also: tuple[SeeAlso, ...] = ()
    """Other studies to link to."""
    license: License | None = None
    """The licence of the data: an [SPDX identifier](https://spdx.org/licenses/), such as
    `CC-BY-4.0`, or an address.
    """
    authors: tuple[Text, ...] = ()
    """Who publishes the study; the default is the authors in the repository's `CITATION.cff`."""
    former: tuple[Identifier, ...] = ()
    """Earlier names of the folder, whose addresses then [redirect](#renamed-studies-and-levels)."""
    metric: Metric
    """What was measured."""
    spread: SpreadEntry | None = None
    """The number after a [±](#spread)."""
    x: Name
    """The column of the horizontal axis."""
    y: Name | None = None
    """The column of the vertical axis; the default is [one axis](#one-axis)."""
    facets: tuple[Identifier, ...] = ()
    """The columns of other varied quantities. Not names of pages and files, such as
    `checks` or `history`.
    """
    baseline: dict[str, LevelKey] = Field(default_factory=dict)
    """By facet, the level to [compare](#comparisons) the others with."""
    roles: dict[str, Role] = Field(default_factory=dict)
    """What factors [mean](#roles), by column."""
    compare: tuple[str, ...] = ()
    """Old key: now `roles: {model: choice}`."""
    replicates: Text | None = None
    """Old key: now `roles: {seed: replicate}`."""
    cells: Literal["runs"] | None = None
    """Each cell is a separate run, such as a training; see [answers](#answers)."""
    axes: Literal["settings", "conditions"] | None = None
    """Old key: now `choice` or `condition` in `roles`."""
    colour: Literal["evidence", "value"] = "evidence"
    """What [colours](#colours) show."""
    alike: Positive | None = None
    """The largest difference between two levels that doesn't matter, in the unit of the metric."""
    factors: dict[str, FactorEntry] = Field(default_factory=dict)
    """Names, units and levels of axes and facets, by column."""
    terms: dict[Name, Text] = Field(default_factory=dict)
    """Other words that pages [explain](#words), each with its meaning."""
    trials: Trials | None = None
    """How many trials a cell has."""
    repeats: Literal["mean"] | None = None
    """Old key: now `roles: {repeat: replicate}`."""
    readings: tuple[ReadingEntry, ...] = ()
    """The tables; the default is `cells.csv` alone."""
    reconcile: Literal["primary", "agreement", "median"] = "primary"
    """Which reading's [value is shown](#which-value-is-shown)."""
    agreement: tuple[AgreementEntry, ...] = ()
    """The expected [agreement](#pinned-agreement) of readings."""
    regions: tuple[RegionEntry, ...] = ()
    """Outlines drawn on each grid."""
    claims: tuple[ClaimEntry, ...] = ()
    """Sentences about the results, with expressions that check them."""
    accepted: tuple[AcceptedEntry, ...] = ()
    """Known findings of the checks."""
    history: tuple[HistoryEntry, ...] = ()
    """Changes on purpose, the newest first."""
    reproduce: ReproduceEntry | None = None
    """How to measure a cell again."""
