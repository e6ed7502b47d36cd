"""From a data folder to a site: every page and file, for a host to place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from gridatlas.assessment.assessment import Assessment, Assessments
from gridatlas.assessment.pipeline import load_data, load_study
from gridatlas.build.page_cache import PageCache, SiteFiles, file_signatures, files_digest
from gridatlas.build.serve_cache import Remembered
from gridatlas.build.study_writer import StudyPlan, StudyWriter
from gridatlas.charts.heatmap import Heatmap
from gridatlas.charts.pool import CachedDrawings, RenderPool
from gridatlas.charts.render import Drawing, bundle
from gridatlas.checks.words import many
from gridatlas.diff.compare import compare_snapshots
from gridatlas.diff.snapshot import Snapshot, snapshot_of
from gridatlas.files.cache import open_cache
from gridatlas.files.gc_pause import gc_disabled
from gridatlas.model.addresses import ASSETS, EXPLORE, MOVED, SiteAddress
from gridatlas.model.problems import Problem, visible
from gridatlas.pages.changes import plan_changes, with_changes
from gridatlas.pages.environment import check_templates
from gridatlas.pages.exports import grid_path
from gridatlas.pages.meta import CELLS, CROISSANT, croissant, json_ld, study_csv, tags
from gridatlas.pages.plan import (
    EmbedPlan,
    PagePlan,
    plan_embeds,
    plan_overview,
    plan_study,
    plan_unreadable,
    unreadable_page,
)
from gridatlas.pages.redirects import at_old_addresses
from gridatlas.pages.render import Page, Writer
from gridatlas.results.grids import Results


@dataclass(frozen=True, slots=True)
class Site:
    """The pages and files of a results site, by their paths below the host's docs folder.

    Attributes:
        studies: By their ids, what pages give numbers from.
        known: By the ids of the studies, what figures in other pages are made of.
        broken: Names of the user's templates that can't be used.
        drawings: The pictures of all pages and grids.
    """

    pages: tuple[Page, ...]
    files: Mapping[str, str | bytes]
    problems: tuple[Problem, ...]
    studies: Mapping[str, Results] = field(default_factory=dict)
    known: Mapping[str, Assessment] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    drawings: Mapping[Heatmap, Drawing] = field(default_factory=dict)


def _ignore(_: str) -> None:
    pass


@gc_disabled()
def build(
    data: Path,
    name: str | None = None,
    into: str = "studies",
    templates: Path | None = None,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    address: str = "",
    ending: str = "",
    step: Callable[[str], None] | None = None,
    page_of: Callable[[str], str] = lambda _: "",
    base: Snapshot | None = None,
    remembered: Remembered | None = None,
) -> Site:
    """Make all pages and files.

    Args:
        data: The folder with one folder per study.
        name: The data folder as it shall stand in messages.
        into: Folder of the pages below the host's docs folder.
        templates: Folder of templates that override ours by name.
        cache: Folder of the cache between builds; None for none.
        progress: Called with (drawn, to draw) while pictures are drawn.
        address: URL of the host's docs folder on the published site, ending with a slash; empty
            where it isn't known.
        ending: What the address of a page has in the place of `index.md`.
        step: Called with what was done besides, such as `read tuning`.
        page_of: Gives the path, below the host's docs folder, of the page of a script, whose path
            is below the repository; empty where it has none.
        base: What the studies are compared with, on a page of its own; None for nothing.
        remembered: What a server knows from its builds before, and learns from this one.
    """
    step = step or _ignore
    signatures = file_signatures(data)
    stored = open_cache(cache, retry=True)
    loaded = load_data(data, name, step, cache, remembered.read if remembered else load_study)
    problems = list(loaded.problems)
    broken: frozenset[str] = frozenset()
    if templates:
        broken, found = check_templates(templates)
        problems += found
    site = SiteAddress(address, ending)
    digests = {
        study_id: files_digest(data / study_id, assessment.study, signatures)
        for study_id, assessment in loaded.items()
    }
    page_cache = PageCache(stored, (into, address, ending), templates, digests)
    with RenderPool[Heatmap](cache, progress) as pool:
        study_writer = StudyWriter(page_cache, pool)
        studies = []
        homes = _homes(loaded, into)
        for study_id, assessment in loaded.items():
            studies.append(_planned(assessment, homes, into, page_of, cache, remembered))
            step(f"assessed {study_id}")
            if base is None:  # Otherwise its pages have the changes as well.
                study_writer.begin(studies[-1])
        assessments = [study.known for study in studies]
        plans = _plans(studies, loaded.unreadable, into)
        if base is not None:
            label = name or data.as_posix()
            plans, found = _compared(plans, base, loaded, assessments, into, label)
            problems += found
            studies = _by_study(studies, plans)
            step(f"compared with {base.name}")
            for study in studies:
                study_writer.begin(study)
        study_writer.begin_overview(assessments, plans[0])
        pool.request(picture for plan in _other_plans(plans) for picture in plan.heatmaps)
        files = SiteFiles()
        files.add(assets(cache))
        embeds = [embed for study in studies for embed in study.embeds]
        writer = Writer(embeds, pool.drawings, templates, broken, site)
        pages = _write(studies, plans, study_writer, writer, pool, files, step)
    stored.evict()
    step(f"wrote {many(len(plans), 'page')}")
    datasets = _data_files(assessments, into, site, files)
    with_names = tuple(assessment.study for assessment in loaded.values())
    files.add(at_old_addresses(with_names, plans, embeds, files, into, site, MOVED))
    descriptions = {
        f"{grid_path(embed.grid)}.png": embed.figure.heatmap.description for embed in embeds
    }
    return Site(
        tuple(
            replace(
                page,
                head=tags(page.plan, site, files, descriptions),
                dataset=datasets.get(page.plan.path, ""),
            )
            for page in pages
        ),
        files,
        (*problems, *writer.problems),
        loaded.results,
        {assessment.study.id: assessment for assessment in assessments},
        broken,
        CachedDrawings(_pictures(plans, embeds), cache, pool.uncached),
    )


def _write(
    studies: Iterable[StudyPlan],
    plans: Iterable[PagePlan],
    study_writer: StudyWriter,
    writer: Writer,
    pool: RenderPool[Heatmap],
    files: SiteFiles,
    step: Callable[[str], None],
) -> list[Page]:
    """The pages of all plans, in their order; adds the files of the studies."""
    overview, *_ = plans
    written: dict[str, Page] = {}
    for study in studies:
        finished = study_writer.end(study, writer, step)
        written |= {plan.path: finished.page(plan) for plan in study.plans}
        files.add(finished.files)
    written[overview.path] = study_writer.end_overview(overview, writer).page(overview)
    others = _other_plans(plans)
    pool.wait(picture for plan in others for picture in plan.heatmaps)
    written |= {plan.path: writer.page(plan) for plan in others}
    return [written[plan.path] for plan in plans]


def _other_plans(plans: Iterable[PagePlan]) -> list[PagePlan]:
    """Those of no study, but for the overview, which is the first."""
    return [plan for plan in islice(plans, 1, None) if "study" not in plan.context]


def _pictures(plans: Iterable[PagePlan], embeds: Iterable[EmbedPlan]) -> dict[Heatmap, None]:
    found = dict.fromkeys(picture for plan in plans for picture in plan.heatmaps)
    return found | dict.fromkeys(embed.figure.heatmap for embed in embeds)


def _planned(
    known: Assessment,
    homes: Mapping[str, str],
    into: str,
    page_of: Callable[[str], str],
    cache: Path | None,
    remembered: Remembered | None,
) -> StudyPlan:
    study = known.study
    script = study.reproduce.script if study.reproduce else ""
    script_page = page_of(script) if script else ""

    def anew() -> StudyPlan:
        plans = plan_study(known, into, script_page, homes)
        return StudyPlan(known, tuple(plans), tuple(plan_embeds(known, into)))

    if remembered is None:
        return anew()
    # What the study links to may be there now, or no longer.
    linked = tuple(one.study in homes for one in study.see_also)
    return remembered.planned(known, (into, script_page, cache, linked), anew)


def _homes(loaded: Assessments, into: str) -> dict[str, str]:
    """The paths of the studies' pages, by their ids, also of those that can't be shown."""
    shown = {study_id: f"{into}/{study_id}/index.md" for study_id in loaded}
    return shown | {folder: unreadable_page(folder, into) for folder in loaded.unreadable}


def _by_study(studies: Iterable[StudyPlan], plans: Iterable[PagePlan]) -> list[StudyPlan]:
    """The studies with these plans of their pages."""
    by_id: dict[str, list[PagePlan]] = {}
    for plan in plans:
        if "study" in plan.context:
            by_id.setdefault(plan.context["study"].id, []).append(plan)
    return [replace(study, plans=tuple(by_id[study.id])) for study in studies]


def _data_files(
    known: Iterable[Assessment], into: str, site: SiteAddress, files: SiteFiles
) -> dict[str, str]:
    """Add each study's table of all cells, and its description; give what its page says of it."""
    said = {}
    for one in known:
        folder = f"{into}/{one.study.id}"
        page = f"{folder}/index.md"
        table = study_csv(one.results, files)
        files.add({f"{folder}/{CELLS}": table})
        described = croissant(one.results, page, site, files)
        files.add({f"{folder}/{CROISSANT}": described})
        said[page] = json_ld(one.study, page, site, table)
    return said


