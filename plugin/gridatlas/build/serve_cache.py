"""What a server keeps of studies between builds: those whose files didn't change."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_study
from gridatlas.build.study_writer import StudyPlan
from gridatlas.files.cache import cache_key
from gridatlas.model.problems import Problem


@dataclass(frozen=True, slots=True)
class _Plan:
    """A study's plan, and what it was made from besides the files of the study."""

    assessment: Assessment
    options: tuple[object, ...]
    plan: StudyPlan

    def is_of(self, assessment: Assessment, options: tuple[object, ...]) -> bool:
        """Whether the plan would be made from these again."""
        return (
            self.assessment.study is assessment.study
            and self.assessment.results.problems == assessment.results.problems
            and self.assessment.judged == assessment.judged
            and self.options == options
        )


class ServeCache:
    """Reads and plans the studies that changed, and gives the others as they were."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[Path, str], tuple[str, Assessment | tuple[Problem, ...]]] = {}
        self._plans: dict[str, _Plan] = {}

    def load_study(
        self, folder: Path, name: str, progress: Callable[[str], None], cache: Path | None = None
    ) -> Assessment | tuple[Problem, ...]:
        """As `load_study`."""
        key, before = (folder, name), _content_digest(folder)
        digest, loaded = self._loaded.get(key, ("", None))
        if loaded is not None and digest == before:
            return loaded
        self._loaded.pop(key, None)
        loaded = load_study(folder, name, progress, cache)
        # Files that are written to meanwhile may be read in either state.
        if before is not None and before == _content_digest(folder):
            self._loaded[key] = before, loaded
        return loaded

    def study_plan(
        self,
        assessment: Assessment,
        options: tuple[object, ...],
        make: Callable[[], StudyPlan],
    ) -> StudyPlan:
        """The plan of a study's pages.

        Args:
            options: All that plans depend on besides the data.
            make: Makes it.
        """
        study_id = assessment.study.id
        plan = self._plans.get(study_id)
        if plan is None or not plan.is_of(assessment, options):
            plan = self._plans[study_id] = _Plan(assessment, options, make())
        return plan.plan


def _content_digest(folder: Path) -> str | None:
    """A hash of all files in a folder; None where one can't be read, or is elsewhere."""
    parts: list[bytes] = []
    try:
        for path in (folder, *sorted(folder.rglob("*"))):
            if path.is_symlink():
                return None
            parts.append(os.fsencode(path.relative_to(folder)))
            parts.append(path.read_bytes() if path.is_file() else b"")
    except OSError:
        return None
    return cache_key(*parts)
