"""What pages weigh and load before anybody asks to explore a grid."""

import gzip
import json
import re

import pytest
from site_builds import Build

MODEL = "studies/dynts-window-ratio/model/r1-qwen/"
SETTING = "studies/grpo-digits/setting/after_t100/"
FIGURE = re.compile(r"<figure.*?</figure>", re.DOTALL)


def _html(build: Build, page: str) -> str:
    return (build.site / page / "index.html").read_text("utf-8")


def _zipped(html: str) -> int:
    return len(gzip.compress(html.encode(), mtime=0))


@pytest.mark.parametrize(("page", "most"), [(MODEL, 3000), (SETTING, 6000)])
def test_a_heatmap_weighs_little(atlas: Build, page: str, most: int) -> None:
    html = _html(atlas, page)
    heatmaps = FIGURE.findall(html)
    assert len(heatmaps) >= 2
    assert (_zipped(html) - _zipped(FIGURE.sub("", html))) / len(heatmaps) <= most


def test_a_model_page_weighs_little(atlas: Build) -> None:
    assert _zipped(_html(atlas, MODEL)) <= 60_000


@pytest.mark.parametrize("page", [MODEL, SETTING])
def test_a_page_loads_one_script_of_ours_and_no_picture(atlas: Build, page: str) -> None:
    soup = atlas.page(page)
    scripts = [str(element["src"]) for element in soup.select("script[src]")]
    ours = [script for script in scripts if "assets/gridatlas/" in script]
    assert [our.rpartition("/")[2] for our in ours] == ["gridatlas.js"]
    theirs = [script for script in scripts if script not in ours]
    assert all("/assets/javascripts/" in their for their in theirs), theirs
    assert soup.select('link[rel~="preload"], link[rel~="modulepreload"], article img[src]') == []


def test_a_level_keeps_its_versions_small(atlas: Build) -> None:
    html = _html(atlas, MODEL)
    assert len(html) <= 146_000
    packed = atlas.page(MODEL).select("template[data-packed]")
    assert len(packed) == 1
    assert len(str(packed[0])) < 11_000


def test_the_search_loads_little_and_leads_to_a_grids_own_study(atlas: Build) -> None:
    index = (atlas.site / "search/search_index.json").read_bytes()
    assert len(index) <= 300_000
    docs = json.loads(index)["docs"]
    own = [of["location"] for of in docs if of["text"].startswith("pass@8 over")]
    assert own
    assert all(location.startswith("studies/digits-pass-8/") for location in own)
    assert all(of.get("boost") == 2 for of in docs if of["location"].startswith("studies/"))
    assert not [of for of in docs if "<pre" in of["text"]]
