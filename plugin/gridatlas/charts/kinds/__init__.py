"""A file per kind of picture. Plots of many cells are found by their classes: no list has them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

from gridatlas import registry
from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.plotting import Column, canonical
from gridatlas.model.study import Factor, Study
from gridatlas.table.study_table import Grid

Specification = dict[str, Any]
Expected = Mapping[str, tuple[str, int]]
ByVega = Callable[[Specification], str]
"""Has Vega draw: the SVG of a specification."""
Place = Literal["main", "settings", "axes", "ahead"]
"""The question of a page that a plot answers: which setting, whether an axis matters, or which
level of a facet is ahead. What is `main` stands first, in the shape of the data."""


class CannotShow(ValueError):
    """A plot that someone asked for can't be of these data; the texts are those of a problem."""

    def __init__(self, found: str, fix: str, expected: str) -> None:
        self.found, self.fix, self.expected = found, fix, expected
        super().__init__(found)


class Picture(ABC):
    """What shows results; equal pictures give equal drawings."""

    __slots__ = ()
    IS_IMAGE: ClassVar[bool] = False
    """Whether a screen reader has no parts of it to go through, but its description."""
    title: str
    description: str

    @abstractmethod
    def to_json(self) -> str:
        """All of it as canonical JSON, which is that of no other kind of picture."""

    @abstractmethod
    def specification(self) -> Specification:
        """The complete Vega-Lite specification."""

    @abstractmethod
    def expected(self) -> Expected:
        """The labelled marks of its drawing: what and how many, by Vega's name of their kind."""

    def drawn(self, spec: Specification, by_vega: ByVega) -> str:
        """Its drawing as SVG, from its specification."""
        return by_vega(spec)

    @property
    def has_png(self) -> bool:
        """Whether anything offers it in pixels."""
        return True

    @property
    def cell_keys(self) -> tuple[str, ...]:
        """Addresses of the cells that its labelled marks stand for, as drawn: `<x>,<y>`."""
        return ()


class Plot(Picture):
    """What several cells say together, with a table of its own, on pages that ask its question.

    What its caption says is in the template `<KIND>.html.jinja` of pages.
    """

    __slots__ = ()
    IS_IMAGE = True
    KIND: ClassVar[str]
    """Its name: for templates, and for `as` of a fence."""
    PLACE: ClassVar[Place]
    ORDER: ClassVar[int]
    """Its place among all kinds."""
    OF_FACET: ClassVar[bool] = False
    """Whether it compares the levels of a facet, which a fence then names."""

    @classmethod
    def place(cls, study: Study) -> Place:
        """The question that it answers on pages of a study."""
        return cls.PLACE

    @classmethod
    @abstractmethod
    def of(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None
    ) -> Sequence[Plot]:
        """Those of a page, side by side; none where the data don't carry them.

        Args:
            grids: What the page is about.
            facet: Whose levels a page compares, where it does: the place `ahead`; else None.
        """

    @classmethod
    def asked(
        cls, assessment: Assessment, grids: Sequence[Grid], facet: Factor | None
    ) -> Sequence[Plot]:
        """Those of a fence; the arguments are those of `of`.

        Raises:
            CannotShow: Where there is none.
        """
        found = cls.of(assessment, grids, facet)
        if not found:
            raise CannotShow(*cls.why_none(assessment.study, facet))
        return found

    @classmethod
    def why_none(cls, study: Study, facet: Factor | None) -> tuple[str, str, str]:
        """What a problem says of data that give none: what was found, the fix, what is expected."""
        return (
            f"as: {cls.KIND} for data that give none",
            "remove the line, which shows the heatmap",
            "data that such a plot can be of",
        )

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.KIND

    def to_json(self) -> str:
        """The plot as canonical JSON: what its drawing depends on."""
        return canonical({self.KIND: self})

    def expected(self) -> Expected:
        """A labelled mark for each row of its table."""
        return {"rect mark": ("rows", len(self.table()))}

    @property
    def before_values(self) -> bool:
        """Whether it shows what differences of grids don't add to: below it are the values."""
        return False

    @property
    def below_values(self) -> bool:
        """Whether it, as a page's main picture, tells more of its values, and stands below them."""
        return False

    @property
    @abstractmethod
    def columns(self) -> Column:
        """The heads of its data table."""

    @abstractmethod
    def table(self) -> Sequence[Column]:
        """The rows of its data table."""

    @abstractmethod
    def records(self) -> list[dict[str, object]]:
        """What it shows with all numbers, as a table of data."""


@cache
def all_plots() -> Mapping[str, type[Plot]]:
    """The plots of all files in this folder, by their kinds, in order.

    Raises:
        ValueError: For two of one kind.
    """
    found: dict[str, type[Plot]] = {}
    for name, module in registry.modules(sys.modules[__name__]).items():
        for part in vars(module).values():
            if isinstance(part, type) and issubclass(part, Plot) and part is not Plot:
                first = found.setdefault(part.KIND, part)
                if first is not part:
                    names = sorted((first.__module__.rpartition(".")[2], name))
                    both = " and ".join(f"charts/kinds/{of}.py" for of in names)
                    raise ValueError(f"{both} both have {part.KIND}")
    ordered = sorted(found.values(), key=lambda kind: kind.ORDER)
    return {kind.KIND: kind for kind in ordered}


def main_plots(
    assessment: Assessment, grids: Sequence[Grid], facet: Factor | None = None
) -> Iterator[Plot]:
    """The main picture of grids in the shape of their data; none where that is a heatmap."""
    for kind in all_plots().values():
        if kind.place(assessment.study) == "main":
            yield from kind.of(assessment, grids, facet)
