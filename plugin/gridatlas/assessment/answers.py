"""What the pages of a study lead with: the analysis of its shown values, and of rival readings."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gridatlas.analysis.answers import analyse, answer, with_needed
from gridatlas.analysis.cells import names_of_best
from gridatlas.analysis.design import LARGEST, Design, design, prepare
from gridatlas.analysis.design import Study as Prepared
from gridatlas.analysis.questions import ask, over_page
from gridatlas.analysis.said import Answer, Assertion, Grade
from gridatlas.analysis.words import ONE_OF_EACH, listed
from gridatlas.assessment.observations import observations
from gridatlas.assessment.rivals import notes, other_readings, settled, with_reading
from gridatlas.checks.findings import CheckResult, StudyChecks
from gridatlas.files.cache import cache_key, code_digest, open_cache
from gridatlas.model.format import format_measured, many, value_with_unit
from gridatlas.model.study import Factor, Levels, Study, inline
from gridatlas.table.grids import Results
from gridatlas.table.summary import Extreme, summarise

IN_WORDS: Mapping[Grade, str] = {
    "clear": "with a clear difference",
    "likely": "with a likely difference",
    "reading-dependent": "that depends on the reading",
    "not-shown": "in which none is shown",
    "untestable": "in which none can be tested",
}
"""What an overview counts, in its order."""


def page_answers(
    results: Results, checks: StudyChecks, cache_folder: Path | None, digest: str | None = None
) -> Mapping[str, Answer]:
    """The answers of a study's pages by their paths; see `answers_of`.

    Args:
        digest: A hash of the files that the study was read from: where answers are cached for
            these, nothing is computed. None caches nothing.
    """
    return _cached(
        "answers", results, cache_folder, digest, lambda: answers_of(results, checks.results)
    )


def _cached(
    name: str,
    results: Results,
    cache_folder: Path | None,
    digest: str | None,
    compute: Callable[[], Mapping[str, Answer]],
) -> dict[str, Answer]:
    cache = open_cache(cache_folder if digest else None)
    key = cache_key(name, _made_by(), results.study.id, digest or "")
    entry = cache.get(key)
    if entry is None:
        found = {page: asdict(answer) for page, answer in compute().items()}
        entry = cache.put(key, {"json": json.dumps(found)})
    # Read back even when fresh: a warm and a cold build then give the same.
    return {page: _answer(content) for page, content in json.loads(entry["json"]).items()}


def _answer(content: dict[str, Any]) -> Answer:
    parts: dict[str, Any] = {"evidence": tuple(content["evidence"])}
    for name in ("assertions", "compared"):
        given = ({**each, "levels": tuple(each["levels"])} for each in content[name])
        parts[name] = tuple(Assertion(**each) for each in given)
    parts |= {name: tuple(map(tuple, content[name])) for name in ("ranks", "least", "may_be_best")}
    return Answer(**content | parts)


@functools.cache
def _made_by() -> str:
    """What answers depend on besides the files: our code, and the libraries' versions."""
    libraries = [f"{name} {version(name)}" for name in ("numpy", "pydantic", "pyyaml")]
    rooms = [f"gridatlas/{room}" for room in ("analysis", "checks", "data", "model", "table")]
    modules = [f"gridatlas/assessment/{name}.py" for name in ("answers", "observations", "rivals")]
    return "\n".join([*libraries, code_digest(*rooms, *modules)])


def answers_of(
    results: Results, checks: Iterable[CheckResult] = (), *, levels: bool = True
) -> dict[str, Answer]:
    """The answers of all pages of a study.

    What is asserted holds under every reading that may be right.

    Args:
        results: Whose shown values are asked.
        checks: What was found in each reading; one that fails where the shown one passes counts for
            nothing.
        levels: Whether levels of facets have pages; else the study's own answer is all.

    Returns:
        By the page's path below the study's: empty for the study itself, `model` for the levels of
        a facet compared, `model/r1-qwen` for one of them. Those that compare, and those of means,
        repeat the study's.
    """
    others = other_readings(results, checks)
    under = {
        other.reading.label: _of_pages(with_reading(results, other.reading), levels=levels)
        for other in others
        if other.is_rival
    }
    found = settled(_of_pages(results, levels=levels), under)
    for page, given in found.items():
        more = (*in_dispute(results, page), *notes(results.study, others, page))
        found[page] = replace(given, evidence=(*given.evidence, *more))
    return found


