"""From a data folder to a site: every page and file, for a host to place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache as memoised
from functools import partial
from itertools import islice
from pathlib import Path

from gridatlas.assessment.assessment import Assessment, Assessments
from gridatlas.assessment.pipeline import gc_disabled, load_data, load_study
from gridatlas.build.comparison import Base, history_page
from gridatlas.build.page_cache import PageCache, SiteFiles
from gridatlas.build.study_writer import ServeCache, StudyPlan, StudyWriter
from gridatlas.charts import palette
from gridatlas.charts.pool import RenderPool
from gridatlas.charts.render import Drawable, bundle
from gridatlas.data.published import Published, published
from gridatlas.files.cache import open_cache
from gridatlas.model.addresses import ASSETS, EXPLORE, MOVED, SCRIPT, STYLESHEET, SiteAddress
from gridatlas.model.format import many
from gridatlas.model.problems import Problem, visible
from gridatlas.model.study import Study
from gridatlas.pages.context import study_paths
from gridatlas.pages.environment import check_templates
from gridatlas.pages.exports import GRIDS
from gridatlas.pages.meta import tags
from gridatlas.pages.page import Page
from gridatlas.pages.plan import (
    PagePlan,
    plan_embeds,
    plan_overview,
    plan_study,
    plan_unreadable,
    unreadable_page,
)
from gridatlas.pages.redirects import at_old_addresses
from gridatlas.pages.render import Writer
from gridatlas.progress import report, tracked

ProgressReporter = Callable[[str], None]
"""Called with what was just done, such as `read tuning`."""


@dataclass(frozen=True, slots=True)
class Site:
    """The pages and files of a results site, by their paths below the host's docs folder.

    Attributes:
        assessments: What numbers and figures in other pages are made of.
        broken: Names of the user's templates that can't be used.
    """

    pages: tuple[Page, ...]
    files: SiteFiles
    problems: tuple[Problem, ...]
    assessments: Assessments = field(default_factory=Assessments)
    broken: frozenset[str] = frozenset()


def _ignore(_: str) -> None:
    pass


@gc_disabled()
def build(
    data: Path,
    name: str | None = None,
    into: str = "studies",
    templates: Path | None = None,
    cache: Path | None = None,
    progress: ProgressReporter = _ignore,
    address: str = "",
    ending: str = "",
    page_of: Callable[[str], str] = lambda _: "",
    base: Base | None = None,
    assessments: Assessments | None = None,
    serve_cache: ServeCache | None = None,
) -> Site:
    """Make all pages and files.

    Args:
        data: The folder with one folder per study.
        name: The data folder as messages name it.
        into: Folder of the pages below the host's docs folder.
        templates: Folder of templates that override ours by name.
        cache: Folder of the cache between builds; None for none.
        progress: Called after each part of the work.
        address: URL of the host's docs folder on the published site, ending with a slash; empty
            where it isn't known.
        ending: What the address of a page has in the place of `index.md`.
        page_of: Gives the path, below the host's docs folder, of the page of a script, whose path
            is below the repository; empty where it has none.
        base: What the studies are compared with, on a page of its own; None for nothing.
        assessments: The studies, where the host has read them already.
        serve_cache: What a server keeps of its earlier builds; this one adds to it.
    """
    stored = open_cache(cache, retry=True)
    if assessments is None:
        load = serve_cache.load_study if serve_cache else load_study
        assessments = load_data(data, name, progress, cache, load)
    broken, problems = check_templates(templates) if templates else (frozenset[str](), [])
    site = SiteAddress(address, ending, served=serve_cache is not None)
    digests = {study_id: assessment.digest for study_id, assessment in assessments.items()}

    def drawn(done: int, total: int) -> None:
        progress(f"drew {done} of {many(total, 'heatmap')}")
        report("heatmaps drawn", done, total)

    with RenderPool[Drawable](cache, drawn) as pool:
        page_cache = PageCache(stored, (into, str(site)), templates, digests)
        study_writer = StudyWriter(page_cache, pool, site, data, into)
        studies = []
        of_all = tuple(assessment.study for assessment in assessments.values())
        for study in _study_plans(
            assessments, data, into, page_of, cache, serve_cache, progress, published(data, of_all)
        ):
            studies.append(study)
            if base is None:  # Otherwise its pages have the changes as well.
                study_writer.begin(study)
        plans = _plans(studies, assessments.unreadable, into)
        if base is not None:
            plans, found = base.add_to(plans, assessments, into, name or data.as_posix())
            problems += found
            studies = _by_study(studies, plans)
            progress(f"compared with {base.name}")
            for study in studies:
                study_writer.begin(study)
        study_writer.begin_overview(assessments.values(), plans[0])
        study_writer.begin_others(_other_plans(plans))
        files = SiteFiles()
        files.add(assets(cache))
        embeds = [embed for study in studies for embed in study.embeds]
        writer = Writer(embeds, pool.drawings, templates, broken, site)
        pages = _write(studies, plans, study_writer, writer, files, progress)
    stored.evict()
    progress(f"wrote {many(len(plans), 'page')}")
    for plan in plans:
        if content := plan.context.get("history"):
            name = f"{GRIDS}/{plan.context['study'].id}/history.json"
            files.add({name: json.dumps(content, ensure_ascii=False, indent=1)})
    files.add(at_old_addresses(of_all, plans, embeds, files, into, site, MOVED))
    pages = tuple(replace(page, head=tags(page.plan, site)) for page in pages)
    problems = [*assessments.problems, *problems, *writer.problems]
    return Site(pages, files, tuple(problems), assessments, broken)


def _write(
    studies: Iterable[StudyPlan],
    plans: Iterable[PagePlan],
    study_writer: StudyWriter,
    writer: Writer,
    files: SiteFiles,
    progress: ProgressReporter,
) -> tuple[Page, ...]:
    """The pages of all plans, in their order; adds the files of the studies, and cards."""
    overview, *_ = plans
    others = _other_plans(plans)
    written: dict[str, Page] = {}
    for study in tracked([*studies], "studies written"):
        finished = study_writer.end(study, writer, progress)
        written |= {plan.path: finished.page(plan) for plan in study.plans}
        files.add(finished.files)
    for finished, its_plans in (
        (study_writer.end_overview(overview, writer), [overview]),
        (study_writer.end_others(others, writer), others),
    ):
        written |= {plan.path: finished.page(plan) for plan in its_plans}
        files.add(finished.files)
    return tuple(written[plan.path] for plan in plans)


def _other_plans(plans: Iterable[PagePlan]) -> list[PagePlan]:
    """Those of no study, but for the overview, which is the first."""
    return [plan for plan in islice(plans, 1, None) if "study" not in plan.context]


def _study_plans(
    assessments: Assessments,
    data: Path,
    into: str,
    page_of: Callable[[str], str],
    cache: Path | None,
    serve_cache: ServeCache | None,
    progress: ProgressReporter,
    about: Mapping[str, Published],
) -> Iterator[StudyPlan]:
    """What is to be written of each study."""
    local = serve_cache is not None
    for study_id, measured in tracked(assessments.items(), "studies assessed"):
        assessment = measured.shown
        study = assessment.study
        script = study.reproduce.script if study.reproduce else ""
        script_page = page_of(script) if script else ""
        # What the study links to may exist now, or no longer.
        others = _linked(study, assessments, into)
        by = about[study_id]
        history = partial(history_page, assessment, data, into, cache)
        plan = partial(_study_plan, assessment, into, script_page, others, by, history, local=local)
        if serve_cache is None:
            yield plan()
        else:
            options = (into, script_page, cache, tuple(others.items()), by)
            yield serve_cache.study_plan(assessment, options, plan)
        progress(f"assessed {study_id}")


def _study_plan(
    assessment: Assessment,
    into: str,
    script_page: str,
    others: Mapping[str, Sequence[str]],
    by: Published,
    history: Callable[[], PagePlan | None],
    *,
    local: bool,
) -> StudyPlan:
    plans = plan_study(assessment, into, script_page, others, by, local=local)
    if page := history():
        first = replace(plans[0], context={**plans[0].context, "history_page": page.path})
        plans = [first, *plans[1:], page]
    return StudyPlan(assessment, tuple(plans), tuple(plan_embeds(assessment, into)))


def _linked(study: Study, assessments: Assessments, into: str) -> dict[str, tuple[str, ...]]:
    """Paths of the pages of the studies that one links to, by their ids, the study's own first."""
    found: dict[str, tuple[str, ...]] = {}
    for link in study.see_also:
        if link.study in assessments:
            found[link.study] = study_paths(assessments[link.study], into)
        elif link.study in assessments.unreadable:
            found[link.study] = (unreadable_page(link.study, into),)
    return found


