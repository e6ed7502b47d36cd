"""Files of ours in a site of MkDocs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from mkdocs.structure.files import File


class SiteFile(File):
    """A file of ours: its content is unpacked when it is asked for, and not held."""

    unpacked: Callable[[], str | bytes] | None = None
    waiting: Path | None = None
    """Folder with the files of the build before, by their paths in the site; None for none."""

    @property
    def content_bytes(self) -> bytes:
        """The content; another plugin may set another one."""
        if self.unpacked is None:
            return super().content_bytes
        content = self.unpacked()
        return content if isinstance(content, bytes) else content.encode()

    @content_bytes.setter
    def content_bytes(self, value: bytes) -> None:
        self.unpacked = None
        self._content = value

    @property
    def content_string(self) -> str:
        """The same as text, which UTF-8 must be."""
        return self.content_bytes.decode("utf-8-sig")

    @content_string.setter
    def content_string(self, value: str) -> None:
        self.content_bytes = value.encode()

    def copy_file(self, dirty: bool = False) -> None:
        """Write the file into the site, or bring it there from the build before."""
        place, content = Path(self.abs_dest_path), self.content_bytes
        place.parent.mkdir(parents=True, exist_ok=True)
        if self.waiting and _same(self.waiting / self.dest_uri, content):
            (self.waiting / self.dest_uri).replace(place)
        else:
            place.write_bytes(content)


def _same(file: Path, content: bytes) -> bool:
    try:
        return file.stat().st_size == len(content) and file.read_bytes() == content
    except OSError:
        return False


class Waiting:
    """Files of a server's site that wait for the next build: most are the same again.

    MkDocs empties the folder of the site before each build, but for what is hidden, and a build
    writes nine files for each grid.

    Args:
        site: The folder of the site.
        folder: The folder in it that has most files of ours.
    """

    def __init__(self, site: Path, folder: str) -> None:
        self._site, self._folder = site, folder
        self.files = site / ".gridatlas-waiting"

    def begin(self) -> None:
        """Move the files to where they wait, before MkDocs deletes them."""
        self.end()
        with suppress(OSError):  # There are none yet, or they are deleted and written again.
            self.files.mkdir()
            (self._site / self._folder).rename(self.files / self._folder)

    def end(self) -> None:
        """Delete those that nobody asked for."""
        rmtree(self.files, ignore_errors=True)
