"""What Altair makes of our specifications: the file of them that comes with the package."""

from __future__ import annotations

import json
from typing import Any

from gridatlas.charts.dots import dots_template
from gridatlas.charts.forest import forest_template
from gridatlas.charts.profile import profile_template
from gridatlas.charts.templates import heatmap_template, line_template, panel_template

SHAPES = ("absent", "doubt", "kept", "best")


def written() -> str:
    """The content of the file."""
    best_dashed = panel_template(True, ["best"], [], dashed=True, labelled=False)
    differences = heatmap_template("difference", True, [], outlined=False)
    dashed = {"best-dashed": _layers(best_dashed)["best"]}
    values = _parts(heatmap_template("values", True, SHAPES, outlined=True))
    layers = values["layers"]
    values["layers"] = {
        "cells-values": layers.pop("cells"),
        "cells-difference": _layers(differences)["cells"],
        **layers,
    }
    charts: dict[str, Any] = {"heatmap": values}
    for name, labelled in (("panel", False), ("panel-labelled", True)):
        whole = panel_template(True, SHAPES, ["outline", "rivals"], dashed=False, labelled=labelled)
        charts[name] = _parts(whole)
        charts[name]["layers"] |= dashed
    others = {
        "line": line_template(printed=True),
        "dots": dots_template(),
        "profile": profile_template(),
        "forest": forest_template(),
    }
    charts |= {name: _parts(whole) for name, whole in others.items()}
    return json.dumps(charts, indent=1) + "\n"


def _parts(whole: dict[str, Any]) -> dict[str, Any]:
    return {"chart": whole | {"layer": []}, "layers": _layers(whole)}


def _layers(whole: dict[str, Any]) -> dict[str, Any]:
    return {layer["name"]: layer for layer in whole["layer"]}
