"""Pages of our own studies lead with what their data support, and files say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from expected import TRAINED
from site_builds import DYNTS, GRPO, Build, article, text_of

STUDIES = (DYNTS, GRPO, *TRAINED)
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


def answers(atlas: Build, study: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(
        (atlas.site / f"grids/{study}/answers.json").read_text("utf-8")
    )
    return content


@pytest.mark.parametrize("study", STUDIES)
def test_answers_json_has_what_each_page_says(atlas: Build, study: str) -> None:
    found = answers(atlas, study)
    assert found
    for answer in found:
        page = article(atlas.page(answer["page"]))
        # A page that compares levels, or is of their mean, says so before the study's answer.
        heading = text_of(page.h1)
        assert heading.endswith(answer["sentence"]) or heading.startswith("By ")
        head = atlas.page(answer["page"])
        assert text_of(head.title).startswith(f"{heading} – ")
        [meta] = head.select('meta[name="description"]')
        assert str(meta["content"]).startswith(f"{heading}. ")
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


def test_the_page_of_all_studies_counts_their_grades(atlas: Build) -> None:
    page = article(atlas.page("studies/"))
    assert text_of(page.h1) == "5 studies: 4 with a likely difference and 1 in which none is shown"
    assert [text_of(heading) for heading in page.select("h2")] == [
        answers(atlas, study)[0]["sentence"] for study in (*TRAINED, DYNTS, GRPO)
    ]
