"""What stands in a data folder: all its studies, read, checked and analysed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gridatlas.assessment.agreement import agreement_problems
from gridatlas.checks import StudyChecks, check_study
from gridatlas.claims import Judged, judge
from gridatlas.data.reader import read_study, study_folders
from gridatlas.data.validate import validate
from gridatlas.files.garbage import gc_disabled
from gridatlas.model.problems import Problem, join_names, nearest, quote
from gridatlas.model.schema import PAGE_FILES
from gridatlas.model.study import Study
from gridatlas.results.grids import Results, analyse


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that was read from a data folder."""

    results: tuple[Results, ...]
    checks: Mapping[str, StudyChecks]
    claims: Mapping[str, tuple[Judged, ...]]
    unreadable: Mapping[str, tuple[Problem, ...]]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ReadStudy:
    """What was read of one study; without results where it can't be shown."""

    results: Results | None
    checks: StudyChecks | None
    problems: tuple[Problem, ...]


def load_study(folder: Path, name: str, step: Callable[[str], None]) -> ReadStudy:
    """Read, check and analyse one study, but for its claims.

    Args:
        name: The folder as it shall stand in messages.
        step: Called with what was done, such as `read tuning`.
    """
    study, found = _checked(folder, name)
    step(f"read {folder.name}")
    if study is None or not any(reading.cells for reading in study.readings):
        return ReadStudy(None, None, tuple(found))
    checks = check_study(study)
    found += checks.problems
    found += agreement_problems(study)
    results = analyse(study, found)
    step(f"checked {study.id}")
    return ReadStudy(results, checks, tuple(found))


@gc_disabled()
def load_data(
    data: Path,
    name: str | None = None,
    step: Callable[[str], None] | None = None,
    read: Callable[[Path, str, Callable[[str], None]], ReadStudy] = load_study,
) -> Loaded:
    """Read, check and analyse all studies in a data folder.

    Args:
        data: The folder with one folder per study.
        name: The folder as it shall stand in messages; as given without.
        step: Called with what was done, such as `read tuning`.
        read: Gives what is in the folder of one study, as `load_study` does.
    """
    step = step or _say_nothing
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
    results: list[Results] = []
    checks: dict[str, StudyChecks] = {}
    unreadable = {}
    problems: list[Problem] = []
    for folder in folders:
        one = read(folder, f"{name}/{folder.name}", step)
        if one.results is None or one.checks is None:
            unreadable[folder.name] = one.problems
        else:
            checks[one.results.study.id] = one.checks
            results.append(one.results)
        problems += one.problems
    names = [folder.name for folder in folders]
    taken = check_former((result.study for result in results), names)
    by_id = {result.study.id: result for result in results}
    claims = {study_id: judge(by_id, study_id) for study_id in by_id}
    for index, known in enumerate(results):
        found = [problem for claim in claims[known.study.id] for problem in claim.problems]
        found += taken.get(known.study.id, [])
        found += check_see_also(known.study, names)
        results[index] = replace(known, problems=(*known.problems, *found))
        problems += found
    return Loaded(tuple(results), checks, claims, unreadable, tuple(problems))


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


def _say_nothing(_: str) -> None:
    pass
