"""Files and pages of ours in a site of MkDocs, and their place in its navigation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import cache, partial
from html import escape
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import StructureItem
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page as HostPage

from gridatlas.build.page_cache import SiteFiles
from gridatlas.files.atomic import write_atomic
from gridatlas.files.cache import cache_key
from gridatlas.hosts import fence_lines
from gridatlas.model.inert import get_logger, inert
from gridatlas.pages.page import Page

log = get_logger("mkdocs.plugins.gridatlas")


class SiteFile(File):
    """A file of ours: its content is unpacked when it is asked for, and not held."""

    source: SiteFiles | None = None
    """Has its content, by its path; None once another plugin set another content."""
    waiting: Waiting | None = None
    """The files of the build before; None for none."""

    @property
    def content_bytes(self) -> bytes:
        """The content; another plugin may set another one."""
        if self.source is None:
            return super().content_bytes
        content = self.source[self.src_uri]
        return content if isinstance(content, bytes) else content.encode()

    @content_bytes.setter
    def content_bytes(self, value: bytes) -> None:
        self.source = None
        self._content = value

    @property
    def content_string(self) -> str:
        """The same as text, which UTF-8 must be."""
        return self.content_bytes.decode("utf-8-sig")

    @content_string.setter
    def content_string(self, value: str) -> None:
        self.content_bytes = value.encode()

    def copy_file(self, dirty: bool = False) -> None:
        """Write the file into the site, or have it there from the build before."""
        if self.waiting and self.source is not None:
            digest = self.source.digest(self.src_uri)
            self.waiting.put(self.dest_uri, digest, self.abs_dest_path, lambda: self.content_bytes)
        else:
            place = Path(self.abs_dest_path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(self.content_bytes)


def site_files(
    source: SiteFiles, config: MkDocsConfig, taken: Mapping[str, str]
) -> Iterator[SiteFile]:
    """Files of ours in the places that the user's leave free.

    Args:
        taken: Paths of the user's files by their addresses.
    """
    for path in source:
        file = SiteFile.generated(config, path, content="")
        if is_free(file, taken):
            assert isinstance(file, SiteFile)
            file.source = source
            yield file


def is_free(file: File, taken: Mapping[str, str]) -> bool:
    """Whether the site has no file of the user's at this address; theirs is kept."""
    theirs = taken.get(file.dest_uri)
    if theirs is not None:
        log.info("gridatlas: the site has its own %s, so that of Grid Atlas isn't added", theirs)
    return theirs is None


class Waiting:
    """Files of a site that wait for the next build: most are the same again.

    MkDocs empties the folder of the site before each build, but for what is hidden, and a build
    writes twenty files for each grid.

    Args:
        site: The folder of the site.
        folders: The folders in it that have most files of ours.
        cache: The folder of the cache, which notes what the last process put where.
    """

    def __init__(self, site: Path, folders: Collection[str], cache: Path) -> None:
        self.site, self._folders = site, folders
        self._waiting = site / ".gridatlas-waiting"
        self._note = cache / f"waiting-{cache_key(str(site.resolve()))[:16]}.json"
        self._before: dict[str, list[Any]] = {}
        self._put = self._before
        with suppress(OSError, TypeError, ValueError):  # There is none: all files are written.
            self._put = dict(json.loads(self._note.read_text("utf-8")))

    def begin(self) -> None:
        """Move the files to where they wait, before MkDocs deletes them."""
        rmtree(self._waiting, ignore_errors=True)
        self._before, self._put = self._put, {}
        self._make = cache(partial(os.makedirs, exist_ok=True))
        with suppress(OSError):  # They are deleted and written again.
            self._waiting.mkdir()
        for folder in self._folders:
            with suppress(OSError):  # There is none yet, or likewise.
                (self.site / folder).rename(self._waiting / folder)

    def put(self, path: str, digest: str, place: str, content: Callable[[], bytes]) -> None:
        """Bring a file to its place, where it waits with this content; else write it.

        Args:
            digest: `content_digest` of the content.
        """
        file = os.path.join(self._waiting, path)
        before = _signature(file)
        self._make(os.path.dirname(place))
        if before and self._before.get(path) == [before, digest]:
            os.replace(file, place)
        else:
            Path(place).write_bytes(content())
        self._put[path] = [_signature(place), digest]

    def end(self) -> None:
        """Delete those that nobody asked for."""
        rmtree(self._waiting, ignore_errors=True)
        if self._put != self._before:
            with suppress(OSError):  # The next process writes all files.
                write_atomic(self._note, json.dumps(self._put).encode())


