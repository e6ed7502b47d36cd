"""Studies made from texts, read and checked as those of a data folder are."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import HEAD, Checked, MakeStudy, Read, write_study

from gridatlas.data.reader import StudySource, read_study
from gridatlas.data.validate import validate
from gridatlas.model.problems import Problem
from gridatlas.model.study import Study


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a study's files and read them: `read(more, cells, {"second.csv": …})`."""

    def read(
        more: str = "", cells: str | None = None, files: dict[str, str] | None = None
    ) -> tuple[StudySource | None, list[Problem]]:
        study = more if more.startswith("format:") else HEAD + more
        folder = write_study(tmp_path / "data/demo", study, cells, files)
        return read_study(folder, "data/demo")

    return read


@pytest.fixture
def checked(read: Read) -> Checked:
    """As `read`, and checked: the study with all problems and notes."""

    def checked(*arguments: object) -> tuple[Study | None, list[Problem]]:
        source, problems = read(*arguments)
        if source is None:
            return None, problems
        study, more = validate(source)
        return study, problems + more

    return checked


@pytest.fixture
def make_study(checked: Checked) -> MakeStudy:
    """As `checked`, for a study that is right."""

    def make_study(*arguments: object) -> Study:
        study, problems = checked(*arguments)
        assert problems == []
        assert study is not None
        return study

    return make_study
