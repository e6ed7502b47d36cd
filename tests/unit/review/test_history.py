"""The page History: answers before and after each entry, and at tags, as far as git has them."""

import subprocess

import pytest
from builders import write_files

from gridatlas.assessment.pipeline import load_data
from gridatlas.build.comparison import history_page

STUDY = """\
format: 1
title: A demo
metric: {name: Accuracy, better: higher, unit: "%"}
x: task
y: model
"""
ENTRY = "history:\n  - {date: 2026-11-23, text: A new prompt., covers: [answers]}\n"


def cells(lead):
    rows = (f"{task},{m},{70 + task + (m == 'b') * lead}.0" for task in range(12) for m in "ab")
    return "\n".join(["task,model,value", *rows])


def git(folder, *words):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def history_of(folder):
    [study] = load_data(folder / "data", "data").values()
    plan = history_page(study, folder / "data", "studies", None)
    found = plan.context["history"]
    return found


def leads(state):
    assert isinstance(state, dict)
    return str(state["answer"]).partition(" ")[0]


@pytest.fixture
def repository(tmp_path):
    write_files(tmp_path / "data/demo", {"study.yml": STUDY, "cells.csv": cells(-10)})
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    git(tmp_path, "tag", "v1")
    write_files(tmp_path / "data/demo", {"study.yml": STUDY + ENTRY, "cells.csv": cells(10)})
    return tmp_path


def test_an_entry_has_the_answers_before_and_after_it(repository):
    for committed in (False, True):
        if committed:
            git(repository, "commit", "--quiet", "-a", "-m", "second")
            (repository / "data/demo/cells.csv").write_text(cells(-20))
            git(repository, "commit", "--quiet", "-a", "-m", "third")
        found = history_of(repository)
        [entry] = found["entries"]
        assert (leads(entry["before"]), leads(entry["after"])) == ("a", "b")
        assert [(state["tag"], leads(state)) for state in found["tags"]] == [("v1", "a")]


def test_without_git_entries_stand_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write_files(tmp_path / "data/demo", {"study.yml": STUDY + ENTRY, "cells.csv": cells(10)})
    [entry] = history_of(tmp_path)["entries"]
    assert (entry["text"], entry["before"], leads(entry["after"])) == ("A new prompt.", None, "b")


def test_without_entries_there_is_no_page(tmp_path):
    write_files(tmp_path / "data/demo", {"study.yml": STUDY, "cells.csv": cells(10)})
    [study] = load_data(tmp_path / "data", "data").values()
    assert history_page(study, tmp_path / "data", "studies", None) is None