def _plans(
    studies: Iterable[StudyPlan], unreadable: Mapping[str, tuple[Problem, ...]], into: str
) -> list[PagePlan]:
    """Those of all pages; that of the overview comes first."""
    pages = {visible(folder): unreadable_page(folder, into) for folder in unreadable}
    return [
        plan_overview([study.known for study in studies], into, pages),
        *(plan for study in studies for plan in study.plans),
        *(plan_unreadable(folder, found, into) for folder, found in unreadable.items()),
    ]


def _compared(
    plans: list[PagePlan],
    base: Snapshot,
    loaded: Assessments,
    known: list[Assessment],
    into: str,
    name: str,
) -> tuple[list[PagePlan], list[Problem]]:
    """The pages with what changed since another state; as they are where nothing did."""
    taken = [plan.path for plan in plans if plan.path == f"{into}/changes/index.md"]
    if taken:
        problem = Problem(
            "taken-address",
            f"{name}/changes",
            'a study with the name "changes", where the page of changes would stand',
            "another name of the study",
            "rename the study's folder, or leave out the option compare_to",
        )
        return plans, [problem]
    changes = compare_snapshots(base, snapshot_of(loaded, name, name))
    page = plan_changes(changes, known, into)
    return (plans if page is None else [*with_changes(plans, changes, page), page]), []


def assets(cache: Path | None = None) -> dict[str, str | bytes]:
    """The files that every results site brings along, by their paths.

    Args:
        cache: Folder where Vega, which is made from vl-convert, is kept between builds.
    """
    folder = Path(__file__).parents[1] / "pages" / "assets"
    files: dict[str, str | bytes] = {
        f"{ASSETS}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())
    }
    vega = bundle(cache)
    files[f"{ASSETS}/{vega.name}"] = vega.script
    explore = (folder / "explore.js").read_text("utf-8")
    files[EXPLORE] = explore.replace('"vega.js"', f'"{vega.name}"')
    return files
