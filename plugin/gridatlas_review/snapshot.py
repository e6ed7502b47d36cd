"""A snapshot of the studies to compare: of a folder, or of a revision of the repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.build.comparison import CannotCompare
from gridatlas.data.git import (
    NoFolderError,
    Revision,
    RevisionError,
    find_revision,
    folders_above,
    write_data,
)
from gridatlas.data.reader import STUDY_FILE, study_folders
from gridatlas.files.disks import why_not_written
from gridatlas.files.staging import StagingDir
from gridatlas.model.problems import Problem, join_names, printable, quote, truncate_list


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All studies of one state of the data.

    Attributes:
        name: The folder or revision, as the user named it.
        commit: Full hash of a revision; None for a folder.
        problems: Everything that is wrong or worth a note, by the study's id.
        empty: Why it has no study; empty for one that has any.
    """

    name: str
    commit: str | None
    studies: Assessments = field(default_factory=Assessments)
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    empty: str = ""

    @property
    def unreadable(self) -> Mapping[str, tuple[Problem, ...]]:
        """Why studies can't be read, by their ids."""
        return self.studies.unreadable


class SnapshotError(CannotCompare):
    """A snapshot can't be compared; the message says why, and what to do."""


class NoStudyError(SnapshotError):
    """A snapshot has no study.

    Attributes:
        why: The same of the base, in a few words.
        commit: Full hash of a revision; None for a folder.
    """

    def __init__(self, message: str, why: str, commit: str | None = None) -> None:
        super().__init__(message)
        self.why, self.commit = why, commit


def snapshot_of(
    studies: Assessments, folder: str, name: str, commit: str | None = None
) -> Snapshot:
    """A data folder that was read, as a snapshot.

    Args:
        folder: The data folder as the problems name it.
    """
    problems = {
        study_id: tuple(
            problem
            for problem in studies.problems
            if problem.file.startswith(f"{folder}/{study_id}/")
        )
        for study_id in (*studies, *studies.unreadable)
    }
    return Snapshot(name, commit, studies, problems)


def load_base(
    name: str, data: Path, root: Path, head: str = "", cache: Path | None = None
) -> Snapshot:
    """Like `load_snapshot`, for the base of a comparison; it may have no study yet.

    Args:
        head: The other snapshot, as the user named it.

    Raises:
        SnapshotError: As `load_snapshot`, but not for a snapshot without a study.
    """
    try:
        return load_snapshot(name, data, root, cache)
    except NoStudyError as error:
        return Snapshot(name, error.commit, empty=error.why)
    except SnapshotError:
        # `before/data` is the data folder that a checkout `before` doesn't have; any other name
        # that nothing has is a mistake.
        path, data_names = root / name, {data.name}
        if head and (root / head).is_dir():
            data_names.add(Path(head).name)
        checkout = len(Path(name).parts) > 1 and path.parent.is_dir()
        if checkout and path.name in data_names and not os.path.lexists(path):
            return Snapshot(name, None, empty=f"the base has no folder {quote(name)}")
        raise


def load_snapshot(name: str, data: Path, root: Path, cache: Path | None = None) -> Snapshot:
    """Read and check all studies of a folder or revision.

    Args:
        name: A folder with studies, or else a git revision.
        data: The data folder in the repository, for a revision; relative to `root`.
        root: The folder that `name` and `data` are relative to.
        cache: Folder where statistics are cached between runs.

    Raises:
        NoStudyError: Where there is no study in it: the head may have lost them.
        SnapshotError: Where there is no such folder or revision, or no study that can be read.
    """
    folder = root / name
    try:
        if folder.is_dir():
            return _read(folder, name, name, None, cache)
        revision = find_revision(name, data, root)
        with StagingDir(Path(gettempdir())) as staging:
            _write(revision, data, staging)
            return _read(staging, data.as_posix(), name, revision.commit, cache)
    except RevisionError as error:
        raise SnapshotError(str(error)) from error
    except OSError as error:
        # A revision is written first.
        why = why_not_written(error, Path(gettempdir()))
        raise SnapshotError(f"{quote(name)} can't be read: {printable(why)}") from error


def _write(revision: Revision, data: Path, folder: Path) -> None:
    try:
        write_data(revision, folder)
    except NoFolderError as error:
        why = f"the base has no folder {quote(data.as_posix())}"
        elsewhere = folders_above(revision, STUDY_FILE)
        if elsewhere:
            why += f" (but studies in {join_names(map(quote, elsewhere), 3)})"
        raise NoStudyError(str(error), why, revision.commit) from error


def _read(folder: Path, shown: str, name: str, commit: str | None, cache: Path | None) -> Snapshot:
    """One snapshot.

    Args:
        shown: The data folder as messages shall name it.
    """
    where = f"the folder {quote(shown)}" + (f" of the revision {quote(name)}" if commit else "")
    try:
        if not study_folders(folder):
            within = [path.name for path in sorted(folder.iterdir()) if study_folders(path)]
            message = f"{where} has no study: no folder in it has a study.yml"
            if within:
                raise SnapshotError(f"{message}; there are some in {quote(f'{shown}/{within[0]}')}")
            raise NoStudyError(
                f"{message}. It isn't clear whether its studies were lost",
                "the base has no study",
                commit,
            )
        studies = load_data(folder, shown, cache=cache)
    except OSError as error:
        raise SnapshotError(f"{where} can't be read: {error.strerror or error}") from error
    if not studies:
        found = "\n".join(
            str(problem)
            for problems in studies.unreadable.values()
            for problem in truncate_list(problems)
        )
        raise SnapshotError(f"none of the studies of {where} can be read:\n{found}")
    return snapshot_of(studies, shown, name, commit)
