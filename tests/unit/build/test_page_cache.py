"""The pages and files of a study come from the cache only for the same files and options."""

import gc
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
from builders import REPOSITORY, write_study

from gridatlas.assessment.pipeline import gc_disabled, load_data
from gridatlas.build import page_cache
from gridatlas.build.page_cache import SiteFiles
from gridatlas.build.site import build
from gridatlas.build.study_writer import StudyWriter
from gridatlas.data import signatures
from gridatlas.files.cache import FILE
from gridatlas_review.base import SnapshotBase
from gridatlas_review.snapshot import snapshot_of

STUDY = """\
format: 1
title: Sizes
metric: {name: Accuracy, better: higher, unit: "%", decimals: 1}
x: rate
y: batch
facets: [model]
"""
CELLS = "model,rate,batch,value\nsmall,1,8,11.5\nsmall,2,8,12.5\nlarge,1,8,21.5\nlarge,2,8,22.5\n"
CLAIM = """\
claims:
  - text: Small is behind.
    check: grid(study="{study}", model="small").best.value < 20
"""


LINK = "see_also: [{study: three, text: The third one}]\n"


def write(data, study, more="", cells=CELLS, head=STUDY):
    write_study(data / study, head + more, cells)


def page_of(pages, path):
    return next(page for page in pages if page.plan.path == path)


# --- files --------------------------------------------------------------------------------------


def test_of_two_files_at_one_path_the_later_one_counts():
    files = SiteFiles()
    files.add({"a": "old", "b": b"raw"})
    files.add({"a": "new"})
    assert dict(files) == {"a": "new", "b": b"raw"}
    assert (list(files), len(files), "b" in files, "c" in files) == (["a", "b"], 2, True, False)
    with pytest.raises(KeyError):
        files["c"]


# --- pages --------------------------------------------------------------------------------------


@pytest.fixture
def written(monkeypatch):
    """The ids of the studies that are written, as they are."""
    ids = []
    end = StudyWriter._end

    def watched(self, name, *given):
        if name:
            ids.append(name)
        end(self, name, *given)

    monkeypatch.setattr(StudyWriter, "_end", watched)
    return ids


def test_a_study_is_written_again_when_one_of_its_files_changes(tmp_path, written):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    write(data, "two")
    first = build(data, cache=cache)
    assert written == ["one", "two"]
    again = build(data, cache=cache)
    assert written == ["one", "two"]
    assert dict(again.files) == dict(first.files)
    assert [page.whole() for page in again.pages] == [page.whole() for page in first.pages]
    assert [page.anchors for page in again.pages] == [page.anchors for page in first.pages]

    write(data, "two", cells=CELLS.replace("12.5", "13.0"))
    changed = build(data, cache=cache)
    assert written == ["one", "two", "two"]
    path = "studies/two/model/small/index.md"
    assert "13.0" in page_of(changed.pages, path).whole()
    # And back: the state before is in the cache, too.
    write(data, "two")
    assert (
        page_of(build(data, cache=cache).pages, path).whole() == page_of(first.pages, path).whole()
    )
    assert written == ["one", "two", "two"]


def test_a_study_whose_claim_looks_into_another_one_depends_on_that(tmp_path, written):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one", CLAIM.format(study="two"))
    write(data, "two")
    build(data, cache=cache)
    write(data, "two", cells=CELLS.replace("12.5", "52.5"))
    written.clear()
    changed = build(data, cache=cache)
    assert written == ["one", "two"]
    fresh = build(data)
    assert [page.whole() for page in changed.pages] == [page.whole() for page in fresh.pages]


EDITS = {
    "a claim of one about the other": lambda data: write(data, "one", CLAIM.format(study="two")),
    "that claim wrong": lambda data: write(data, "two", cells=CELLS.replace("12.5", "52.5")),
    "another title of the other": lambda data: write(
        data, "two", cells=CELLS, head=STUDY.replace("Sizes", "Other sizes")
    ),
    "a label, a unit and a level more": lambda data: write(
        data, "two", "factors: {model: {label: Net}, rate: {unit: /s}}\n", CELLS + "tiny,1,8,1.5\n"
    ),
    "a study that can't be read": lambda data: write(data, "two", "facets: [\n"),
    "fixed, with a former name": lambda data: write(data, "two", "former: [once]\n"),
    "a link to a study that isn't there yet": lambda data: write(data, "one", LINK),
    "a study more": lambda data: write(data, "three"),
    "two names for one study": lambda data: write(data, "three", "former: [once]\n"),
    "a value out of range": lambda data: write(data, "one", cells=CELLS.replace("11.5", "x")),
    "another reading": lambda data: (
        (data / "one" / "second.csv").write_text(CELLS.replace("21.5", "31.5"), "utf-8"),
        write(data, "one", "readings: [{id: a, file: cells.csv}, {id: b, file: second.csv}]\n"),
    ),
    "that reading changed": lambda data: (data / "one" / "second.csv").write_text(CELLS, "utf-8"),
    "a study less": lambda data: shutil.rmtree(data / "three"),
    "all as at first": lambda data: (write(data, "one"), write(data, "two")),
}
"""What people do to a data folder, one after the other."""


