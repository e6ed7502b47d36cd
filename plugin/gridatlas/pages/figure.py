"""What a page shows: figures with their tables, in rows and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup

from gridatlas.assessment.reruns import Rerun
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.kinds import Picture, Plot
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.kinds.line import Line
from gridatlas.charts.marks import MarkKind, state_words
from gridatlas.charts.vegalite import key_texts, symbol
from gridatlas.model.study import Factor, Level, Reading, Study
from gridatlas.table.differences import Difference
from gridatlas.table.study_table import Grid

EMPTY = Markup()


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of a data table.

    Attributes:
        text: The value, or why there is none.
        interval: The 95 % interval, or the range of too few repeats; empty without one.
        mark: `best`, `best undisputed` (where the best value is disputed), `may be best` (where
            not every cell may), or empty.
        n: Trials behind the value; None where unknown, or where the table says it of most cells.
    """

    text: str
    interval: str = ""
    note: str = ""
    mark: str = ""
    n: int | None = None


@dataclass(frozen=True, slots=True)
class ReadingsRow:
    """What each reading gives for one cell; `differ` is None where fewer than two give a value."""

    x: str
    y: str
    texts: tuple[str, ...]
    differ: bool | None


@dataclass(frozen=True, slots=True)
class ReadingsTable:
    """What each reading gives for the cells that more than one of them has."""

    readings: tuple[Reading, ...]
    rows: tuple[ReadingsRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the values of some cells come from.

    Attributes:
        reading: None for values that are computed here.
        place: Where in the reading's source; None for several places and runs, summed up.
    """

    reading: Reading | None
    place: str | None
    run: str
    cells: int


@dataclass(frozen=True, slots=True)
class DataTable:
    """The values of a figure, laid out like it.

    Attributes:
        rows: Each level of y with its cells; of a line, each of its levels with one cell.
        too_many: Cells of a grid that has too many for a table, which then has no rows; else 0.
        trials: Behind each value, but for cells with an `n` of their own; None where no number
            holds for more than half of the cells, or where one is unknown.
        notes: Each note of cells, with how many have it.
        more_notes: Number of notes beyond these.
    """

    x: Factor
    y: Factor
    rows: tuple[tuple[Level, tuple[TableCell, ...]], ...] = ()
    too_many: int = 0
    trials: int | None = None
    notes: tuple[tuple[str, int], ...] = ()
    more_notes: int = 0
    readings: ReadingsTable | None = None
    origins: tuple[Origin, ...] = ()

    @property
    def corner(self) -> str:
        """The heading above the rows: what they are, and what the columns are."""
        return f"{self.y.title} \\ {self.x.title}" if self.y.id else self.x.title

    @property
    def trials_differ(self) -> bool:
        """Whether some cells have another number of trials than the others."""
        return any(cell.n for _, cells in self.rows for cell in cells)


@dataclass(frozen=True, slots=True)
class Share:
    """What stands below a heatmap to cite and embed it.

    Attributes:
        texts: To copy, by their names.
        embed: Link to the grid's page for frames.
        relative: Whether the texts' addresses hold only beside the page that shows them.
    """

    texts: Mapping[str, str]
    embed: str
    relative: bool


@dataclass(frozen=True, slots=True)
class PlotSubject:
    """What a plot of many cells is of.

    Attributes:
        address: Path of its files without their endings; empty where it has none.
        grid: The grid whose cells its rows stand for; None without one.
    """

    study: Study
    address: str = ""
    grid: Grid | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A heatmap, the chart of a line, or a plot of many cells, on a page.

    What comes from `id` on is empty until the page is written, and `svg` is there.

    Attributes:
        says: What the caption says of a heatmap.
        together: How many lines share an axis.
        caption: Of a fence, which stands before all else.
        folded: Whether it stands behind a heading that opens, in a row of many.
        compact: Without its data table and downloads, where it only stands for its study.
        uncertainty: Of a grid; None for a difference.
        repeats: Of each cell of a grid, row by row, what its value is the mean of.
        rerun: What was measured again of the grid's cells, where something is compared.
        again: Whether the heatmap is of what was measured again, not of what was published.
        before: Whether it shows something that was, which has no address and no cards here.
        id: Of the element; empty for all but the first heatmap of a grid on a page.
        cards: What the cards of its cells say, as JSON.
        downloads: Links to the files of the grid or plot, by the names of their formats.
        links: Of a dot plot, per row the id of its cell on the page; empty where it has none.
        width: What CSS lets it take where that is more than usual: `708px`; else empty.
        name: Its title in a row of several, relative to the page: `AIME24`.
        subtitle: The line below that title.
        link: Of a thumbnail, to the page that shows the grid, or the second one of a difference.
    """

    chart: Picture
    shows: Grid | Difference | Line | PlotSubject
    says: str = ""
    together: int = 1
    caption: str = ""
    folded: bool = False
    compact: bool = False
    uncertainty: GridUncertainty | None = None
    repeats: tuple[str, ...] = ()
    rerun: Rerun | None = None
    again: bool = False
    before: bool = False
    id: str = ""
    svg: Markup = EMPTY
    table: DataTable | None = None
    cards: Markup = EMPTY
    downloads: Mapping[str, str] = field(default_factory=dict)
    share: Share | None = None
    links: tuple[str, ...] = ()
    width: str = ""
    name: str = ""
    subtitle: str = ""
    link: str = ""

    @property
    def part(self) -> str:
        """What its name begins with, of several parts; else empty."""
        first, more, _ = self.name.partition(" | ")
        return first if more else ""

    @property
    def heatmap(self) -> Heatmap:
        """What it shows as a heatmap; TypeError for another chart."""
        if not isinstance(self.chart, Heatmap):
            raise TypeError(f"{self.chart.title} is no heatmap")
        return self.chart

    @property
    def plot(self) -> Plot | None:
        """What it shows as a plot of many cells; None for other charts."""
        return self.chart if isinstance(self.chart, Plot) else None

    @property
    def is_line(self) -> bool:
        """Whether it is the chart of a row or column."""
        return isinstance(self.shows, Line)

    @property
    def grid(self) -> Grid | None:
        """The grid that it shows, or a row or column of; None for a difference or a plot."""
        if isinstance(self.shows, Line):
            return self.shows.grid
        return self.shows if isinstance(self.shows, Grid) else None

    @property
    def study(self) -> Study:
        """The study of what it shows."""
        if isinstance(self.shows, PlotSubject):
            return self.shows.study
        grid = self.shows.first if isinstance(self.shows, Difference) else self.grid
        assert grid is not None
        return grid.study


class Legend(NamedTuple):
    """What the colours and marks of heatmaps side by side mean.

    Attributes:
        of: A heatmap that has their scale.
        keys: The marks that occur, by kind, and what they mean.
        absent: Why cells have no value, each with the path of its hatching.
    """

    of: Heatmap
    keys: Mapping[MarkKind, str]
    absent: tuple[tuple[str, str], ...]


def legend_of(heatmaps: Sequence[Heatmap]) -> Legend:
    """The legend of heatmaps on one scale."""
    hatched = tuple((kind, symbol(kind)) for kind in state_words(heatmaps))
    return Legend(heatmaps[0], key_texts(heatmaps), hatched)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """Figures side by side, with a title above plots, and a text below heatmaps.

    Attributes:
        caption: Of a fence.
        says: What the caption says of small multiples.
        legend: Of small multiples, which have titles, legend and actions in common; None for
            figures that each have their own.
        small: Whether they stand for others: without legend and actions, and linked to their pages.
        more: How many others there are of their kind, of thumbnails.
        width: Of each drawing in CSS, `600px` or `100%`; empty for its own.
        versions: The same of another reading, or in other colours: what a switch calls each, what
            becomes of the page's answer, and the row.
    """

    key: str
    figures: tuple[Figure, ...]
    caption: str = ""
    title: str = ""
    says: str = ""
    legend: Legend | None = None
    small: bool = False
    more: int = 0
    width: str = ""
    versions: tuple[tuple[str, str, FigureRow], ...] = ()

    @property
    def drawn(self) -> tuple[Figure, ...]:
        """Its figures, and those of its versions."""
        return self.figures + tuple(figure for _, _, row in self.versions for figure in row.figures)

    @property
    def plots(self) -> tuple[Figure, ...]:
        """Its figures, where they are plots of many cells, which stand together; else none."""
        together = all(isinstance(figure.shows, PlotSubject) for figure in self.figures)
        return self.figures if together else ()


@dataclass(frozen=True, slots=True)
class Section:
    """A headed section of a page: the grids at one combination of the other facets' levels."""

    heading: str
    rows: tuple[FigureRow, ...]
