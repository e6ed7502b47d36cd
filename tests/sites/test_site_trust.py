"""What the site says of its own numbers: readings, checks, claims, and how sure they are."""

import re

import pytest
from builders import real_data
from site_builds import Build, text_of

from gridatlas.pages.filters import CONTRADICTED, VERDICT_WORDS

DYNTS = "studies/dynts-window-ratio"
GRPO = "studies/grpo-digits"


def _text(build: Build, path: str) -> str:
    article = build.page(path).select_one("article")
    return re.sub(r"\s+", " ", article.get_text(" "))


def test_what_is_accepted_stands_there_with_its_reason(atlas: Build) -> None:
    text = _text(atlas, f"{GRPO}/checks/")
    assert "rows 9 and 10 (number of y's digits) have the same values" in text
    assert "11 values for the 10 columns of this row" in text
    accepted = real_data()["grpo-digits"].study.accepted
    assert len(accepted) == 3
    for entry in accepted:
        assert re.sub(r"\s+", " ", entry.because) in text


def test_the_page_leads_with_its_verdict_and_whose_statements_are_wrong(atlas: Build) -> None:
    page = atlas.page(f"{DYNTS}/checks/")
    verdict = "The shown numbers pass every check; one rejected reading doesn't"
    assert page.h1.find(string=True).strip() == verdict
    assert verdict in page.select_one("meta[name=description]")["content"]
    wrong = page.select("table.ga-wrong tbody tr")
    assert len(wrong) == 3
    for row in wrong:
        assert row.select_one("td a[href]")  # the number that refutes it
    for link in page.select("#statements table a"):
        section = page.find(id=link["href"].removeprefix("#"))
        assert section.get_text().strip().startswith(link.get_text())


@pytest.mark.parametrize("study", [DYNTS, GRPO])
def test_every_claim_is_told_and_wrong_ones_with_what_speaks_against_them(
    atlas: Build, study: str
) -> None:
    page = atlas.page(f"{study}/checks/")
    claims = page.select("li.ga-claim")
    results = next(assessment for study_id, assessment in real_data().items() if study_id in study)
    assert len(claims) == len(results.study.claims)
    refuted = 0
    for item in claims:
        outcome = item.select_one("summary strong").get_text()
        assert outcome in (*VERDICT_WORDS.values(), "Not checkable")
        if outcome in CONTRADICTED:
            refuted += 1
        # What doesn't hold comes before the others are unfolded.
        first = outcome in (*CONTRADICTED, "Can't be decided")
        assert (item.find_parent(class_="ga-rest") is None) == first
    assert refuted == sum(claim.holds is False for claim in results.study.claims)
    linked = [
        item
        for item in claims
        if "Counterexamples:" in item.get_text() and item.select("p a[href]")
    ]
    assert len(linked) > refuted // 2


def test_a_levels_page_has_what_does_not_hold_and_leads_to_the_others(atlas: Build) -> None:
    level, checks = atlas.page(f"{DYNTS}/model/r1-qwen/"), atlas.page(f"{DYNTS}/checks/")
    statements = level.select("#statements li.ga-claim")
    assert {item["data-verdict"] for item in statements} == {*CONTRADICTED, "Can't be decided"}
    everything = {text_of(item.summary) for item in checks.select("li.ga-claim")}
    assert {text_of(item.summary) for item in statements} < everything
    links = level.select('#statements .ga-claims > div > p > a[href^="../../checks/#"]')
    assert len(links) == 3
    for link in links:
        anchor = str(link["href"]).partition("#")[2]
        assert text_of(link.parent).startswith("The others: ")
        assert checks.find(id=anchor).select("details.ga-rest li.ga-claim")


def test_statements_are_those_of_machine_made_descriptions_and_not_the_papers(
    atlas: Build,
) -> None:
    for path in (f"{DYNTS}/checks/", f"{DYNTS}/model/r1-qwen/", f"{GRPO}/checks/"):
        text = _text(atlas, path)
        assert "machine-made description" in text
        assert "No sentence of the paper itself is checked." in text
    # Where the heading "Claims" was, links still lead to.
    assert atlas.page(f"{DYNTS}/checks/").find(id="claims").find_parent(id="statements")
    # Those of our own study are our own.
    text = _text(atlas, "studies/digits-pass-1/checks/")
    assert "statements about the results are checked at every build." in text
    assert "machine-made" not in text
