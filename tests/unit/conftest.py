"""Studies made from texts, read and checked as those of a data folder are."""

import pytest
from builders import HEAD, write_study

from gridatlas.data.reader import read_study
from gridatlas.data.validate import validate


@pytest.fixture
def read(tmp_path):
    """Write a study's files and read them: `read(more, cells, {"second.csv": …})`."""

    def read(more="", cells=None, files=None):
        study = more if more.startswith("format:") else HEAD + more
        folder = write_study(tmp_path / "data/demo", study, cells, files)
        return read_study(folder, "data/demo")

    return read


@pytest.fixture
def checked(read):
    """As `read`, and checked: the study with all problems and notes."""

    def checked(*arguments):
        source, problems = read(*arguments)
        if source is None:
            return None, problems
        study, more = validate(source)
        return study, problems + more

    return checked


@pytest.fixture
def make_study(checked):
    """As `checked`, for a study that is right."""

    def make_study(*arguments):
        study, problems = checked(*arguments)
        assert problems == []
        assert study is not None
        return study

    return make_study


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder in which nothing is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
