"""Numbers from the data in any Markdown page: `{{ grid(...).best.value }}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import AtomicString

from gridatlas.analyse import Results
from gridatlas.claims import evaluate_value

EXPRESSION = r"\{\{\s*(grid\((?:[^{}]|\{[^{}]*\})*?)\s*\}\}"
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
    return f"{value:f}" if value.as_tuple().exponent >= -4 else f"{value:.2f}"  # type: ignore[operator]


class InlineNumber(InlineProcessor):
    """Puts the value of an expression in its place."""

    def __init__(self, markdown: Markdown, resolve: Callable[[str], str]) -> None:
        super().__init__(EXPRESSION, markdown)
        self.resolve = resolve

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        """A `span` with the number as text, never as markup."""
        span = Element("span", {"class": "ga-number"})
        span.text = AtomicString(self.resolve(m[1]))
        return span, m.start(0), m.end(0)


class GridAtlasExtension(Extension):
    """The extension; `resolve` turns an expression into the text that stands in its place."""

    def __init__(self, resolve: Callable[[str], str]) -> None:
        super().__init__()
        self.resolve = resolve

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the inline numbers."""
        md.inlinePatterns.register(InlineNumber(md, self.resolve), "gridatlas", BELOW_CODE)
