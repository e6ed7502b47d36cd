"""The page Reproduction of studies that are run, not run, and measured by runs alone."""

import csv
from pathlib import Path

import pytest
import site_builds
from expected import OURS, OURS_PASS_8, ROLLOUTS
from site_builds import DYNTS, Build, article, figure_name, figure_of, figures, text_of


@pytest.fixture(scope="module")
def run(base: Path, cache: Path) -> Build:
    """A site with a study of which a run did a part, whose script is a page of the site."""
    project = site_builds.make_project(base / "reproduced", cache)
    site_builds.add_reproduced_study(project)
    site_builds.add_tiny_study(project, "plain")
    project.write("docs/tune.md", "# Not the script\n")
    return project.built("--strict")


PAGE = "studies/again/reproduction/"


def test_each_cell_has_its_verdict(run: Build) -> None:
    page = article(run.page(PAGE))
    rows = [
        [text_of(cell) for cell in row.find_all(["th", "td"])]
        for row in page.select('[aria-label="Verdicts of Small"] tbody tr')
    ]
    assert [(row[0], row[1], row[2], row[3]) for row in rows] == [
        ("0.1 × 16", "running", "13.5 (n = 10,000)", ""),
        ("0.2 × 16", "not run", "14.5 (n = 10,000)", ""),
        ("0.1 × 8", "agrees", "11.5 (n = 10,000)", "11.0 (n = 10,000)"),
        ("0.2 × 8", "differs", "12.5 (n = 10,000)", "30.0 (n = 10,000)"),
    ]
    assert "4 of 9 units of work done" in rows[0]
    assert rows[2][4:] == ["−0.5 points", "−1.4 to +0.4", "Newcombe's interval", "tune-1"]


def test_it_leads_with_what_was_found_and_the_cells_that_differ(run: Build) -> None:
    page = article(run.page(PAGE))
    assert page.h1.find(string=True) == (
        "2 of 8 cells measured again: 1 agree, 1 differ, 1 running"
    )
    [row] = page.select('[aria-label="Cells that differ most"] tbody tr')
    assert [text_of(cell) for cell in row.find_all(["th", "td"])] == [
        "Small", "0.2 × 8", "12.5 (n = 10,000)", "30.0 (n = 10,000)", "+17.5 points",
        "+16.4 to +18.6",
    ]  # fmt: skip
    assert row.a["href"] == "../model/small/#small/0.2,8"


def test_published_measured_and_their_difference_stand_side_by_side(run: Build) -> None:
    found = figures(article(run.page(PAGE)))
    assert [figure_name(figure) for figure in found] == [
        "Small, published", "Small, measured again", "Small, measured again − published",
    ]  # fmt: skip
    labels = [str(element["aria-label"]) for element in found[2].select('[role="img"]')]
    assert sorted(labels) == [
        "Learning rate 0.1, Batch size 16: running",
        "Learning rate 0.1, Batch size 8: −0.5 points, agrees",
        "Learning rate 0.2, Batch size 16: not run",
        "Learning rate 0.2, Batch size 8: +17.5 points, differs",
    ]


def test_runs_and_commands_are_told_as_texts(run: Build) -> None:
    page = article(run.page(PAGE))
    (facts,) = page.select('[aria-label="The run tune-1"] table')
    assert "id org/<b>small</b>" in text_of(facts)
    assert "none: it ran on the CPU" in text_of(facts)
    commands = [block.text.split("\n") for block in page.select("pre.ga-cells")]
    assert commands[0] == [
        f"python docs/tune.py small {rate} {batch}" for batch in (16, 8) for rate in (0.1, 0.2)
    ]
    assert commands[1][0] == "python docs/tune.py large 0.1 16"
    assert [block.text for block in page.select(".ga-rerun details > pre.ga-code")] == [
        f'for y in 16 8; do for x in 0.1 0.2; do python docs/tune.py {model} "$x" "$y"; done; done'
        for model in ("small", "large")
    ]
    assert page.select('a[href$="tune/"]') == []  # tune.md is no page of the script


def test_what_is_not_as_published_stands_as_text(run: Build) -> None:
    [table] = [
        table
        for table in article(run.page(PAGE)).select("table")
        if text_of(table).startswith("What How it differs")
    ]
    assert [
        [text_of(cell) for cell in row.find_all(["th", "td"])] for row in table.select("tr")[1:]
    ] == [["dtype", "float32 | *not* <b>float16</b> {{ 7 * 7 }}"]]
    assert table.b is None


def test_other_pages_lead_to_it_and_say_how_far_it_is(run: Build) -> None:
    for path, texts in (
        ("studies/again/", "1 agree, 1 differ, 1 running, 5 not run of 8 cells."),
        ("studies/again/model/small/", "1 agree, 1 differ, 1 running, 1 not run of 4 cells."),
        ("studies/again/model/large/", "Not yet: commands."),
    ):
        links = [
            link
            for link in article(run.page(path)).select(".ga-trust a")
            if link.text in {"Commands", "commands"}
        ]
        assert len(links) == 1
        assert (run.site / path / str(links[0]["href"])).resolve() == run.site / PAGE.rstrip("/")
        assert f"Measured again {texts}" in text_of(article(run.page(path)))


def test_a_study_without_script_and_runs_has_no_such_page(run: Build) -> None:
    assert not (run.site / "studies/plain/reproduction").exists()
    assert "Reproduction" not in text_of(article(run.page("studies/plain/")))


