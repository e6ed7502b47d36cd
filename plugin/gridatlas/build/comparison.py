"""The seam between a build and what compares its studies with another state of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gridatlas import registry

if TYPE_CHECKING:
    from gridatlas.assessment.assessment import Assessment, Assessments
    from gridatlas.model.problems import Problem
    from gridatlas.pages.plan import PagePlan


class Base(Protocol):
    """What the studies are compared with."""

    @property
    def name(self) -> str:
        """The folder or revision, as the user named it."""

    def add_to(
        self, plans: list[PagePlan], assessments: Assessments, into: str, data: str
    ) -> tuple[list[PagePlan], list[Problem]]:
        """The pages with what changed, and what is in the way of that.

        Args:
            into: Folder of the pages.
            data: The data folder as messages name it.
        """


class CannotCompare(Exception):
    """What the studies are compared with can't be had; the message says why, and what to do."""


def history_page(
    assessment: Assessment, data: Path, into: str, cache: Path | None
) -> PagePlan | None:
    """The page of a study's history; None without one, and where no package makes it."""
    if not assessment.study.history or "history" not in registry.found(registry.COMPARE):
        return None
    plan: PagePlan = registry.load(registry.COMPARE, "history")(assessment, data, into, cache)
    return plan


def load_base(name: str, data: Path, root: Path, cache: Path) -> Base:
    """What the option `compare_to` names.

    Args:
        name: A folder with studies, or else a git revision.
        data: The data folder in the repository, for a revision; relative to `root`.
        root: The folder that `name` and `data` are relative to.
        cache: Folder where statistics are cached between runs.

    Raises:
        CannotCompare: Where it can't be had.
    """
    try:
        load = registry.load(registry.COMPARE, "base")
    except registry.Unusable as error:
        raise CannotCompare(str(error)) from error
    base: Base = load(name, data, root, cache=cache)
    return base
