"""From a data folder to a site: every page and file, for a host to place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gridatlas import export, page, plan
from gridatlas.analyse import Results, analyse
from gridatlas.assessment import Assessment, assess_study
from gridatlas.checks import StudyChecks, check_study
from gridatlas.claims import Judged, judge
from gridatlas.figures import grid_path
from gridatlas.load import read_study, study_folders
from gridatlas.page import Page
from gridatlas.picture import draw_grid
from gridatlas.plan import PagePlan
from gridatlas.problems import DataProblems, Problem, only_problems
from gridatlas.render import draw
from gridatlas.validate import validate

ASSETS = "assets/gridatlas"
"""Folder of the stylesheet and the scripts, beside the pages."""
STYLESHEET = f"{ASSETS}/gridatlas.css"
SCRIPT = f"{ASSETS}/gridatlas.js"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that was read from a data folder."""

    results: tuple[Results, ...]
    checks: Mapping[str, StudyChecks]
    claims: Mapping[str, tuple[Judged, ...]]
    unreadable: Mapping[str, tuple[Problem, ...]]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """The pages and files of a results site, by their paths below the host's docs folder."""

    pages: tuple[Page, ...]
    files: Mapping[str, str | bytes]
    problems: tuple[Problem, ...]
    studies: Mapping[str, Results] = field(default_factory=dict)


def load_data(data: Path, name: str | None = None) -> Loaded:
    """Read, check and analyse all studies in a data folder.

    Args:
        data: The folder with one folder per study.
        name: The folder as it shall stand in messages; as given without.
    """
    name = data.as_posix() if name is None else name
    if not data.is_dir():
        problem = Problem(
            "no-such-file",
            name,
            "no such folder",
            "a folder with one folder per study",
            "create it, or correct the option data",
        )
        return Loaded((), {}, {}, {}, (problem,))
    folders = study_folders(data)
    if not folders:
        problem = Problem(
            "no-study",
            name,
            "no folder with a study.yml",
            "data/<study>/study.yml",
            "add a study; the documentation's page on the data format shows the least that works",
        )
        return Loaded((), {}, {}, {}, (problem,))
    results = []
    checks = {}
    unreadable = {}
    problems: list[Problem] = []
    for folder in folders:
        source, found = read_study(folder, f"{name}/{folder.name}")
        study = None
        if source is not None:
            study, more = validate(source)
            found += more
        if study is None or not any(reading.cells for reading in study.readings):
            unreadable[folder.name] = tuple(found)
        else:
            checks[study.id] = check_study(study)
            found += checks[study.id].problems
            results.append(analyse(study, found))
        problems += found
    by_id = {one.study.id: one for one in results}
    claims = {study_id: judge(by_id, study_id) for study_id in by_id}
    for index, one in enumerate(results):
        found = [problem for claim in claims[one.study.id] for problem in claim.problems]
        results[index] = replace(one, problems=(*one.problems, *found))
        problems += found
    return Loaded(tuple(results), checks, claims, unreadable, tuple(problems))


def load(data: str | Path) -> dict[str, Results]:
    """The studies of a data folder by their ids.

    Raises:
        DataProblems: With every problem found, where the data is unfit as it stands.
    """
    loaded = load_data(Path(data))
    problems = only_problems(loaded.problems)
    if problems:
        raise DataProblems(problems)
    return {results.study.id: results for results in loaded.results}


def build(
    data: Path,
    name: str | None = None,
    into: str = "studies",
    templates: Path | None = None,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    address: str = "",
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
    """
    loaded = load_data(data, name)
    problems = list(loaded.problems)
    broken: frozenset[str] = frozenset()
    if templates:
        broken, found = page.check_templates(templates)
        problems += found
    known = [
        assess_study(one, loaded.checks[one.study.id], loaded.claims[one.study.id], cache)
        for one in loaded.results
    ]
    plans = _plans(known, loaded.unreadable, into)
    downloads = {
        grid_path(grid): (
            grid,
            one.uncertainty,
            draw_grid(grid, kept=one.uncertainty.kept(grid)),
        )
        for one in known
        for grid in one.results.grids.values()
    }
    pictures = [picture for one in plans for picture in one.pictures]
    pictures += [picture for _, _, picture in downloads.values()]
    drawings = draw(pictures, cache, progress)
    pages, found = page.render_all(plans, drawings, templates, broken, address)
    files: dict[str, str | bytes] = assets()
    for path, (grid, uncertainty, picture) in downloads.items():
        drawing = drawings[picture]
        files[f"{path}.svg"] = export.to_svg(drawing.svg)
        files[f"{path}.png"] = drawing.png
        files[f"{path}.vl.json"] = drawing.spec
        files[f"{path}.csv"] = export.to_csv(grid)
        files[f"{path}.json"] = export.to_json(grid, uncertainty.of(grid))
    studies = {one.study.id: one for one in loaded.results}
    return Site(pages, files, tuple(problems + found), studies)


def _plans(
    known: list[Assessment], unreadable: Mapping[str, tuple[Problem, ...]], into: str
) -> list[PagePlan]:
    pages = {study_id: f"{into}/{study_id}/index.md" for study_id in unreadable}
    plans = [plan.plan_overview(known, into, pages)]
    for one in known:
        plans += plan.plan_study(one, into)
    plans += [
        plan.plan_unreadable(study_id, problems, into) for study_id, problems in unreadable.items()
    ]
    return plans


def assets() -> dict[str, str | bytes]:
    """The files that every results site brings along, by their paths."""
    folder = Path(__file__).with_name("assets")
    return {f"{ASSETS}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())}