def _by_study(studies: Iterable[StudyPlan], plans: Iterable[PagePlan]) -> list[StudyPlan]:
    """The studies with these plans of their pages."""
    by_id: dict[str, list[PagePlan]] = {}
    for plan in plans:
        if "study" in plan.context:
            by_id.setdefault(plan.context["study"].id, []).append(plan)
    return [replace(study, plans=tuple(by_id[study.id])) for study in studies]


def _plans(
    studies: Iterable[StudyPlan], unreadable: Mapping[str, tuple[Problem, ...]], into: str
) -> list[PagePlan]:
    """Those of all pages; that of the overview comes first."""
    pages = {visible(folder): unreadable_page(folder, into) for folder in unreadable}
    return [
        plan_overview([study.plans[0] for study in studies], into, pages),
        *(plan for study in studies for plan in study.plans),
        *(plan_unreadable(folder, found, into) for folder, found in unreadable.items()),
    ]


_COMMENTS = re.compile(r"(?m)^\s*(//.*|/\*[\s\S]*?\*/)\s*?\n|^\s+| // .*$")
_TEXTS = r"""("[^"\n]*"|'[^'\n]*'|`(?:\$\{(?:[^{}`]|`[^`]*`)*\}|[^`])*`)"""
_SPACES = re.compile(_TEXTS + r"|[ \n]*([=<>?:&|*]+|[,;{(])[ \n]*")