def test_after_any_edit_the_site_is_that_of_a_build_with_nothing_kept(tmp_path):
    """Dear: two builds after each kind of edit, of which one draws and writes all anew.

    They are compared with the state before; `test_serve_cache.py` edits a site that isn't.
    """
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    write(data, "two")
    before = snapshot_of(load_data(data, "data"), "data", "before", None)
    base = SnapshotBase(before)
    build(data, "data", cache=cache, base=base)
    for edit, done in EDITS.items():
        done(data)
        warm, fresh = (build(data, "data", cache=folder, base=base) for folder in (cache, None))
        assert [page.whole() for page in warm.pages] == [page.whole() for page in fresh.pages], edit
        said = [[(page.head, page.dataset) for page in each.pages] for each in (warm, fresh)]
        assert said[0] == said[1], edit
        assert dict(warm.files) == dict(fresh.files), edit
        assert warm.problems == fresh.problems, edit


def test_options_and_templates_have_their_own(tmp_path, written):
    data, cache, own = tmp_path / "data", tmp_path / "cache", tmp_path / "own"
    write(data, "one")
    own.mkdir()
    (own / "level.md.jinja").write_text("# First\n", "utf-8")
    path = "one/model/small/index.md"
    build(data, cache=cache)
    assert page_of(build(data, into="other", cache=cache).pages, f"other/{path}")
    mine = build(data, templates=own, cache=cache)
    assert "# First" in page_of(mine.pages, f"studies/{path}").markdown
    (own / "level.md.jinja").write_text("# Second\n", "utf-8")
    mine = build(data, templates=own, cache=cache)
    assert "# Second" in page_of(mine.pages, f"studies/{path}").markdown
    assert written == ["one"] * 4


def test_a_page_whose_template_fails_is_not_kept(tmp_path):
    data, cache, own = tmp_path / "data", tmp_path / "cache", tmp_path / "own"
    write(data, "one")
    own.mkdir()
    (own / "level.md.jinja").write_text("{{ nothing.like.it }}\n", "utf-8")
    for _ in range(2):
        kinds = [problem.kind for problem in build(data, templates=own, cache=cache).problems]
        assert kinds == ["broken-template"]


def test_a_study_that_is_written_to_while_it_is_read_is_not_kept(tmp_path, written, monkeypatch):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    file_signatures = signatures.file_signatures

    def edited(folder):
        before = file_signatures(folder)
        write(data, "one", cells=CELLS.replace("12.5", "13.0"))
        os.utime(data / "one" / "cells.csv", (1, 1))
        return before

    monkeypatch.setattr("gridatlas.assessment.pipeline.file_signatures", edited)
    build(data, cache=cache)
    monkeypatch.setattr("gridatlas.assessment.pipeline.file_signatures", file_signatures)
    write(data, "one")
    path = "studies/one/model/small/index.md"
    assert "12.5" in page_of(build(data, cache=cache).pages, path).whole()
    files = [file for file in cache.rglob("*") if file.is_file()]
    assert files
    assert written == ["one", "one"]


@pytest.mark.parametrize("part", ["index", "0"])
def test_a_damaged_entry_is_written_again(tmp_path, written, part):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    first = build(data, cache=cache)
    with sqlite3.connect(cache / FILE) as connection:
        connection.execute("UPDATE parts SET value = x'00' WHERE name = ?", (part,))
    connection.close()
    assert dict(build(data, cache=cache).files) == dict(first.files)
    assert written == ["one", "one"]
    assert dict(build(data, cache=cache).files) == dict(first.files)
    assert written == ["one", "one"]


DIGESTS = """
import sys
from gridatlas.build.page_cache import _code_digest, code_digest
print([_code_digest()])
for file in sys.argv[1:]:
    with open(file, "ab") as source:
        source.write(bytes([10]))
    _code_digest.cache_clear()
    code_digest.cache_clear()
    print([_code_digest()])
"""


def test_a_byte_of_any_package_that_writes_pages_gives_other_keys(tmp_path):
    """Dear: a process with the sources copied."""
    plugin = tmp_path / "plugin"
    shutil.copytree(REPOSITORY / "plugin", plugin, ignore=shutil.ignore_patterns("*.pyc"))
    files = (
        "gridatlas/checks/counts.py",
        "gridatlas/pages/templates/study.md.jinja",
        "gridatlas_review/page.py",
        "gridatlas_zensical/into.py",
    )
    digests = subprocess.run(
        [sys.executable, "-c", DIGESTS, *(plugin / file for file in files)],
        env={**os.environ, "PYTHONPATH": str(plugin)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert len(set(digests)) == len(digests) == 5


def test_another_version_writes_its_own(tmp_path, written, monkeypatch):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    first = build(data, cache=cache)
    for version in ("another", "a third"):
        monkeypatch.setattr(page_cache, "_code_digest", lambda version=version: version)
        assert dict(build(data, cache=cache).files) == dict(first.files)
    assert written == ["one"] * 3
    monkeypatch.undo()
    assert dict(build(data, cache=cache).files) == dict(first.files)


def test_a_cache_that_is_lost_while_a_build_goes_on_changes_nothing(tmp_path, caplog):
    data, cache = tmp_path / "data", tmp_path / "cache"
    write(data, "one")
    fresh = build(data)

    def lost(done):
        if cache.is_dir():
            shutil.rmtree(cache)
            cache.write_text("a file in the place of the folder")

    site = build(data, cache=cache, progress=lost)
    assert [page.whole() for page in site.pages] == [page.whole() for page in fresh.pages]
    assert dict(site.files) == dict(fresh.files)
    assert len(caplog.records) == 1


# --- garbage ------------------------------------------------------------------------------------


def test_garbage_is_looked_for_again_afterwards():
    @gc_disabled()
    def fails():
        assert not gc.isenabled()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()
    assert gc.isenabled()
    gc.disable()
    try:
        with gc_disabled():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
