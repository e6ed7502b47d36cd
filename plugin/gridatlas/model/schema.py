"""The form of `study.yml` in data format 1, as types."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

FORMAT = 1
PAGE_FILES = ("index.html", "index.md", "readme.md")
"""Names of the files that pages are: no folder of pages can have them."""
RESERVED_FACETS = ("cells.csv", "changes", "checks", "croissant.json", "reproduction", *PAGE_FILES)
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
    if not isinstance(value, str) and (
        isinstance(value, bool) or not isinstance(value, int | Decimal | float)
    ):
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
    str,
    AfterValidator(_license),
    WithJsonSchema({"type": "string", "pattern": f"^({_LICENSE})$"}),
]


class Source(Entry):
    """Where the study was published."""

    title: Text
    """Title of the paper, report or figure."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Begins with `https://` or `http://`."""
    authors: tuple[Text, ...] = ()
    """Their names; people, whom the [metadata](#metadata) calls the creators."""
    year: int | None = Field(default=None, ge=1600, le=2200)
    """When it was published."""
    bibtex: str | None = None
    """A BibTeX entry, which pages offer as it is. Without one they make an entry of the other
    keys.
    """
    note: str | None = None
    """What a reader must know about the source."""


class SeeAlso(Entry):
    """Another study of the same folder that readers should know."""

    study: Identifier
    """Its id: the name of its folder."""
    text: Name
    """What readers find there: the words of the link."""
    same_runs: bool = False
    """Whether it holds another metric of the same runs. Then a switch leads from each page to the
    same page there, and `text` is that metric's name.
    """


class Metric(Entry):
    """What was measured in each cell."""

    name: Name
    """How pages and pictures call it."""
    column: Name = "value"
    """The tables' column with the values."""
    unit: Unit = ""
    """With `%`, differences are given in points."""
    range: Range | None = None
    """Lowest and highest possible value; others are a problem."""
    better: Literal["higher", "lower"] = "higher"
    """Decides which cells are best and worst."""
    decimals: int | None = Field(default=None, ge=0, le=12)
    """Decimals in the pictures; without it, the most that any value has, at most 4."""


class SpreadEntry(Entry):
    """What is printed beside each value, after a ± or in a column of its own."""

    column: Name
    """The tables' column with it, in the metric's unit."""
    kind: Literal["sd", "se", "ci95"] | None = None
    """Standard deviation of the repeats, standard error of the value, or half of its 95 %
    interval; without it, it is shown and nothing is computed from it.
    """
    n: int | None = Field(default=None, ge=2, le=MOST_TRIALS)
    """How many repeats each value is the mean of. A standard deviation takes it to give a standard
    error.
    """


class Aggregate(Entry):
    """A level that sums up the other levels of its facet."""

    by: Literal["mean"]
    """How it is made from the other levels of its facet."""


class LevelEntry(Entry):
    """One level of a factor."""

    id: LevelKey
    """As in the tables."""
    label: Name | None = None
    """How pages and pictures call it; without it, the id."""
    items: int | None = Field(default=None, ge=1, le=MOST_TRIALS)
    """Number of items (questions, tasks), where it is known; see [trials](#trials)."""
    aggregate: Aggregate | None = None
    """This level [sums up](#aggregates) the others."""


def _level_entry(value: Any) -> Any:
    return value if isinstance(value, dict) else {"id": value}


LevelOrEntry = Annotated[
    LevelEntry, BeforeValidator(_level_entry, json_schema_input_type=LevelKey | LevelEntry)
]


class FactorEntry(Entry):
    """One varied quantity; without `levels` they are taken from the data."""

    label: Name | None = None
    """How pages and pictures call it; without it, the name, `_` as a space."""
    unit: Unit = ""
    """What its levels are measured in."""
    levels: tuple[LevelOrEntry, ...] | None = Field(default=None, min_length=1)
    """In their order; without it, those in the tables."""
    direction: Literal["up", "down"] = "up"
    """Of y: whether the first level is at the bottom (`up`) or at the top (`down`)."""


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


