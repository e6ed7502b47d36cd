"""Values are shown in the unit in which they are read with ease; files keep the study's own."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from builders import write_study

from gridatlas.api import load
from gridatlas.build.site import Site, build
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.fences import Fences
from gridatlas.pages.search import cell_entries

STUDY = """format: 1
title: Kernels
metric: {name: Latency, column: latency, unit: s, better: lower}
x: length
y: batch
facets: [gpu]
roles: {length: condition, batch: condition, gpu: choice}
claims:
  - {text: It takes less than 6 µs., check: 'grid(gpu="A").at(length=1, batch=1) < 0.000006'}
"""
CELLS = (
    "gpu,length,batch,latency\n"
    "A,1,1,0.0000050\nA,2,1,0.0000100\nA,1,2,0.0000080\nA,2,2,0.0000160\n"
    "B,1,1,0.0000100\nB,2,1,0.0000200\nB,1,2,0.0000160\nB,2,2,0.0000320\n"
)
TINY = """format: 1
title: Errors
metric: {name: Error, better: lower}
x: rate
y: depth
"""
FEW = "rate,depth,value\n1,1,0.0000012\n2,1,0.0000024\n1,2,0.0000036\n2,2,0.0000048\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("units") / "data"
    write_study(folder / "kernels", STUDY, CELLS)
    write_study(folder / "errors", TINY, FEW)
    return folder


@pytest.fixture(scope="module")
def site(data: Path, cache: Path) -> Site:
    found = build(data, name="data", cache=cache / "gridatlas")
    assert found.problems == ()
    return found


def words(html: str) -> str:
    """The text of a page with the names of its drawings and cells, without links and scripts."""
    html = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", html)
    named = re.sub(r'aria-label="([^"]*)"', r"> \1 <", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", named)))


def test_all_surfaces_have_the_prefix_that_fits(site: Site, data: Path) -> None:
    pages = {page.plan.path: words(page.whole()) for page in site.pages}
    shown = {
        "page": pages["studies/kernels/gpu/a/index.md"],
        "study": pages["studies/kernels/index.md"],
        "embed": words(str(site.files["grids/kernels/a.html"])),
        "svg": words(str(site.files["grids/kernels/a.svg"])),
        "fence": words(Fences(site.assessments).html("kernels/a", "index.md", set())),
        "notebook": str(load(data)["kernels"].grid(gpu="A")),
        "answers": str(site.files["grids/kernels/answers.json"]),
    }
    assert {name: "µs" in text for name, text in shown.items()} == dict.fromkeys(shown, True)
    assert {name: found for name, text in shown.items() if (found := small(text))} == {}
    assert "Latency in µs." in shown["page"]
    assert "Latency from 5.0 to 16.0 µs" in shown["page"]
    assert "5.0 µs" in shown["embed"]
    found = cell_entries(site.assessments.values(), site.pages, SiteAddress())
    assert [entry["text"] for entry in found if small(entry["text"])] == []


def small(text: str) -> list[str]:
    """Numbers as the files have them, or that read as nothing."""
    return re.findall(r"0\.000\d*", text)


def test_what_explains_itself_says_its_unit(site: Site) -> None:
    content = json.loads(str(site.files["grids/kernels/a.json"]))
    assert (content["metric"]["unit"], content["cells"][0]["value"]) == ("µs", 5.0)


def test_files_and_statements_keep_the_unit_of_the_data(site: Site, data: Path) -> None:
    [head, first, *_] = str(site.files["grids/kernels/a.csv"]).splitlines()
    assert head.startswith("gpu,length,batch,latency,")
    assert first.startswith("A,1,1,0.0000050,")
    assert "A,1,1,0.0000050," in str(site.files["studies/kernels/cells.csv"])
    assert float(load(data)["kernels"].at(gpu="A", length=1, batch=1).value or 0) == 5e-6
    [claim] = site.assessments["kernels"].shown.claims
    assert claim.verdict is not None
    assert claim.verdict.outcome == "true"


def test_small_numbers_without_a_prefix_have_a_power_of_ten(site: Site) -> None:
    [page] = [page for page in site.pages if page.plan.path == "studies/errors/index.md"]
    text = words(page.whole())
    assert small(text) == []
    assert "Error from 1.2 to 4.8 × 10⁻⁶" in text
