"""The pages and files of each study: what is kept of them, or drawn and written anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.reruns import Reproduction
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.build.page_cache import PageCache, Written
from gridatlas.build.page_cache import packed as pack_study
from gridatlas.charts.badges import best_badge, reproduced_badge
from gridatlas.charts.heatmap import Heatmap
from gridatlas.charts.pool import RenderPool
from gridatlas.charts.render import Drawing
from gridatlas.pages.agreement import pairs_csv
from gridatlas.pages.exports import FORMATS, grid_path
from gridatlas.pages.plan import EmbedPlan, PagePlan
from gridatlas.pages.render import Writer
from gridatlas.pages.share import embed_path

_OVERVIEW = ""
"""Name under which the page that leads to all studies is kept; no study has it."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What is to be written of one study."""

    known: Assessment
    plans: tuple[PagePlan, ...]
    embeds: tuple[EmbedPlan, ...]

    @property
    def id(self) -> str:
        """The study's."""
        return self.known.study.id


class StudyWriter:
    """Write what the shelf doesn't have, once drawers have drawn its pictures.

    Each work is begun before the first is ended: meanwhile, the others' pictures are drawn.
    """

    def __init__(self, shelf: PageCache, drawers: RenderPool[Heatmap]) -> None:
        self._shelf, self._drawers = shelf, drawers
        self._made: dict[str, bytes | None] = {}
        self._there: dict[str, Written] = {}

    def begin(self, study: StudyPlan) -> None:
        """Look for what is kept of a study; without, have its pictures drawn."""
        self._begin(study.id, self._shelf.of_study(study.known, study.plans), _pictures(study))

    def begin_overview(self, known: Iterable[Assessment], overview: PagePlan) -> None:
        """The same of the page that leads to all studies."""
        self._begin(_OVERVIEW, self._shelf.of_overview(known, overview), overview.heatmaps)

    def _begin(self, name: str, made: bytes | None, pictures: Iterable[Heatmap]) -> None:
        self._made[name] = made
        found = self._shelf.get(name, made)
        if found is None:
            self._drawers.ask(pictures)
        else:
            self._there[name] = found

    def end(self, study: StudyPlan, writer: Writer, step: Callable[[str], None]) -> Written:
        """The pages and files of a study that was begun."""
        if study.id not in self._there:
            self._drawers.wait(_pictures(study))
            pages = []
            for plan in study.plans:
                pages.append(writer.page(plan))
                step(f"wrote {plan.path}")
            files: dict[str, str | bytes] = {}
            for embed in study.embeds:
                files[embed_path(embed)] = writer.frame(embed)
            for one in study.plans:
                files |= _beside(one, study.known)
            for embed in study.embeds:
                drawing = self._drawers.drawings[embed.figure.heatmap]
                files |= _downloads(embed, drawing, study.known.reproduction)
                step(f"wrote the files of {grid_path(embed.grid)}")
            self._end(study.id, pack_study(pages, files), writer)
        return self._there[study.id]

    def end_overview(self, overview: PagePlan, writer: Writer) -> Written:
        """The page that leads to all studies, which was begun."""
        if _OVERVIEW not in self._there:
            self._drawers.wait(overview.heatmaps)
            self._end(_OVERVIEW, pack_study([writer.page(overview)], {}), writer)
        return self._there[_OVERVIEW]

    def _end(self, name: str, packed: bytes, writer: Writer) -> None:
        made = None if writer.problems else self._made[name]
        self._there[name] = self._shelf.put(name, made, packed)


def _pictures(study: StudyPlan) -> list[Heatmap]:
    """Those of its pages, and of its grids for themselves."""
    return [
        *(picture for plan in study.plans for picture in plan.heatmaps),
        *(embed.figure.heatmap for embed in study.embeds),
    ]


def _beside(plan: PagePlan, known: Assessment) -> Mapping[str, str]:
    """The table of all pairs of readings, beside the page that has no room for it."""
    if not plan.context.get("agreement"):
        return {}
    return {plan.context["pairs_file"]: pairs_csv(known.agreement)}


def _downloads(
    embed: EmbedPlan, drawing: Drawing, reproduction: Reproduction | None
) -> Mapping[str, str | bytes]:
    """A grid's files by their paths, but for its page for frames."""
    grid, path, figure = embed.grid, grid_path(embed.grid), embed.figure
    uncertainty = figure.uncertainty or GridUncertainty()
    files = {f"{path}.{file.ending}": file.write(grid, figure, drawing) for file in FORMATS}
    return files | {
        f"{path}.best.svg": best_badge(grid, uncertainty),
        f"{path}.reproduced.svg": reproduced_badge(grid, reproduction),
    }
