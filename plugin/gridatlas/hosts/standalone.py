"""The Markdown extension by itself, for hosts that run no plugin: Zensical, Python-Markdown.

It reads the data where a page first asks for a grid or a number, and again when a file changed.
"""

from __future__ import annotations

import contextlib
import logging
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from pymdownx.superfences import SuperFencesException

from gridatlas.assessment.pipeline import load_data
from gridatlas.claims import ClaimError
from gridatlas.hosts.markdown import (
    BELOW_CODE,
    FIRST,
    LAST,
    AskedFences,
    FencePostprocessor,
    FencePreprocessor,
    HiddenNumbers,
    InlineNumber,
    PendingFence,
    TextPreprocessor,
    figures_of,
    number,
    place,
    put_in,
    register_fence,
)
from gridatlas.model.problems import only_problems, truncate_list
from gridatlas.pages.fence import FenceError
from gridatlas.pages.fence_figures import Fences
from gridatlas.results.grids import Results

log = logging.getLogger("gridatlas")

BELOW_MACROS = 34
"""Zensical's macros (35) read all braces of a page, as a preprocessor."""


class StandaloneExtension(Extension):
    """The extension `gridatlas`, with its options."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "data": ["data", "Folder with one folder per study"],
            "cache": ["", "Folder that keeps drawn charts; empty keeps none"],
            "downloads": [False, "Whether the site has the files of the grids, in grids/"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the inline numbers, the fence and what fills it."""
        asked = AskedFences()
        page = _Page(
            md,
            asked,
            register_fence(md, asked),
            Path(self.getConfig("data")),
            self.getConfig("cache"),
            bool(self.getConfig("downloads")),
        )
        md.inlinePatterns.register(InlineNumber(md, page.number), "gridatlas", BELOW_CODE)
        hidden = HiddenNumbers()
        for name, change, priority in (
            ("gridatlas-hide", hidden.hide, FIRST - 1),
            ("gridatlas-show", hidden.show, BELOW_MACROS),
        ):
            md.preprocessors.register(TextPreprocessor(md, change), name, priority)
        md.postprocessors.register(FencePostprocessor(md, page.finish), "gridatlas", LAST)


@dataclass(frozen=True, slots=True)
class _Page:
    """The page that a Markdown instance is rendering."""

    md: Markdown
    asked: AskedFences
    preprocessor: FencePreprocessor
    data: Path
    cache: str
    downloads: bool

    @property
    def _context(self) -> Any:
        """What Zensical tells of the page; None on other hosts."""
        there = "rendering_context" in self.md.preprocessors
        return self.md.preprocessors["rendering_context"] if there else None

    @property
    def name(self) -> str:
        """The page in messages."""
        return str(self._context.page.path) if self._context else "the page"

    @property
    def path(self) -> str:
        """Path of a file beside the page's address."""
        url = str(self._context.page.url) if self._context else ""
        return f"{url}index.html" if not url or url.endswith("/") else url

    @property
    def _text(self) -> str:
        """The page's Markdown; the whole file where the host has taken its head off."""
        if self._context:
            file = self._below(self._context.config["docs_dir"]) / self.name
            if file.is_file():
                return file.read_text("utf-8", "replace")
        return self.preprocessor.text

    def _below(self, path: str | Path) -> Path:
        """A path below the folder of the site's configuration, or the working folder."""
        return Path(self._context.config["root_dir"] if self._context else "") / path

    def number(self, expression: str) -> str:
        """The text in the place of an expression.

        Raises:
            SuperFencesException: For an expression that is wrong, or whose value is absent. No
                other error would end the build on every host.
        """
        try:
            return number(expression, self._fences().studies)
        except ClaimError as error:
            message = f"gridatlas: {self.name}: a number can't be given\n{error}"
            raise SuperFencesException(message) from error

    def finish(self, html: str) -> str:
        """The page with its figures."""
        keys = self.asked.keys_in(html)
        if not keys:
            return html
        figures = figures_of(
            keys, self.asked, self._fences().fences, self.path, set(), self._failed
        )
        return put_in(html, self.asked, figures)

    def _failed(self, error: FenceError, asked: PendingFence, before: int) -> str:
        where = place(self.name, self._text, error, asked, before)
        raise SuperFencesException(f"gridatlas: {error.message(where)}") from error

    def _fences(self) -> _Known:
        folder = self._below(self.data)
        cache = self._below(self.cache) if self.cache else None
        stamp = tuple(_stamps(folder))
        kept = _KEPT.get(folder)
        if kept is None or kept.stamp != (stamp, cache, self.downloads):
            kept = _read(folder, cache, self.downloads, stamp)
            _KEPT[folder] = kept
        return kept


@dataclass(frozen=True)
class _Known:
    """What was read of a data folder.

    Attributes:
        stamp: What it was read from: it is read again when this is another.
    """

    fences: Fences
    stamp: Any

    @cached_property
    def studies(self) -> Mapping[str, Results]:
        """Their results, which numbers in pages are from."""
        return {
            study_id: assessment.results for study_id, assessment in self.fences.assessments.items()
        }


def _stamps(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """What tells whether a file was changed, put in the place of another, added or removed.

    The time is that of the last change of whatever kind: other than the one that is shown, nobody
    can set it back.
    """
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(OSError):  # Files come and go while a page is made.
            about = path.stat()
            if stat.S_ISREG(about.st_mode):
                yield str(path), about.st_ctime_ns, about.st_size, about.st_ino


_KEPT: dict[Path, _Known] = {}
"""By data folder: hosts make a new extension for every page."""


def _read(folder: Path, cache: Path | None, downloads: bool, stamp: Any) -> _Known:
    assessments = load_data(folder, cache=cache)
    for one in truncate_list(only_problems(assessments.problems)):
        log.warning("%s", one)
    return _Known(Fences(assessments, cache, files=downloads), (stamp, cache, downloads))
