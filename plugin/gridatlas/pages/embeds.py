"""Fences of a site's pages as HTML, with what was drawn kept in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.charts.pool import draw
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.environment import IN_TEMPLATES, template_problem
from gridatlas.pages.fence import FenceError, figures, parse
from gridatlas.pages.render import Templates


class Fences:
    """Writes the figures that the fences of pages stand for.

    Args:
        known: The studies by their ids.
        cache: Folder where drawings are kept between builds; None keeps nothing.
        templates: The user's own templates.
        broken: Names of those that can't be used.
        files: Whether the site has the grids' files, in `grids/`.
    """

    def __init__(
        self,
        known: Mapping[str, Assessment],
        cache: Path | None = None,
        templates: Path | None = None,
        broken: frozenset[str] = frozenset(),
        files: bool = True,
    ) -> None:
        self.known, self.cache, self.files = known, cache, files
        self.templates = templates
        self._written = Templates(templates, broken, (), SiteAddress())

    def html(self, body: str, page: str, seen: set[str]) -> str:
        """The figures of a fence.

        Args:
            body: What stands in the fence.
            page: Path of the page, or of a file beside its address.
            seen: Ids that the page has already; those of the figures are added.

        Raises:
            FenceError: For a fence that can't be shown, or a template of the user's that fails.
        """
        row = figures(parse(body), self.known)
        drawings = draw([figure.chart for figure in row.figures], self.cache)
        try:
            return self._written.fence(row, page, drawings, seen, self.files)
        except IN_TEMPLATES as error:
            if self.templates is None:
                raise
            problem = template_problem(error, self.templates, "fence.html.jinja")
            raise FenceError(
                f"{problem.place}: {problem.found}", problem.expected, "correct the template"
            ) from error


def error_box(error: FenceError) -> str:
    """What stands in the place of a fence that can't be shown."""
    told = {"found": error.found, "expected": error.expected, "to fix it": error.fix}
    text = "; ".join(f"{name}: {escape(text)}" for name, text in told.items())
    return (
        '<div class="ga-problems ga-fence-error" role="alert" data-search-exclude>'
        f"<p><strong>This grid can’t be shown.</strong> {text}.</p></div>"
    )
