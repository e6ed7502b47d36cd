"""What a page shows is laid out when it is asked for: of a page in the cache, never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from builders import real_data

from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.pages import plan


def test_a_page_is_laid_out_once_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[str] = []

    def counted(name: str, lay_out: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: laid_out.append(name) or lay_out(*given)

    for name in ("study_anatomy", "facet_anatomy", "level_anatomy"):
        monkeypatch.setattr(plan, name, counted(name, getattr(plan, name)))
    pages = plan.plan_study(real_data()["digits-pass-1"], "studies")
    assert laid_out == []
    level = next(page for page in pages if page.template == "level.md.jinja")
    assert level.rows
    assert level.main_grid
    assert laid_out == ["level_anatomy"]
    checks, reproduction = (page for page in pages if page.anatomy is None)
    assert (checks.nav_title, reproduction.nav_title) == ("Checks", "Runs")


@pytest.mark.parametrize("study", ["digits-pass-1", "dynts-window-ratio", "grpo-digits"])
def test_no_row_of_heatmaps_mixes_values_with_differences(study: str) -> None:
    """Equal colours on a page are equal values, or equal differences, wherever they stand."""
    for page in plan.plan_study(real_data()[study], "studies"):
        drawn = [
            {figure.heatmap.scale for figure in row.figures if isinstance(figure.chart, Heatmap)}
            for row in page.rows
        ]
        assert {len(scales) for scales in drawn} <= {0, 1}, page.path
        every = {scale for scales in drawn for scale in scales}
        assert len(every) == len({(of.palette, of.centred) for of in every}), page.path
