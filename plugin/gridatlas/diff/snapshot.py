"""One of the two states that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gridatlas.assessment.pipeline import Loaded
from gridatlas.checks import StudyChecks
from gridatlas.claims import Judged
from gridatlas.model.problems import Problem
from gridatlas.model.study import Study
from gridatlas.results.grids import Results


@dataclass(frozen=True, slots=True)
class Known:
    """A study of one side, with what its checks and claims say."""

    results: Results
    checks: StudyChecks
    claims: tuple[Judged, ...]

    @property
    def study(self) -> Study:
        """The study itself."""
        return self.results.study


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All studies of one state.

    Attributes:
        name: The folder or revision, as it was named.
        commit: Full hash of a revision; None for a folder.
        unreadable: Why studies can't be read, by their ids.
        problems: Everything that is wrong or worth a note, by the study's id.
        empty: Why the side has no study; empty for one that has any.
    """

    name: str
    commit: str | None
    studies: Mapping[str, Known]
    unreadable: Mapping[str, tuple[Problem, ...]]
    problems: Mapping[str, tuple[Problem, ...]]
    empty: str = ""


def as_side(loaded: Loaded, called: str, name: str, commit: str | None) -> Snapshot:
    """What was read of a data folder, as one side.

    Args:
        called: The data folder as it stands in the problems.
    """
    studies = {
        result.study.id: Known(
            result, loaded.checks[result.study.id], loaded.claims[result.study.id]
        )
        for result in loaded.results
    }
    problems = {
        study_id: tuple(
            problem
            for problem in loaded.problems
            if problem.file.startswith(f"{called}/{study_id}/")
        )
        for study_id in (*studies, *loaded.unreadable)
    }
    return Snapshot(name, commit, studies, loaded.unreadable, problems)
