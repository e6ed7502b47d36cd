"""Verdicts of statements: their arithmetic, then the test of what they assert.

The test is derived from the check. No verdict is better than the site's own answer to the same
question, nor than the verdict under a rival reading.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from gridatlas.analysis import contrasts, statements
from gridatlas.analysis.design import Study as Prepared
from gridatlas.analysis.design import design, prepare
from gridatlas.analysis.questions import Question, ask, level_pages, name_level, over_page
from gridatlas.analysis.statements import Arranged, Verdict
from gridatlas.analysis.table import Codes, Floats
from gridatlas.assessment.observations import observations
from gridatlas.assessment.rivals import other_readings, with_reading
from gridatlas.checks.findings import StudyChecks
from gridatlas.claims.asserted import Assertion, Joined, Leaf, Term, asserted, leaves
from gridatlas.claims.evaluation import Evaluation
from gridatlas.claims.judge import Judged
from gridatlas.claims.lookup import Scope
from gridatlas.claims.tree import ClaimError
from gridatlas.files.cache import cache_key, code_digest, open_cache
from gridatlas.model.study import Factor, Study
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Columns, StudyTable

CLOSEST = 12
"""Cells, those nearest to turning it, by which a statement about each cell is tested."""
TRUTHS: Mapping[str, bool | None] = {"true": True, "false": False, "undecidable": None}
Level = Literal["best", "above", "peak"]


def with_verdicts(
    claims: Sequence[Judged],
    results: Results,
    checks: StudyChecks,
    cache_folder: Path | None = None,
    digest: str | None = None,
) -> tuple[Judged, ...]:
    """The claims with the verdicts on them, from the cache where the files are the same.

    Args:
        digest: A hash of the files that the study was read from; None caches nothing.
    """
    if all(claim.verdict is None for claim in claims):
        return tuple(claims)
    # Other studies, too, may decide what is true.
    outcomes = [claim.verdict and claim.verdict.outcome for claim in claims]
    cache = open_cache(cache_folder if digest else None)
    key = cache_key("statements", made_by(), results.study.id, digest or "", json.dumps(outcomes))
    entry = cache.get(key)
    if entry is None:
        entry = cache.put(key, {"json": json.dumps(verdicts(claims, results, checks))})
    content = json.loads(entry["json"])
    return tuple(
        replace(claim, tested=tested, under=under)
        for claim, (tested, under) in zip(claims, content, strict=True)
    )


@functools.cache
def made_by() -> str:
    """What verdicts depend on besides the files: our code, and the libraries' versions."""
    rooms = ("analysis", "assessment", "checks", "claims", "data", "model", "table")
    libraries = [f"{name} {version(name)}" for name in ("numpy", "pydantic", "pyyaml")]
    return "\n".join([*libraries, code_digest(*(f"gridatlas/{room}" for room in rooms))])


def verdicts(
    claims: Sequence[Judged], results: Results, checks: StudyChecks
) -> list[tuple[Verdict | None, str]]:
    """The verdict on each claim; None without a check that works.

    Returns:
        With it the label of the rival reading under which it is worse than as shown; else empty.
    """
    found = [(verdict, "") for verdict in _under(claims, results)]
    for other in other_readings(results, checks.results):
        if not other.is_rival:
            continue
        under = _under(claims, with_reading(results, other.reading))
        for at, verdict in enumerate(under):
            shown = found[at][0]
            if shown and verdict and statements.worst([shown, verdict]) != shown:
                found[at] = verdict, other.reading.label
    return found


