"""What a build compares its studies with: adds the page Changes, and a line on other pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.assessment import Assessments
from gridatlas.model.problems import Problem
from gridatlas.pages.plan import PagePlan
from gridatlas_review.compare import compare_snapshots
from gridatlas_review.page import plan_changes, with_changes
from gridatlas_review.snapshot import Snapshot, load_base, snapshot_of


@dataclass(frozen=True, slots=True)
class SnapshotBase:
    """A snapshot as the base of a build."""

    snapshot: Snapshot

    @property
    def name(self) -> str:
        """The folder or revision, as the user named it."""
        return self.snapshot.name

    def add_to(
        self, plans: list[PagePlan], assessments: Assessments, into: str, data: str
    ) -> tuple[list[PagePlan], list[Problem]]:
        """The pages with what changed; as they are where nothing did, or there is no place."""
        if any(plan.path == f"{into}/changes/index.md" for plan in plans):
            problem = Problem(
                "taken-address",
                f"{data}/changes",
                'a study with the name "changes", where the page of changes would stand',
                "another name of the study",
                "rename the study's folder, or leave out the option compare_to",
            )
            return plans, [problem]
        changes = compare_snapshots(self.snapshot, snapshot_of(assessments, data, data))
        page = plan_changes(changes, list(assessments.values()), into)
        return (plans if page is None else [*with_changes(plans, changes, page), page]), []


def base(name: str, data: Path, root: Path, cache: Path | None = None) -> SnapshotBase:
    """What the option `compare_to` names; arguments and errors as for `load_base`."""
    return SnapshotBase(load_base(name, data, root, cache=cache))
