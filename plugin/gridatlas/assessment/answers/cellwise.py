"""Where two levels differ: tests of single cells, counted, and the region that they make up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from gridatlas.analysis.words import cells_by_unit
from gridatlas.model.study import Factor, Point, Study, inline


@dataclass(frozen=True, slots=True)
class CellTests:
    """Tests of single cells of two levels, adjusted for their number.

    Attributes:
        cells: Those that are tested.
        higher, lower: Those that are significantly higher, or lower, in the first level; over
            several seeds in each of them.
        counts: How many are higher, and lower, in each seed; empty where nothing repeats the cells.
    """

    study: Study
    cells: frozenset[Point]
    higher: frozenset[Point]
    lower: frozenset[Point]
    test: str
    counts: tuple[tuple[int, int], ...] = ()

    @property
    def turned(self) -> CellTests:
        """The second level against the first."""
        counts = tuple((lower, higher) for higher, lower in self.counts)
        return replace(self, higher=self.lower, lower=self.higher, counts=counts)

    @property
    def by_seed(self) -> tuple[tuple[int, int], ...]:
        """How many are higher, and lower, in each seed; of one as well."""
        return self.counts or ((len(self.higher), len(self.lower)),)

    def both(self, other: CellTests) -> CellTests:
        """What holds in the seeds of these tests, and in those of others."""
        return CellTests(
            self.study,
            self.cells & other.cells,
            self.higher & other.higher,
            self.lower & other.lower,
            self.test,
            self.by_seed + other.by_seed,
        )

    @property
    def sentence(self) -> str:
        """In words: `Cell by cell, 27 of 36 are significantly higher and 1 lower`; seed by seed."""
        if self.counts:
            higher, lower = zip(*self.counts, strict=True)
            return f"Significant by seed: {cells_by_unit(higher, lower)[:-1]} ({self.test})."
        verb = "is" if 1 in (len(self.higher), len(self.cells)) else "are"
        return (
            f"Cell by cell, {len(self.higher):,} of {len(self.cells):,} {verb} "
            f"significantly higher and {len(self.lower):,} lower ({self.test})."
        )

    @property
    def where(self) -> str:
        """Sentences that name the higher and the lower cells, where these make up regions."""
        text = ""
        for word, cells in (("higher", self.higher), ("lower", self.lower)):
            where = region(self.study, cells, self.cells)
            if where:
                ones = f"{word} one is" if len(cells) == 1 else f"{word} ones are"
                text += (
                    f" {word.capitalize()} in each seed: {where}."
                    if self.counts
                    else f" The {ones} {where}."
                )
        return text


def region(study: Study, cells: Collection[Point], among: Collection[Point]) -> str:
    """Some cells in words, if they are exactly a box of levels or the rest of one; else empty.

    It is chosen by what was found, so nothing is tested of it.

    Args:
        among: All cells that could be among them.
    """
    chosen, others = set(cells), set(among) - set(cells)
    if not chosen or not others:
        return ""
    box = _box(study, chosen)
    if box:
        return f"{'that' if len(chosen) == 1 else 'those'} with {box}"
    box = _box(study, others)
    return f"all but {'that' if len(others) == 1 else 'those'} with {box}" if box else ""


def _box(study: Study, cells: set[Point]) -> str:
    """A product of consecutive levels of both axes in words; empty where it is none, or is all."""
    sides = [
        sorted({axis.place(cell[at]) for cell in cells})
        for at, axis in enumerate((study.x, study.y))
    ]
    in_a_row = all(side[-1] - side[0] + 1 == len(side) for side in sides)
    if not in_a_row or len(sides[0]) * len(sides[1]) != len(cells):
        return ""
    texts = [
        _side(axis, side)
        for axis, side in zip((study.x, study.y), sides, strict=True)
        if len(side) < len(axis.levels)
    ]
    return " and ".join(texts)


def _side(axis: Factor, places: list[int]) -> str:
    first, last = axis.levels[places[0]].label, axis.levels[places[-1]].label
    return f"{inline(axis.label)} {first}" + (f" to {last}" if len(places) > 1 else "")
