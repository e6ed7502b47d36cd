"""A side of a comparison, from a folder or from a revision of the repository."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

from gridatlas.aside import Aside
from gridatlas.diff.side import Side, as_side
from gridatlas.load import study_folders
from gridatlas.loaded import load_data
from gridatlas.problems import shortened, shown
from gridatlas.revisions import RevisionError, find_revision, write_data


class SideError(Exception):
    """A side can't be compared; the message says why, and what to do."""


def load_side(name: str, data: Path, around: Path) -> Side:
    """Read and check all studies of one side.

    Args:
        name: A folder with studies, or else a git revision.
        data: The data folder in the repository, for a revision; from `around`.
        around: The folder that `name` and `data` start from.

    Raises:
        SideError: Where there is no such folder or revision, or no study in it that can be read.
    """
    folder = around / name
    try:
        if folder.is_dir():
            return _loaded(folder, name, name, None)
        revision = find_revision(name, data, around)
        with Aside(Path(gettempdir())) as temporary:
            write_data(revision, temporary)
            return _loaded(temporary, data.as_posix(), name, revision.commit)
    except RevisionError as error:
        raise SideError(str(error)) from error
    except OSError as error:
        raise SideError(f"{shown(name)} can't be read: {error.strerror or error}") from error


def _loaded(folder: Path, called: str, name: str, commit: str | None) -> Side:
    """One side.

    Args:
        called: The data folder as it shall stand in messages.
    """
    where = f"the folder {shown(called)}" + (f" of the revision {shown(name)}" if commit else "")
    try:
        if not study_folders(folder):
            within = [one.name for one in sorted(folder.iterdir()) if study_folders(one)]
            hint = f"; there are some in {shown(f'{called}/{within[0]}')}" if within else ""
            raise SideError(
                f"{where} has no study: no folder in it has a study.yml{hint}. An empty side can't "
                "be told from one whose studies were lost"
            )
        loaded = load_data(folder, called)
    except OSError as error:
        raise SideError(f"{where} can't be read: {error.strerror or error}") from error
    if not loaded.results:
        found = "\n".join(
            str(one) for problems in loaded.unreadable.values() for one in shortened(problems)
        )
        raise SideError(f"none of the studies of {where} can be read:\n{found}")
    return as_side(loaded, called, name, commit)
