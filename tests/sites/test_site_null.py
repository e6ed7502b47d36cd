"""Studies in which nothing differs: no sentence of their pages says that something does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import markdown
import numpy as np
import pytest
from bs4 import BeautifulSoup
from builders import write_study
from site_builds import text_of

from gridatlas.build.site import Site, build
from gridatlas.pages.page import Page

ASSERTIVE = re.compile(
    r"\b(best|worst|better|worse|beats?|outperforms?|higher|lower|highest|lowest|gains?|los(?:es|t)"
    r"|w[io]ns?|winner|superior|inferior|optim(?:um|al)|peaks?|improve[sd]?|r[io]ses?|falls?|drops?"
    r"|increase[sd]?|decrease[sd]?|clearly|likely|matters?|significant(?:ly)?|effect)\b",
    re.IGNORECASE,
)
"""Words that can say that something differs."""
NEUTRAL = (
    # what isn't shown, and questions
    r"(.*: )?no(thing| setting| setting and no .*| effect of .*| difference) shown.*",
    r"No clear (best|winner).*",
    r"Which setting\?|Does either knob matter\?|Who is ahead\?",
    r".* is significant in none of .*",
    # evidence, with the p that a reader can judge it by: a test looks at it
    r".* (has|have) the (highest|lowest) mean\b.*\(.*p = [\d.]+\), but chance can.*t be excluded\."
    r"( \(permutation test .*\))?",
    r".* ranks best of the .*\(.*p = [\d.]+\)\.?( \(permutation test .*\))?",
    r".* (has|share) the best (value|mean rank) of .*\(p = [\d.]+\)\.?( \(permutation test .*\))?",
    r"(Neither )?.* shows? (no|an) effect beyond chance \(p = [\d.]+(, p = [\d.]+)?\)\."
    r"( \(permutation test .*\))?",
    r"All levels of .* have the same mean \(p = 1\)\.",
    r"\(permutation test of (the best setting|.*), for .*\)",
    r"Cell by cell(, in every seed)?, 0 of \d+ are significantly higher and 0 lower \(.*\)\.",
    r"(.*: )?No cell is shown to be the best, (item by item|by .*)\.",
    r".* · best at the edge ▸",  # the highest or lowest value seen, which may be chance
    r"Small dots: the repeats of each\. ● (highest|lowest) seen\.",
    r"Each cell is .*; (higher|lower) is better\.",
    r"Band: 95 % interval of the (highest|lowest)\.",
    r"The (top score|lowest) of \d+ is partly luck: expect a little (less|more)\.",
    r"Lower is better: darker is better\.",
    r"One scale: .*\. ● (highest|lowest) seen\.( – worse, by more than 15 % of the scale\.)?",
    r"That cells don't differ significantly .* does not show that they are equal\..*",
    # counts and tests of cells
    r"(.*: )?No clear winner: (either|any of the \d+) cells? may be the best \(95 % .*\)\.",
    r".* is higher in \d+ of \d+ cells(, lower in \d+)?(, equal in \d+)?\.",
    r"By an? .* test.*, (no single cell's|the cell's) difference is(n't)? significant \(.*\)\.",
    r"Of the \d+ differences none is significant.*",
    # names of columns, marks and figures, and what they mean
    r"(test\d|b − a)?0 better, 0 worse",  # of the cells that a test tells apart
    r"Only significant cells have full colour and a number \(.*\); “·” is within chance\.",
    r"((May be the )?best|Highest|Lowest|Worst)( at( \S+ × \S+)?)?|best undisputed|may be best",
    r"Best, worst, mean and spread",
    r"[\d.]+ (%|\(.*\))?( n = \d+)? ?(may be )?best( undisputed)?",
    r"May be the best:? .*(95 %|95&nbsp;%) confidence set for the best.*",
    r"Best: .*",
    r"May be the best: \d+ of \d+ cells?\..*",
    r".*\((higher|lower) is better\) over .*",
    r"(Higher|Lower) is better\.",
    r".*a cell leaves (the set )?when another beats it.*",
    r".*the interval of the (highest|lowest|best)\b.*",
    r"(The five of|All) \d+ settings( with the best mean rank)?.*1 is best.*",
    r"Regret is what a setting loses on average against the best observed cell of each benchmark\.",
    r"That cell is partly the luckiest, and so are the settings with the best ranks: .*",
    r"If all settings were alike, the best mean rank would be as good as this with probability .*",
)
"""Sentences, headings and cells of tables in which such a word asserts nothing."""
_ALLOWED = tuple(re.compile(pattern, re.DOTALL | re.IGNORECASE) for pattern in NEUTRAL)
SEED = 20261123
"""Of a draw in which no test of single cells errs, as each family of them does in 1 of 20 draws."""
BLOCKS = "p, li, td, th, h1, h2, h3, h4, summary, figcaption, caption, dt, dd, label, button, pre"
GRID = {"rate": "1234", "depth": "12345"}
TESTS = [f"test{at}" for at in range(4)]
SHARES = {"name": "Accuracy", "better": "higher", "unit": "%", "range": [0, 100], "decimals": 1}
LOSS = {"name": "Loss", "better": "lower", "decimals": 3}


def table(levels: Mapping[str, Any], values: Iterator[str], more: str = "") -> str:
    rows = [",".join([*levels, "value"]) + (",n" if more else "")]
    rows += [",".join([*at, next(values)]) + more for at in product(*levels.values())]
    return "\n".join(rows) + "\n"


def shares(n: int) -> Iterator[str]:
    random = np.random.default_rng(SEED)
    while True:
        yield f"{100 * random.binomial(n, 0.5) / n:.1f}"


def losses() -> Iterator[str]:
    random = np.random.default_rng(SEED)
    while True:
        yield f"{random.normal(2, 0.01):.3f}"


def study(metric: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": 1, "title": "A demo", "metric": metric, "x": "rate", "y": "depth"} | more


def grids() -> tuple[dict[str, Any], str]:
    levels = {"model": "ab", "benchmark": TESTS, **GRID}
    factors = {"benchmark": {"levels": [{"id": test, "items": 30} for test in TESTS]}}
    keys = {"facets": ["model", "benchmark"], "compare": ["model"], "factors": factors}
    trials = {"items": "benchmark", "samples": 5}
    return study(SHARES, **keys, trials=trials), table(levels, shares(150))


def alone() -> tuple[dict[str, Any], str]:
    return study(SHARES), table(GRID, shares(100), ",100")


def seeds() -> tuple[dict[str, Any], str]:
    mean = {"id": "mean", "aggregate": {"by": "mean"}}
    keys = {
        "facets": ["warmup", "seed"],
        "replicates": "seed",
        "cells": "runs",
        "baseline": {"warmup": "without"},
        "factors": {"seed": {"levels": ["1", "2", "3", mean]}},
    }
    levels = {"warmup": ["without", "with"], "seed": "123", **GRID}
    return study(LOSS, **keys), table(levels, losses())


STUDIES = {"grids": grids, "alone": alone, "seeds": seeds}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    data = tmp_path_factory.mktemp("null") / "data"
    for name, make in STUDIES.items():
        write_study(data / name, *make())
    return build(data)


def sentences(page: Page) -> Iterator[str]:
    """All that a reader or a search engine can read of a page, sentence by sentence."""
    head, body = re.fullmatch(r"(?:---\n(.*?)\n---\n)?(.*)", page.whole(), re.DOTALL).groups()  # type: ignore[union-attr]
    texts = [line.partition(": ")[2].strip('" ') for line in (head or "").splitlines()]
    html = markdown.markdown(body, extensions=["tables", "md_in_html", "attr_list", "admonition"])
    soup = BeautifulSoup(html, "html.parser")
    for hidden in soup(["script", "style", "template", "svg"]):
        hidden.decompose()
    for block in soup.select(BLOCKS):
        for inner in block.select(BLOCKS):
            inner.extract()
        texts.append(text_of(block))
    for text in texts:
        # Not after `p = 1.`, nor where a sentence goes on in lower case.
        yield from filter(None, (part.strip() for part in re.split(r"(?<=[.?])\s+(?=[A-Z])", text)))


def test_no_grade_asserts_anything(site: Site) -> None:
    grades = {
        answer.grade
        for assessment in site.assessments.values()
        for answer in assessment.answers.values()
    }
    assert grades == {"not-shown", "untestable"}


def test_no_sentence_asserts_a_difference(site: Site) -> None:
    asserted = {
        (page.plan.path, text)
        for page in site.pages
        for text in sentences(page)
        if ASSERTIVE.search(text) and not any(allowed.fullmatch(text) for allowed in _ALLOWED)
    }
    assert asserted == set()


def test_what_evidence_tells_is_above_chance(site: Site) -> None:
    """No p of an answer is small."""
    found = [
        float(number)
        for assessment in site.assessments.values()
        for answer in assessment.answers.values()
        for text in answer.evidence
        for number in re.findall(r"p [=<] ([\d.]*\d)", text)
    ]
    assert len(found) > 5
    assert min(found) > 0.05


def test_what_is_computed_has_no_count_of_sources(site: Site) -> None:
    [page] = [page for page in site.pages if page.plan.path.endswith("seeds/warmup/with/index.md")]
    source = BeautifulSoup(page.whole(), "html.parser").select(".ga-trust dd")[0]
    assert text_of(source) == "All values are computed from those of other pages."


@pytest.mark.parametrize(
    "text",
    [
        "Ratio 0.4 scores highest.",
        "R1-Qwen: ratio clearly matters; 0.4 scores highest",
        "B beats A in 20 of 20 cells.",
        "The best of 20 values is 54.0 %, at rate × depth = 4 × 3.",
        "The gains peak at 1000.",
        "Best at rate 0.4, the accuracy falls with depth.",
    ],
)
def test_an_assertion_is_noticed(text: str) -> None:
    assert ASSERTIVE.search(text)
    assert not any(allowed.fullmatch(text) for allowed in _ALLOWED)
