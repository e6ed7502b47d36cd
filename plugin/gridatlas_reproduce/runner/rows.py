"""The rows of records: graded samples, and how they stand in a unit's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gridatlas.model.problems import quote
from gridatlas_reproduce.runner.files import NotStrict, strict_json
from gridatlas_reproduce.runner.units import Unit


@dataclass(frozen=True, slots=True)
class Row:
    """One graded sample.

    Attributes:
        item: The question.
        sample: Number of the sample of this question, from 0.
        seed: Of its random numbers; see `seed_of`.
        text: What was generated.
        tokens: How many tokens that is.
        finish: `stop`, or `length` where the limit ended it.
        prediction: The answer found in the text, or None.
        gold: The right answer.
        seconds: Time taken; samples made together share it. None where another program made it.
        peak_kv_bytes: Largest KV cache of the sample, where there is one.
        prunes: How often the cache was pruned.
        pruned_at: Tokens drawn before each prune.
        prefix: Hash of the tokens that the sample shares with the question's other cells.
        refilled: Whether an earlier command decoded these, and this one passed them through the
            model again.
        batch_tokens: Where samples of several questions were decoded together: the tokens of all of
            them in `seconds`, in which this one was among them.
    """

    item: str
    sample: int
    seed: int
    text: str
    tokens: int
    finish: Literal["stop", "length"]
    prediction: str | None
    gold: str
    correct: bool
    seconds: float | None
    peak_kv_bytes: int | None = None
    prunes: int | None = None
    pruned_at: list[int] | None = None
    prefix: str | None = None
    refilled: bool | None = None
    batch_tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As a line of the unit's file; what only some scripts note stands there where it is."""
        content = asdict(self)
        return {
            key: value for key, value in content.items() if key not in _NOTED or value is not None
        }


_TYPES: Mapping[str, tuple[type, ...]] = {
    "item": (str,),
    "sample": (int,),
    "seed": (int,),
    "text": (str,),
    "tokens": (int,),
    "finish": (str,),
    "prediction": (str, type(None)),
    "gold": (str,),
    "correct": (bool,),
    "seconds": (int, float, type(None)),
    "peak_kv_bytes": (int, type(None)),
    "prunes": (int, type(None)),
    "pruned_at": (list,),
    "prefix": (str,),
    "refilled": (bool,),
    "batch_tokens": (int,),
}
_NOTED = ("pruned_at", "prefix", "refilled", "batch_tokens")
_KEYS = [key for key in _TYPES if key not in _NOTED]


class BrokenRecord(Exception):
    """A unit's file that isn't whole, or isn't this run's; says why."""


def rows_of(data: bytes, unit: Unit, settings: str) -> list[Row]:
    """The rows of a unit's file.

    Raises:
        BrokenRecord: Where it isn't whole, or isn't this run's.
    """
    lines = data.split(b"\n")
    if lines.pop() or len(lines) < unit.rows + 1:
        raise BrokenRecord(f"is half-written ({max(len(lines) - 1, 0)} of {unit.rows} rows)")
    if len(lines) > unit.rows + 1:
        raise BrokenRecord(f"has more than its {unit.rows} rows")
    try:
        head, *rows = map(strict_json, lines)
    except NotStrict as error:
        raise BrokenRecord(f"has a line with {error}") from error
    except (ValueError, RecursionError) as error:
        raise BrokenRecord("has a line that is not JSON") from error
    if not isinstance(head, dict) or not _is_of(head.get("unit"), unit):
        raise BrokenRecord("is of another unit")
    if head.get("settings") != settings:
        raise BrokenRecord("is of a run with other settings")
    return [_row(row) for row in rows]


def _is_of(head: Any, unit: Unit) -> bool:
    # To Python 1 is the same as true and 1.0.
    return bool(head == unit.as_json()) and type(head["rows"]) is int


def _row(content: Any) -> Row:
    if not isinstance(content, dict) or {*content} - {*_NOTED} != {*_KEYS}:
        raise BrokenRecord(f"has a row with other than the keys {', '.join(_KEYS)}")
    for key, value in content.items():
        types = _TYPES[key]
        if not isinstance(value, types) or (isinstance(value, bool) and types != (bool,)):
            raise BrokenRecord(f"has a row whose {key} is {quote(value)}")
    return Row(**content)


# --- run.json and plan.json -----------------------------------------------------------------------
