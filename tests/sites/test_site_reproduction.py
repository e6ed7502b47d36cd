"""The page Reproduction of studies that are run, not run, and measured by runs alone."""

import csv
from pathlib import Path

import pytest
import site_builds
from expected import GREEDY, OURS
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
    labels = [str(element["aria-label"]) for element in found[2].select('[role="graphics-symbol"]')]
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
    assert [block.text for block in page.select(".ga-rerun > details > pre.ga-code")] == [
        f'for y in 16 8; do for x in 0.1 0.2; do python docs/tune.py {model} "$x" "$y"; done; done'
        for model in ("small", "large")
    ]
    assert page.select('a[href$="tune/"]') == []  # tune.md is no page of the script


def test_other_pages_lead_to_it_and_say_how_far_it_is(run: Build) -> None:
    for path, texts in (
        ("studies/again/", "1 agree, 1 differ, 1 running, 5 not run of 8 cells."),
        ("studies/again/model/small/", "1 agree, 1 differ, 1 running, 1 not run of 4 cells."),
        ("studies/again/model/large/", "Not yet."),
    ):
        links = [
            link
            for link in article(run.page(path)).select(".ga-trust a")
            if link.text.startswith("Commands")
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
    links = [str(link["href"]) for link in page.select("a") if link.text.endswith("kv_sweep.py")]
    assert links == ["../../../reproduce/kv_sweep/"]
    assert page.h1.find(string=True) == "0 of 160 cells measured again: not run"
    assert text.index("install what the script") < text.index("python docs/reproduce")
    # 298 questions × 5 samples × 20 cells × 2 models.
    assert "takes 59,600 trials" in text
    assert "In 160 of 160 cells the published value alone is less sure than the margin" in text
    assert figures(page) == []
    commands = [line for block in page.select("pre.ga-cells") for line in block.text.split("\n")]
    assert len(commands) == len(set(commands)) == 160
    assert not any("average" in line for line in commands)
    assert commands[0] == (
        "python docs/reproduce/kv_sweep.py --model r1-llama --benchmark aime24 "
        "--local-window 3000 --ratio 0.1"
    )


OURS_AND_HOW = {
    OURS: ("sampled at temperature 0.6", ""),
    GREEDY: (
        "with greedy decoding",
        " --evaluation-temperature 0 --out runs/digits-greedy",
    ),
}


@pytest.mark.parametrize("study", OURS_AND_HOW)
def test_what_only_runs_measured_is_never_called_reproduced(atlas: Build, study: str) -> None:
    how, options = OURS_AND_HOW[study]
    page = article(atlas.page(f"studies/{study}/reproduction/"))
    text = text_of(page)
    assert page.h1.find(string=True) == "324 of 324 cells measured"
    assert f"Digits before and after GRPO, {how}: our own runs: all its values" in text
    assert "pip install accelerate==1.15.0" in text
    assert "torch==2.13.0 " in text
    assert "It has no published value, so it is no reproduction of a published figure" in text
    links = [str(link["href"]) for link in page.select("a") if link.text.endswith("grpo_digits.py")]
    assert links == ["../../../reproduce/grpo_digits/"]
    commands = [line for block in page.select("pre.ga-cells") for line in block.text.split("\n")]
    assert len(commands) == len(set(commands)) == 324
    assert commands[0] == (
        f"python docs/reproduce/grpo_digits.py{options} --only setting=before --only seed=1"
        " --only x_digits=1 --only y_digits=1"
    )
    for path in (f"studies/{study}/", f"studies/{study}/seed/3/"):
        text = text_of(article(atlas.page(path)))
        assert "Measured here: runs and settings." in text
        assert "in the style of the published digit grids" in text


def test_the_studies_of_one_set_of_models_link_to_each_other(atlas: Build) -> None:
    """Each says what the other one shows: neither is to be read alone."""
    texts = {
        OURS: "See also: The same nine models sampled at temperature 0.6, more accurate after GRPO",
        GREEDY: "See also: The same nine models with greedy decoding, less accurate after GRPO",
    }
    for study, other in ((OURS, GREEDY), (GREEDY, OURS)):
        for below in ("", "setting/", "seed/", "setting/after_t100/", "seed/mean/"):
            page = article(atlas.page(f"studies/{study}/{below}"))
            up = "../" * (below.count("/") + 1)
            [link] = [link for link in page.select("a") if link.get("href") == f"{up}{other}/"]
            assert text_of(link.find_parent("p")) == texts[other]


def test_measured_values_stand_with_their_intervals_and_the_region(atlas: Build) -> None:
    page = article(atlas.page(f"studies/{OURS}/seed/1/"))
    found = figure_of(page, "after_t100/1")
    labels = [str(element["aria-label"]) for element in found.select('[role="graphics-symbol"]')]
    path = Path(f"{site_builds.ROOT}/data/{OURS}/ours.csv")
    rows = [
        row
        for row in csv.DictReader(path.read_text().splitlines())
        if (row["setting"], row["seed"]) == ("after_t100", "1")
    ]
    assert len(labels) == len(rows) == 36
    for row in rows:
        head = f"Number of x's digits {row['x_digits']}, Number of y's digits {row['y_digits']}: "
        (label,) = [text for text in labels if text.startswith(head)]
        assert label.removeprefix(head).startswith(f"{float(row['value']):.1f} %")
    assert "In GRPO's problems" in text_of(found.find_parent(class_="ga-multiples"))
    assert "67.0 to 79.1" in text_of(article(atlas.page(f"studies/{OURS}/")))  # 147 of 200