def test_a_study_that_is_not_run_says_so_and_what_it_takes(atlas: Build) -> None:
    page = article(atlas.page(f"studies/{DYNTS}/reproduction/"))
    text = text_of(page)
    assert page.h1.find(string=True) == "0 of 160 cells measured again: not run"
    assert "takes 59,600 trials" in text  # 298 questions × 5 samples × 20 cells × 2 models
    steps = ["install uv", "uv run docs/reproduce", "about 200 GB of disk", "Then run a cell"]
    assert sorted(steps, key=text.index) == steps
    assert figures(page) == []
    assert len(page.select(".ga-rerun details > pre.ga-code")) == 8  # an average isn't run
    commands = [line for block in page.select("pre.ga-cells") for line in block.text.split("\n")]
    assert len(commands) == len(set(commands)) == 160


def test_a_run_says_what_its_answers_were_like_cell_by_cell(run: Build) -> None:
    [table] = article(run.page(PAGE)).select('[aria-label="Answers of the run tune-1"] table')
    assert [
        [text_of(cell) for cell in row.find_all(["th", "td"])] for row in table.select("tr")
    ] == [
        ["Cell", "Answers", "None found", "Cut off", "Mean tokens", "Mean prunes"],
        ["Small | 0.1 × 8", "10,000", "1.2 %", "0.4 %", "612.3", "1.5"],
        ["Small | 0.2 × 8", "10,000", "1.2 %", "0.4 %", "612.3", "0.5"],
    ]


def test_a_run_of_many_cells_says_it_by_grid(atlas: Build) -> None:
    [table] = article(atlas.page(f"studies/{OURS}/reproduction/")).select(
        '[aria-label^="Answers of the run grpo_digits-"] table'
    )
    rows = [[text_of(cell) for cell in row.find_all(["th", "td"])] for row in table.select("tr")]
    assert rows[0] == ["Grid", "Answers", "None found", "Cut off", "Mean tokens"]
    # No cache was pruned; 27 models and temperatures, 35 cells of 100 problems and one of 50.
    assert len(rows) == 1 + 27
    assert {row[1] for row in rows[1:]} == {"3,550", "28,400"}
    of_start = {row[0]: row[2] for row in rows[1:] if row[0].startswith("Before GRPO | Samp")}
    assert all(" % (at most " in text for text in of_start.values())


@pytest.mark.parametrize(("study", "cells"), [(OURS, 972), (OURS_PASS_8, 648), (ROLLOUTS, 2400)])
def test_what_only_runs_measured_is_never_called_reproduced(
    atlas: Build, study: str, cells: int
) -> None:
    page = article(atlas.page(f"studies/{study}/reproduction/"))
    assert page.h1.find(string=True) == f"{cells:,} of {cells:,} cells measured"
    text = text_of(page)
    assert "It has no published value, so it is no reproduction of a published figure" in text
    links = [str(link["href"]) for link in page.select("a") if link.text.endswith("grpo_digits.py")]
    assert links == ["../../../reproduce/grpo_digits/"]
    commands = [line for block in page.select("pre.ga-cells") for line in block.text.split("\n")]
    assert len(commands) == len(set(commands)) == cells
    for path in (f"studies/{study}/", f"studies/{study}/seed/3/"):
        assert "Measured here: runs and settings." in text_of(article(atlas.page(path)))


def test_the_metrics_of_one_run_lead_to_each_other(atlas: Build) -> None:
    names = {OURS: "Accuracy (pass@1)", OURS_PASS_8: "pass@8"}
    for study, other in ((OURS, OURS_PASS_8), (OURS_PASS_8, OURS)):
        for below in ("", "setting/", "seed/", "setting/grpo/", "temperature/1/", "seed/mean/"):
            page = article(atlas.page(f"studies/{study}/{below}"))
            up = "../" * (below.count("/") + 1)
            [link] = [
                link for link in page.select("a") if link.get("href") == f"{up}{other}/{below}"
            ]
            assert text_of(link) == names[other]
    # Greedily a problem has one answer, so that there is no such page.
    page = article(atlas.page(f"studies/{OURS}/temperature/0/"))
    assert [link for link in page.select("a") if link.get("href") == f"../../../{OURS_PASS_8}/"]


def test_measured_values_stand_with_their_intervals_and_the_region(atlas: Build) -> None:
    page = article(atlas.page(f"studies/{OURS}/seed/1/"))
    found = figure_of(page, "grpo/0/1")
    labels = [str(element["aria-label"]) for element in found.select('[role="img"]')]
    path = Path(f"{site_builds.ROOT}/data/{OURS}/ours.csv")
    rows = [
        row
        for row in csv.DictReader(path.read_text().splitlines())
        if (row["setting"], row["temperature"], row["seed"]) == ("grpo", "0", "1")
    ]
    assert len(labels) == len(rows) == 36
    for row in rows:
        head = f"Digits of x {row['x_digits']}, Digits of y {row['y_digits']}: "
        (label,) = [text for text in labels if text.startswith(head)]
        assert label.removeprefix(head).startswith(f"{float(row['value']):.1f} %")
    assert "Digits that GRPO was trained on" in text_of(found.find_parent(class_="ga-multiples"))
    assert "76.2 to 94.4" in text_of(article(atlas.page(f"studies/{OURS}/")))  # 44 of 50
