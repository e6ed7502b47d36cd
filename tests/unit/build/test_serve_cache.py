"""What a server knows of studies is given again only for the same files."""

import re
import shutil

import pytest
from test_page_cache import CELLS, CLAIM, LINK, page_of, write

from gridatlas.assessment import pipeline
from gridatlas.build.site import build
from gridatlas.build.study_writer import ServeCache


@pytest.fixture
def read(monkeypatch):
    """The ids of the studies that are checked, as they are read."""
    ids = []
    check = pipeline.check_study

    def watched(study, chosen):
        ids.append(study.id)
        return check(study, chosen)

    monkeypatch.setattr(pipeline, "check_study", watched)
    return ids


def served(data, *arguments, **options):
    """What a server that knows nothing yet shows: it also names keys that `study.yml` lacks."""
    return build(data, *arguments, serve_cache=ServeCache(), **options)


def same(first, other):
    """Two sites have the same pages, files and problems."""
    assert [(page.whole(), page.head, page.dataset) for page in first.pages] == [
        (page.whole(), page.head, page.dataset) for page in other.pages
    ]
    assert dict(first.files) == dict(other.files)
    assert first.problems == other.problems


def test_only_a_study_whose_files_changed_is_read(tmp_path, read):
    data, cache, serve_cache = tmp_path / "data", tmp_path / "cache", ServeCache()
    for name in ("one", "two"):
        write(data, name)
    first = build(data, cache=cache, serve_cache=serve_cache)
    assert read == ["one", "two"]
    same(build(data, cache=cache, serve_cache=serve_cache), first)
    assert read == ["one", "two"]
    write(data, "two", cells=CELLS.replace("22.5", "29.5"))
    changed = build(data, cache=cache, serve_cache=serve_cache)
    assert read == ["one", "two", "two"]
    assert "29.5" in page_of(changed.pages, "studies/two/model/large/index.md").whole()
    same(changed, served(data, cache=tmp_path / "another"))
    (data / "two").rename(data / "three")
    same(build(data, cache=cache, serve_cache=serve_cache), served(data))


def test_a_claim_about_another_study_is_judged_by_its_values(tmp_path):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one", CLAIM.format(study="two"))
    write(data, "two")

    def claims():
        site = build(data, serve_cache=serve_cache)
        return page_of(site.pages, "studies/one/index.md").whole()

    first = claims()
    write(data, "two", cells=CELLS.replace("12.5", "20.5"))
    second = claims()
    assert first != second
    assert second == page_of(served(data).pages, "studies/one/index.md").whole()


def test_a_link_is_there_as_long_as_its_study_is(tmp_path):
    data, cache, serve_cache = tmp_path / "data", tmp_path / "cache", ServeCache()
    write(data, "one", LINK)
    changed = [
        'data/one/study.yml:7, "see_also.0.study": problem [unknown-study]\n'
        '  found:    "three": no study has this name\n'
        "  expected: another study, and there is none\n"
        "  fix:      correct the name, or remove the link"
    ]

    def links():
        site = build(data, "data", cache=cache, serve_cache=serve_cache)
        same(site, served(data, "data"))
        text = page_of(site.pages, "studies/one/index.md").markdown
        return text.count("**See also**: [The third one](../three/index.md)"), [
            str(problem) for problem in site.problems
        ]

    assert links() == (0, changed)
    write(data, "three")
    assert links() == (1, [])
    # A study that can't be shown has a page that says so.
    (data / "three" / "study.yml").write_text("facets: [\n", "utf-8")
    assert links()[0] == 1
    shutil.rmtree(data / "three")
    assert links() == (0, changed)


def test_a_switch_leads_to_the_same_page_of_the_same_runs(tmp_path):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one", "see_also: [{study: two, text: Loss, same_runs: true}]\n")

    def switches(path):
        site = build(data, serve_cache=serve_cache)
        same(site, served(data))
        text = page_of(site.pages, path).whole()
        assert "See also" not in text
        found = re.search('<nav class="ga-switch" aria-label="Metric">(.*?)</nav>', text, re.DOTALL)
        pattern = '<a href="([^"]*)"( aria-current="page")?>([^<]*)</a>'
        return [
            (href, bool(here), name)
            for href, here, name in (re.findall(pattern, found[1]) if found else [])
        ]

    large = "studies/one/model/large/index.md"
    assert switches(large) == []
    write(data, "two")
    assert switches("studies/one/index.md") == [
        ("index.md", True, "Accuracy"),
        ("../two/index.md", False, "Loss"),
    ]
    assert switches(large)[1] == ("../../../two/model/large/index.md", False, "Loss")
    # Without such a page it is the study's own.
    write(data, "two", cells=CELLS.replace("large", "huge"))
    assert switches(large)[1] == ("../../../two/index.md", False, "Loss")


@pytest.mark.parametrize("path", ["study.yml", "cells.csv"])
def test_a_mistake_and_its_fixing_are_seen(tmp_path, path):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one")
    write(data, "two")
    first = build(data, serve_cache=serve_cache)
    file = data / "one" / path
    whole = file.read_bytes()
    file.write_bytes(b"\0" + whole)
    broken = build(data, serve_cache=serve_cache)
    assert broken.problems
    same(broken, served(data))
    file.write_bytes(whole)
    same(build(data, serve_cache=serve_cache), first)


def test_a_file_that_is_elsewhere_is_never_remembered(tmp_path, read):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one")
    cells = data / "one" / "cells.csv"
    outside = tmp_path / "elsewhere.csv"
    cells.rename(outside)
    cells.symlink_to(outside)
    refused = build(data, serve_cache=serve_cache)
    assert [problem.kind for problem in refused.problems] == ["file-outside"]
    cells.unlink()
    outside.rename(cells)  # The same content, and the same times.
    assert build(data, serve_cache=serve_cache).problems == ()
    assert read == ["one"]


def test_what_is_written_to_while_it_is_read_is_read_again(tmp_path, monkeypatch, read):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one")
    check = pipeline.check_study

    def slow(study, chosen):
        write(data, "one", cells=CELLS.replace("22.5", "29.5"))
        return check(study, chosen)

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "check_study", slow)
        build(data, serve_cache=serve_cache)
    same(build(data, serve_cache=serve_cache), served(data))
    assert read == ["one"] * 3


def test_another_folder_of_the_site_is_planned_anew(tmp_path):
    data, serve_cache = tmp_path / "data", ServeCache()
    write(data, "one")
    build(data, serve_cache=serve_cache)
    same(build(data, into="results", serve_cache=serve_cache), served(data, into="results"))
