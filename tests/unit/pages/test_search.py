"""What is put into a site's search."""

import json

import pytest

from gridatlas.pages.search import with_entries

PAGE = {"location": "studies/a/", "title": "A", "text": ""}
HEADING = {"location": "studies/a/#all-values", "title": "All values", "text": ""}
SECTION = {"location": "studies/a/#why", "title": "Why", "text": "<p>Because.</p>"}
GUIDE = {"location": "start/#install", "title": "Install", "text": ""}
CELL = {"location": "studies/a/#a/1,2", "title": "A: x 1 < y 2", "text": "52 %"}


def found(docs, results, *, escaping=True):
    index = json.dumps({"config": {}, "docs": docs})
    docs = json.loads(with_entries(index, [CELL], escaping, results))["docs"]
    return docs


def test_results_rank_above_other_pages_and_a_heading_alone_is_no_result():
    docs = found([PAGE, HEADING, SECTION, GUIDE], "studies")
    assert docs == [{**PAGE, "boost": 2}, {**SECTION, "boost": 2}, GUIDE, {**CELL, "boost": 2}]


@pytest.mark.parametrize("results", ["", "other", "stud"])
def test_other_pages_stay_as_they_are(results):
    assert found([PAGE, HEADING, GUIDE], results) == [PAGE, HEADING, GUIDE, CELL]


def test_texts_are_html_for_a_theme_that_takes_them_for_it():
    assert found([], "", escaping=False) == [{**CELL, "title": "A: x 1 &lt; y 2"}]


@pytest.mark.parametrize("docs", [[1, "a", None], [{}], [{"location": 3}]])
def test_entries_of_another_form_are_left_alone(docs):
    assert found(docs, "studies") == [*docs, {**CELL, "boost": 2}]


@pytest.mark.parametrize("index", ["", "[]", '{"docs": 1}', '{"docs": [], "index": {}}'])
def test_an_index_of_another_form_stays_as_it_is(index):
    assert with_entries(index, [CELL], True, "studies") == index
