"""Who publishes studies: git, `CITATION.cff`, and the study itself."""

import subprocess

import pytest
from builders import CELLS, HEAD

from gridatlas.assessment.pipeline import load_data
from gridatlas.data.published import Published, published

CFF = """
cff-version: 1.2.0
license: MIT
repository-code: https://git.example/lab/grids/
authors:
  - {given-names: Ada, name-particle: van, family-names: Loon}
  - name: The lab
"""


def git(folder, *arguments):
    who = ["-c", "user.name=T", "-c", "user.email=t@t.example", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def data(tmp_path):
    for name, more in (("a", ""), ("b", "authors: [B. Author]\n")):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "study.yml").write_text(HEAD + more)
        (tmp_path / "data" / name / "cells.csv").write_text(CELLS)
    return tmp_path / "data"


def found(data):
    return published(data, [each.study for each in load_data(data).values()])


def test_without_git_nothing_is_made_up(data, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(data.parents[1]))
    assert found(data) == {"a": Published(), "b": Published(authors=("B. Author",))}
    monkeypatch.setenv("PATH", "")
    assert found(data)["a"] == Published()


def test_the_last_commit_of_each_study(data):
    top = data.parent
    (top / "CITATION.cff").write_text(CFF)
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Both", "--date", "2020-01-02T03:04:05Z")
    first = git(top, "rev-parse", "HEAD")
    (data / "b" / "cells.csv").write_text(CELLS + "2,1,3\n")
    git(top, "commit", "-qam", "One")
    second = git(top, "rev-parse", "HEAD")
    a, b = found(data).values()
    assert (a.commit, b.commit, a.changed, b.changed) == (first, second, False, False)
    assert a.date == git(top, "log", "-1", "--format=%cs", first)
    assert (a.authors, b.authors) == (("Ada van Loon", "The lab"), ("B. Author",))
    assert (a.license, a.repository) == ("MIT", "https://git.example/lab/grids")
    (data / "a" / "new.txt").write_text("")
    assert [each.changed for each in found(data).values()] == [True, False]


def test_where_history_is_cut_off_no_commit_is_named(data, tmp_path):
    top = data.parent
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Both")
    (data / "b" / "cells.csv").write_text(CELLS + "2,1,3\n")
    git(top, "commit", "-qam", "One")
    git(top, "clone", "-q", "--depth", "1", f"file://{top}", str(tmp_path / "shallow"))
    assert [each.commit for each in found(tmp_path / "shallow" / "data").values()] == ["", ""]


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "authors: 3\nlicense: [MIT]\n", "\0"])
def test_a_citation_file_that_says_nothing_is_none(data, text):
    git(data.parent, "init", "-q")
    (data.parent / "CITATION.cff").write_text(text)
    assert found(data)["a"] == Published()
