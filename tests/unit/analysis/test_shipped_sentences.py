"""The sentences of this repository's studies, whole, with their p-values and intervals."""

import numpy as np
import pytest
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
    ("study", "page", "headline", "grade", "evidence"),
    [
        (
            "dynts",
            FRONT,
            "R1-Qwen likely beats R1-Llama on AIME25 (6.8 points) and GPQA_D (1.7), on these "
            "questions",
            "likely",
            [
                "Benchmark by benchmark: AIME24 +0.7 (−1.8 to 3.2), AIME25 +6.8 (4.5 to 9.2), "
                "AMC23 +0.3 (−1.1 to 1.8), GPQA_D +1.7 (0.7 to 2.7), if these questions are asked "
                "again.",
                "Pass@1 is likely higher at larger ratio: 56.0 % at 0.1, 57.5 % at 0.5.",
                "On average over the benchmarks R1-Qwen is ahead by 1.9 points; for other "
                "benchmarks nothing is shown (p = 0.32).",
                "No effect of window shown (p = 1).",
            ],
        ),
        (
            "dynts",
            "model R1-Qwen",
            "R1-Qwen: No effect of ratio or window shown",
            "not-shown",
            [
                "Pass@1 30.7 to 88.5 %.",
                "Ratio: p = 0.31; the largest difference, 1.2 points, is 0.4 to 2.1 by itself; "
                "about 8 benchmarks would show it.",
            ],
        ),
        (
            "dynts",
            "model R1-Llama",
            "R1-Llama: No effect of ratio or window shown",
            "not-shown",
            [
                "Ratio: p = 0.45; the largest difference, 1.6 points, is −1.0 to 4.2 by itself; "
                "about 12 benchmarks would show it.",
            ],
        ),
        (
            "dynts",
            "benchmark AIME24",
            "AIME24: No difference shown between R1-Llama and R1-Qwen (±2.5 points)",
            "not-shown",
            [],
        ),
        (
            "dynts",
            "benchmark AMC23",
            "AMC23: No difference shown between R1-Llama and R1-Qwen (±1.5 points)",
            "not-shown",
            [],
        ),
        (
            "dynts",
            "benchmark AIME25",
            "AIME25: R1-Qwen beats R1-Llama, by 6.8 points, on these questions",
            "clear",
            [
                "34.1 % against 27.2 %; difference 4.5 to 9.2 (p < 0.001), if these questions are "
                "asked again.",
                "Ahead in 20 of 20 cells.",
            ],
        ),
        (
            "dynts",
            "benchmark GPQA_D",
            "GPQA_D: R1-Qwen likely beats R1-Llama, by 1.7 points, on these questions",
            "likely",
            [
                "47.6 % against 45.9 %; difference 0.7 to 2.7 (p = 0.01), if these questions are "
                "asked again.",
                "Ahead in 17 of 20 cells.",
            ],
        ),
        (
            "pass@1",
            FRONT,
            "Control and GRPO likely beat Before GRPO (+30.8, +26.1 points); Control also GRPO "
            "(+4.8)",
            "likely",
            [
                "Control likely ahead: 50.0 % against 19.2 %; difference 19.8 to 41.8 (p = 0.03), "
                "for other seeds (3 here).",
                "GRPO likely ahead: 45.3 % against 19.2 %; difference 15.7 to 36.4 (p = 0.03).",
                "Control likely ahead of GRPO: 2.7 to 6.8 (p = 0.03).",
                "Control is ahead of Before GRPO in 3 of 3 seeds; seeds differ by ±4.4 points.",
                "Means over all digits of x, digits of y and temperatures.",
                "The effect of temperature depends on setting (p = 0.043): GRPO +35.9 points at "
                "0, +27.6 at 0.6, +14.7 at 1; Control +38.4, +35.2, +18.8.",
            ],
        ),
        (
            "pass@1",
            "setting Before GRPO",
            "Before GRPO: Accuracy likely falls with digits of x and with temperature",
            "likely",
            [],
        ),
        (
            "pass@1",
            "setting GRPO",
            "GRPO: Accuracy likely falls with digits of y and with temperature",
            "likely",
            [],
        ),
        (
            "pass@1",
            "setting Control",
            "Control: accuracy falls with digits of y in all 3 seeds (65.9 % to 15.0 %), but not "
            "shown",
            "not-shown",
            [
                "3 seeds are too few to be sure what others do.",
                "Digits of y: p = 0.055; about 4 seeds would show it.",
            ],
        ),
        (
            "pass@1",
            "temperature 0",
            "Temperature 0: Control is ahead of Before GRPO in all 3 seeds, but not shown",
            "not-shown",
            [
                "Setting: p = 0.076; the largest difference, 38.4 points, is 14.7 to 62.1 by "
                "itself; about 4 seeds would show it.",
            ],
        ),
        (
            "pass@1",
            "temperature 0.6",
            "Temperature 0.6: Control likely beats Before GRPO (+35.2 points)",
            "likely",
            [
                "Control likely ahead: 48.0 % against 12.8 %; difference 27.7 to 42.8 (p = 0.037), "
                "for other seeds (3 here).",
            ],
        ),
        (
            "pass@1",
            "temperature 1",
            "Temperature 1: Control likely beats Before GRPO (+18.8 points)",
            "likely",
            [
                "Control likely ahead: 25.4 % against 6.7 %; difference 16.6 to 21.0 (p = 0.017), "
                "for other seeds (3 here).",
            ],
        ),
        (
            "pass@1",
            "seed 1",
            "Seed 1 alone: Control 51.3 %, GRPO 47.3 %, Before GRPO 20.1 %",
            "untestable",
            [
                "One seed can't tell what others do.",
                "Over all 3: Control and GRPO likely beat Before GRPO (+30.8, +26.1 points); "
                "Control also GRPO (+4.8).",
            ],
        ),
        (
            "pass@8",
            FRONT,
            "Control and GRPO likely beat Before GRPO (+36.9, +33.2 points); Control also GRPO "
            "(+3.7)",
            "likely",
            [
                "Control likely ahead: 76.9 % against 40.0 %; difference 23.3 to 50.6 (p = 0.032), "
                "for other seeds (3 here).",
            ],
        ),
        (
            "pass@8",
            "setting Before GRPO",
            "Before GRPO: Pass@8 likely falls with digits of x and with digits of y",
            "likely",
            [],
        ),
        (
            "pass@8",
            "setting GRPO",
            "GRPO: Pass@8 likely falls with temperature: 80.0 % at 0.6, 66.4 % at 1",
            "likely",
            [],
        ),
        (
            "pass@8",
            "setting Control",
            "Control: pass@8 falls with digits of y in all 3 seeds (91.6 % to 32.0 %), but not "
            "shown",
            "not-shown",
            [],
        ),
        (
            "pass@8",
            "temperature 0.6",
            "Temperature 0.6: Control is ahead of Before GRPO in all 3 seeds, but not shown",
            "not-shown",
            [],
        ),
        (
            "pass@8",
            "temperature 1",
            "Temperature 1: Control and GRPO likely beat Before GRPO; Control also GRPO (+5.6 "
            "points)",
            "likely",
            [],
        ),
        (
            "published",
            FRONT,
            "GRPO at 1.25 likely beats Before GRPO (+55.2), in these runs",
            "likely",
            [
                "GRPO at 1.25 likely ahead: 62.3 against 7.1, over 90 of 100 cells that both have; "
                "difference 50.8 to 59.5 (p < 0.001), for these measurements, one of each (so no "
                "more than likely).",
                "GRPO at 1.0 likely behind: 5.6 against 7.1; difference 0.4 to 2.6 (p = 0.0079).",
                "Ahead in 90 of 90 cells.",
            ],
        ),
        (
            "published",
            "setting Before GRPO",
            "Before GRPO: Score is likely lower with more digits of x, in these runs",
            "likely",
            [],
        ),
        (
            "published",
            "setting GRPO at 1.0",
            "GRPO at 1.0: Score is likely lower with more digits of x, in these runs",
            "likely",
            [],
        ),
        (
            "published",
            "setting GRPO at 1.25",
            "GRPO at 1.25: Score is likely higher with more digits of y, in these runs",
            "likely",
            ["Score likely depends on digits of x: from 36.6 at 1 to 59.4 at 10."],
        ),
    ],
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
