"""Files of ours in a site of MkDocs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mkdocs.structure.files import File


class SiteFile(File):
    """A file of ours: its content is unpacked when it is asked for, and not held."""

    unpacked: Callable[[], str | bytes] | None = None

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
        """Write the file into the site."""
        place = Path(self.abs_dest_path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.content_bytes)
