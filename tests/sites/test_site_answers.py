"""Pages of our own studies lead with what their data support, and files say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from expected import GREEDY, OURS
from site_builds import DYNTS, GRPO, Build, article, text_of

STUDIES = (DYNTS, GRPO, OURS, GREEDY)
LEADS = {
    f"studies/{DYNTS}/": "R1-Qwen: ratio clearly matters, 0.4 scores highest; "
    "R1-Llama: nothing shown to be better",
    f"studies/{DYNTS}/model/": "R1-Qwen likely scores higher than R1-Llama, by 2.4 points",
    f"studies/{DYNTS}/model/r1-qwen/": "R1-Qwen: ratio clearly matters; 0.4 scores highest",
    f"studies/{DYNTS}/benchmark/aime25/": "AIME25: R1-Qwen likely scores higher than R1-Llama, by "
    "6.8 points",
    f"studies/{DYNTS}/benchmark/average/": "R1-Qwen likely scores higher than R1-Llama, by 2.4 "
    "points",
    "studies/grpo-digits/setting/before/": "Before GRPO: score 7.1 on average; can't be tested",
    "studies/digits-grpo-ours/setting/after_t125/": "After GRPO, rollouts at 1.25 clearly scores "
    "higher than Before GRPO, by 28.8 points",
}


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
        assert text_of(page.h1) == answer["sentence"]
        evidence = [reason["sentence"] for reason in answer["evidence"]]
        assert text_of(page.select("h1 ~ p")[0]) == " ".join(evidence[:2])
        listed = [text_of(item) for item in page.select("#evidence + ul li")]
        assert len(listed) == len(evidence)
        assert all(map(str.startswith, listed, evidence))


def test_the_page_of_all_studies_counts_their_grades(atlas: Build) -> None:
    page = article(atlas.page("studies/"))
    assert text_of(page.h1) == "4 studies: 3 with a clear effect and 1 that can't be tested"
    assert [text_of(heading) for heading in page.select("h2")] == [
        answers(atlas, study)[0]["sentence"] for study in (OURS, GREEDY, DYNTS, GRPO)
    ]


def test_a_reading_that_contradicts_printed_averages_is_named(atlas: Build) -> None:
    [answer] = [
        answer for answer in answers(atlas, DYNTS) if answer["page"].endswith("model/r1-qwen/")
    ]
    assert answer["evidence"][-1]["sentence"] == (
        "Another reading (R1-Qwen figure, four benchmarks, read by gemma-3-27b-it-free) differs in "
        "24 of 32 shared cells, by up to 8.7; it has values that are no count of trials and "
        "contradicts 5 of 8 printed averages, so it doesn't count against the shown one."
    )
    cells = {(cell["ratio"], cell["local_window"]) for cell in answer["cells"]}
    assert cells == {("0.4", window) for window in ("500", "1000", "2000", "3000")}


def test_cells_are_counted_beside_the_mean(atlas: Build) -> None:
    [answer] = [answer for answer in answers(atlas, OURS) if answer["page"].endswith("seed/1/")]
    test = "(sign-flip permutation test, exact, Holm's correction)"
    assert [
        reason["sentence"] for reason in answer["evidence"] if "Cell by" in reason["sentence"]
    ] == [
        "Seed 1, After GRPO, rollouts at 1.25: Cell by cell, 27 of 36 are significantly higher and "
        f"1 lower {test}. The lower one is that with number of x's digits 2 and number of y's "
        "digits 6.",
        "Seed 1, After GRPO, rollouts at 1.0: Cell by cell, 30 of 36 are significantly higher and "
        f"0 lower {test}. The higher ones are those with number of y's digits 1 to 5.",
    ]


def test_a_region_is_what_all_seeds_have_and_the_rest_is_counted(atlas: Build) -> None:
    [answer] = [
        answer for answer in answers(atlas, OURS) if answer["page"].endswith("setting/after_t125/")
    ]
    assert answer["evidence"][-1]["sentence"] == (
        "Cell by cell, in every seed, 25 of 36 are significantly higher and 0 lower (sign-flip "
        "permutation test, exact, Holm's correction). The higher ones are those with number of "
        "x's digits 1 to 5 and number of y's digits 1 to 5. The 11 other cells change by +5.9, "
        "+4.9 and \u221216.4 on average, seed by seed."
    )
