"""What Altair makes of our charts: the file of their layers that comes with the package."""

from __future__ import annotations

import json

from heatmap_layers import heatmap_template, panel_template
from plot_layers import (
    dots_template,
    forest_template,
    line_template,
    profile_template,
)

TEMPLATES = {
    "heatmap": heatmap_template,
    "panel": panel_template,
    "line": line_template,
    "dots": dots_template,
    "profile": profile_template,
    "forest": forest_template,
}

ONE_OF = {"cells-values": "cells", "cells-difference": "cells", "best-dashed": "best"}
"""Layers of which a chart has one: what it is called there."""


def written() -> str:
    """The content of the file."""
    charts = {}
    for name, template in TEMPLATES.items():
        whole = template()
        layers = {
            layer["name"]: layer | {"name": ONE_OF.get(layer["name"], layer["name"])}
            for layer in whole["layer"]
        }
        charts[name] = {"chart": whole | {"layer": []}, "layers": layers}
    return json.dumps(charts, indent=1) + "\n"
