"""All that is known of studies: their results, and how far these can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from gridatlas.analysis.said import Answer
from gridatlas.assessment.agreement import ReadingAgreement, compare
from gridatlas.assessment.answers import answers_of, grid_answers, page_answers, supported
from gridatlas.assessment.assess import assess
from gridatlas.assessment.observations import works_in_logs
from gridatlas.assessment.reruns import Reproduction, Rerun, reproduction
from gridatlas.assessment.rivals import OtherReading, other_readings
from gridatlas.assessment.uncertainty import Uncertainty
from gridatlas.assessment.verdicts import with_verdicts
from gridatlas.checks import StudyChecks
from gridatlas.claims import Judged
from gridatlas.model.format import many
from gridatlas.model.problems import Problem
from gridatlas.model.study import Levels, Point, Study
from gridatlas.table.choose import in_fitting_unit
from gridatlas.table.grids import Results
from gridatlas.table.study_table import Grid


@dataclass(frozen=True, eq=False)
class Assessment:
    """One study with everything that is found out about it; statistics when first asked for.

    Attributes:
        judged: Its claims by the printed values alone; `claims` has the verdicts, too.
        cache: Folder of the cache of statistics; None caches nothing.
        digest: A hash of the files that it was read from; None where it isn't known.
        as_read: Its results in the unit of its files, where it is in another; else None.
    """

    results: Results
    checks: StudyChecks
    judged: tuple[Judged, ...] = ()
    cache: Path | None = field(default=None, repr=False)
    digest: str | None = field(default=None, repr=False)
    as_read: Results | None = field(default=None, repr=False)

    @property
    def study(self) -> Study:
        """The study itself."""
        return self.results.study

    @property
    def measured(self) -> Results:
        """Its results in the unit of its files: for its claims, tables and scripts."""
        return self.as_read or self.results

    @cached_property
    def shown(self) -> Assessment:
        """The same in the unit in which its values are read with ease, as on all pages."""
        fit = in_fitting_unit(self.results)
        return self if fit is self.results else replace(self, results=fit, as_read=self.results)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Intervals and tests of its grids."""
        return assess(self.results, self.cache)

    @cached_property
    def claims(self) -> tuple[Judged, ...]:
        """Its claims, with the verdicts on them."""
        return with_verdicts(self.judged, self.measured, self.checks, self.cache, self.digest)

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """What its pages lead with, by their paths below the study's; empty for its own."""
        return page_answers(self.shown.results, self.checks, self.cache, self.digest)

    @cached_property
    def front(self) -> Answer:
        """What its own page leads with; those of its levels aren't asked for it."""
        return answers_of(self.results, self.checks.results, levels=False)[""]

    @cached_property
    def others(self) -> tuple[OtherReading, ...]:
        """Its readings that give another value than is shown somewhere."""
        return tuple(other_readings(self.results, self.checks.results))

    @cached_property
    def log(self) -> bool:
        """Whether its values are compared by their ratios."""
        grid = next(iter(self.results.grids.values()), None)
        return grid is not None and works_in_logs(self.study, grid.table)

    @cached_property
    def grid_answers(self) -> Mapping[Levels, Answer]:
        """What each of its grids supports by itself, by its levels; aggregates have none."""
        return grid_answers(self.shown.results, self.cache, self.digest)

    @cached_property
    def agreement(self) -> ReadingAgreement:
        """Its readings against one another."""
        return compare(self.study)

    @cached_property
    def reproduction(self) -> Reproduction | None:
        """What runs measured of it; None where nothing is or can be compared."""
        return reproduction(self.results, self.cache)

    def rerun(self, grid: Grid) -> Rerun | None:
        """One of its grids measured again; None where it isn't."""
        return self.reproduction.of(grid.levels) if self.reproduction else None

    def best_set(self, grid: Grid) -> frozenset[Point]:
        """The cells of one of its grids in the 95 % confidence set for the best."""
        return grid.points_at(self.uncertainty.of(grid).best_set)


@dataclass(frozen=True, eq=False)
class Assessments(Mapping[str, Assessment]):
    """The studies of a data folder by their ids, and what could not be read.

    Attributes:
        unreadable: Why studies can't be shown, by the names of their folders.
        problems: Everything that is wrong or worth a note, of all studies and of the folder.
    """

    studies: Mapping[str, Assessment] = field(default_factory=dict)
    unreadable: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def results(self) -> dict[str, Results]:
        """The results of all studies, as claims take them."""
        return {study_id: assessment.results for study_id, assessment in self.studies.items()}

    def summary(self) -> Iterator[str]:
        """A line per study: its grids, values and readings, and what its design supports."""
        for study_id, assessment in self.studies.items():
            grids = assessment.results.grids
            values = sum(int(grid.columns.value.defined.sum()) for grid in grids.values())
            yield (
                f"{study_id}: {many(len(grids), 'grid')}, {many(values, 'value')}, "
                f"{many(len(assessment.study.readings), 'reading')}; "
                f"{supported(assessment.front)}"
            )

    def __getitem__(self, study_id: str) -> Assessment:
        return self.studies[study_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.studies)

    def __len__(self) -> int:
        return len(self.studies)
