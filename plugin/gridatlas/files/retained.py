"""Files that a site has already, from the build before: they aren't written and read again.

What each file has in it is noted in the cache, with its signature. A file whose signature is
another one since, or that isn't noted, is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from gridatlas.files.cache import Cache, Content, cache_key
from gridatlas.files.staging import StagedSite, signature

_NOTES = "notes"


def content_digest(content: Content) -> str:
    """A SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


class RetainedFiles:
    """The files of a site that stay where they are.

    Args:
        staged: The site; its folder is looked at when a build begins.
        cache: Where what the files have in them is noted.
    """

    def __init__(self, staged: StagedSite, cache: Cache) -> None:
        self._staged, self._cache = staged, cache
        self._key = cache_key("files of a site", str(Path(staged.site).resolve()))
        self._digests: dict[str, str] = {}
        entry = cache.get(self._key)
        self._noted: dict[str, list[int | str]] = json.loads(entry[_NOTES]) if entry else {}

    def keep(self, path: str, digest: str, content: Callable[[], bytes]) -> bool:
        """Have a file stay as it is, where the site has this content there.

        Args:
            digest: `content_digest` of the content.
            content: Gives it, for the case that somebody writes the file meanwhile.

        Returns:
            Whether it stays; otherwise it is to be written.
        """
        self._digests[path] = digest
        before = self._staged.before(path)
        if before is None or self._noted.get(path) != [*before, digest]:
            return False
        self._staged.keep(path, content)
        return True

    def note(self) -> None:
        """Note what the files have in them, once all are in their places."""
        notes = {}
        for path, digest in self._digests.items():
            current = signature(f"{self._staged.site}/{path}")
            if current is not None and self._staged.is_of_build(path, current):
                notes[path] = [*current, digest]
        if notes != self._noted:
            self._cache.put(self._key, {_NOTES: json.dumps(notes)})
