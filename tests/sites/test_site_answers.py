"""Pages of our own studies lead with what their data support, and files say the same."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from expected import OURS, OURS_PASS_8
from site_builds import DYNTS, GRPO, Build, article, text_of

STUDIES = (DYNTS, GRPO, OURS, OURS_PASS_8)
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
    "studies/digits-pass-1/setting/grpo/": "After GRPO clearly scores higher than Before GRPO, by "
    "26.1 points",
    "studies/digits-pass-1/temperature/0/": "Greedy: After GRPO and Control clearly score higher, "
    "by 35.9 and 38.4 points",
    "studies/digits-pass-8/temperature/0.6/": "Temperature 0.6: After GRPO and Control clearly "
    "score higher, by 31.4 and 33.2 points",
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


@pytest.mark.parametrize("path", ["setting/", "setting/before/", "setting/after_t100/"])
def test_what_cannot_be_tested_is_said_once_with_its_reason(atlas: Build, path: str) -> None:
    page = copy(article(atlas.page(f"studies/{GRPO}/{path}")))  # others read the page, too
    for folded in page.select("details"):
        folded.decompose()
    text = text_of(page)
    assert text.count("an't be tested") == text_of(page.h1).count("can't be tested") == 1
    assert text.count("number of trials behind each value is unknown") == 1


def test_the_page_of_all_studies_counts_their_grades(atlas: Build) -> None:
    page = article(atlas.page("studies/"))
    assert text_of(page.h1) == "4 studies: 3 with a clear effect and 1 that can't be tested"
    assert [text_of(heading) for heading in page.select("h2")] == [
        answers(atlas, study)[0]["sentence"] for study in (OURS, OURS_PASS_8, DYNTS, GRPO)
    ]


def test_a_reading_that_contradicts_printed_averages_is_named(atlas: Build) -> None:
    [answer] = [
        answer for answer in answers(atlas, DYNTS) if answer["page"].endswith("model/r1-qwen/")
    ]
    assert answer["evidence"][-1]["sentence"] == (
        "Another reading (R1-Qwen figure, four benchmarks, read by gemma-3-27b-it-free) differs "
        "in 24 of 32 shared cells, by up to 8.7; it has impossible counts and contradicts 5 of 8 "
        "printed averages, so it doesn't count against the shown one."
    )
    cells = {(cell["ratio"], cell["local_window"]) for cell in answer["cells"]}
    assert cells == {("0.4", window) for window in ("500", "1000", "2000", "3000")}


def of_temperature(atlas: Build, study: str, temperature: str) -> list[str]:
    """What the page of an evaluation temperature says about single cells."""
    page = f"temperature/{temperature}/"
    [answer] = [answer for answer in answers(atlas, study) if answer["page"].endswith(page)]
    return [reason["sentence"] for reason in answer["evidence"] if "Cell by" in reason["sentence"]]


def test_cells_are_counted_beside_the_mean(atlas: Build) -> None:
    # Greedily each item has one outcome: the test is that of pairs.
    test = "significantly higher and 0 lower (McNemar's exact test, Holm's correction)"
    assert of_temperature(atlas, OURS, "0") == [
        f"Greedy, After GRPO: Cell by cell, in every seed, 25 of 36 are {test}.",
        f"Greedy, Control: Cell by cell, in every seed, 24 of 36 are {test}.",
    ]
    assert of_temperature(atlas, OURS_PASS_8, "0.6") == [
        f"Temperature 0.6, After GRPO: Cell by cell, in every seed, 22 of 36 are {test}.",
        f"Temperature 0.6, Control: Cell by cell, in every seed, 23 of 36 are {test}.",
    ]


def test_a_region_is_what_all_seeds_have_and_the_rest_is_counted(atlas: Build) -> None:
    assert of_temperature(atlas, OURS, "1")[-1] == (
        "Temperature 1.0, Control: Cell by cell, in every seed, 25 of 36 are significantly higher "
        "and 0 lower (sign-flip permutation test, exact, Holm's correction). The higher ones are "
        "those with digits of x 1 to 5 and digits of y 1 to 5. The 11 other cells change by +5.6, "
        "+8.4 and +0.8 on average, seed by seed."
    )
