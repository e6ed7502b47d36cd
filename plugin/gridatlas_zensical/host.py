"""Zensical: it is given a project that has all in it, and again whenever something changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from gridatlas.build.site import Site
from gridatlas.charts.pool import draw
from gridatlas.csp.policy import add_policy
from gridatlas.hosts.reporting import not_written, throttled
from gridatlas.hosts.sites import HostError, Project, Report, require_free, run, running
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import many
from gridatlas.model.problems import Problem, join_names, only_problems, truncate_list
from gridatlas.pages.search import cell_entries, source_entries
from gridatlas_zensical.folders import Watcher
from gridatlas_zensical.settings import Settings, settings_of
from gridatlas_zensical.staging import Staged, Staging

LISTED = 5
"""Changed pages that are named one by one."""
INDEX = "search.json"
"""Where the search has what it finds, in the built site."""


def build(project: Project, strict: bool | None, report: Report) -> int:
    """Build the site.

    Returns:
        0, or 1 where it isn't built and is as it was.

    Raises:
        HostError: Where it can't be built.
    """
    staging = Staging(project)
    try:
        staged = staging.bring(throttled(report))
        settings = staged.settings
        _tell(staged, report)
        strict = settings.strict if strict is None else strict
        problems = _report_problems(staged.site.problems, report)
        more = ["--strict"] if strict else []
        arguments = ["build", "--config-file", str(staging.config), *more]
        status = run("zensical", arguments, project.folder)
        faults = _faults(staging)
        for fault in faults:
            report(fault)
        failing = (len(problems) if strict or settings.options.strict else 0) + (
            len(faults) if strict else 0
        )
        if failing:
            report(f"gridatlas: {many(failing, 'problem')} (listed above), and the build is strict")
        if status or failing:
            report("gridatlas: the site isn't built, and is as it was")
            return 1
        _publish(staging, staged)
        report(f"gridatlas: the site is in {settings.site}")
        return 0
    finally:
        staging.config.unlink(missing_ok=True)


def serve(project: Project, address: str, report: Report) -> int:
    """Show the site until it is ended; files that change are shown without a command.

    Raises:
        HostError: Where it can't be shown.
    """
    require_free(address)
    staging = Staging(project, serving=True)
    # Before anything is read: what changes meanwhile is read again.
    watcher = Watcher(_watched(project, settings_of(project)))
    try:
        staged = staging.bring(throttled(report))
        _tell(staged, report)
        _report_problems(staged.site.problems, report)
        arguments = ["serve", "--config-file", str(staging.config), "--dev-addr", address]
        with running("zensical", arguments, project.folder) as process:
            _load(staged.site)
            while process.poll() is None:
                for fault in _faults(staging):
                    report(fault)
                if watcher.wait(0.5):
                    _again(staging, watcher, report)
            return process.returncode
    except KeyboardInterrupt:
        return 0
    finally:
        watcher.end()
        staging.config.unlink(missing_ok=True)


def _load(site: Site) -> None:
    """Load what draws and computes, which a site of the cache didn't need.

    Zensical builds the site meanwhile, and nobody waits; for the first change a person does. A
    picture is drawn for nobody.
    """
    import gridatlas.assessment.compute  # noqa: F401

    pictures = (picture for page in site.pages for picture in page.plan.pictures)
    draw(islice(pictures, 1), None)


def _again(staging: Staging, watcher: Watcher, report: Report) -> None:
    try:
        staged = staging.bring()
    except HostError as error:
        report(f"Error: {error}\ngridatlas: the pages are unchanged")
        return
    _report_problems(staged.site.problems, report)
    pages = [path for path in staged.changed if path.endswith((".md", ".markdown"))]
    if pages:
        report(f"gridatlas: changed {join_names(pages, LISTED)}")
    watcher.watch(_watched(staging.project, staged.settings))


def _watched(project: Project, settings: Settings) -> list[Path]:
    options = settings.options
    folders = [options.data, *([options.templates] if options.templates else [])]
    custom = [settings.custom] if settings.custom else []
    return [project.config, settings.docs, *custom, *(project.folder / name for name in folders)]


def _tell(staged: Staged, report: Report) -> None:
    for note in staged.notes:
        report(note)
    settings = staged.settings
    if settings.left_out:
        report(
            f"gridatlas: Zensical has no {join_names(settings.left_out)}; what "
            f"{'these plugins make' if len(settings.left_out) > 1 else 'this plugin makes'} is "
            "missing from the site"
        )


def _report_problems(found: Iterable[Problem], report: Report) -> tuple[Problem, ...]:
    problems = only_problems(found)
    for problem in truncate_list(problems):
        report(str(problem))
    return problems


def _faults(staging: Staging) -> list[str]:
    """The faults of pages since it was last asked, each once."""
    file = staging.folder / "faults"
    try:
        taken = file.rename(file.with_suffix(".read"))
    except FileNotFoundError:
        return []
    lines = taken.read_text("utf-8").splitlines()
    return list(dict.fromkeys(str(json.loads(line)) for line in lines))


def _publish(staging: Staging, staged: Staged) -> None:
    """Bring the site to its place, with what comes after Zensical."""
    settings = staged.settings
    site, built = settings.site, staging.folder / "site"
    try:
        _empty(site)
        # Not `copytree`, whose error of several files doesn't say that a disk is full.
        for file in filter(Path.is_file, built.rglob("*")):
            target = site / file.relative_to(built)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
        _add_to_search(site, staged.site, settings.ending)
        if settings.options.csp:
            add_policy(site, settings.site_url, False)
    except OSError as error:
        state = "the site was built, but couldn't be written whole"
        raise HostError(not_written(error, site, state)) from error


def _empty(folder: Path) -> None:
    """As MkDocs does it: what begins with a dot stays, and what a link leads to."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("[!.]*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif not path.is_dir():
            path.unlink()


def _add_to_search(folder: Path, site: Site, ending: str) -> None:
    """Have the search find cells and sources; a site without a search has no index."""
    index = folder / INDEX
    if not index.is_file():
        return
    content: Any = json.loads(index.read_text("utf-8"))
    address = SiteAddress("", ending)
    pages = {page.plan.path: page for page in site.pages}
    items = content["items"]
    trails = {item["location"]: item["path"] for item in items}
    for made in (source_entries, cell_entries):
        for entry in made(site.assessments.values(), pages.values(), address):
            trail = trails.get(entry["location"].partition("#")[0], [])
            texts = {name: escape(entry[name], quote=False) for name in ("title", "text")}
            items.append(entry | texts | {"level": 2, "path": trail, "tags": []})
    index.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
