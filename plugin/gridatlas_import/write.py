"""Puts a study into the data folder: whole or not at all, after it was checked."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.checks import all_checks
from gridatlas.data.reader import DEFAULT_TABLE, STUDY_FILE
from gridatlas.data.runs import FOLDER as RUNS
from gridatlas.files.disks import FULL, why_not_written
from gridatlas.files.staging import StagingDir, abandoned, exchange
from gridatlas.model.problems import Problem, join_names, only_problems
from gridatlas.model.study import IMPORTED
from gridatlas_import.rows import CannotImport, WrongUsage

FILES = (STUDY_FILE, DEFAULT_TABLE)
PREFIX = ".import-"
REPLACED = ".replaced"
"""Folder with the study that was there; no study has such a name."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What `gridatlas check` says of the study."""

    loaded: Assessments

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, without notes."""
        return only_problems(self.loaded.problems)

    @property
    def usable(self) -> bool:
        """Whether nothing but findings stands against it: what its numbers say, not its form."""
        return all(problem.kind in all_checks() for problem in self.problems)


def check_place(data: Path, study: str, *, replace: bool) -> None:
    """See that a study can be put there.

    Raises:
        CannotImport: Where there is one already, or other files of somebody's.
    """
    folder = data / study
    if not folder.exists():
        return
    if not replace:
        raise WrongUsage(
            f"{folder}, which exists already",
            "the name of a new study",
            "name another one with --study, or replace it with --replace",
        )
    if folder.is_symlink() or not folder.is_dir():
        raise WrongUsage(
            f"{folder}, which is a link or a file",
            "a folder with a study",
            "name another study with --study",
        )
    others = sorted(path.name for path in folder.iterdir() if not _is_written(path))
    if others:
        raise WrongUsage(
            f"{folder} with other files: {join_names(others)}",
            f"only {join_names(FILES)}, which an import writes",
            "move these files, or name another study with --study",
        )


def _is_written(path: Path) -> bool:
    """Whether an import writes such a file, or a folder with nothing but such files."""
    if path.name == RUNS and path.is_dir() and not path.is_symlink():
        return all(file.name.startswith(IMPORTED) for file in path.iterdir())
    return path.name in FILES or bool(re.fullmatch(r"cells-\d+\.csv", path.name))


@contextlib.contextmanager
def staged(
    data: Path, study: str, texts: Mapping[str, str | bytes], *, dry: bool
) -> Iterator[Path]:
    """The study in a temporary folder, beside where it shall be.

    Args:
        dry: Not to touch the data folder.

    Raises:
        CannotImport: Where that can't be written to.
    """
    made = [parent for parent in (data, *data.parents) if not parent.exists()] if not dry else []
    place = Path(tempfile.gettempdir()) if dry else data
    try:
        if not dry:
            data.mkdir(parents=True, exist_ok=True)
        with StagingDir(place, PREFIX) as stage:
            # What a kill leaves in the data folder isn't added to a repository with it.
            (stage / ".gitignore").write_bytes(b"*\n")
            (stage / study).mkdir()
            for name, text in texts.items():
                file = stage / study / name
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(text.encode() if isinstance(text, str) else text)
            yield stage
    except BrokenPipeError:
        raise  # of what is printed meanwhile: its reader has gone, and the folder is fine
    except OSError as error:
        raise _not_written(place, error) from error
    finally:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()  # only where nothing came of it


def check_staged(stage: Path, data: Path) -> Checked:
    """What `gridatlas check` says of what lies in a temporary folder."""
    return Checked(load_data(stage, data.as_posix()))


def put(stage: Path, data: Path, study: str) -> None:
    """Give the study its place; one that is there is swapped for it.

    Raises:
        CannotImport: Where that can't be; what was there is as it was.
    """
    target, new = data / study, stage / study
    try:
        if not target.exists():
            os.rename(new, target)
        elif not exchange(new, target):
            old = stage / REPLACED
            os.rename(target, old)
            try:
                os.rename(new, target)
            except OSError:
                os.rename(old, target)
                raise
    except OSError as error:
        raise _not_written(target, error) from error


def put_back(data: Path) -> None:
    """Remove what killed imports left, and bring back a study that one had taken away.

    It had not replaced it yet; that can only be where folders can't change places in one step.
    """
    for left in abandoned(data, PREFIX):
        with contextlib.suppress(OSError):
            for new in left.iterdir():
                # A study's folder: what else is there begins with a dot.
                target = None if new.name.startswith(".") else data / new.name
                if target and (left / REPLACED).is_dir() and not target.exists():
                    os.rename(left / REPLACED, target)
            shutil.rmtree(left)


def _not_written(path: Path, error: OSError) -> CannotImport:
    found = why_not_written(error, path)
    if error.errno in FULL:
        return CannotImport(found, "room for the study", "free some space on this disk")
    return CannotImport(found, "a folder that can be written to", "correct its permissions")