def in_dispute(results: Results, page: str) -> Iterator[str]:
    """Where the best value of a page's only grid is disputed, the best of those that aren't.

    Args:
        page: Its path below the study's.
    """
    study = results.study
    facet_id, _, slug = page.partition("/")
    at = next((at for at, facet in enumerate(study.facets) if facet.id == facet_id), None)
    grids = [
        grid for levels, grid in results.grids.items()
        if not slug or (at is not None and study.facets[at].level(levels[at]).slug == slug)
    ]  # fmt: skip
    summary = summarise(grids[0]) if len(grids) == 1 and study.metric.better else None
    if summary is None or not summary.best_disputed:
        return
    best, sure = Extreme(summary.best_value, summary.best), summary.best_undisputed
    if sure is None:
        yield f"Every value is disputed, also the {study.extreme}, {_extreme(study, best)}."
        return
    yield (
        f"The {study.extreme} value, {_extreme(study, best)}, is disputed; "
        f"the {study.extreme} undisputed one is {_extreme(study, sure)}."
    )


def _extreme(study: Study, extreme: Extreme) -> str:
    """A value and its place, or in how many cells it is."""
    value = format_measured(extreme.value, study.metric.decimals or 0)
    value = value_with_unit(value, study.metric.unit)
    if len(extreme.at) > 1:
        return f"{value} in {many(len(extreme.at), 'cell')}"
    places = zip(study.varied, extreme.at[0], strict=False)
    where = (f"{inline(axis.label)} {level.label}" for axis, level in places)
    return f"{value} at {listed([*where])}"


def _of_pages(results: Results, *, levels: bool) -> dict[str, Answer]:
    facets = results.study.facets if levels else ()
    prepared = _prepared(results)
    if prepared is None:
        return {"": _too_large(results)}
    by_level = analyse(prepared, [facet.id for facet in facets])
    front = with_needed(prepared, by_level[None])
    found = {"": front}
    for facet in facets:
        found[facet.id] = front
        places = _places(prepared, facet)
        for level in facet.levels:
            if level.key in places:
                found[f"{facet.id}/{level.slug}"] = by_level[facet.id, places[level.key]]
            elif level.aggregate:
                found[f"{facet.id}/{level.slug}"] = front
    return found


def _prepared(results: Results) -> Prepared | None:
    """The shown values, ready for the analysis; None where they are too many."""
    shown = next(iter(results.grids.values())).table
    table = observations(results.study, shown)
    places = float(np.prod([float(len(factor.levels)) for factor in table.factors.values()]))
    return None if places > LARGEST else prepare(table)


def _too_large(results: Results) -> Answer:
    study = results.study
    head = f"{study.metric.name} in {many(len(results.grids), 'grid')}"
    why = f"The levels of all factors combine to more than {LARGEST:,} cells: nothing is tested."
    return Answer(head, (why,), "untestable", float("nan"), "")


def _places(prepared: Prepared, facet: Factor) -> dict[str, int]:
    """By the keys of a facet's levels, their places in the analysis; some take no part."""
    factor = prepared.factors.get(facet.id)
    labels = {} if factor is None else {label: at for at, label in enumerate(factor.levels)}
    return {level.key: labels[level.label] for level in facet.levels if level.label in labels}


def grid_answers(
    results: Results, cache_folder: Path | None = None, digest: str | None = None
) -> dict[Levels, Answer]:
    """What each grid supports by itself, by its levels; aggregates and copies have none.

    Args:
        digest: As of `page_answers`.
    """
    places = {json.dumps(levels): levels for levels in results.grids}
    found = _cached(
        "grid answers",
        results,
        cache_folder,
        digest,
        lambda: {json.dumps(levels): answer for levels, answer in _of_grids(results).items()},
    )
    return {places[key]: answer for key, answer in found.items()}


def _of_grids(results: Results) -> dict[Levels, Answer]:
    prepared = _prepared(results)
    if prepared is None:
        return {}
    facets = [facet for facet in results.study.facets if facet.id in prepared.factors]
    places = {facet.id: _places(prepared, facet) for facet in facets}
    found = {}
    for levels, grid in results.grids.items():
        keys = dict(zip([facet.id for facet in results.study.facets], levels, strict=True))
        if not grid.aggregate and all(keys[name] in of for name, of in places.items()):
            page = design(prepared, {name: of[keys[name]] for name, of in places.items()})
            found[levels] = _alone(page, [axis.id for axis in results.study.varied])
    return found


@np.errstate(all="ignore")
def _alone(page: Design, axes: Sequence[str]) -> Answer:
    return replace(answer(page, over_page(ask(page))), may_be_best=names_of_best(page, axes))


def supported(answer: Answer) -> str:
    """What the design of a study supports, from its own answer."""
    if answer.grade == "untestable":
        return "no difference is tested"
    if answer.population == ONE_OF_EACH:
        return "one value of each: no difference is tested beyond these runs"
    return f"answers hold {answer.population}"


def overview_headline(answers: Iterable[Answer]) -> str:
    """How many studies have which grade; it ranks none of them."""
    counts = Counter(answer.grade for answer in answers)
    if not counts:
        return "No study yet"
    parts = [f"{counts[grade]} {words}" for grade, words in IN_WORDS.items() if counts[grade]]
    return f"{many(counts.total(), 'study', 'studies')}: {listed(parts)}"
