"""The sentences of this repository's studies, whole, with their p-values and intervals."""

import numpy as np
import pytest
from builders import cases
from shipped_columns import digits, dynts, published

from gridatlas.analysis.answers import analyse
from gridatlas.analysis.design import design, prepare
from gridatlas.analysis.statements import arranged, contrast

STUDIES = {
    "dynts": (dynts, ["model", "benchmark"]),
    "pass@1": (lambda: digits(1), ["setting", "temperature", "seed"]),
    "pass@8": (lambda: digits(8), ["setting", "temperature", "seed"]),
    "published": (published, ["setting"]),
}
FRONT = ""


@pytest.fixture(scope="module")
def pages():
    found = {}
    for name, (table, facets) in STUDIES.items():
        study = prepare(table())
        for page, answer in analyse(study, facets).items():
            facet, level = page or ("", 0)
            label = f"{facet} {study.factors[facet].levels[level]}" if facet else FRONT
            found[name, label] = answer
    return found


@pytest.mark.parametrize(
    ("study", "page", "headline", "grade", "evidence"), cases(__file__, "sentences")
)
def test_sentences(pages, study, page, headline, grade, evidence):
    answer = pages[study, page]
    assert answer.headline == headline
    assert answer.grade == grade
    assert [line for line in evidence if line not in answer.evidence] == []


def test_assertions_are_typed(pages):
    [first, *_] = pages["pass@1", FRONT].assertions
    assert (first.kind, first.factor, first.levels) == ("pair", "setting", ("GRPO", "Before GRPO"))
    assert first.unit == "%"
    assert first.grade == "likely"
    assert first.population == "for other seeds (3 here)"
    assert (first.estimate, first.low, first.high) == pytest.approx((26.05, 15.69, 36.41), abs=0.01)
    kinds = {stated.kind for stated in pages["dynts", FRONT].assertions}
    assert kinds == {"block", "trend"}


def test_a_statement_has_the_test_of_the_site():
    study = prepare(digits(1))

    def compared(**levels):
        found = arranged(study, {k: np.array(v) for k, v in levels.items()}, np.array([1.0, -1.0]))
        return contrast(found)

    mine = compared(setting=[2, 0])
    theirs = compared(setting=[2, 0], temperature=[1, 1])
    assert mine.estimate == pytest.approx([30.8], abs=0.01)
    assert mine.p == pytest.approx([0.0068], abs=0.0001)
    assert theirs.p == pytest.approx([0.0025], abs=0.0001)
    other = compared(setting=[2, 0], temperature=[0, 2])
    assert len(other) == 1
    assert design(study).unit == "replicate"
