"""From a data folder to a site: every page and file, for a host to place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gridatlas import badges, dataset, export, kept, page, plan, social
from gridatlas.address import SiteAddress
from gridatlas.analyse import Results
from gridatlas.assessment import Assessment, assess_study
from gridatlas.changes_page import plan_changes, with_changes
from gridatlas.diff.changes import compare_sides
from gridatlas.diff.side import Side, as_side
from gridatlas.figures import grid_path
from gridatlas.former import at_old_addresses
from gridatlas.garbage import left_alone
from gridatlas.loaded import Loaded, load_data
from gridatlas.packed import Files
from gridatlas.page import Page
from gridatlas.picture import Picture
from gridatlas.plan import EmbedPlan, PagePlan
from gridatlas.problems import Problem
from gridatlas.render import Drawing, Stored, bundle, draw
from gridatlas.reproduction import Reproduction
from gridatlas.share import embed_path
from gridatlas.uncertainty import GridUncertainty

ASSETS = "assets/gridatlas"
"""Folder of the stylesheet and the scripts, beside the pages."""
STYLESHEET = f"{ASSETS}/gridatlas.css"
SCRIPT = f"{ASSETS}/gridatlas.js"
EXPLORE = f"{ASSETS}/explore.js"
MOVED = f"{ASSETS}/moved.js"
_OVERVIEW = ""
"""Name under which the page that leads to all studies is kept; no study has it."""


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
    drawings: Mapping[Picture, Drawing] = field(default_factory=dict)


def _say_nothing(_: str) -> None:
    pass


@left_alone()
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
    base: Side | None = None,
) -> Site:
    """Make all pages and files.

    Args:
        data: The folder with one folder per study.
        name: The data folder as it shall stand in messages.
        into: Folder of the pages below the host's docs folder.
        templates: Folder of templates that override ours by name.
        cache: Folder where drawings are kept between builds.
        progress: Called with (drawn, to draw) while pictures are drawn.
        address: URL of the host's docs folder on the published site, ending with a slash; empty
            where it isn't known.
        ending: What the address of a page has in the place of `index.md`.
        step: Called with what was done besides, such as `read tuning`.
        page_of: Gives the path, below the host's docs folder, of the page of a script, whose path
            is below the repository; empty where it has none.
        base: What the studies are compared with, on a page of its own; None for nothing.
    """
    step = step or _say_nothing
    stamps = kept.stamps(data)
    loaded = load_data(data, name, step)
    problems = list(loaded.problems)
    broken: frozenset[str] = frozenset()
    if templates:
        broken, found = page.check_templates(templates)
        problems += found
    known = []
    for one in loaded.results:
        study_id = one.study.id
        known.append(assess_study(one, loaded.checks[study_id], loaded.claims[study_id], cache))
        step(f"assessed {study_id}")
    plans = _plans(known, loaded.unreadable, into, page_of)
    if base is not None:
        plans, found = _compared(plans, base, loaded, known, into, cache, name or data.as_posix())
        problems += found
        step(f"compared with {base.name}")
    embeds = [embed for one in known for embed in plan.plan_embeds(one, into)]
    site = SiteAddress(address, ending)
    digests = {
        one.study.id: kept.files_digest(data / one.study.id, one.study, stamps) for one in known
    }
    shelf = kept.Shelf(cache, (into, address, ending), templates, digests)
    studies = _by_study(known, plans, embeds)
    made = {one.id: shelf.of_study(one.known, one.plans) for one in studies}
    overview = plans[0]
    made[_OVERVIEW] = shelf.of_overview(known, overview)
    there = {one: kept_one for one in made if (kept_one := shelf.get(one, made[one]))}
    new = [one for one in studies if one.id not in there]
    others = [one for one in plans if "study" not in one.context]
    wanted = [one for one in others if one is not overview or _OVERVIEW not in there]
    drawings = draw(_pictures(wanted, new), cache, progress)
    writer = page.Writer(embeds, drawings, templates, broken, site)
    for study in new:
        block = _written(study, writer, drawings, step)
        if not writer.problems:
            shelf.put(study.id, made[study.id], block)
        there[study.id] = kept.unpacked(block)
    if _OVERVIEW not in there:
        block = kept.packed([writer.page(overview)], {})
        if not writer.problems:
            shelf.put(_OVERVIEW, made[_OVERVIEW], block)
        there[_OVERVIEW] = kept.unpacked(block)
    pages = [
        there[one.context["study"].id].page(one)
        if "study" in one.context
        else there[_OVERVIEW].page(one)
        if one is overview
        else writer.page(one)
        for one in plans
    ]
    step(f"wrote {len(pages)} pages")
    files = Files()
    files.add(assets(cache))
    for study in studies:
        files.add(there[study.id].files)
    data_of = _data_files(known, into, site, files)
    of = tuple(one.study for one in loaded.results)
    files.add(at_old_addresses(of, plans, embeds, files, into, site, MOVED))
    described = {f"{grid_path(one.grid)}.png": one.panel.picture.description for one in embeds}
    return Site(
        tuple(
            replace(
                one,
                head=social.tags(one.plan, site, files, described),
                dataset=data_of.get(one.plan.path, ""),
            )
            for one in pages
        ),
        files,
        (*problems, *writer.problems),
        {one.study.id: one for one in loaded.results},
        {one.study.id: one for one in known},
        broken,
        drawings if cache is None else Stored(_pictures(others, studies), cache),
    )


@dataclass(frozen=True, slots=True)
class _Study:
    """What is written of one study."""

    known: Assessment
    plans: list[PagePlan] = field(default_factory=list)
    embeds: list[EmbedPlan] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.known.study.id


def _by_study(
    known: Iterable[Assessment], plans: Iterable[PagePlan], embeds: Iterable[EmbedPlan]
) -> list[_Study]:
    studies = {one.study.id: _Study(one) for one in known}
    for one in plans:
        if "study" in one.context:
            studies[one.context["study"].id].plans.append(one)
    for embed in embeds:
        studies[embed.grid.study.id].embeds.append(embed)
    return list(studies.values())


def _pictures(plans: Iterable[PagePlan], studies: Iterable[_Study]) -> list[Picture]:
    """Those of pages, and of studies: of their pages, and of their grids for themselves."""
    found = [picture for one in plans for picture in one.pictures]
    for study in studies:
        found += _pictures(study.plans, ())
        found += [embed.panel.picture for embed in study.embeds]
    return found


def _written(
    study: _Study,
    writer: page.Writer,
    drawings: Mapping[Picture, Drawing],
    step: Callable[[str], None],
) -> bytes:
    """The pages and files of a study, as they are kept."""
    pages = []
    for one in study.plans:
        pages.append(writer.page(one))
        step(f"wrote {one.path}")
    files: dict[str, str | bytes] = {embed_path(one): writer.frame(one) for one in study.embeds}
    for embed in study.embeds:
        drawing = drawings[embed.panel.picture]
        files |= _downloads(embed, drawing, study.known.reproduction)
        step(f"wrote the files of {grid_path(embed.grid)}")
    return kept.packed(pages, files)


def _data_files(
    known: Iterable[Assessment], into: str, site: SiteAddress, files: Files
) -> dict[str, str]:
    """Add each study's table of all cells, and its description; give what its page says of it."""
    said = {}
    for one in known:
        folder = f"{into}/{one.study.id}"
        page = f"{folder}/index.md"
        table = dataset.study_csv(one.results, files)
        files.add({f"{folder}/{dataset.CELLS}": table})
        described = dataset.croissant(one.results, page, site, files)
        files.add({f"{folder}/{dataset.CROISSANT}": described})
        said[page] = dataset.json_ld(one.study, page, site, table)
    return said


