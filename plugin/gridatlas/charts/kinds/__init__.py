"""What a picture of results has, whatever it shows: a class brings all that is drawn of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gridatlas.charts.plotting import Column

Specification = dict[str, Any]
Expected = Mapping[str, tuple[str, int]]


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
    def expected(self) -> Expected:
        """The labelled marks of its drawing: what and how many, by Vega's name of their kind."""

    @property
    def has_png(self) -> bool:
        """Whether anything offers it in pixels."""
        return True


class Chart(Picture):
    """A picture that Vega draws as its specification says."""

    __slots__ = ()

    @abstractmethod
    def specification(self) -> Specification:
        """The complete Vega-Lite specification."""


class Plot(Chart):
    """What several cells say together, with a table of its own."""

    __slots__ = ()
    IS_IMAGE = True
    KIND: ClassVar[str]
    """Which one it is, for templates."""

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.KIND

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
