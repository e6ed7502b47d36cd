"""All that is known of a study, for its pages: results, and how far they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.agreement import ReadingAgreement, compare
from gridatlas.assessment.cells import GridCells
from gridatlas.assessment.noise import with_noise
from gridatlas.assessment.reruns import Reproduction, reproduction
from gridatlas.assessment.uncertainty import Uncertainty, assess
from gridatlas.checks import StudyChecks
from gridatlas.claims import Judged
from gridatlas.model.study import Grid, Study
from gridatlas.results.grids import Results


@dataclass(frozen=True, slots=True)
class Assessment:
    """One study with everything that was found out about it."""

    results: Results
    checks: StudyChecks
    claims: tuple[Judged, ...]
    comparison: ReadingAgreement
    uncertainty: Uncertainty
    reproduction: Reproduction | None = None

    @property
    def study(self) -> Study:
        """The study itself."""
        return self.results.study

    def cells(self, grid: Grid) -> GridCells:
        """The cells of one of its grids, each with all that is known of it."""
        rerun = self.reproduction.of(grid.levels) if self.reproduction else None
        return GridCells(grid, self.uncertainty.of(grid), rerun)


def assess_study(
    results: Results,
    checks: StudyChecks,
    claims: tuple[Judged, ...],
    cache_folder: Path | None = None,
) -> Assessment:
    """Judge one study; statistics come from the store where their inputs are the same."""
    uncertainty = assess(results, cache_folder)
    return Assessment(
        results,
        checks,
        with_noise(claims, results, uncertainty),
        compare(results.study),
        uncertainty,
        reproduction(results, cache_folder),
    )
