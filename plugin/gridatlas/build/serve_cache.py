"""What a server knows of studies from the build before: those whose files didn't change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_study
from gridatlas.build.study_writer import StudyPlan
from gridatlas.model.problems import Problem


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan, and what it was made from besides what was read of the study."""

    assessment: Assessment
    options: tuple[object, ...]
    plan: StudyPlan


class Remembered:
    """Reads and plans the studies that changed, and gives the others as they were."""

    def __init__(self) -> None:
        self._read: dict[tuple[Path, str], tuple[str, Assessment | tuple[Problem, ...]]] = {}
        self._planned: dict[str, _Planned] = {}

    def read(
        self, folder: Path, name: str, step: Callable[[str], None], cache: Path | None = None
    ) -> Assessment | tuple[Problem, ...]:
        """As `load_study`."""
        place, before = (folder, name), _content(folder)
        digest, read = self._read.get(place, ("", None))
        if read is not None and digest == before:
            return read
        self._read.pop(place, None)
        read = load_study(folder, name, step, cache)
        # Files that are written to meanwhile may be read in either state.
        if before is not None and before == _content(folder):
            self._read[place] = before, read
        return read

    def planned(
        self,
        assessment: Assessment,
        options: tuple[object, ...],
        plan: Callable[[], StudyPlan],
    ) -> StudyPlan:
        """The plan of a study's pages.

        Args:
            options: All that plans depend on besides the data.
            plan: Makes it.
        """
        study = assessment.study
        known = self._planned.get(study.id)
        if (
            known is None
            or known.assessment.study is not study
            or known.assessment.results.problems != assessment.results.problems
            or known.assessment.judged != assessment.judged
            or known.options != options
        ):
            known = self._planned[study.id] = _Planned(assessment, options, plan())
        return known.plan


def _content(folder: Path) -> str | None:
    """A hash of all files in a folder; None where one can't be read, or is elsewhere."""
    digest = hashlib.sha256()
    try:
        for path in (folder, *sorted(folder.rglob("*"))):
            if path.is_symlink():
                return None
            content = path.read_bytes() if path.is_file() else b""
            name = os.fsencode(path.relative_to(folder))
            digest.update(b"%d:%s%d:" % (len(name), name, len(content)) + content)
    except OSError:
        return None
    return digest.hexdigest()
