"""What the picture of a page shows where somebody links to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from gridatlas.assessment.answers.answer import Answer, Grade
from gridatlas.charts.card import SocialCard
from gridatlas.charts.heatmap import Heatmap
from gridatlas.model.addresses import SiteAddress
from gridatlas.pages.figure import Figure
from gridatlas.pages.plan import PagePlan

CERTAINTY: Mapping[Grade, str] = {
    "clear": "Clear",
    "likely": "Likely",
    "not-shown": "Nothing shown beyond chance",
    "untestable": "Can't be tested",
    "reading-dependent": "Depends on the reading",
    "described": "",
}
"""How surely an answer holds, in the words of a card."""


def card_path(plan: PagePlan) -> str:
    """Path of a page's picture: beside it."""
    return f"{plan.path.rpartition('/')[0]}/card.png"


def social_card(plan: PagePlan, site: SiteAddress) -> SocialCard:
    """The picture of a page: what it leads with, and its first heatmap."""
    return replace(_texts(plan, site), thumbnail=_thumbnail(plan, plan.context.get("answer")))


def card_description(plan: PagePlan, site: SiteAddress) -> str:
    """A text in the place of the picture; nothing is laid out for it."""
    return _texts(plan, site).description


def _texts(plan: PagePlan, site: SiteAddress) -> SocialCard:
    """A page's picture without its heatmap."""
    answer: Answer | None = plan.context.get("answer")
    line = plan.context.get("verdict") or plan.context.get("line")
    study = plan.context.get("study")
    address = urlsplit(site.root)
    return SocialCard(
        headline=answer.sentence if answer else line or plan.title,
        study=study.title if study else plan.nav_title,
        certainty=CERTAINTY[answer.grade] if answer else "",
        site=f"{address.netloc}{address.path}".strip("/"),
        thumbnail=None,
    )


def _thumbnail(plan: PagePlan, answer: Answer | None) -> Heatmap | None:
    """Of the page's heatmaps the first one that is most about what it leads with."""
    named = {key for levels, _ in answer.cells for key in levels} if answer else set()
    figures = [
        figure for row in plan.rows for figure in row.figures if isinstance(figure.chart, Heatmap)
    ]

    def named_levels(figure: Figure) -> int:
        return len(named.intersection(figure.grid.levels)) if figure.grid else 0

    return max(figures, key=named_levels).heatmap if figures else None
