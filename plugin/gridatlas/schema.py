"""The form of `study.yml` in data format 1, as types; its JSON Schema is made from them."""

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
RESERVED_FACETS = ("cells.csv", "changes", "checks", "croissant.json", "reproduction")
"""Names of pages and files beside the pages of facets."""

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
LevelKey = Annotated[str, BeforeValidator(level_key), WithJsonSchema(_SCALAR)]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100)]
Text = Annotated[str, Field(min_length=1)]
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
    url: str | None = Field(default=None, pattern=r"^https?://")
    authors: tuple[Text, ...] = ()
    year: int | None = Field(default=None, ge=1600, le=2200)
    bibtex: str | None = None
    note: str | None = None


class Metric(Entry):
    """What was measured in each cell."""

    name: Text
    column: Text = "value"
    unit: str = ""
    range: Range | None = None
    better: Literal["higher", "lower"] = "higher"
    decimals: int | None = Field(default=None, ge=0, le=12)


class Aggregate(Entry):
    """A level that sums up the other levels of its facet."""

    by: Literal["mean"]


class LevelEntry(Entry):
    """One level of a factor."""

    id: LevelKey
    label: Text | None = None
    items: int | None = Field(default=None, ge=1)
    aggregate: Aggregate | None = None


def _level_entry(value: Any) -> Any:
    return value if isinstance(value, dict) else {"id": value}


LevelOrEntry = Annotated[
    LevelEntry, BeforeValidator(_level_entry, json_schema_input_type=LevelKey | LevelEntry)
]


class FactorEntry(Entry):
    """One varied quantity; without `levels` they are taken from the data."""

    label: Text | None = None
    unit: str = ""
    levels: tuple[LevelOrEntry, ...] | None = Field(default=None, min_length=1)
    direction: Literal["up", "down"] = "up"


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


class Trials(Entry):
    """How many trials a cell counts: the items of the named facet's level, times `samples`."""

    items: Text
    samples: int = Field(default=1, ge=1)


class StatedRange(Entry):
    """The ends of a colour bar as a reading states them, for the grids at these facet levels."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, LevelKey]

    range: Range


class ReadingEntry(Entry):
    """One source's account of the cells."""

    id: Identifier
    file: Text
    label: Text | None = None
    url: str | None = Field(default=None, pattern=r"^https?://")
    note: str | None = None
    derived_from: Identifier | None = None
    stated_range: tuple[StatedRange, ...] = ()


class ClaimEntry(Entry):
    """A sentence about the results.

    Attributes:
        check: Expression of the claim language that is true where the sentence holds.
        reads: The weakest fair meaning of a vague sentence, which `check` spells out.
        source: Id of the reading whose account says so.
        holds: What is on record: the check is true, false (the source is wrong) or undecidable.
        not_checkable: Why no check can tell; instead of `check`.
    """

    text: Text
    check: Text | None = None
    reads: Text | None = None
    source: Identifier | None = None
    holds: Literal[True, False, "unknown"] = True
    not_checkable: Text | None = None


class AcceptedEntry(Entry):
    """A finding that is known: its kind, the cells it is about, and the reason."""

    finding: Identifier
    at: dict[
        str,
        Annotated[
            tuple[LevelKey, ...],
            BeforeValidator(_as_tuple, json_schema_input_type=LevelKey | tuple[LevelKey, ...]),
        ],
    ] = Field(default_factory=dict)
    because: Text


class RegionEntry(Entry):
    """An outline drawn on every grid: the union of boxes, each the levels it covers on x and y."""

    label: Text
    boxes: tuple[dict[str, tuple[LevelKey, ...]], ...] = Field(min_length=1)


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
    """How a cell is measured again.

    Attributes:
        script: Path below the repository.
        args: Its arguments; `{factor}` stands for the cell's level of that factor.
        margin: How far a value measured again may lie off, in the metric's unit.
        settings: What a run's settings must be, to be held against what was published; a dot leads
            into a setting that has parts.
    """

    script: Annotated[
        str, AfterValidator(_script), WithJsonSchema({"type": "string", "pattern": f"^{_SCRIPT}$"})
    ]
    args: Text
    margin: (
        Annotated[
            Decimal,
            Field(gt=0, allow_inf_nan=False),
            WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
        ]
        | None
    ) = None
    settings: dict[str, LevelKey] = Field(default_factory=dict)


class StudyFile(Entry):
    """A whole `study.yml`.

    Attributes:
        license: Under which the data may be used: an SPDX identifier or an address.
        former: Names that the study's folder had before; its old addresses lead to the new ones.
    """

    format: Literal[1]
    title: Text
    summary: str = ""
    source: Source | None = None
    license: License | None = None
    former: tuple[Identifier, ...] = ()
    metric: Metric
    x: Text
    y: Text
    facets: tuple[Identifier, ...] = ()
    baseline: dict[str, LevelKey] = Field(default_factory=dict)
    compare: tuple[str, ...] = ()
    factors: dict[str, FactorEntry] = Field(default_factory=dict)
    trials: Trials | None = None
    repeats: Literal["mean"] | None = None
    readings: tuple[ReadingEntry, ...] = Field(default=(), max_length=1000)
    reconcile: Literal["primary", "agreement", "median"] = "primary"
    regions: tuple[RegionEntry, ...] = ()
    claims: tuple[ClaimEntry, ...] = ()
    accepted: tuple[AcceptedEntry, ...] = ()
    reproduce: ReproduceEntry | None = None


def json_schema() -> dict[str, Any]:
    """The JSON Schema that editors complete and check `study.yml` with."""
    schema = StudyFile.model_json_schema()
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Grid Atlas study, data format 1",
    }
    return head | {key: value for key, value in schema.items() if key != "title"}
