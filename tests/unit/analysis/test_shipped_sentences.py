"""The sentences of this repository's studies, whole, with their p-values and intervals."""

import numpy as np
import pytest
from builders import cases, real_data

from gridatlas.analysis.design import design, prepare
from gridatlas.analysis.statements import arranged, contrast
from gridatlas.assessment.observations import observations


@pytest.mark.parametrize(
    ("study", "page", "headline", "grade", "evidence"), cases(__file__, "sentences")
)
def test_sentences(study, page, headline, grade, evidence):
    answer = real_data()[study].answers[page]
    assert (answer.headline, answer.grade) == (headline, grade)
    assert [line for line in evidence if line not in answer.evidence] == []


def test_assertions_are_typed():
    [first, *_] = real_data()["digits-pass-1"].answers[""].assertions
    assert (first.kind, first.factor, first.levels, first.unit, first.grade, first.population) == (
        *("pair", "setting", ("After GRPO", "Before GRPO"), "%", "likely"),
        "for other training seeds (3 here)",
    )
    assert (first.estimate, first.low, first.high) == pytest.approx((26.05, 15.69, 36.41), abs=0.01)
    kinds = {stated.kind for stated in real_data()["dynts-window-ratio"].answers[""].assertions}
    assert kinds == {"block", "trend"}


def test_a_statement_has_the_test_of_the_site():
    study = prepare(observations(real_data()["digits-pass-1"].study))

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
