"""Each study of a build: planned, or kept by a server; drawn and written, or from the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_study
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.build.page_cache import CachedStudy, PageCache
from gridatlas.charts.badges import best_badge, reproduced_badge
from gridatlas.charts.card import SocialCard
from gridatlas.charts.kinds import Picture
from gridatlas.charts.pool import RenderPool
from gridatlas.charts.render import Drawable, Drawing
from gridatlas.files.cache import cache_key
from gridatlas.files.door import read_file
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.limits import Limits, NotRead, limits
from gridatlas.model.problems import Problem
from gridatlas.pages import exports, meta
from gridatlas.pages.agreement import pairs_csv
from gridatlas.pages.archive import archive
from gridatlas.pages.embeds import embed_path
from gridatlas.pages.exports import ARCHIVE, FORMATS, grid_path, plot_files
from gridatlas.pages.meta import card_path, social_card
from gridatlas.pages.page import Page
from gridatlas.pages.plan import EmbedPlan, PagePlan
from gridatlas.pages.render import Writer

_OVERVIEW = ""
"""The name of the page that links to all studies; no study has it."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What is to be written of one study."""

    assessment: Assessment
    plans: tuple[PagePlan, ...]
    embeds: tuple[EmbedPlan, ...]

    @property
    def id(self) -> str:
        """The study's."""
        return self.assessment.study.id


class ServeCache:
    """Reads and plans the studies that changed, and gives the others as they were."""

    def __init__(self) -> None:
        self._loaded: dict[
            tuple[Path, str, Limits], tuple[str, Assessment | tuple[Problem, ...]]
        ] = {}
        self._plans: dict[str, tuple[StudyPlan, tuple[object, ...]]] = {}

    def load_study(
        self, folder: Path, name: str, progress: Callable[[str], None], cache: Path | None = None
    ) -> Assessment | tuple[Problem, ...]:
        """As `load_study`."""
        key, before = (folder, name, limits()), _content_digest(folder)
        digest, loaded = self._loaded.get(key, ("", None))
        if loaded is not None and digest == before:
            return loaded
        self._loaded.pop(key, None)
        loaded = load_study(folder, name, progress, cache)
        # Files that are written to meanwhile may be read in either state.
        if before is not None and before == _content_digest(folder):
            self._loaded[key] = before, loaded
        return loaded

    def study_plan(
        self, assessment: Assessment, options: tuple[object, ...], make: Callable[[], StudyPlan]
    ) -> StudyPlan:
        """The plan of a study's pages.

        Args:
            options: All that plans depend on besides the data.
            make: Makes it.
        """
        study_id = assessment.study.id
        plan, made_with = self._plans.get(study_id, (None, ()))
        if plan is None or made_with != options or not _is_same(plan.assessment, assessment):
            plan = make()
            self._plans[study_id] = plan, options
        return plan


def _is_same(first: Assessment, second: Assessment) -> bool:
    """Whether the same plan is made of both, as far as their files decide."""
    return (
        first.study is second.study
        and first.results.problems == second.results.problems
        and first.judged == second.judged
    )


def _content_digest(folder: Path) -> str | None:
    """A hash of all files in a folder; None where one can't be read, or is elsewhere."""
    parts: list[str | bytes] = []
    try:
        for path in (folder, *sorted(folder.rglob("*"))):
            if path.is_symlink():
                return None
            parts.append(os.fsencode(path.relative_to(folder)))
            parts.append(cache_key(read_file(path)) if path.is_file() else b"")
    except (OSError, NotRead):
        return None
    return cache_key(*parts)


