"""A side of a comparison, from a folder or from a revision of the repository."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir

from gridatlas.assessment.pipeline import load_data
from gridatlas.data.git import (
    NoFolderError,
    Revision,
    RevisionError,
    find_revision,
    folders_above,
    write_data,
)
from gridatlas.data.reader import STUDY_FILE, study_folders
from gridatlas.diff.snapshot import Snapshot, as_side
from gridatlas.files.staging import StagingDir
from gridatlas.model.problems import join_names, quote, truncate_list


class SideError(Exception):
    """A side can't be compared; the message says why, and what to do."""


class NoStudyError(SideError):
    """A side has no study.

    Attributes:
        why: The same of the base, in a few words.
        commit: Full hash of a revision; None for a folder.
    """

    def __init__(self, message: str, why: str, commit: str | None = None) -> None:
        super().__init__(message)
        self.why, self.commit = why, commit


def load_base(name: str, data: Path, around: Path, head: str = "") -> Snapshot:
    """Like `load_side`, for the side that another is compared with; it may have no study yet.

    Args:
        head: The other side, as it was named.

    Raises:
        SideError: As `load_side`, but not for a side without a study.
    """
    try:
        return load_side(name, data, around)
    except NoStudyError as error:
        return Snapshot(name, error.commit, {}, {}, {}, error.why)
    except SideError:
        # `before/data` is the data folder that a checkout `before` doesn't have; any other name
        # that nothing has is a mistake.
        path, known = around / name, {data.name}
        if head and (around / head).is_dir():
            known.add(Path(head).name)
        checkout = len(Path(name).parts) > 1 and path.parent.is_dir()
        if checkout and path.name in known and not os.path.lexists(path):
            return Snapshot(name, None, {}, {}, {}, f"the base has no folder {quote(name)}")
        raise


def load_side(name: str, data: Path, around: Path) -> Snapshot:
    """Read and check all studies of one side.

    Args:
        name: A folder with studies, or else a git revision.
        data: The data folder in the repository, for a revision; from `around`.
        around: The folder that `name` and `data` start from.

    Raises:
        NoStudyError: Where there is no study in it: the head may have lost them.
        SideError: Where there is no such folder or revision, or no study that can be read.
    """
    folder = around / name
    try:
        if folder.is_dir():
            return _loaded(folder, name, name, None)
        revision = find_revision(name, data, around)
        with StagingDir(Path(gettempdir())) as temporary:
            _write(revision, data, temporary)
            return _loaded(temporary, data.as_posix(), name, revision.commit)
    except RevisionError as error:
        raise SideError(str(error)) from error
    except OSError as error:
        raise SideError(f"{quote(name)} can't be read: {error.strerror or error}") from error


def _write(revision: Revision, data: Path, folder: Path) -> None:
    try:
        write_data(revision, folder)
    except NoFolderError as error:
        why = f"the base has no folder {quote(data.as_posix())}"
        elsewhere = folders_above(revision, STUDY_FILE)
        if elsewhere:
            why += f" (but studies in {join_names(map(quote, elsewhere), 3)})"
        raise NoStudyError(str(error), why, revision.commit) from error


def _loaded(folder: Path, called: str, name: str, commit: str | None) -> Snapshot:
    """One side.

    Args:
        called: The data folder as it shall stand in messages.
    """
    where = f"the folder {quote(called)}" + (f" of the revision {quote(name)}" if commit else "")
    try:
        if not study_folders(folder):
            within = [path.name for path in sorted(folder.iterdir()) if study_folders(path)]
            none = f"{where} has no study: no folder in it has a study.yml"
            if within:
                raise SideError(f"{none}; there are some in {quote(f'{called}/{within[0]}')}")
            raise NoStudyError(
                f"{none}. An empty side can't be told from one whose studies were lost",
                "the base has no study",
                commit,
            )
        loaded = load_data(folder, called)
    except OSError as error:
        raise SideError(f"{where} can't be read: {error.strerror or error}") from error
    if not loaded:
        found = "\n".join(
            str(one) for problems in loaded.unreadable.values() for one in truncate_list(problems)
        )
        raise SideError(f"none of the studies of {where} can be read:\n{found}")
    return as_side(loaded, called, name, commit)