def compact(script: str) -> str:
    """A script without comments, and without spaces where nothing needs them.

    Texts stay as they are, and so do templates, also of one within another.
    """
    return _SPACES.sub(lambda found: found[1] or found[2], _COMMENTS.sub("", script))


@memoised
def assets(cache: Path | None = None) -> dict[str, str | bytes]:
    """The files that every results site brings along, by their paths; made once.

    Args:
        cache: Folder where Vega, which vl-convert makes, is cached.
    """
    folder = Path(__file__).parents[1] / "pages" / "assets"
    files: dict[str, str | bytes] = {
        f"{ASSETS}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())
    }
    vega = bundle(cache)
    files[f"{ASSETS}/{vega.name}"] = vega.script
    # Why a line is there, and how it is laid out, its readers needn't load.
    css = (folder / "gridatlas.css").read_text("utf-8") + palette.stylesheet()
    rules = re.sub(r"\s*([{};])\s*|(,)\s+", r"\1\2", re.sub(r"(?s)/\*.*?\*/", "", css)).strip()
    # Lengths are in Material's rem, 20 px; those of other themes are 10 to 16.
    lengths = re.sub(r"(?<![\w.-])(-?[\d.]+)rem\b", r"calc(\1*var(--ga-rem,20px))", rules)
    files[STYLESHEET] = f":root:has(.md-container){{--ga-rem:1rem}}{lengths}"
    files[SCRIPT] = compact((folder / "gridatlas.js").read_text("utf-8"))
    files[EXPLORE] = re.sub("vega.js", vega.name, (folder / "explore.js").read_text("utf-8"))
    return files
