"""Without `better`, no page, picture or file marks or names a best: values are only described."""

import re

import pytest
from builders import table, write_study

from gridatlas.assessment.pipeline import load_data
from gridatlas.build.site import build
from gridatlas.charts.views import grids_view
from gridatlas.table.summary import best_points, best_undisputed_points

HEAD = "format: 1\ntitle: A demo\nmetric: {name: Rating, better: higher}\nx: rate\ny: depth\n"
COUNTED = HEAD.replace("higher}", "higher, unit: '%', range: [0, 100]}")
ROWS = table("rate,depth,value", "1,1,10", "2,1,60", "1,2,20", "2,2,95")
COUNTS = table("rate,depth,value,n", "1,1,10,200", "2,1,60,200", "1,2,20,200", "2,2,95,200")
MODELS = table(
    "model,rate,depth,value,n",
    *(
        f"{m},{r},{d},{10 * r + 20 * d + 9 * (m == 'b')},200"
        for m in "ab"
        for r in (1, 2)
        for d in (1, 2)
    ),
)
STUDIES = {
    "single values": (HEAD, ROWS),
    "counts": (COUNTED, COUNTS),
    "two models": (COUNTED + "facets: [model]\ncompare: [model]\n", MODELS),
    "a baseline": (COUNTED + "facets: [model]\nbaseline: {model: a}\n", MODELS),
    "models that nothing compares": (COUNTED + "facets: [model]\n", MODELS),
}
BEST = re.compile(r"[^.>]{0,60}\b(?:best|worst|better)\b[^.<]{0,60}", re.IGNORECASE)
WORDS_OF_CODE = re.compile(
    r"<(script|style)\b.*?</\1>|<[^>]*>|best-worst-mean-and-spread"
    r"|\.best\.svg|nothing says which values are better",
    re.DOTALL,
)


def sentences(folder):
    """Where the pages of a data folder, and badges, speak of the best, without what is code."""
    site = build(folder)
    texts = {page.plan.path: page.whole() for page in site.pages}
    texts |= {
        path: content.decode()
        for path, content in site.files.contents()
        if path.endswith((".best.svg", "answers.json"))
    }
    return [
        f"{path}: {found}"
        for path, text in texts.items()
        for found in BEST.findall(WORDS_OF_CODE.sub(" ", text))
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_no_page_speaks_of_a_best_where_nothing_says_what_is_better(name, tmp_path):
    head, cells = STUDIES[name]
    write_study(tmp_path / "with/demo", head, cells)
    write_study(tmp_path / "without/demo", head.replace(", better: higher", ""), cells)
    assert sentences(tmp_path / "with") != []
    assert sentences(tmp_path / "without") == []


@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_marked_where_nothing_says_what_is_better(name, tmp_path):
    head, cells = STUDIES[name]
    write_study(tmp_path / "demo", head.replace(", better: higher", ""), cells)
    assessment = load_data(tmp_path)["demo"]
    for grid in assessment.results.grids.values():
        assert not best_points(grid) | best_undisputed_points(grid) | assessment.best_set(grid)
        [heatmap] = grids_view(assessment, [grid], assessment.answers[""]).heatmaps
        assert not any(mark.best or mark.ring for mark in heatmap.marks)
