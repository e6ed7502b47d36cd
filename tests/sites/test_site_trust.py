"""What the site says of its own numbers: readings, checks, claims, and how sure they are."""

import json
import re

import pytest
from builders import real_data
from site_builds import Build, text_of

from gridatlas.pages.filters import CONTRADICTED, VERDICT_WORDS

DYNTS = "studies/dynts-window-ratio"
DIGITS = "studies/digits-pass-1"
GRPO = "studies/grpo-digits"


def _text(build: Build, path: str) -> str:
    article = build.page(path).select_one("article")
    return re.sub(r"\s+", " ", article.get_text(" "))


def test_the_checks_of_the_windows_are_told_with_their_strength(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/checks/")
    assert "40 of 40 printed aggregates are the mean of 4 printed parts" in text
    assert "40 of 40 values are possible with 150 trials." in text
    assert "15.1 % of all values from 0 to 100 with 1 decimal are possible" in text
    assert "Says nothing" in text
    assert "99.0 % of all values from 0 to 100 with 1 decimal are possible" in text


def test_what_is_accepted_stands_there_with_its_reason(atlas: Build) -> None:
    text = _text(atlas, f"{GRPO}/checks/")
    assert "rows 9 and 10 (number of y's digits) have the same values" in text
    assert "11 values for the 10 columns of this row" in text
    accepted = real_data()["grpo-digits"].study.accepted
    assert len(accepted) == 3
    for entry in accepted:
        assert re.sub(r"\s+", " ", entry.because) in text


def test_readings_are_held_against_each_other_cell_by_cell(atlas: Build) -> None:
    text = _text(atlas, f"{GRPO}/checks/")
    assert "121 of 200, up to 20 apart" in text
    assert "14 of 14" in text
    page = atlas.page(f"{GRPO}/checks/")
    tables = [table for table in page.select("article table") if "Apart" in table.get_text()]
    rows = [
        [cell.get_text(strip=True) for cell in row.select("td")]
        for table in tables
        for row in table.select("tbody tr")
    ]
    assert len(rows) == 79
    apart = [float(row[1]) for row in rows]
    assert apart == sorted(apart, reverse=True)
    assert ["2 × 2", "7", "49", "56", "56", "56"] in rows


def test_the_page_leads_with_its_verdict_and_whose_statements_are_wrong(atlas: Build) -> None:
    page = atlas.page(f"{DYNTS}/checks/")
    verdict = "The shown numbers pass every check; one rejected reading doesn't"
    assert page.h1.find(string=True).strip() == verdict
    assert verdict in page.select_one("meta[name=description]")["content"]
    wrong = page.select("table.ga-wrong tbody tr")
    assert len(wrong) == 3
    for row in wrong:
        assert row.select_one("td a[href]")  # the number that refutes it
    assert "16 sentences that a program wrote about the figures are wrong." in _text(
        atlas, f"{DYNTS}/checks/"
    )
    table = page.select_one("#statements table")
    rows = [
        [cell.get_text(strip=True) for cell in row.select("th, td")] for row in table.select("tr")
    ]
    assert rows[1] == [
        "R1-Qwen figure, four benchmarks, read by gemma-3-27b-it-free",
        "11", "10", "3", "5", "2", "6",
    ]  # fmt: skip
    for link in table.select("a"):
        section = page.find(id=link["href"].removeprefix("#"))
        assert section.get_text().strip().startswith(link.get_text())
    assert atlas.page(f"{GRPO}/checks/").h1.find(string=True).strip() == (
        "The shown numbers pass every check; a second reading gives other numbers for 79 cells"
    )
    assert atlas.page(f"{DIGITS}/checks/").h1.find(string=True).strip() == (
        "The shown numbers pass every check"
    )


def test_each_check_has_a_mark_for_each_reading(atlas: Build) -> None:
    matrix = atlas.page(f"{DYNTS}/checks/").select_one("table.ga-matrix")
    heads = [head.get_text() for head in matrix.select("thead th")]
    column = heads.index("Values as counts of 150 trials")
    rows = [
        [cell.get_text(" ", strip=True) for cell in row.select("th, td")]
        for row in matrix.select("tbody tr")
    ]
    assert [row[column] for row in rows] == [
        "✓ passed", "✓ passed", "– not made", "! 1 finding, accepted", "✓ passed",
    ]  # fmt: skip
    assert [row[1] for row in rows] == ["shown", "shown", "shown", "not shown", "not shown"]


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
    links = {
        str(link["href"]).partition("#")[2]: text_of(link.parent)
        for link in level.select('#statements .ga-claims > div > p > a[href^="../../checks/#"]')
    }
    assert links == {
        "statements-r1-qwen-second": "The others: 5 hold as printed, within noise, 3 hold, 2 hold "
        "as printed, untested.",
        "statements-average": "The others: 10 hold as printed, within noise, 1 holds as printed, "
        "untested, 1 holds.",
        "statements-r1-qwen": "The others: 17 hold as printed, within noise, 4 hold, 2 hold as "
        "printed, untested.",
    }
    everything = {text_of(item.summary) for item in checks.select("li.ga-claim")}
    assert {text_of(item.summary) for item in statements} < everything
    for anchor in links:
        assert checks.find(id=anchor).select("details.ga-rest li.ga-claim")


def test_statements_are_those_of_machine_made_descriptions_and_not_the_papers(
    atlas: Build,
) -> None:
    described = {
        "Healer": "R1-Qwen figure, four benchmarks, read by healer-alpha-free",
        "Gemma": "R1-Qwen figure, four benchmarks, read by gemma-3-27b-it-free",
        "Llama": "R1-Llama figure, four benchmarks, default reader",
        "Average": "Figure of both models' averages, default reader",
    }
    for path, of, count in (
        (f"{DYNTS}/checks/", ("Healer", "Llama", "Average", "Gemma"), 127),
        (f"{DYNTS}/model/r1-qwen/", ("Healer", "Average", "Gemma"), 64),
        (f"{DYNTS}/benchmark/gpqa_d/", ("Healer", "Llama", "Gemma"), 36),
    ):
        text = _text(atlas, path)
        names = "; ".join(described[reading] for reading in of)
        assert (
            f"These {count} statements are sentences of {len(of)} machine-made descriptions of "
            f"figures: {names}. No sentence of the paper itself is checked."
        ) in text
        assert "sources say" not in text
        headings = [heading.get_text() for heading in atlas.page(path).select("article h2")]
        assert [heading for heading in headings if heading.startswith("Claims")] == []
    # Where the heading "Claims" was, links still lead to.
    assert atlas.page(f"{DYNTS}/checks/").find(id="claims").find_parent(id="statements")
    text = _text(atlas, f"{GRPO}/checks/")
    assert (
        "These 47 statements are sentences of a machine-made description of a figure: GRPO digits "
        "figure, read by healer-alpha-free. No sentence of the paper itself is checked."
    ) in text
    # Those of our own study are our own.
    text = _text(atlas, "studies/digits-pass-1/checks/")
    assert "statements about the results are checked at every build." in text
    assert "machine-made" not in text


def _statements(build: Build, path: str) -> dict[str, list[str]]:
    """By sentence, its verdict and its paragraphs; equal sentences keep the first."""
    found: dict[str, list[str]] = {}
    for item in build.page(path).select("li.ga-claim"):
        verdict, sentence = item.select_one("summary").get_text().split(": “", 1)
        paragraphs = [
            re.sub(r"\s+", " ", paragraph.get_text()).strip() for paragraph in item.select("p")
        ]
        found.setdefault(sentence.removesuffix("”"), [verdict, *paragraphs])
    return found


def test_a_statement_is_judged_on_the_cells_that_its_own_reading_has(atlas: Build) -> None:
    statements = _statements(atlas, f"{DYNTS}/checks/")
    verdict, *details = statements["Generally, performance increases with … decreasing 'Ratio'."]
    assert verdict == "Doesn't hold"
    assert details[-2:] == [
        "In the shown values: doesn't hold; in its own reading: doesn't hold on the 8 of 20 cells "
        "that it gives.",
        "Recorded as false (holds: false).",
    ]
    verdict, *details = statements["The scale ranges from approximately -52 to -88."]
    assert verdict == "Doesn't hold"
    assert details[0] == (
        "Read as: At least one value of the four benchmarks lies on this scale. Its ends are "
        "approximate, but a share can't be negative, so no value has a colour on it."
    )
    statements = _statements(atlas, f"{GRPO}/checks/")
    assert statements["The highest values form a broad plateau in the center …"] == [
        "Holds as printed, untested",
        "Read as: The mean of the middle, where both have four to seven digits, is above that of "
        "the whole grid.",
        "The printed values say so; what it asserts beyond them isn't tested.",
        "In the shown values: holds; in its own reading: holds on the 90 of 100 cells that it "
        "gives.",
    ]
    [corner] = [
        statement
        for statement in statements
        if "lower-right regions (higher digit counts)" in statement
    ]
    assert statements[corner][0] == "Doesn't hold"
    quadrant = "The top-right quadrant (high x digits, low y digits) shows many zeros"
    assert (statements[quadrant][0], statements["indicating complete failure."][0]) == (
        "Holds", "Not checkable",
    )  # fmt: skip
    undecidable = [
        sentence
        for path in (DYNTS, GRPO, "studies/digits-pass-1")
        for sentence, statement in _statements(atlas, f"{path}/checks/").items()
        if "can't be decided" in " ".join(statement[1:]).lower()
    ]
    assert undecidable == []


def test_what_the_test_does_not_show_is_called_so(atlas: Build) -> None:
    statements = _statements(atlas, f"{DYNTS}/checks/")
    verdict, *details = statements["The global peak (49.7) is at (Window=2000, Ratio=0.3)."]
    assert verdict == "Holds as printed, within noise"
    assert details == [
        "The printed values say so; the test of what it asserts doesn't show it.",
        "Same result in the shown values and in its own reading.",
    ]
    text = _text(atlas, f"{DYNTS}/checks/")
    assert "All 16 15 13 49 7 42" in text
    assert "It holds if it only quotes them, or if the test shows it (p ≤ 0.05)." in text


def test_a_claim_stands_beside_the_grids_that_it_names(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/benchmark/average/")
    assert "consistently achieves higher Pass@1 scores" in text
    assert re.search(r"has 51\.8 against 52\.1", text)


def test_it_says_how_sure_the_numbers_are(atlas: Build) -> None:
    text = _text(atlas, f"{DYNTS}/model/r1-qwen/")
    assert "20 of 20" in text
    assert "44.1 to 59.8" in text
    assert "34.9 to 68.6" in text
    assert "does not show that they are equal" in text
    text = _text(atlas, f"{GRPO}/setting/before/")
    assert "Not testable: the number of trials behind each value is unknown." in text


def test_the_json_says_it_too(atlas: Build) -> None:
    grid = json.loads((atlas.site / "grids/dynts-window-ratio/r1-qwen/aime24.json").read_text())
    (cell,) = [
        entry for entry in grid["cells"] if (entry["ratio"], entry["local_window"]) == (0.4, 2000)
    ]
    assert (cell["value"], cell["n"], cell["may_be_best"]) == (52.0, 150, True)
    low, high = cell["interval_95"]
    # That of 30 questions: the 150 trials are five samples of each.
    assert (round(low, 1), round(high, 1)) == (34.9, 68.6)
    assert cell["reading"] == "r1-qwen"
    assert cell["place"] == "chart 1 (AIME'24), row 2000"
    digits = json.loads((atlas.site / "grids/grpo-digits/after_t125.json").read_text())
    assert digits["not_testable"] == "the number of trials behind each value is unknown"
    (cell,) = [
        digit for digit in digits["cells"] if (digit["x_digits"], digit["y_digits"]) == (2, 2)
    ]
    assert [(reading["reading"], reading["value"]) for reading in cell["read"]] == [
        ("healer-alpha", 49.0),
        ("nemotron", 56.0),
        ("gemini-flash", 56.0),
    ]


def test_a_mean_over_seeds_has_the_interval_of_the_seeds(atlas: Build) -> None:
    text = _text(atlas, f"{DIGITS}/seed/mean/")
    # After GRPO, greedy, six digits of x and one of y: seeds of 89.0, 77.0 and 14.0 %.
    assert "60.0 (0.0 to 100.0)" in text
    assert (
        "The 95 % interval of a mean over training seed is Student's t over 3 repeats of the "
        "experiment, or that of their trials and items where it is wider. Its cells are not tested "
        "against one another; its parts are, on their own pages."
    ) in text
    grid = json.loads((atlas.site / "grids/digits-pass-1/grpo/0/mean.json").read_text())
    assert {cell["may_be_best"] for cell in grid["cells"]} == {None}


def test_it_says_whether_the_cells_are_asked_the_same_items(atlas: Build) -> None:
    same = "The same items are asked in every cell, so a test paired by item could separate more."
    different = "The cells are asked different items, so no test can pair them by item."
    text = _text(atlas, f"{DYNTS}/model/r1-qwen/")
    assert (same in text, different in text) == (True, False)
    text = _text(atlas, f"{DIGITS}/seed/1/")
    assert (same in text, different in text) == (False, True)
    # Each number of its column "as items" is there.
    assert "76.2 to 94.4 78.7 to 97.3" in text