class Trials(Entry):
    """How many trials a cell counts: the items of the named facet's level, times `samples`."""

    items: Text
    """The facet whose levels say how many `items` they have."""
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
    """Stands for the reading in the downloads and in `derived_from`."""
    file: Text
    """Path in the study's folder; `.csv`, or `.parquet` with the extra `parquet`."""
    text: Text | None = None
    """Path in the study's folder of the [document](#documents) that the values were typed from: a
    Markdown or plain text, in UTF-8. Every value is compared with it.
    """
    label: Name | None = None
    """How pages call it: the figure and who read it; without it, the id."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Where it can be looked at."""
    link: str | None = Field(default=None, pattern=r"^https?://[^\s{}]*\{file\}[^\s{}]*$")
    """Where the log of a cell can be looked at: `{file}` stands for the file that its `place`
    begins with. The card of each cell links there.
    """
    note: str | None = None
    """What a reader must know about it."""
    derived_from: Identifier | None = None
    """Id of the reading that it was made from, so that the two agreeing proves nothing."""
    machine_made: bool = False
    """Whether a program described the figure: sentences of this reading are then shown as those
    of a machine-made description, never as the paper's.
    """
    approximate: bool = False
    """Whether its values were only estimated, as from colours: it then says nothing against a
    reading of printed values.
    """
    stated_range: tuple[StatedRange, ...] = ()
    """Ends of colour bars as the reading states them: facet: level, as many as needed, and
    `range`, two numbers. A value outside is a [finding](#accepted-findings) that is only a
    note.
    """


class AgreementEntry(Entry):
    """How many cells two readings agree in, as it was when somebody looked."""

    readings: tuple[Identifier, Identifier]
    """Ids of the two readings."""
    same: int = Field(ge=0, le=MOST_TRIALS)
    """Cells for which both have the same value, as numbers."""
    of: int = Field(ge=0, le=MOST_TRIALS)
    """Cells for which both have a value."""


class ClaimEntry(Entry):
    """A sentence about the results."""

    text: Text
    """The sentence."""
    check: Text | None = None
    """What it says: an expression in the [language of claims](claims.md)."""
    reads: Text | None = None
    """The weakest fair meaning of a vague sentence, which `check` spells out."""
    source: Identifier | None = None
    """Id of the reading whose sentence it is; it is judged against that reading as well."""
    holds: Literal[True, False, "unknown"] = True
    """What is on record: it is so, it is wrong, or a cell it needs is absent."""
    not_checkable: Text | None = None
    """Why no expression can tell; in place of `check`."""


class AcceptedEntry(Entry):
    """A finding that is known: its kind, the cells it is about, and the reason."""

    finding: Identifier
    """Its kind: `aggregate`, `constant-run`, `decimals`, `disputed`, `k-of-n`,
    `repeated-column`, `repeated-row`, `stated-range` or `transcription`.
    """
    at: dict[
        str,
        Annotated[
            tuple[LevelKey, ...],
            BeforeValidator(_as_tuple, json_schema_input_type=LevelKey | tuple[LevelKey, ...]),
        ],
    ] = Field(default_factory=dict)
    """By factor, level or levels. Which findings of this kind: all whose cells lie there;
    without it, everywhere.
    """
    because: Text
    """Why it is left as it is."""


class RegionEntry(Entry):
    """An outline drawn on every grid: the union of boxes, each the levels it covers on x and y."""

    label: Name
    """The region's name."""
    boxes: tuple[dict[str, tuple[LevelKey, ...]], ...] = Field(min_length=1)
    """Each names the levels of x and of y that it covers; the region is all boxes together."""


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
    """Path below the repository, ending with `.py`; letters, digits, `_`, `.`, `-` and `/`,
    without `..`.
    """
    args: Text
    """Its arguments, as a shell reads them. `{name}` stands for the level of that factor, as
    in the tables; both axes must occur.
    """
    margin: (
        Annotated[
            Decimal,
            Field(gt=0, allow_inf_nan=False),
            WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
        ]
        | None
    ) = None
    """How far a value measured again may lie off, in the metric's unit: the largest difference
    that doesn't matter, less than half the metric's range. Without it no cell agrees.
    """
    settings: dict[str, LevelKey] = Field(default_factory=dict)
    """What a run's settings must be to be compared: a run of another method isn't the same
    again, and is a problem. `sampling.top_k` is a part of a setting.
    """