def _downloads(
    embed: EmbedPlan, drawing: Drawing, reproduction: Reproduction | None
) -> dict[str, str | bytes]:
    """A grid's files by their paths, but for its page for frames."""
    grid, path = embed.grid, grid_path(embed.grid)
    known = embed.panel.uncertainty or GridUncertainty()
    return {
        f"{path}.svg": export.to_svg(drawing.svg),
        f"{path}.png": drawing.png,
        f"{path}.vl.json": drawing.spec,
        f"{path}.csv": export.to_csv(grid),
        f"{path}.json": export.to_json(grid, known, embed.panel.rerun),
        f"{path}.best.svg": badges.best_badge(grid, known),
        f"{path}.reproduced.svg": badges.reproduced_badge(grid, reproduction),
    }


def _plans(
    known: list[Assessment],
    unreadable: Mapping[str, tuple[Problem, ...]],
    into: str,
    page_of: Callable[[str], str],
) -> list[PagePlan]:
    pages = {study_id: f"{into}/{study_id}/index.md" for study_id in unreadable}
    plans = [plan.plan_overview(known, into, pages)]
    for one in known:
        script = one.study.reproduce.script if one.study.reproduce else ""
        plans += plan.plan_study(one, into, page_of(script) if script else "")
    plans += [
        plan.plan_unreadable(study_id, problems, into) for study_id, problems in unreadable.items()
    ]
    return plans


def _compared(
    plans: list[PagePlan],
    base: Side,
    loaded: Loaded,
    known: list[Assessment],
    into: str,
    cache: Path | None,
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
    changes = compare_sides(base, as_side(loaded, name, name, None), cache)
    page = plan_changes(changes, known, into)
    return (plans if page is None else [*with_changes(plans, changes, page), page]), []


def assets(cache: Path | None = None) -> dict[str, str | bytes]:
    """The files that every results site brings along, by their paths.

    Args:
        cache: Folder where Vega, which is made from vl-convert, is kept between builds.
    """
    folder = Path(__file__).with_name("assets")
    files: dict[str, str | bytes] = {
        f"{ASSETS}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())
    }
    vega = bundle(cache)
    files[f"{ASSETS}/{vega.name}"] = vega.script
    explore = (folder / "explore.js").read_text("utf-8")
    files[EXPLORE] = explore.replace('"vega.js"', f'"{vega.name}"')
    return files
