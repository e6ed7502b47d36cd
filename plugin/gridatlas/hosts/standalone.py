"""The Markdown extension by itself, for hosts that run no plugin: Zensical, Python-Markdown.

It reads the data where a page first asks for a grid or a number, and again when a file changed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from pymdownx.superfences import SuperFencesException

from gridatlas.assessment.pipeline import load_data
from gridatlas.claims import ClaimError
from gridatlas.data.signatures import FileSignatures, file_signatures
from gridatlas.hosts.markdown import (
    BELOW_CODE,
    FIRST,
    LAST,
    FencePostprocessor,
    FencePreprocessor,
    HiddenNumbers,
    InlineNumber,
    PendingFence,
    PendingFences,
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
from gridatlas.pages.fence_studies import StudyPages
from gridatlas.results.grids import Results

log = logging.getLogger("gridatlas")

BELOW_MACROS = 34
"""Zensical's macros (35) read all braces of a page, as a preprocessor."""


class StandaloneExtension(Extension):
    """The extension `gridatlas`, with its options."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "data": ["data", "Folder with one folder per study"],
            "cache": ["", "Folder of the cache; empty for none"],
            "downloads": [False, "Whether the site has the files of the grids, in grids/"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the inline numbers, the fence and what fills it."""
        pending = PendingFences()
        page = _Page(
            md,
            pending,
            register_fence(md, pending),
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
    pending: PendingFences
    preprocessor: FencePreprocessor
    data: Path
    cache: str
    downloads: bool

    @property
    def _context(self) -> Any:
        """What Zensical knows of the page; None on other hosts."""
        is_zensical = "rendering_context" in self.md.preprocessors
        return self.md.preprocessors["rendering_context"] if is_zensical else None

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
        keys = self.pending.keys_in(html)
        if not keys:
            return html
        figures = figures_of(
            keys, self.pending, self._fences().fences, self.path, set(), self._failed
        )
        return put_in(html, self.pending, figures)

    def _failed(self, error: FenceError, fence: PendingFence, before: int) -> str:
        where = place(self.name, self._text, error, fence, before)
        raise SuperFencesException(f"gridatlas: {error.message(where)}") from error

    def _fences(self) -> _Loaded:
        folder = self._below(self.data)
        cache = self._below(self.cache) if self.cache else None
        inputs = (file_signatures(folder), cache, self.downloads)
        loaded = _loaded.get(folder)
        if loaded is None or loaded.inputs != inputs:
            loaded = _loaded[folder] = _load(folder, *inputs)
        return loaded


@dataclass(frozen=True)
class _Loaded:
    """A data folder that was read.

    Attributes:
        inputs: What it was made from; where these differ, it is read again.
    """

    fences: Fences
    inputs: tuple[FileSignatures, Path | None, bool]

    @cached_property
    def studies(self) -> Mapping[str, Results]:
        """Their results, which numbers in pages are from."""
        return {
            study_id: assessment.results for study_id, assessment in self.fences.assessments.items()
        }


_loaded: dict[Path, _Loaded] = {}
"""By data folder: hosts make a new extension for every page."""


def _load(folder: Path, signatures: FileSignatures, cache: Path | None, downloads: bool) -> _Loaded:
    assessments = load_data(folder, cache=cache)
    for problem in truncate_list(only_problems(assessments.problems)):
        log.warning("%s", problem)
    pages = StudyPages("studies") if downloads else None  # gridatlas build has written both
    fences = Fences(assessments, cache, files=downloads, pages=pages)
    return _Loaded(fences, (signatures, cache, downloads))
