"""The scores of a log of Inspect: which there are, and what each item got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gridatlas_import.logs.inspect_files import InspectLog, mapping
from gridatlas_import.logs.items import Item, digest, score_of

MEAN = "mean"
"""The reducer that averages an item's epochs; it is the default, and often isn't named."""


@dataclass(frozen=True, slots=True)
class Score:
    """One score of a log.

    Attributes:
        name: What the score is called; a scorer may have several.
        metric: The number that is taken of it, such as accuracy.
        value: That number as printed.
        stderr: Its standard error as printed; empty where there is none.
    """

    name: str
    scorer: str
    reducer: str
    metric: str
    value: str
    stderr: str

    @property
    def label(self) -> str:
        """Score and metric: `match accuracy`."""
        return f"{self.name} {self.metric}"


def scores_of(log: InspectLog) -> list[Score]:
    """The scores of a log that has ended well, the headline's first."""
    found = [score for entry in _entries(log) if (score := _score(entry, log)) is not None]
    headline = mapping(log.results.get("headline"))
    first = (str(headline.get("score")), str(headline.get("scorer")))
    return sorted(found, key=lambda score: (score.name, score.scorer) != first)


def _entries(log: InspectLog) -> Iterator[Mapping[str, Any]]:
    entries = log.results.get("scores")
    return (mapping(entry) for entry in (entries if isinstance(entries, list) else ()))


def _score(entry: Mapping[str, Any], log: InspectLog) -> Score | None:
    metrics = mapping(entry.get("metrics"))
    headline = mapping(log.results.get("headline"))
    named = [name for name in metrics if not _is_spread(name)]
    if headline.get("metric") in named and headline.get("score") == entry.get("name"):
        named.insert(0, str(headline["metric"]))
    named.sort(key=lambda name: name not in ("accuracy", "mean", headline.get("metric")))
    if not named:
        return None
    value = mapping(metrics[named[0]]).get("value")
    error = mapping(metrics.get("stderr")).get("value")
    return Score(
        str(entry.get("name")),
        str(entry.get("scorer")),
        str(entry.get("reducer") or MEAN),
        named[0],
        "" if value is None else str(value),
        "" if error is None else str(error),
    )


def _is_spread(metric: str) -> bool:
    return metric in ("stderr", "std", "var", "bootstrap_stderr", "ci")


def items_of(log: InspectLog, score: Score) -> list[Item]:
    """What each item got, where its log says so; items without a score are left out."""
    data = mapping(log.eval.get("dataset")).get("name")
    checks = {str(sample.get("id")): digest([data, sample.get("target")]) for sample in log.samples}
    by_item: dict[str, list[Fraction]] = {}
    if log.samples and score.reducer == MEAN:
        for sample in log.samples:
            value = mapping(mapping(sample.get("scores")).get(score.scorer)).get("value")
            if isinstance(value, Mapping):
                value = value.get(score.name)
            number = score_of(value)
            if number is not None:
                by_item.setdefault(str(sample.get("id")), []).append(number)
    else:
        for name, value in _reduced(log, score):
            number = score_of(value)
            if number is not None:
                by_item[name] = [number]
    return [Item(name, checks.get(name, ""), tuple(found)) for name, found in by_item.items()]


def _reduced(log: InspectLog, score: Score) -> Iterator[tuple[str, Any]]:
    """The value of each item after its epochs were reduced to one."""
    for entry in log.reductions:
        if str(entry.get("scorer")) not in (score.scorer, score.name):
            continue
        if str(entry.get("reducer") or MEAN) != score.reducer:
            continue
        samples = entry.get("samples")
        for sample in samples if isinstance(samples, list) else ():
            value = mapping(sample).get("value")
            if isinstance(value, Mapping):
                value = value.get(score.name)
            yield str(mapping(sample).get("sample_id")), value
