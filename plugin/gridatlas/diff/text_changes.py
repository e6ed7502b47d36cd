"""What else a study says: its title, source, metric, labels, rules, readings and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from gridatlas.diff.matching import Match
from gridatlas.model.study import Study

Weight = Literal["rule", "text"]


@dataclass(frozen=True, slots=True)
class TextChange:
    """A property of a study that is another one now.

    Attributes:
        weight: `rule` where results depend on it, or how they are to be read.
        what: What changed, in words.
        old, new: As written; empty for nothing.
    """

    weight: Weight
    what: str
    old: str
    new: str


def compare_texts(
    base: Study, head: Study, match: Match, readings: Mapping[str, str]
) -> tuple[TextChange, ...]:
    """Every property of a study that isn't a cell, a claim, a finding, or a level come or gone."""
    return tuple(
        TextChange(weight, what, _text(old), _text(new))
        for weight, what, old, new in _properties(base, head, match, readings)
        if old != new
    )


def _properties(
    base: Study, head: Study, match: Match, readings: Mapping[str, str]
) -> Iterator[tuple[Weight, str, Any, Any]]:
    yield "text", "title", base.title, head.title
    yield "text", "summary", base.summary, head.summary
    yield from _fields("text", "source", base.source, head.source)
    yield "text", "links to other studies", _see_also(base), _see_also(head)
    yield from _fields("rule", "metric", base.metric, head.metric)
    yield "rule", "baseline", dict(base.baseline), dict(head.baseline)
    yield "rule", "compared facets", base.compare, head.compare
    yield from _fields("rule", "trials", base.trials, head.trials)
    yield "rule", "rule among readings", base.reconcile, head.reconcile
    yield "text", "regions", _regions(base), _regions(head)
    yield from _fields("text", "reproduce", base.reproduce, head.reproduce)
    yield "rule", "order of the readings", *_orders(base, head, readings)
    yield from _factors(base, head, match)
    old, new = ({reading.id: reading.entry for reading in study.readings} for study in (base, head))
    for key, to in readings.items():
        if key in old and to in new:
            yield from _fields("text", f"reading {to}", old[key], new[to], ("id",))
    outside = [
        {
            reading.id: [
                (keys, str(cell.value), cell.state, cell.note) for keys, cell in reading.outside
            ]
            for reading in study.readings
        }
        for study in (base, head)
    ]
    for key, to in readings.items():
        before, after = (of.get(name, []) for of, name in zip(outside, (key, to), strict=True))
        if sorted(before) != sorted(after):
            other = " other" if len(before) == len(after) else ""
            rows = (f"{len(before)} rows", f"{len(after)}{other} rows")
            yield "text", f"reading {to}: rows at levels that the study doesn't have", *rows
    for key in {**base.runs, **head.runs}:
        first, second = base.runs.get(key), head.runs.get(key)
        if first is None or second is None:
            yield "text", "run", key if first else "", key if second else ""
        elif first != second:
            yield "text", f"run {key}", "as before", "other records or another progress"


def _orders(base: Study, head: Study, readings: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The readings that both sides have, in the order of each."""
    there = set(readings.values())
    old = [readings[reading.id] for reading in base.readings if reading.id in readings]
    return old, [reading.id for reading in head.readings if reading.id in there]


def _factors(base: Study, head: Study, match: Match) -> Iterator[tuple[Weight, str, Any, Any]]:
    if match.order is None:
        return
    olds = (*base.facets, base.x, base.y)
    news = (*head.facets, head.x, head.y)
    roles = [*(f"facet {index + 1}" for index in range(len(base.facets))), "x axis", "y axis"]
    for place, old in enumerate(olds):
        other = news[match.order[place]]
        yield "rule", f"place of {other.id}", roles[place], roles[match.order[place]]
        if old.id == other.id:
            yield "text", f"label of {other.id}", old.label, other.label
        yield "rule", f"unit of {other.id}", old.unit, other.unit
        yield "text", f"direction of {other.id}", old.direction, other.direction
        known = match.levels[place]
        there = set(known.values())
        yield (
            "text",
            f"order of the levels of {other.id}",
            [known[level.key] for level in old.levels if level.key in known],
            [level.key for level in other.levels if level.key in there],
        )
    for factor, before, after in match.shared:
        name = f"{factor.id} {after.key}"
        if before.key == after.key:
            yield "text", f"label of {name}", before.label, after.label
        yield "rule", f"items of {name}", before.items, after.items
        yield "rule", f"aggregate of {name}", before.aggregate, after.aggregate
        if before.key == after.key:
            yield "text", f"address of {name}", before.slug, after.slug


def _regions(study: Study) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(region.label, sorted(region.points)) for region in study.regions]


def _see_also(study: Study) -> list[str]:
    return [f"{one.study} ({one.text})" for one in study.see_also]


def _fields(
    weight: Weight,
    what: str,
    old: BaseModel | None,
    new: BaseModel | None,
    but: tuple[str, ...] = (),
) -> Iterator[tuple[Weight, str, Any, Any]]:
    before = old.model_dump(mode="json") if old else {}
    after = new.model_dump(mode="json") if new else {}
    for key in {**before, **after}:
        if key not in but:
            yield weight, f"{what}: {key}", before.get(key), after.get(key)


def _text(value: Any) -> str:
    if value is None or (isinstance(value, str | list | tuple | Mapping) and not value):
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_text(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
