"""From a data folder to its studies: read, checked and analysed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gridatlas.assessment.agreement import agreement_problems
from gridatlas.assessment.assessment import Assessment, Assessments
from gridatlas.checks import check_study
from gridatlas.claims import judge
from gridatlas.data.reader import read_study, study_folders
from gridatlas.data.signatures import file_signatures, files_digest
from gridatlas.data.validate import validate
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import PAGE_FILES
from gridatlas.model.study import Study
from gridatlas.progress import tracked
from gridatlas.table.choose import analyse, choose


def load_study(
    folder: Path, name: str, progress: Callable[[str], None], cache: Path | None = None
) -> Assessment | tuple[Problem, ...]:
    """Read, check and analyse one study, but for its claims.

    Args:
        name: What messages call the folder.
        progress: Called with what was done, such as `read tuning`.
        cache: Folder of the cache of statistics; None caches nothing.

    Returns:
        The study without claims; the problems of one that can't be shown.
    """
    before = file_signatures(folder)
    study, found = _checked(folder, name)
    progress(f"read {folder.name}")
    if study is None or not any(reading.table for reading in study.readings):
        return tuple(found)
    chosen = choose(study)
    checks = check_study(study, chosen)
    results = analyse(study, [*found, *checks.problems, *agreement_problems(study)], chosen)
    progress(f"checked {study.id}")
    return Assessment(results, checks, cache=cache, digest=files_digest(folder, study, before))


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Pause the search for cycles, also as a decorator.

    It visits all objects again and again as they become more. Among a million cells none is
    garbage: the search is a quarter of the time that it takes to read them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@gc_disabled()
def load_data(
    data: Path,
    name: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    cache: Path | None = None,
    read: Callable[..., Assessment | tuple[Problem, ...]] = load_study,
) -> Assessments:
    """Read, check and analyse all studies in a data folder.

    Args:
        data: The folder with one folder per study.
        name: What messages call the folder; None for its path as given.
        progress: Called with what was done, such as `read tuning`.
        cache: Folder of the cache of statistics; None caches nothing.
        read: Gives what is in the folder of one study, as `load_study` does.
    """
    name = data.as_posix() if name is None else name
    folders = study_folders(data) if data.is_dir() else []
    if not folders:
        return Assessments(problems=(_no_study(data, name),))
    found = {
        folder.name: read(folder, f"{name}/{folder.name}", progress, cache)
        for folder in tracked(folders, "studies read")
    }
    studies = {key: study for key, study in found.items() if isinstance(study, Assessment)}
    unreadable = {key: given for key, given in found.items() if not isinstance(given, Assessment)}
    problems = [
        problem
        for given in found.values()
        for problem in (given.results.problems if isinstance(given, Assessment) else given)
    ]
    results = {key: study.results for key, study in studies.items()}
    taken = check_former((study.study for study in studies.values()), found)
    for key, study in studies.items():
        claims = judge(results, key)
        more = [problem for claim in claims for problem in claim.problems]
        more += [*taken.get(key, []), *check_see_also(study.study, found)]
        problems += more
        with_all = replace(study.results, problems=(*study.results.problems, *more))
        studies[key] = replace(study, results=with_all, judged=claims)
    return Assessments(studies, unreadable, tuple(problems))


def _no_study(data: Path, name: str) -> Problem:
    """That there is nothing to read in a data folder."""
    if not data.is_dir():
        return Problem(
            "no-such-file",
            name,
            "no such folder",
            "a folder with one folder per study",
            "create it, or correct the option data",
        )
    return Problem(
        "no-study",
        name,
        "no folder with a study.yml",
        "data/<study>/study.yml",
        "add a study; the documentation's page on the data format has a minimal example",
    )


def _checked(folder: Path, name: str) -> tuple[Study | None, list[Problem]]:
    """One study, without the tables that it was read from: they take as much memory again."""
    source, found = read_study(folder, name)
    if source is None:
        return None, found
    study, more = validate(source)
    return study, found + more


def check_former(studies: Iterable[Study], folders: Iterable[str]) -> dict[str, list[Problem]]:
    """Former names that can't lead to one study, by the studies that list them.

    Args:
        folders: Names of all studies, also of those that can't be read.
    """
    taken = dict.fromkeys(PAGE_FILES, "the name of a page's file")
    taken |= {name: f"the study {name}, which is there" for name in folders}
    found: dict[str, list[Problem]] = {}
    for study in studies:
        for former, line in zip(study.former, study.former_lines, strict=True):
            if former in taken:
                problem = Problem(
                    "former-name-taken",
                    f"{study.folder}/study.yml",
                    f"{quote(former)}: {taken[former]}",
                    "a name that no study has now, listed once",
                    f"remove {former} from former",
                    line,
                    "former",
                )
                found.setdefault(study.id, []).append(problem)
            else:
                taken[former] = f"already a former name of {study.id}"
    return found


def check_see_also(study: Study, folders: Iterable[str]) -> list[Problem]:
    """Links of a study to studies that aren't there.

    Args:
        folders: Names of all studies, also of those that can't be read.
    """
    others = sorted(set(folders) - {study.id})
    found = []
    for at, (entry, line) in enumerate(zip(study.see_also, study.see_also_lines, strict=True)):
        if entry.study in others:
            continue
        near = nearest(entry.study, others)
        this = "this study itself" if entry.study == study.id else "no study has this name"
        problem = Problem(
            "unknown-study",
            f"{study.folder}/study.yml",
            f"{quote(entry.study)}: {this}",
            f"another study: {join_names(others)}"
            if others
            else "another study, and there is none",
            f"write {near}" if near else "correct the name, or remove the link",
            line,
            f"see_also.{at}.study",
        )
        found.append(problem)
    return found
