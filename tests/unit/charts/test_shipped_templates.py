"""Specifications in the package: they are what Altair makes of the functions that use it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from chart_templates import SHAPES, written

from gridatlas.charts.shipped import FILE, chart_of
from gridatlas.charts.templates import heatmap_template, line_template, panel_template


def test_the_package_has_what_altair_makes() -> None:
    """`make vega` writes it. Each version of Altair names another version of the schema."""
    shipped, made = (_VERSION.sub("", text) for text in (FILE.read_text("utf-8"), written()))
    assert shipped == made
    assert "vega-lite/.json" in shipped


_VERSION = re.compile(r"(?<=/vega-lite/)v[\d.]+\d(?=\.json)")


CELLS, KINDS = "cells-values", {"values": "cells-values", "difference": "cells-difference"}


@pytest.mark.parametrize(
    ("name", "layers", "whole"),
    [
        *(
            ("heatmap", [layer], heatmap_template(kind, False, [], outlined=False))  # type: ignore[arg-type]
            for kind, layer in KINDS.items()
        ),
        ("heatmap", [CELLS, "absent"], heatmap_template("values", False, ["absent"], False)),
        (
            "heatmap",
            [CELLS, "values", "doubt", "best", "inner", "outline"],
            heatmap_template("values", True, ["doubt", "best"], outlined=True),
        ),
        (
            "heatmap",
            [CELLS, "values", *SHAPES, "inner", "outline"],
            heatmap_template("values", True, SHAPES, outlined=True),
        ),
        ("panel", ["cells"], panel_template(False, [], [], dashed=False, labelled=False)),
        (
            "panel-labelled",
            ["cells", "values", "kept", "best"],
            panel_template(True, ["kept", "best"], [], dashed=False, labelled=True),
        ),
        (
            "panel-labelled",
            ["cells", "values", "absent", "best-dashed", "outline", "rivals"],
            panel_template(
                True, ["absent", "best"], ["outline", "rivals"], dashed=True, labelled=True
            ),
        ),
        ("line", ["interval", "line", "points"], line_template(printed=False)),
        ("line", [], line_template(printed=True)),
    ],
)
def test_some_layers_of_a_chart_are_what_altair_makes_of_them(
    name: str, layers: list[str], whole: dict[str, Any]
) -> None:
    assert chart_of(name, layers) | {"$schema": whole["$schema"]} == whole


def test_who_changes_a_chart_changes_no_other() -> None:
    chart_of("dots")["layer"][0]["mark"]["opacity"] = 1
    chart_of("dots")["config"].clear()
    assert chart_of("dots")["layer"][0]["mark"]["opacity"] < 1
    assert chart_of("dots")["config"]
