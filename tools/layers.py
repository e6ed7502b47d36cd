"""What Altair makes of our charts: the file of their layers that comes with the package."""

from __future__ import annotations

import json

from plot_layers import (
    dots_template,
    forest_template,
    line_template,
    profile_template,
    rows_template,
    sweep_template,
)

TEMPLATES = {
    "line": line_template,
    "dots": dots_template,
    "profile": profile_template,
    "forest": forest_template,
    "rows": rows_template,
    "sweep": sweep_template,
}


def written() -> str:
    """The content of the file."""
    charts = {}
    for name, template in TEMPLATES.items():
        whole = template()
        layers = {layer["name"]: layer for layer in whole["layer"]}
        charts[name] = {"chart": whole | {"layer": []}, "layers": layers}
    return json.dumps(charts, indent=1) + "\n"
