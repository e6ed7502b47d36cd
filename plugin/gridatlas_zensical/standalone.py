"""The Markdown extension by itself, for hosts that run no plugin: Zensical, Python-Markdown.

It reads the data where a page first asks for a grid or a number, and again when a file changed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
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
    FailedNumber,
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
from gridatlas.model.inert import get_logger, without_commands
from gridatlas.model.limits import Limits, limited, limits_of
from gridatlas.model.problems import only_problems, truncate_list
from gridatlas.pages.environment import check_templates
from gridatlas.pages.fence import FenceError, error_box
from gridatlas.pages.fences import Fences, StudyPages
from gridatlas.table.grids import Results

log = get_logger("gridatlas")


def data_line(digest: str) -> str:
    """A last line of a page that says what it was made from; it isn't shown.

    A host that keeps pages until they change makes the page anew with the data.
    """
    return f"\n\n<!-- gridatlas {digest} -->\n"


_DATA_LINE = re.compile(r"\s*<!-- gridatlas [0-9a-f]+ -->\s*\Z")

BELOW_MACROS = 34
"""Zensical's macros (35) read all braces of a page, as a preprocessor."""


class StandaloneExtension(Extension):
    """The extension `gridatlas`, with its options."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "data": ["data", "Folder with one folder per study"],
            "cache": ["", "Folder of the cache; empty for none"],
            "downloads": [False, "Whether the site has the files of the grids, in grids/"],
            "into": ["studies", "Folder of the pages, for links to them"],
            "templates": ["", "Folder of templates that override ours by name; empty for none"],
            "limits": [{}, "How large input may be, by names"],
            "faults": ["", "File that faults are added to, for the command that runs the host"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the inline numbers, the fence and what fills it."""
        pending = PendingFences()
        page = _Page(md, pending, register_fence(md, pending), _Options(**self.getConfigs()))
        md.inlinePatterns.register(InlineNumber(md, page.number), "gridatlas", BELOW_CODE)
        hidden = HiddenNumbers()
        for name, change, priority in (
            ("gridatlas-data", lambda text: _DATA_LINE.sub("", text), FIRST + 1),
            ("gridatlas-hide", hidden.hide, FIRST - 1),
            ("gridatlas-show", hidden.show, BELOW_MACROS),
        ):
            md.preprocessors.register(TextPreprocessor(md, change), name, priority)
        md.postprocessors.register(FencePostprocessor(md, page.finish), "gridatlas", LAST)


@dataclass(frozen=True, slots=True)
class _Options:
    data: str
    cache: str
    downloads: bool
    into: str
    templates: str
    limits: dict[str, int]
    faults: str


@dataclass(frozen=True, slots=True)
class _Page:
    """The page that a Markdown instance is rendering."""

    md: Markdown
    pending: PendingFences
    preprocessor: FencePreprocessor
    options: _Options

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
        """The text in the place of an expression; what is wrong with it, if it can't be given.

        Raises:
            SuperFencesException: In a strict build. No other error would end it on every host.
        """
        try:
            return number(expression, self._fences().studies)
        except ClaimError as error:
            self._report(f"gridatlas: {self.name}: a number is missing\n{error}", error)
            return FailedNumber(f"({error.message})")

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
        self._report(f"gridatlas: {error.message(where)}", error)
        return error_box(error)

    def _report(self, message: str, error: Exception) -> None:
        """Tell of a fault: the command that runs the host, or whoever reads its messages."""
        if self.options.faults:
            with self._below(self.options.faults).open("a", encoding="utf-8") as file:
                file.write(json.dumps(message, ensure_ascii=False) + "\n")
        elif self._is_strict:
            raise SuperFencesException(without_commands(message)) from error
        else:
            log.warning("%s", message)

    @property
    def _is_strict(self) -> bool:
        """Whether faults end the build. Python-Markdown alone has no messages for a reader."""
        if self._context is None:
            return True
        # Zensical's own option comes from the command line, and tells Python nothing.
        return bool(self._context.config["strict"] or {"--strict", "-s"} & {*sys.argv[1:]})

    def _fences(self) -> _Loaded:
        options = self.options
        folder = self._below(options.data)
        cache = self._below(options.cache) if options.cache else None
        templates = self._below(options.templates) if options.templates else None
        directories = self._context is None or self._context.config["use_directory_urls"]
        pages = StudyPages(options.into, "" if directories else "index.html")
        inputs = _Inputs(
            file_signatures(folder),
            cache,
            templates,
            file_signatures(templates) if templates else {},
            pages if options.downloads else None,
            limits_of(options.limits),
        )
        loaded = _loaded.get(folder)
        if loaded is None or loaded.inputs != inputs:
            loaded = _loaded[folder] = _load(folder, inputs, quiet=bool(options.faults))
        return loaded


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What figures and numbers are made from.

    Attributes:
        pages: Where `gridatlas build` has written pages, and files of the grids; None for nowhere.
    """

    data: FileSignatures
    cache: Path | None
    templates: Path | None
    template_files: FileSignatures
    pages: StudyPages | None
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A data folder that was read.

    Attributes:
        inputs: What it was made from; where these differ, it is read again.
        studies: The results, which numbers in pages are from.
    """

    inputs: _Inputs
    fences: Fences
    studies: Mapping[str, Results]


_loaded: dict[Path, _Loaded] = {}
"""By data folder: hosts make a new extension for every page."""


def _load(folder: Path, inputs: _Inputs, quiet: bool) -> _Loaded:
    """The data and what fences are made with.

    Args:
        quiet: Whether somebody else tells what is wrong with the data.
    """
    with limited(inputs.limits):
        assessments = load_data(folder, cache=inputs.cache)
    for problem in truncate_list([] if quiet else only_problems(assessments.problems)):
        log.warning("%s", problem)
    templates, pages = inputs.templates, inputs.pages
    broken = check_templates(templates)[0] if templates else frozenset[str]()
    fences = Fences(assessments, inputs.cache, templates, broken, pages is not None, pages)
    return _Loaded(inputs, fences, assessments.results)