class StudyFile(Entry):
    """A whole `study.yml`."""

    format: Literal[1]
    """The version of this format."""
    title: Name
    """The study's name on the pages."""
    summary: str = ""
    """A sentence or two: what was varied, what was measured."""
    source: Source | None = None
    """Where it was published."""
    see_also: tuple[SeeAlso, ...] = ()
    """Other studies that readers should know: the study's pages link to them."""
    license: License | None = None
    """Under which licence the data may be used: an [SPDX
    identifier](https://spdx.org/licenses/), such as `CC-BY-4.0`, or an address.
    """
    former: tuple[Identifier, ...] = ()
    """Names that the study's folder had before. The [old addresses](#renamed-studies) lead to
    the new ones.
    """
    metric: Metric
    """What was measured."""
    spread: SpreadEntry | None = None
    """What is printed [beside each value](#spread)."""
    x: Name
    """The horizontal axis: the name of a column."""
    y: Name | None = None
    """The vertical axis: the name of a column; without it, the study has [one axis](#one-axis)."""
    facets: tuple[Identifier, ...] = ()
    """What else was varied: names of columns, which are ids (see [levels](#levels)), and not
    `cells.csv`, `changes`, `checks`, `croissant.json`, `reproduction`, `index.html`, `index.md` or
    `readme.md`.
    """
    baseline: dict[str, LevelKey] = Field(default_factory=dict)
    """By facet, the level that its other levels are [compared](#comparisons) with."""
    compare: tuple[str, ...] = ()
    """Facets whose levels are [compared](#comparisons) with one another."""
    replicates: Text | None = None
    """The facet whose levels [repeat the experiment](#replicates), such as training seeds."""
    cells: Literal["runs"] | None = None
    """`runs` where each cell is a run of its own, such as a training or a timing: then axes can be
    [tested](#answers) without trials.
    """
    axes: Literal["settings", "conditions"] = "settings"
    """`conditions` where the axes are no choice, such as the difficulty of problems: no cell is
    then called the best.
    """
    colour: Literal["evidence", "value"] = "evidence"
    """Of heatmaps beside each other: `evidence` shows differences from each grid's mean, pale
    within chance, [where that is known](#colours); `value` shows values on one scale.
    """
    alike: (
        Annotated[
            Decimal,
            Field(gt=0, allow_inf_nan=False),
            WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
        ]
        | None
    ) = None
    """The largest difference of two levels that doesn't matter, in the metric's unit."""
    factors: dict[str, FactorEntry] = Field(default_factory=dict)
    """Names, units and levels of the axes and facets, by the names of their columns."""
    trials: Trials | None = None
    """How many trials a cell counts."""
    repeats: Literal["mean"] | None = None
    """What to do with [several rows of one cell](#repeats)."""
    readings: tuple[ReadingEntry, ...] = Field(default=(), max_length=1000)
    """The tables; without it, `cells.csv` is the only one."""
    reconcile: Literal["primary", "agreement", "median"] = "primary"
    """Which reading's [value is shown](#which-value-is-shown)."""
    agreement: tuple[AgreementEntry, ...] = ()
    """In how many cells readings [agree](#pinned-agreement); another count is a problem."""
    regions: tuple[RegionEntry, ...] = ()
    """Outlines drawn on each grid."""
    claims: tuple[ClaimEntry, ...] = ()
    """Sentences about the results, each with what checks it."""
    accepted: tuple[AcceptedEntry, ...] = ()
    """What the checks found and is known."""
    reproduce: ReproduceEntry | None = None
    """How a cell is measured again."""
