"""Pages of our own studies lead with what their data support, and files say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from expected import OURS, OURS_PASS_8, ROLLOUTS, TRAINED
from site_builds import DYNTS, GRPO, Build, article, text_of

STUDIES = (DYNTS, GRPO, *TRAINED)
DYNTS_LEAD = (
    "R1-Qwen likely beats R1-Llama on AIME25 (6.8 points) and GPQA_D (1.7), on these questions"
)
OURS_LEAD = "Control and After GRPO likely beat Before GRPO; Control also After GRPO (+4.8 points)"
LEADS = {
    f"studies/{DYNTS}/": DYNTS_LEAD,
    f"studies/{DYNTS}/model/": f"R1-Llama vs. R1-Qwen: {DYNTS_LEAD}",
    f"studies/{DYNTS}/model/r1-qwen/": "R1-Qwen: No effect of ratio or local window size shown",
    f"studies/{DYNTS}/benchmark/aime25/": "AIME25: R1-Qwen beats R1-Llama, by 6.8 points, on these "
    "questions",
    f"studies/{DYNTS}/benchmark/average/": f"Average: {DYNTS_LEAD}",
    f"studies/{GRPO}/setting/before/": "Before GRPO: Score is likely lower at a larger number of "
    "x's digits, in these runs",
    f"studies/{OURS}/": OURS_LEAD,
    f"studies/{OURS}/seed/": "By training seed: no level shows a difference by itself",
    f"studies/{OURS}/seed/mean/": f"Mean of the seeds: {OURS_LEAD}",
    f"studies/{OURS}/seed/1/": "Seed 1 alone: Control 51.3 %, After GRPO 47.3 %, Before GRPO "
    "20.1 %",
    f"studies/{OURS}/setting/supervised/": "Control: accuracy (pass@1) falls with digits of y in "
    "all 3 training seeds, but not shown",
    f"studies/{OURS}/temperature/0/": "Greedy: Control is ahead of Before GRPO in all 3 training "
    "seeds, but not shown",
    f"studies/{ROLLOUTS}/": "No difference shown between Before GRPO, GRPO (rollout temperature "
    "1.25), GRPO (rollout temperature 1.0) and Supervised control",
    f"studies/{OURS_PASS_8}/temperature/1/": "Sampled at 1.0: Control and After GRPO likely beat "
    "Before GRPO (+40.7, +35.0 points)",
}
GRADES = {
    "clear": "Clear: chance alone",
    "likely": "Likely: p ",
    "not-shown": "Not shown",
    "untestable": "Described, not tested",
    "reading-dependent": "Depends on which reading is right",
}
KEYS = {"page", "grade", "sentence", "evidence", "p", "population", "assertions"}
OF_ASSERTIONS = {"kind", "factor", "levels", "p", "grade", "population"}
OF_NUMBERS = {"estimate", "low", "high", "unit"}


def heading(page: BeautifulSoup) -> Tag | None:
    return article(page).h1


def answers(atlas: Build, study: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(
        (atlas.site / f"grids/{study}/answers.json").read_text("utf-8")
    )
    return content


@pytest.mark.parametrize("path", LEADS)
def test_a_page_leads_with_its_answer(atlas: Build, path: str) -> None:
    page = atlas.page(path)
    assert text_of(heading(page)) == LEADS[path]
    assert text_of(page.title).startswith(f"{LEADS[path]} – ")
    [meta] = page.select('meta[name="description"]')
    assert str(meta["content"]).startswith(f"{LEADS[path]}. ")


@pytest.mark.parametrize("study", STUDIES)
def test_answers_json_has_what_each_page_says(atlas: Build, study: str) -> None:
    found = answers(atlas, study)
    assert found
    for answer in found:
        page = article(atlas.page(answer["page"]))
        # A page that compares levels, or is of their mean, says so before the study's answer.
        heading = text_of(page.h1)
        assert heading.endswith(answer["sentence"]) or heading.startswith("By ")
        [lines] = page.select("dl.ga-lines")
        how_sure = dict(zip(map(text_of, lines("dt")), map(text_of, lines("dd")), strict=True))
        assert how_sure["How sure"].startswith(GRADES[answer["grade"]])
        assert [text_of(item) for item in page.select("#evidence + ul li")] == answer["evidence"]


@pytest.mark.parametrize("study", STUDIES)
def test_assertions_are_typed_and_what_is_unknown_is_absent(atlas: Build, study: str) -> None:
    for answer in answers(atlas, study):
        assert KEYS - {"p"} <= answer.keys() <= KEYS
        assert ("p" in answer) == (answer["grade"] != "untestable")
        assert bool(answer["assertions"]) == (answer["grade"] in ("clear", "likely"))
        for assertion in answer["assertions"]:
            assert assertion.keys() >= OF_ASSERTIONS
            assert assertion.keys() <= OF_ASSERTIONS | OF_NUMBERS
            assert assertion["p"] <= 0.05
            if assertion["kind"] != "interaction":
                assert assertion["low"] <= assertion["estimate"] <= assertion["high"]


def test_the_control_is_compared_with_what_it_controls(atlas: Build) -> None:
    """It beats GRPO, which no page said when only the baseline was compared."""
    [front, *_] = answers(atlas, OURS)
    assert {"factor": "setting", "kind": "pair", "levels": ["Control", "After GRPO"]}.items() <= (
        front["assertions"][-2].items()
    )
    evidence = text_of(article(atlas.page(f"studies/{OURS}/")))
    assert "Control likely ahead of After GRPO: 2.7 to 6.8 (p = 0.03)." in evidence


def test_a_page_of_one_seed_asserts_nothing(atlas: Build) -> None:
    page = article(atlas.page(f"studies/{OURS}/seed/1/"))
    assert text_of(page.select_one(".ga-lead")) == f"Over all 3: {OURS_LEAD}."
    assert "Described, not tested. One training seed can't tell what others do." in text_of(
        page.select_one(".ga-lines")
    )


def test_the_page_of_all_studies_counts_their_grades(atlas: Build) -> None:
    page = article(atlas.page("studies/"))
    assert text_of(page.h1) == "5 studies: 4 with a likely difference and 1 in which none is shown"
    assert "nothing is corrected over studies" in text_of(page)
    assert [text_of(heading) for heading in page.select("h2")] == [
        answers(atlas, study)[0]["sentence"] for study in (*TRAINED, DYNTS, GRPO)
    ]


def test_a_reading_that_contradicts_printed_averages_is_named(atlas: Build) -> None:
    [answer] = [
        answer for answer in answers(atlas, DYNTS) if answer["page"].endswith("model/r1-qwen/")
    ]
    assert answer["evidence"][-1] == (
        "Another reading (R1-Qwen figure, four benchmarks, read by gemma-3-27b-it-free) differs "
        "in 24 of 32 shared cells, by up to 8.7; it has impossible counts and contradicts 5 of 8 "
        "printed averages, so it doesn't count against the shown one."
    )
    assert not any("Another reading" in text for text in answers(atlas, DYNTS)[2]["evidence"])
