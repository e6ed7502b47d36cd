"""What the site says of its own numbers: readings, checks, claims, and how sure they are."""

import json
import re

import pytest
from site_builds import ROOT, Build

from gridatlas.loaded import load_data

DYNTS = "studies/dynts-window-ratio"
GRPO = "studies/grpo-digits"


def _text(build: Build, path: str) -> str:
    article = build.page(path).select_one("article")
    return re.sub(r"\s+", " ", article.get_text(" "))


def test_the_checks_of_the_windows_are_told_with_their_strength(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/checks/")
    assert "40 of 40 printed aggregates are the mean of 4 printed parts" in text
    assert "40 of 40 values are a count of 150 trials, rounded." in text
    assert "15.1 % of all values from 0 to 100 with 1 decimal are such counts" in text
    assert "Says nothing" in text
    assert "99.0 % of all values from 0 to 100 with 1 decimal are such counts" in text


def test_what_is_accepted_stands_there_with_its_reason(atlas: Build) -> None:
    text = _text(atlas, f"{GRPO}/checks/")
    assert "the rows 9 and 10 (number of y's digits) are the same" in text
    assert "11 values for the 10 columns of this row" in text
    studies = {one.study.id: one.study for one in load_data(ROOT / "data").results}
    accepted = studies["grpo-digits"].accepted
    assert len(accepted) == 3
    for entry in accepted:
        assert re.sub(r"\s+", " ", entry.because) in text


def test_readings_are_held_against_each_other_cell_by_cell(atlas: Build) -> None:
    text = _text(atlas, f"{GRPO}/checks/")
    assert "121 of 200, up to 20 apart" in text
    assert "14 of 14" in text
    page = atlas.page(f"{GRPO}/checks/")
    (table,) = [one for one in page.select("article table") if "Apart" in one.get_text()]
    rows = [[cell.get_text(strip=True) for cell in row.select("td")] for row in table.select("tr")]
    assert len(rows) == 1 + 79
    assert ["After GRPO, temperature 1.25", "2 × 2", "49", "56", "56", "7", "56"] in rows


@pytest.mark.parametrize("study", [DYNTS, GRPO])
def test_every_claim_is_told_and_wrong_ones_with_what_speaks_against_them(
    atlas: Build, study: str
) -> None:
    page = atlas.page(f"{study}/checks/")
    told = page.select("li.ga-claim")
    results = next(one for one in load_data(ROOT / "data").results if one.study.id in study)
    assert len(told) == len(results.study.claims)
    refuted = 0
    for item in told:
        outcome = item.select_one("summary strong").get_text()
        assert outcome in ("Holds", "Doesn't hold", "Undecidable", "Not checkable")
        if outcome == "Doesn't hold":
            refuted += 1
            assert item.select_one("details").has_attr("open")
    assert refuted == sum(one.holds is False for one in results.study.claims)
    linked = [
        item for item in told if "Against it:" in item.get_text() and item.select("p a[href]")
    ]
    assert len(linked) > refuted // 2


def test_a_claim_stands_beside_the_grids_that_it_names(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/benchmark/average/")
    assert "consistently achieves higher Pass@1 scores" in text
    assert re.search(r"has 51\.8 against 52\.1", text)


def test_it_says_how_sure_the_numbers_are(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/model/r1-qwen/")
    assert "On the counts alone none of the 19 other cells can be told apart from the best." in text
    assert "44.1 to 59.8" in text
    assert "34.9 to 68.6" in text
    assert "does not show that they are equal" in text
    text = _text(atlas, f"{GRPO}/setting/before/")
    assert "Not testable: the number of trials behind each value is unknown." in text


def test_the_json_says_it_too(atlas: Build) -> None:
    grid = json.loads((atlas.site / "grids/dynts-window-ratio/r1-qwen/aime24.json").read_text())
    (cell,) = [one for one in grid["cells"] if (one["ratio"], one["local_window"]) == (0.4, 2000)]
    assert (cell["value"], cell["n"], cell["may_be_best"]) == (52.0, 150, True)
    low, high = cell["interval_95"]
    assert (round(low, 1), round(high, 1)) == (44.1, 59.8)
    assert cell["reading"] == "r1-qwen"
    assert cell["place"] == "chart 1 (AIME'24), row 2000"
    digits = json.loads((atlas.site / "grids/grpo-digits/after_t125.json").read_text())
    assert digits["not_testable"] == "the number of trials behind each value is unknown"
    (cell,) = [one for one in digits["cells"] if (one["x_digits"], one["y_digits"]) == (2, 2)]
    assert [(one["reading"], one["value"]) for one in cell["read"]] == [
        ("healer-alpha", 49.0),
        ("nemotron", 56.0),
        ("gemini-flash", 56.0),
    ]