class StudyWriter:
    """Writes what the cache doesn't have, once its heatmaps are drawn.

    All studies are begun before the first one is ended: meanwhile the heatmaps are drawn.
    """

    def __init__(
        self, cache: PageCache, pool: RenderPool[Drawable], site: SiteAddress, data: Path, into: str
    ) -> None:
        self._cache, self._pool, self._site = cache, pool, site
        self._data, self._into = data, into
        self._keys: dict[str, str | None] = {}
        self._finished: dict[str, CachedStudy] = {}

    def begin(self, study: StudyPlan) -> None:
        """Look for a study in the cache; have its heatmaps drawn where it isn't there."""
        key = self._cache.study_key(study.assessment, study.plans)
        self._begin(study.id, key, lambda: (*_pictures(study), *self._cards(study.plans).values()))

    def begin_overview(self, studies: Iterable[Assessment], overview: PagePlan) -> None:
        """The same for the page that links to all studies."""
        key = self._cache.overview_key(studies, overview)
        self._begin(_OVERVIEW, key, lambda: (*overview.pictures, *self._cards([overview]).values()))

    def begin_others(self, plans: Iterable[PagePlan]) -> None:
        """The same for pages that aren't cached."""
        plans = list(plans)
        self._pool.request(picture for plan in plans for picture in plan.pictures)
        self._pool.request(self._cards(plans).values())

    def end_others(self, plans: Iterable[PagePlan], writer: Writer) -> CachedStudy:
        """Pages that aren't cached, with their cards."""
        plans = list(plans)
        self._pool.wait(picture for plan in plans for picture in plan.pictures)
        pages = [writer.page(plan) for plan in plans]
        return self._cache.put(None, pages, self._drawn_cards(plans))

    def _cards(self, plans: Iterable[PagePlan]) -> dict[str, SocialCard]:
        """The cards of pages by their paths; none where nobody could share them."""
        if not self._site.root or self._site.served:
            return {}
        return {card_path(plan): social_card(plan, self._site) for plan in plans}

    def _drawn_cards(self, plans: Iterable[PagePlan]) -> dict[str, str | bytes]:
        cards = self._cards(plans)
        self._pool.wait(cards.values())
        return {path: self._pool.drawings[card].png for path, card in cards.items()}

    def _begin(
        self, name: str, key: str | None, pictures: Callable[[], Iterable[Drawable]]
    ) -> None:
        self._keys[name] = key
        cached = self._cache.get(key)
        if cached is None:
            self._pool.request(pictures())
        else:
            self._finished[name] = cached

    def end(self, study: StudyPlan, writer: Writer, progress: Callable[[str], None]) -> CachedStudy:
        """The pages and files of a study that was begun."""
        if study.id not in self._finished:
            self._pool.wait(_pictures(study))
            pages = []
            for plan in study.plans:
                pages.append(writer.page(plan))
                progress(f"wrote {plan.path}")
            files: dict[str, str | bytes] = {}
            for embed in study.embeds:
                files[embed_path(embed)] = writer.frame(embed)
            for plan in study.plans:
                files |= _pairs_file(plan, study.assessment)
                for figure in (figure for row in plan.rows for figure in row.plots):
                    files |= plot_files(figure, self._pool.drawings[figure.chart])
            for embed in study.embeds:
                drawing = self._pool.drawings[embed.figure.chart]
                files |= _downloads(embed, drawing, study.assessment)
                progress(f"wrote the files of {grid_path(embed.grid)}")
            files |= self._drawn_cards(study.plans) | self._archive(study, files)
            pages[0] = replace(pages[0], dataset=self._data_files(study, files))
            self._end(study.id, pages, files, writer)
        return self._finished[study.id]

    def _archive(self, study: StudyPlan, files: Mapping[str, str | bytes]) -> dict[str, bytes]:
        """Everything of a study in one file, beside its page."""
        folder = f"{self._into}/{study.id}"
        page = f"{folder}/index.md"
        address = self._site.of(page, page) if self._site.root else ""
        published = study.plans[0].context["published"]
        try:
            text = read_file(self._data / study.id / "study.yml", self._data).decode("utf-8")
        except (OSError, NotRead, UnicodeDecodeError):
            text = ""  # It changes just now: the next build has it.
        packed = archive(study.assessment, self._into, address, published, files, text)
        return {f"{folder}/{ARCHIVE}": packed}

    def _data_files(self, study: StudyPlan, files: dict[str, str | bytes]) -> str:
        """Add a study's answers, its table of all cells, and its Croissant description.

        Args:
            files: Those of the study, with the table of each grid.

        Returns:
            The JSON-LD of its page.
        """
        measured, folder = study.assessment.measured, f"{self._into}/{study.id}"
        page = f"{folder}/index.md"
        files[f"{folder}/{meta.CELLS}"] = table = meta.study_csv(measured, files)
        answers = exports.answers_json(study.assessment, self._into)
        files[f"{exports.GRIDS}/{study.id}/{exports.ANSWERS}"] = answers
        files[f"{folder}/{meta.CROISSANT}"] = meta.croissant(measured, page, self._site, files)
        return meta.json_ld(measured.study, page, self._site, table)

    def end_overview(self, overview: PagePlan, writer: Writer) -> CachedStudy:
        """The page that links to all studies, which was begun."""
        if _OVERVIEW not in self._finished:
            self._pool.wait(overview.pictures)
            page = writer.page(overview)
            self._end(_OVERVIEW, [page], self._drawn_cards([overview]), writer)
        return self._finished[_OVERVIEW]

    def _end(
        self, name: str, pages: list[Page], files: Mapping[str, str | bytes], writer: Writer
    ) -> None:
        # Pages that a template of the user's failed for are written again by the next build.
        key = None if writer.problems else self._keys[name]
        self._finished[name] = self._cache.put(key, pages, files)


def _pictures(study: StudyPlan) -> list[Picture]:
    """Those of its pages, and of its grids for themselves."""
    return [
        *(picture for plan in study.plans for picture in plan.pictures),
        *(embed.figure.chart for embed in study.embeds),
    ]


def _pairs_file(plan: PagePlan, assessment: Assessment) -> Mapping[str, str]:
    """The table of all pairs of readings, beside the page that has no room for it."""
    if not plan.context.get("agreement"):
        return {}
    return {plan.context["pairs_file"]: pairs_csv(assessment.agreement)}


def _downloads(
    embed: EmbedPlan, drawing: Drawing, assessment: Assessment
) -> Mapping[str, str | bytes]:
    """A grid's files by their paths, but for its page for frames."""
    grid, path, figure = embed.grid, grid_path(embed.grid), embed.figure
    uncertainty = figure.uncertainty or GridUncertainty.unknown(grid.study)
    # A table can be read in again, in the unit of the study's files; the others show the figure.
    table = replace(figure, shows=assessment.measured.grids[grid.levels])
    files = {
        f"{path}.{file.ending}": file.write(table if file.ending == "csv" else figure, drawing)
        for file in FORMATS
    }
    return files | {
        f"{path}.best.svg": best_badge(grid, uncertainty),
        f"{path}.reproduced.svg": reproduced_badge(grid, assessment.reproduction),
    }
