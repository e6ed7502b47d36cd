"""The page about the fence, whose examples are live."""

import json

from site_builds import Build, article, figure_name, figures, text_of


def test_examples_of_the_page_are_shown(atlas: Build) -> None:
    page = atlas.page("fence/")
    drawn = [figure for figure in figures(page) if not figure.find_parent(class_="ga-thumbnails")]
    assert [figure_name(figure) for figure in drawn] == [
        "R1-Qwen | AIME24",
        "R1-Qwen − R1-Llama | AIME24",
        "R1-Qwen on AIME24, a ratio of 0.4",
    ]
    plots = article(page).select("figure.ga-plots")
    titles = ["Which setting?", "Does the ratio matter, or the window?", "Which model is ahead?"]
    assert [text_of(plot.figcaption.strong) for plot in plots] == titles
    assert [len(plot.select("svg")) for plot in plots] == [1, 2, 1]
    assert text_of(page.select_one("blockquote .ga-number")) == "52.0"


def test_the_home_page_lists_the_studies(atlas: Build) -> None:
    listed = {
        str(link["href"]): text_of(link)
        for link in article(atlas.page("")).select(".ga-level h2 a")
    }
    assert len(listed) == 5
    for address, answer in listed.items():
        study = address.rstrip("/").rpartition("/")[2]
        answers = json.loads((atlas.site / f"grids/{study}/answers.json").read_text("utf-8"))
        assert answers[0]["page"] == f"studies/{study}/"
        assert answer == answers[0]["sentence"]


def test_the_page_about_explore_has_a_grid_to_try_it_on(atlas: Build) -> None:
    [figure] = figures(atlas.page("explore/"))
    assert figure_name(figure) == "R1-Qwen | AIME24"
    # The button is put next to this link.
    assert figure.select_one('.ga-downloads:not(.ga-blocks) a[href$=".vl.json"]')


def test_ids_of_the_page_are_unique(atlas: Build) -> None:
    ids = [str(element["id"]) for element in atlas.page("fence/").select("[id]")]
    assert sorted(ids) == sorted(set(ids))
