"""Golden sites: every byte of small sites of different data, and of this repository's studies.

`make golden` (`--update`) records them anew; a change shows the difference of their texts.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden import (
    PROJECTS,
    articles,
    build,
    parsed,
    read,
    recorded,
    recorded_studies,
    site,
    write,
    wrong,
)
from grammar import faults
from site_builds import ROOT, atlas

OURS = "this-repository"
KEPT = ROOT / "build/golden"


@pytest.mark.parametrize("name", sorted(PROJECTS))
def test_a_small_site_is_as_recorded(
    name: str, base: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Python orders sets anew in each process, so that runs compare orders, too."""
    files = site(base, name).files()
    pages = parsed(files)
    assert faults(files, pages) == []
    found = recorded(files, pages)
    if request.config.getoption("--update"):
        again = build(name, tmp_path / "again", PYTHONHASHSEED="1").files()
        assert recorded(again, parsed(again)) == found, (
            "two builds differ: look for the order of a set"
        )
        write(name, found)
    assert wrong(name, found, files, KEPT / name) == ""


def test_this_repositorys_studies_are_as_recorded(
    base: Path, request: pytest.FixtureRequest
) -> None:
    files = atlas(base).files()
    files |= (ours := articles(files))
    pages = parsed(ours)
    assert faults(files, pages) == []
    found = recorded_studies(files, pages)
    if request.config.getoption("--update"):
        write(OURS, found)
    assert wrong(OURS, found, files, KEPT / OURS) == ""


def test_a_picture_that_says_another_thing_than_its_legend_is_found(base: Path) -> None:
    page = "studies/methods/seed/1/index.html"
    site_files = site(base, "seeds").files()
    files = {path: site_files[path] for path in (page, "grids/methods/answers.json")}
    assert faults(files, parsed(files)) == []
    for was, becomes, fault in (
        ("; faded: not", "", "faded elements under"),
        ("role-mark best_marks", "role-mark kept_marks", "the legend has"),
        ('-caption">', '-caption">May be chance. ', "speaks of chance"),
        ('fill-opacity="0.55"', "", "0 faded elements"),
    ):
        broken = {
            path: content.replace(was.encode(), becomes.encode()) for path, content in files.items()
        }
        assert broken != files, was
        assert re.search(fault, "\n".join(faults(broken, parsed(broken)))), was


def test_nothing_is_recorded_of_sites_that_are_no_more() -> None:
    recorded_names = {folder.name for folder in (Path(__file__).parent / "sites").iterdir()}
    assert recorded_names - {*PROJECTS, OURS} == set()


def test_a_site_that_differs_says_where(tmp_path: Path) -> None:
    name = "one-axis"
    files = {"index.html": b"<article><p>Other</p></article>", "new.csv": b"a\n"}
    lines = wrong(name, recorded(files, parsed(files)), files, tmp_path).splitlines()
    recorded_files = read(name).files.splitlines()
    assert lines[0] == (
        f"{name}: {len(recorded_files) + 1} files differ from tests/golden/sites/{name}; "
        f"see {tmp_path}"
    )
    assert lines[1:4] == ["  added new.csv", "  changed index.html", "  gone 404.html"]
    assert (tmp_path / "new.csv").read_bytes() == b"a\n"
