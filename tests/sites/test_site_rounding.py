"""The same number is the same text on each of its places, rounded once and half away from zero."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from builders import write_study

from gridatlas.build.site import build

STUDY = """format: 1
title: Averages
metric: {name: Accuracy, unit: "%", column: accuracy, range: [0, 100], better: higher, decimals: 1}
x: rate
facets: [model, benchmark]
compare: [model]
factors:
  benchmark: {levels: [{id: one}, {id: two}, {id: average, aggregate: {by: mean}}]}
"""
CELLS = """rate,model,benchmark,accuracy
1,a,one,86.8
2,a,one,86.9
1,b,one,80.0
2,b,one,80.1
1,a,two,20.1
2,a,two,20.0
1,b,two,10.0
2,b,two,10.1
1,a,average,53.4
2,a,average,53.4
1,b,average,45.0
2,b,average,45.1
"""
"""The mean of `a` is 86.85 on `one`, 20.05 on `two` and 53.45 over both, where the printed averages
have 53.4; that of `b` 80.05, 10.05 and 45.05."""
MEANS = {
    "a | one": "86.9 %",
    "a | two": "20.1 %",
    "a | average": "53.5 %",
    "b | one": "80.1 %",
    "b | two": "10.1 %",
    "b | average": "45.1 %",
}


def words(html: str) -> str:
    """The text of a page, with the names of its drawings."""
    named = re.sub(r'<svg[^>]*aria-label="([^"]*)"', r"\1 <svg", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", named)))


def test_a_mean_has_one_text_on_all_pages(tmp_path: Path, cache: Path) -> None:
    write_study(tmp_path / "data/demo", STUDY, CELLS)
    site = build(tmp_path / "data", name="data", cache=cache / "gridatlas")
    answers = json.loads(str(site.files["grids/demo/answers.json"]))
    sentences = [answer["sentence"] for answer in answers]
    below = "studies/demo/"
    pages = {
        page.plan.path.removeprefix(below).removesuffix("index.md"): words(page.whole())
        for page in site.pages
    }
    for model in "ab":  # below the titles of heatmaps
        for page in (f"model/{model}/", "benchmark/average/"):
            assert f" mean {MEANS[f'{model} | average']} " in pages[page], (page, model)
    for grid, mean in MEANS.items():  # the list of all grids
        model, benchmark = grid.split(" | ")
        assert f" {benchmark} 2 {mean} " in pages[""], grid
    line = f"a {MEANS['a | average']}, b {MEANS['b | average']}"
    assert line in pages["benchmark/average/"]
    for benchmark in ("one", "two"):
        means = [MEANS[f"{model} | {benchmark}"] for model in "ab"]
        text = f"{benchmark}: a {means[0]}, b {means[1]}"
        assert text in pages[f"benchmark/{benchmark}/"]
        assert text in sentences
    # Printed averages stay as they are in their cells, and the page says which mean it has.
    assert " a 53.4 best 53.4 best " in pages["benchmark/average/"]
    note = "The mean of printed averages is that of the values that they average, before rounding."
    silent = {"checks/", "benchmark/one/", "benchmark/two/"}
    assert {page for page, text in pages.items() if note in text} == {
        page for page in pages if not page.startswith("studies/")
    } - silent
