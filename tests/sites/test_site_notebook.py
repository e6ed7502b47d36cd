"""The notebook of the documents: run when the site is built, with its real output in the page."""

import pytest
import site_builds
from bs4 import BeautifulSoup
from site_builds import DYNTS, ROOT, Build, article, text_of

ADDRESS = "notebooks/studies/"


@pytest.fixture(scope="module")
def page(atlas: Build) -> BeautifulSoup:
    return atlas.page(ADDRESS)


def test_a_grid_is_in_the_page_as_on_its_own(atlas: Build, page: BeautifulSoup) -> None:
    [drawing] = page.select(".ga-notebook svg")
    assert str(drawing["aria-label"]).startswith("R1-Qwen | AIME24: Pass@1 from 40.0 to 52.0 %")
    cells = [str(element["aria-label"]) for element in drawing.select('[role="graphics-symbol"]')]
    assert len(cells) == 20
    figure = site_builds.figure_of(atlas.page(f"studies/{DYNTS}/model/r1-qwen/"), "r1-qwen/aime24")
    assert cells == [str(cell["aria-label"]) for cell in site_builds.drawn_cells(figure)]


def test_its_outputs_are_those_of_the_data(page: BeautifulSoup) -> None:
    text = text_of(article(page))
    assert "2000 42.7 44.0 47.3 52.0* 43.3" in text
    assert "dynts-window-ratio': <study dynts-window-ratio: 10 grids>" in text
    assert 'model has no level "r1-qwn"; did you mean "r1-qwen"?' in text
    means = [table for table in page.select("table.dataframe") if "aime24" in text_of(table)]
    assert len(means) == 2
    assert "Traceback" not in text


def test_altair_s_chart_is_there_without_a_script(page: BeautifulSoup) -> None:
    charts = page.select(".jupyter-wrapper svg.marks:not(.ga-notebook svg)")
    assert len(charts) == 1
    labels = [
        str(element["aria-label"])
        for element in charts[0].select("[aria-roledescription=rect\\ mark]")
    ]
    assert len(labels) == 20
    assert "Ratio: 0.4; Local window size (tokens): 2000; Pass@1 (%): 52" in labels
    assert page.select(".jupyter-wrapper script, .jupyter-wrapper img") == []


def test_neither_errors_nor_old_output_get_onto_the_site() -> None:
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "\n      allow_errors: false\n" in config
    assert "\n      cache: false" in config


def test_a_frame_becomes_a_study_on_its_page(atlas: Build) -> None:
    page = atlas.page("notebooks/frame/")
    text = text_of(article(page))
    assert "repeats seed 3 numbers, 1 to 3 it numbers repeats" in text
    assert "across: X digits; * highest" in text  # the sweep, which has no y
    assert "cells.csv study.yml" in text
    assert "Traceback" not in text
    [drawing] = page.select(".ga-notebook svg")
    assert str(drawing["aria-label"]).startswith("grpo: Value from ")