def _under(claims: Sequence[Judged], results: Results) -> list[Verdict | None]:
    """The verdicts with these values."""
    shown = [grid.columns for grid in results.grids.values() if not grid.computed]
    printed = tuple(levels for levels, grid in results.grids.items() if not grid.computed)
    study = results.study
    table = StudyTable(study.x, study.y, printed, Columns.joined(shown))
    site = Site(study, prepare(observations(study, table)))
    tested = [_tested(claim, results, site) for claim in claims]
    adjusted = np.full(len(claims), np.nan)
    for source in {claim.entry.source for claim in claims}:
        own = [at for at, claim in enumerate(claims) if claim.entry.source == source]
        adjusted[own] = statements.adjusted([getattr(tested[at], "p", None) for at in own])
    return [
        None if test is None else test.verdict(claim, float(p))
        for claim, test, p in zip(claims, tested, adjusted, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Tested:
    """What the tests say of a statement, or of a part of it.

    Attributes:
        truth: Its arithmetic.
        p: Unadjusted; nan without a test.
        least: The site's own p of the same question, which none of its own is below.
        quotes: Whether it says only what is printed.
        needs_margin: Whether it says that values are alike, and the study has no `alike`.
    """

    truth: bool | None
    p: float = np.nan
    least: float = 0.0
    quotes: bool = False
    needs_margin: bool = False

    def verdict(self, claim: Judged, p: float) -> Verdict:
        """The verdict, given p adjusted over the statements of its source."""
        more = bool(statements.strong_words(claim.entry.text)) and claim.entry.about is None
        truth = None if self.truth and self.needs_margin else self.truth
        p = max(p, self.least) if np.isfinite(p) and np.isfinite(self.least) else np.nan
        return statements.verdict(truth, quotes=self.quotes, capped=more, p=p, contrary=not truth)


QUOTE = Tested(True, np.nan, 0.0, quotes=True)


def _tested(claim: Judged, results: Results, site: Site) -> Tested | None:
    """What the tests say of a claim with these values; None without a check that works."""
    check = claim.entry.check
    if check is None or claim.verdict is None:
        return None
    study = results.study.id
    evaluation = Evaluation(check, Scope({study: results}, study, None))
    if evaluation.names_others:
        return Tested(TRUTHS[claim.verdict.outcome])
    try:
        of = asserted(evaluation)
        contrary = asserted(evaluation, contrary=True) if of.truth is False else of
    except ClaimError:
        # With a rival's values, a part may be a division by 0.
        return Tested(None)
    found = site.tested(contrary, quoting=of.truth is True)
    about = claim.entry.about
    if about and of.truth:
        found = site.about(about, found, of, evaluation, claim.entry.text)
    return replace(found, truth=of.truth)


class Site:
    """A study's own questions, and the contrasts of its cells."""

    def __init__(self, study: Study, prepared: Prepared) -> None:
        self.study = study
        self.prepared = prepared
        self.margin = None if study.alike is None else float(study.alike)
        self._asked: dict[tuple[tuple[str, int], ...], list[Question]] = {}
        self._codes = {
            factor.id: self._places(factor) for factor in (study.x, study.y, *study.facets)
        }

    def _places(self, factor: Factor) -> list[int]:
        """Of each level the place among those that are tested; −1 of aggregates, −2 of none."""
        own = self.prepared.factors.get(factor.id)
        places = {label: at for at, label in enumerate(own.levels)} if own else {}
        return [places.get(level.label, -1 if level.aggregate else -2) for level in factor.levels]

    # --- the site's questions

    def asked(self, fixed: Mapping[str, int]) -> list[Question]:
        """What a page asks, with p adjusted as on the site; a part without a page for itself."""
        key = tuple(sorted(fixed.items()))
        if key in self._asked:
            return self._asked[key]
        facets = [facet.id for facet in self.study.facets if facet.id in self.prepared.factors]
        if not fixed:
            found = over_page(ask(design(self.prepared)))
        elif len(key) == 1 and key[0][0] in facets:
            pages = level_pages(self.prepared, facets)
            self._asked |= {(page,): of for page, of in pages.items()}
            found = self._asked.get(key, [])
        else:
            found = over_page(ask(design(self.prepared, fixed)), 1.0)
        self._asked[key] = found
        return found

    def own_p(self, of: Arranged) -> float:
        """The site's p of the same contrast, else of the question about its factor; 0 without."""
        if len(of.names) != 1 or not of.whole:
            return 0.0
        for question in self.asked(of.page.fixed):
            if question.factor != of.names[0] or question.kind not in (
                "names",
                "axis",
                "condition",
            ):
                continue
            tests, weights = question.tests, of.weights
            used = np.flatnonzero(weights)
            for at, pair in enumerate(
                zip(tests.first.tolist(), tests.second.tolist(), strict=True)
            ):
                if {*pair} == {*used.tolist()}:
                    return _else_one(float(question.adjusted[at]))
            return _else_one(question.p)
        return 0.0

    def about(
        self, about: str, found: Tested, of: Assertion, evaluation: Evaluation, text: str
    ) -> Tested:
        """What is found, no better than the question that a statement names."""
        grids = {source.levels for grid in evaluation.grids() for source in grid.sources}
        fixed = {}
        for at, facet in enumerate(self.study.facets):
            places = {self._codes[facet.id][facet.place(levels[at])] for levels in grids}
            if len(places) == 1 and min(places) >= 0:
                fixed[facet.id] = places.pop()
        kind, _, name = about.partition(" ")
        questions = [
            question
            for question in self.asked(fixed)
            if question.kind in KINDS[kind] and name in ("", question.factor)
        ]
        if kind not in ("setting", "level") and statements.SAMENESS.search(text):
            if self.margin is None:
                return replace(found, needs_margin=True)
            each = [contrasts.alike(of.design, of.tests, self.margin) for of in questions]
            p = float(np.max(np.concatenate(each))) if each else np.nan
        elif kind == "level":
            p = max((self._named(question, of) for question in questions), default=np.nan)
        else:
            p = min((question.p for question in questions), default=np.nan)
        least = max(found.least, p) if np.isfinite(p) else np.nan
        # What it obeys is this question's test, also where its own numbers have none.
        own = found.p if np.isfinite(found.p) else p
        return replace(found, p=own, least=least, quotes=False)

    def _named(self, question: Question, of: Assertion) -> float:
        """The p with which the page names the level of an axis that a statement names."""
        marked: set[int] = set()
        for leaf in leaves(of):
            placed = self.placed(leaf.terms)
            if placed is None or question.factor not in placed[0]:
                continue
            places, weights = placed[0][question.factor], placed[1]
            inside = leaf.inside if leaf.kind == "best" else leaf.sign * weights > 0
            sides = [{*places[side].tolist()} for side in (inside, ~inside)]
            marked |= sides[0] - sides[1]
        if not marked:
            return 0.0
        naming = name_level(question)
        if naming is None or naming.rule not in get_args(Level) or not {*naming.levels} & marked:
            return 1.0
        return naming.p

    # --- parts of a statement

    def tested(self, of: Assertion, *, quoting: bool = True) -> Tested:
        """What the tests say of an assertion.

        Args:
            quoting: Whether what is printed is enough for a part that says no more.
        """
        if isinstance(of, Leaf):
            return self._leaf(of, quoting=quoting)
        parts = of.parts
        if of.every or not quoting:
            parts = self._together(of)
        tests = [self.tested(part, quoting=quoting) for part in parts if of.every or part.truth]
        more = [part for part in tests if not part.quotes]
        if not more or (not of.every and quoting and len(more) < len(tests)):
            return QUOTE
        if of.every:
            return Tested(
                of.truth,
                float(np.max([part.p for part in more])),
                max(part.least for part in more),
                needs_margin=any(part.needs_margin for part in more),
            )
        able = [part for part in more if np.isfinite(part.p)]
        if not able:
            return Tested(of.truth, needs_margin=all(part.needs_margin for part in more))
        first = min(able, key=lambda part: max(part.p, part.least))
        return replace(first, p=min(1.0, first.p * len(parts)))

    def _leaf(self, leaf: Leaf, *, quoting: bool) -> Tested:
        if leaf.kind == "quote":
            return QUOTE
        p, least = np.nan, 0.0
        placed = self.placed(leaf.terms) if leaf.kind != "untestable" else None
        if placed is None:
            return Tested(leaf.truth)
        at, weights = placed
        if leaf.kind == "alike":
            if self.margin is None:
                return Tested(leaf.truth, needs_margin=True)
            of = statements.arranged(self.prepared, at, weights)
            tests = statements.contrast(of) if of else contrasts.nothing()
            p = np.nan
            if of and len(tests):
                p = float(contrasts.alike(of.page, tests, self.margin)[0])
        elif leaf.kind == "best":
            inside = np.tile(leaf.inside, len(weights) // len(leaf.inside))
            p = statements.best_inside(self.prepared, at, inside, leaf.sign)
        elif leaf.kind == "interaction":
            others = self.placed(leaf.others)
            p = statements.interaction(self.prepared, at, others[0]) if others else np.nan
        elif leaf.kind == "contrast":
            p, least = self._contrast(at, weights, leaf.sign, 0.0 if quoting else leaf.beyond)
        else:
            p, least = self._cells(leaf, at, weights)
        return Tested(leaf.truth, min(1.0, p * leaf.times) if np.isfinite(p) else p, least)

    def _contrast(
        self, at: Mapping[str, Codes], weights: Floats, sign: int, beyond: float = 0.0
    ) -> tuple[float, float]:
        """The p of a contrast towards a sign, from 0 or a number on; and the site's own."""
        of = statements.arranged(self.prepared, at, weights)
        tests = statements.contrast(of) if of else contrasts.nothing()
        if of is None or not len(tests) or (beyond and self.prepared.log):
            return np.nan, 0.0
        estimate, p = tests.estimate - beyond, tests.p
        if beyond:
            p = contrasts.pvalues(estimate, tests.error, tests.df)
        against = sign and np.sign(estimate[0]) != sign and np.isfinite(p[0])
        return (1.0 if against else float(p[0])), self.own_p(of)

    def _cells(self, leaf: Leaf, at: Mapping[str, Codes], weights: Floats) -> tuple[float, float]:
        """What is said of each cell, by those nearest to turning it; or of some, by the farthest.

        What is said of each is said of their mean, too.
        """
        cells = len(leaf.gap)
        gap = leaf.sign * leaf.gap if leaf.sign else np.abs(leaf.gap)
        order = np.argsort(gap, kind="stable")[: int(np.isfinite(gap).sum())]
        picked = order[:CLOSEST] if leaf.kind == "every" else order[-1:]
        each = []
        for cell in picked.tolist():
            own = [Term(term.levels, term.at[[cell]], term.weights[[cell]]) for term in leaf.terms]
            placed = self.placed(own)
            each.append(self._contrast(*placed, leaf.sign)[0] if placed else np.nan)
        p = max(each, default=np.nan)
        if leaf.kind == "some":
            return p, 0.0
        of_mean, least = self._contrast(at, weights / max(1, cells), leaf.sign)
        # Without a test of each cell, that of their mean is what can be tested.
        return (max(p, of_mean) if np.isfinite(p) else of_mean), least

    def placed(self, terms: Iterable[Term]) -> tuple[dict[str, Codes], Floats] | None:
        """The levels of cells by factor, with their weights; None where some aren't tested.

        An aggregate is the mean over its factor's levels.
        """
        study, terms = self.study, [*terms]
        facets = [self._codes[facet.id] for facet in study.facets]
        own = [
            [
                codes[facet.place(key)]
                for facet, codes, key in zip(study.facets, facets, term.levels, strict=True)
            ]
            for term in terms
        ]
        across = len(study.x.levels)
        rows: dict[str, list[Codes]] = {}
        weights = []
        for term, places in zip(terms, own, strict=True):
            spread = [
                len(self.prepared.factors[facet.id].levels)
                if place == -1 and facet.id in self.prepared.factors
                else 1
                for facet, place in zip(study.facets, places, strict=True)
            ]
            grid = np.indices(spread).reshape(len(spread), -1)
            copies = grid.shape[1] if spread else 1
            weights.append(np.tile(term.weights / copies, copies))
            y, x = np.divmod(term.at, across)
            rows.setdefault(study.x.id, []).append(
                np.tile(np.array(self._codes[study.x.id])[x], copies)
            )
            if study.y.id:
                rows.setdefault(study.y.id, []).append(
                    np.tile(np.array(self._codes[study.y.id])[y], copies)
                )
            for facet, place, levels in zip(study.facets, places, grid, strict=True):
                codes = levels if place == -1 else np.full(copies, place)
                rows.setdefault(facet.id, []).append(np.repeat(codes, len(term.at)))
        at = {name: np.concatenate(codes).astype(np.intp) for name, codes in rows.items()}
        at = {
            name: codes
            for name, codes in at.items()
            if name in self.prepared.factors or (codes < 0).any()
        }
        if any((codes < 0).any() for codes in at.values()):
            return None
        return at, np.concatenate(weights)

    def _together(self, of: Joined) -> tuple[Assertion, ...]:
        """Parts that say together what each says of one replicate, as one.

        "With each seed" is about seeds; and if seeds together say so, one of them does. How large
        at most is no more than what is printed where the same parts say how large at least.
        """
        facets = [facet.id for facet in self.study.facets]
        name = self.prepared.only("replicate")
        place = facets.index(name) if name in facets else -1
        kinds = ("contrast", "every", "alike") if of.every else ("contrast", "some")
        at_least = {_key(leaf.terms) for leaf in _lone(of.parts) if leaf.kind == "contrast"}
        parts = [
            part
            for part in of.parts
            if not isinstance(part, Leaf)
            or not (of.every and part.kind == "alike" and _key(part.terms) in at_least)
        ]
        if place < 0:
            return tuple(parts)
        number = sum(not level.aggregate for level in self.study.facets[place].levels)
        by_rest: dict[object, list[Leaf]] = {}
        for leaf in _lone(parts):
            if leaf.kind in kinds:
                rest = leaf.kind, leaf.sign, leaf.times, _key(leaf.terms, place)
                by_rest.setdefault(rest, []).append(leaf)
        for same in by_rest.values():
            levels = {term.levels[place] for leaf in same for term in leaf.terms}
            if len(same) == len(levels) == number:
                terms = tuple(
                    replace(term, weights=term.weights / number)
                    for leaf in same
                    for term in leaf.terms
                )
                gap = np.mean([leaf.gap for leaf in same], axis=0)
                truth = Joined(of.every, tuple(same)).truth
                parts = [part for part in parts if part not in same]
                parts.append(replace(same[0], truth=truth, terms=terms, gap=gap))
        return tuple(parts)


def _lone(parts: Iterable[Assertion]) -> list[Leaf]:
    return [part for part in parts if isinstance(part, Leaf)]


KINDS: Mapping[str, Sequence[str]] = {
    "axis": ("axis", "condition", "names"),
    "setting": ("cell",),
    "pair": ("names",),
    "interaction": ("interaction",),
    "level": ("axis",),
}
"""The site's kinds of questions by what `about` says."""


def _else_one(p: float) -> float:
    return p if np.isfinite(p) else 1.0


def _key(terms: Iterable[Term], but: int | None = None) -> object:
    """What tells sums of cells apart, but for the level of one facet."""
    return frozenset(
        (
            tuple(key for at, key in enumerate(term.levels) if at != but),
            term.at.tobytes(),
            term.weights.tobytes(),
        )
        for term in terms
    )
