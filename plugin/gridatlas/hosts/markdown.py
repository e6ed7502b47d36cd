"""Grids and numbers in any Markdown page, for every host that renders with Python-Markdown.

The fence ```` ```grid ```` gives heatmaps, and `{{ grid(...).best.value }}` a number. A fence first
becomes a placeholder; the figure is put in when the page is finished, so that nothing between has
to read it, and so that a fence that in the end is only code asks for nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from html import escape
from inspect import signature
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.util import AtomicString
from pymdownx.superfences import SuperFencesCodeExtension, SuperFencesException

from gridatlas.claims import evaluate_value
from gridatlas.hosts import fence_lines
from gridatlas.model.format import format_value, places_of
from gridatlas.pages.fence import FenceError
from gridatlas.pages.fences import Fences
from gridatlas.pages.page import placeholder
from gridatlas.table.grids import Results

EXPRESSION = r"\{\{\s*(grid\((?:[^{}]|\{[^{}]*\})*)\}\}"
"""Only braces that begin with `grid(`: all others belong to somebody else."""
BELOW_CODE = 185
"""Code spans (190) are taken out before; escapes and emphasis (180 and less) come after."""


def number(expression: str, studies: Mapping[str, Results]) -> str:
    """The text that stands in the place of an expression.

    A value stands as printed; one with more than four decimals (a mean) is rounded to two.

    Raises:
        ClaimError: For an expression that is wrong, or whose value is absent.
    """
    value = evaluate_value(expression, studies, None)
    if not isinstance(value, Decimal):
        return str(value)
    return f"{value:f}" if places_of(value) <= 4 else format_value(value, 2)


class FailedNumber(str):
    """Why the value of an expression can't be given, to stand in its place."""


class InlineNumber(InlineProcessor):
    """Puts the value of an expression in its place."""

    def __init__(self, markdown: Markdown, resolve: Callable[[str], str]) -> None:
        super().__init__(EXPRESSION, markdown)
        self.resolve = resolve

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        """A `span` with the number as text, never as markup; marked where there is none."""
        text = self.resolve(m[1].rstrip())
        # Every browser highlights a `mark`, also without our stylesheet.
        failed = isinstance(text, FailedNumber)
        found = Element("mark" if failed else "span", {"class": "ga-number"})
        found.text = AtomicString(text)
        return found, m.start(0), m.end(0)


class HiddenNumbers:
    """The braces of numbers while other plugins render a page: they may take them for their own.

    A name takes the place of the braces, and gives way to them again. In which of them Markdown
    sees a number, and in which only code, is for Markdown to say.
    """

    def __init__(self) -> None:
        self._braces: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """A text with names in the place of braces."""
        return _NUMBER.sub(self._hidden, text)

    def _hidden(self, match: re.Match[str]) -> str:
        name = f"gridatlas-number-{hashlib.sha256(match[0].encode()).hexdigest()[:16]}"
        self._braces[name] = match[0]
        return name

    def show(self, text: str) -> str:
        """The text with its braces again."""
        return _NAME.sub(lambda match: self._braces.get(match[0], match[0]), text)


_NUMBER = re.compile(EXPRESSION)
_NAME = re.compile(r"gridatlas-number-[0-9a-f]{16}")


class TextPreprocessor(Preprocessor):
    """Changes the text of a page as a whole."""

    def __init__(self, markdown: Markdown, change: Callable[[str], str]) -> None:
        super().__init__(markdown)
        self.change = change

    def run(self, lines: list[str]) -> list[str]:
        """The lines of the changed text."""
        return self.change("\n".join(lines)).split("\n")


def with_numbers(text: str, resolve: Callable[[str], str]) -> str:
    """A text with numbers in the place of their braces, as HTML: a title is no Markdown."""
    return _NUMBER.sub(lambda match: escape(resolve(match[1].rstrip())), text)


# --- fences -------------------------------------------------------------------------------------

FIRST = 1000
"""Before every other preprocessor, which may take the fence's lines for something else."""
LAST = 1
"""After every other postprocessor: what is put in stays as it is."""
_PLACEHOLDER = re.compile(r'<div data-gridatlas="(fence-[0-9a-f]{16})"></div>')


@dataclass(frozen=True, slots=True)
class PendingFence:
    """What a fence has: its body, and what is wrong with its first line.

    Attributes:
        header: What stands behind the word `grid`, where nothing may stand.
        closed: Whether it is ended.
    """

    body: str
    header: str = ""
    closed: bool = True

    @property
    def key(self) -> str:
        """Key of its placeholder; the same for the same fence."""
        content = "\0".join((self.body, self.header, "" if self.closed else "open"))
        return f"fence-{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def html(self, fences: Fences, page: str, seen: set[str]) -> str:
        """The figures; arguments as for `Fences.html`.

        Raises:
            FenceError: For a fence that can't be shown.
        """
        if not self.closed:
            raise FenceError(
                "a fence that isn't ended",
                "a last line with the same backticks as the first, and all lines indented as that",
                "add that line, or indent the fence's lines alike",
            )
        if self.header:
            raise FenceError(
                f'"{self.header}" after the word grid',
                "the word alone in the first line, and options in lines of their own",
                "write each option in a line below the address, such as `scale: shared`",
            )
        return fences.html(self.body, page, seen)


