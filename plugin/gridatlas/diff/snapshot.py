"""One of the two states that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gridatlas.assessment.assessment import Assessment, Assessments
from gridatlas.model.problems import Problem


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
    studies: Mapping[str, Assessment]
    unreadable: Mapping[str, tuple[Problem, ...]]
    problems: Mapping[str, tuple[Problem, ...]]
    empty: str = ""


def as_side(loaded: Assessments, called: str, name: str, commit: str | None) -> Snapshot:
    """What was read of a data folder, as one side.

    Args:
        called: The data folder as it stands in the problems.
    """
    problems = {
        study_id: tuple(
            problem
            for problem in loaded.problems
            if problem.file.startswith(f"{called}/{study_id}/")
        )
        for study_id in (*loaded, *loaded.unreadable)
    }
    return Snapshot(name, commit, loaded, loaded.unreadable, problems)