def _signature(file: str) -> list[int]:
    """Time of writing, size, number and time of change: they differ once a file is written.

    Of a link, its own; empty where there is no file.
    """
    try:
        status = os.lstat(file)
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns]


def add_to_nav(
    nav: Navigation, pages: Iterable[Page], into: str, config: MkDocsConfig, files: Files
) -> None:
    """Add pages in sections by study and facet, and link previous and next anew.

    They follow the page of all studies where the user placed it in a section, else they are last.

    Args:
        into: Folder of the pages of all studies.
    """
    overview = next((page for page in nav.pages if page.file.src_uri == f"{into}/index.md"), None)
    sections: dict[str, Section] = {}
    end = len(nav.pages)
    if overview and isinstance(overview.parent, Section):
        section = sections[into] = overview.parent
        end = max(i for i, page in enumerate(nav.pages) if section in page.ancestors) + 1
    added = []
    for ours in pages:
        plan = ours.plan
        file = files.get_file_from_path(plan.path)
        if file is None:
            continue
        host_page = file.page or HostPage(None, file, config)
        host_page.title = inert(escape(plan.nav_title))
        parent: Section | None = None
        for folder, title in zip(plan.trail_folders, plan.trail, strict=True):
            if folder not in sections:
                sections[folder] = Section(inert(escape(title)), [])
                sections[folder].parent = parent
                (parent.children if parent else nav.items).append(sections[folder])
            parent = sections[folder]
        if parent is not None:
            host_page.parent = parent
            parent.children.append(host_page)
        added.append(host_page)
    nav.pages[end:end] = added
    for before, after in pairwise(nav.pages):
        before.next_page, after.previous_page = after, before


def pruned(nav: Navigation, page: HostPage, homes: Collection[str]) -> Navigation:
    """The navigation of one page: of the studies only its own, or a link to each outside of them.

    Args:
        homes: Paths of the studies' own pages.
    """
    inside = any(_home(section, homes) for section in page.ancestors)

    def filtered(items: Iterable[StructureItem]) -> list[StructureItem]:
        found: list[StructureItem] = []
        for item in items:
            home = _home(item, homes)
            if home and item not in page.ancestors:
                found += [] if inside else [home]
            elif home or not isinstance(item, Section):
                found.append(item)
            else:
                section = copy(item)
                section.children = filtered(item.children)
                found.append(section)
        return found

    of_page = copy(nav)
    of_page.items = filtered(nav.items)
    return of_page


def _home(item: StructureItem, homes: Collection[str]) -> HostPage | None:
    """The page of the study whose section this is; None for any other part of the navigation."""
    children = item.children if isinstance(item, Section) else None
    pages = (child for child in children or [] if isinstance(child, HostPage))
    return next((page for page in pages if page.file.src_uri in homes), None)


def with_braces(pages: Iterable[HostPage]) -> None:
    """Give titles their braces back, once no plugin renders them: the search index has text."""
    for page in pages:
        for name, text in page.meta.items():
            page.meta[name] = _with_braces(text) if isinstance(text, str) else text
        page.title = _with_braces(page.title or "")
        for section in page.ancestors:
            section.title = _with_braces(section.title or "")


def _with_braces(html: str) -> str:
    return html.replace("&#123;", "{")


def has_fence(file: File) -> bool:
    """Whether a page of the user's has a grid."""
    if not file.src_uri.endswith((".md", ".markdown")):
        return False
    try:
        lines = file.content_string.splitlines()
    except (OSError, ValueError):
        return False  # MkDocs tells what is wrong with it when it comes to that page.
    return next(fence_lines.fences(lines), None) is not None