class PendingFences(dict[str, PendingFence]):
    """The fences of all pages by the keys of their placeholders."""

    def keys_in(self, html: str) -> list[str]:
        """The keys of the placeholders in a page, from top to bottom."""
        return [key for key in _PLACEHOLDER.findall(html) if key in self]


Failed = Callable[[FenceError, PendingFence, int], str]
"""Gives what stands in the place of a fence that can't be shown, or raises: with the error, the
fence, and how many like it came before on the page."""


def figures_of(
    keys: Iterable[str],
    pending: Mapping[str, PendingFence],
    fences: Fences,
    page: str,
    seen: set[str],
    failed: Failed,
) -> list[str]:
    """What takes the place of the placeholders of a page, from top to bottom.

    Args:
        page: Path of the page, or of a file beside its address.
        seen: Ids on the page; those of the figures are added.
    """
    found = []
    before: dict[str, int] = {}
    for key in keys:
        try:
            found.append(pending[key].html(fences, page, seen))
        except FenceError as error:
            found.append(failed(error, pending[key], before.get(key, 0)))
        before[key] = before.get(key, 0) + 1
    return found


def put_in(html: str, pending: Mapping[str, PendingFence], figures: Sequence[str]) -> str:
    """A page with figures in the place of their placeholders, in turn."""
    rest = iter(figures)
    return _PLACEHOLDER.sub(lambda match: next(rest) if match[1] in pending else match[0], html)


def place(page: str, text: str, error: FenceError, fence: PendingFence, before: int) -> str:
    """Where a fence is wrong, such as `docs/index.md:12`; only the page where no line is known.

    Args:
        page: The page's name in messages.
        text: The page's Markdown.
        before: How many fences like it come before.
    """
    alike = _lines_of_fences(text).get((fence.closed, _bare(fence.body)), [])
    return f"{page}:{alike[before] + error.line}" if before < len(alike) else page


@lru_cache(maxsize=1)
def _lines_of_fences(text: str) -> dict[tuple[bool, tuple[str, ...]], list[int]]:
    """The lines of a page's fences, by whether they are ended and what stands in them."""
    found: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
    for fence in fence_lines.fences(text.splitlines()):
        found.setdefault((fence.closed, _bare(fence.body)), []).append(fence.line)
    return found


def _bare(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


class FencePreprocessor(Preprocessor):
    """Teaches superfences the fence; it works in tabs, admonitions, lists and quotes as well."""

    def __init__(self, markdown: Markdown, pending: PendingFences) -> None:
        super().__init__(markdown)
        self.pending = pending
        self.text = ""

    def run(self, lines: list[str]) -> list[str]:
        """Add the fence where superfences doesn't know it yet, and look for faulty ones."""
        self.text = "\n".join(lines)
        extension = getattr(self.md.preprocessors["fenced_code_block"], "extension", None)
        if not isinstance(extension, SuperFencesCodeExtension):
            raise SuperFencesException(
                "gridatlas: another extension has taken the place of pymdownx.superfences; "
                "list gridatlas after it, or remove fenced_code"
            )
        if not any(superfence["name"] == "grid" for superfence in extension.superfences):
            # Since pymdown-extensions 12.1 it takes a fourth: what is forgotten between pages.
            taken = len(signature(extension.extend_super_fences).parameters)
            extension.extend_super_fences(*("grid", self.formatted, _accepted, None)[:taken])
        return fence_lines.with_faults(lines)

    def formatted(self, src: str = "", options: Any = None, **_: object) -> str:
        """The placeholder of a fence."""
        options = options or {}
        header = options.get(fence_lines.HEADER, "")
        fence = PendingFence(src, header, fence_lines.UNCLOSED not in options)
        self.pending[fence.key] = fence
        return placeholder(fence.key)


def _accepted(_: str, inputs: dict[str, str], options: dict[str, str], *__: object) -> bool:
    """Accept any first line, so that a faulty one is reported instead of shown as text."""
    options.update(inputs)
    return True


class GridAtlasExtension(Extension):
    """What a host gives pages: numbers, and fences as placeholders that it fills itself.

    Args:
        resolve: Turns an expression into the text that stands in its place.
        pending: Where fences are collected; None leaves them alone.
    """

    def __init__(self, resolve: Callable[[str], str], pending: PendingFences | None = None) -> None:
        super().__init__()
        self.resolve, self.pending = resolve, pending

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the inline numbers and the fence."""
        md.inlinePatterns.register(InlineNumber(md, self.resolve), "gridatlas", BELOW_CODE)
        if self.pending is not None:
            register_fence(md, self.pending)


def register_fence(md: Markdown, pending: PendingFences) -> FencePreprocessor:
    """Make a Markdown instance know the fence, with superfences if it is without."""
    extension = "fenced_code_block" in md.preprocessors and getattr(
        md.preprocessors["fenced_code_block"], "extension", None
    )
    if not isinstance(extension, SuperFencesCodeExtension):
        md.registerExtensions(["pymdownx.superfences"], {})
    processor = FencePreprocessor(md, pending)
    md.preprocessors.register(processor, "gridatlas", FIRST)
    return processor


class FencePostprocessor(Postprocessor):
    """Puts the figures in, for hosts that have no later step."""

    def __init__(self, markdown: Markdown, finish: Callable[[str], str]) -> None:
        super().__init__(markdown)
        self.finish = finish

    def run(self, text: str) -> str:
        """The page with its figures."""
        return self.finish(text)
