"""A site that is built aside, and brought to its folder when it is whole.

The folder itself stays, with what begins with a dot in it (a worktree's `.git`): it may be a mount,
or one that a server shows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from gridatlas.files.staging import FileTransaction, StagingDir

Stamp = tuple[int, int, int]
"""What tells whether a file was written since: time, size and number."""


class StagedSite:
    """A site's folder, and the one in it that the next state is built in.

    Attributes:
        site: Where the site shall be.
        folder: Where it is built.
    """

    def __init__(self, site: Path) -> None:
        """Begin; what the site has now is looked at.

        Raises:
            OSError: Where the folder can't be written to.
        """
        self.site = site
        self._made = [parent for parent in (site, *site.parents) if not parent.exists()]
        site.mkdir(parents=True, exist_ok=True)
        self._folders: list[str] = []
        self._before = dict(_stamps(site, self._folders))
        self._aside = StagingDir(site)
        self.folder = self._aside.path / "site"
        self.folder.mkdir()

    def finish(self) -> list[str]:
        """Bring what was built to its place: all of it, or nothing where an error occurs.

        Files that are the same aren't touched.

        What the build didn't write is removed, as MkDocs does before a build, but for files that
        somebody wrote meanwhile.

        Returns:
            The files of the build that somebody had written to meanwhile, in their place.

        Raises:
            OSError: Where the folder can't be written to.
        """
        stamps = dict(_stamps(self.folder, hidden=True))
        needed = {up for path in stamps for up in _folders(path)}
        new = list(stamps)
        old = set(self._before).difference(new)
        stale = sorted(path for path in old if self._as_before(path))
        others = [path for path in new if not self._as_before(path)]
        changed = [path for path in new if not self._is_same(path, stamps[path])]
        blocking = _in_the_way(stale, new)
        with FileTransaction(self._aside.path) as placing:
            for path in blocking:
                placing.remove(self.site / path)
                self._remove_empty(path)
            # Pages last: what they lead to is there before them.
            for path in sorted(changed, key=lambda path: (path.endswith(".html"), path)):
                placing.put(self.folder / path, self.site / path)
            for path in stale:
                if path not in blocking:
                    placing.remove(self.site / path)
        # Deepest first; what isn't empty stays. A build that was killed may have left some.
        for path in sorted(set(self._folders) - needed, reverse=True):
            with contextlib.suppress(OSError):
                (self.site / path).rmdir()
        return others

    def close(self) -> None:
        """Remove what is left of the folder that was built in."""
        self._aside.close()
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()  # only where nothing came of it

    def _as_before(self, path: str) -> bool:
        return _stamp(self.site / path) == self._before.get(path)

    def _is_same(self, path: str, built: Stamp) -> bool:
        """Whether a file is there already with the same content: then it keeps its time."""
        there, new = self.site / path, self.folder / path
        stamp = _stamp(there)
        if stamp is None or stamp[1] != built[1] or there.is_symlink() or new.is_symlink():
            return False
        return there.is_file() and there.read_bytes() == new.read_bytes()

    def _remove_empty(self, path: str) -> None:
        """Remove the folders around a file that are empty now."""
        folder = (self.site / path).parent
        with contextlib.suppress(OSError):
            while folder != self.site:
                folder.rmdir()
                folder = folder.parent


def _stamps(
    site: Path, folders: list[str] | None = None, below: str = "", hidden: bool = False
) -> Iterator[tuple[str, Stamp]]:
    """All files of a site by their paths; links are files.

    Args:
        folders: Where the paths of all folders are added.
        below: A folder to begin in.
        hidden: Whether to take what begins with a dot in the site's folder itself.
    """
    with os.scandir(site / below) as entries:
        for entry in entries:
            if entry.name.startswith(".") and not below and not hidden:
                continue
            path = f"{below}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if folders is not None:
                    folders.append(path)
                yield from _stamps(site, folders, f"{path}/", hidden)
            elif hidden or not (entry.is_symlink() and entry.is_dir()):
                # What a link leads to that somebody made in the site's folder isn't the site's.
                about = entry.stat(follow_symlinks=False)
                yield path, (about.st_mtime_ns, about.st_size, about.st_ino)


def _stamp(file: Path) -> Stamp | None:
    try:
        about = file.lstat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _in_the_way(stale: list[str], new: list[str]) -> frozenset[str]:
    """The files where a folder shall be, and those in a folder where a file shall be."""
    files = set(new)
    folders = {up for path in new for up in _folders(path)}
    return frozenset(
        path for path in stale if path in folders or not files.isdisjoint(_folders(path))
    )


def _folders(path: str) -> Iterator[str]:
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)
