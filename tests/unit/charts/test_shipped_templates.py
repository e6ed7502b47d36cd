"""Layers in the package: what Altair makes, and as the code that puts data into them expects."""

import json
import re

import vl_convert

from gridatlas.charts.plotting import FILE, chart_of
from layers import written

CHARTS = json.loads(FILE.read_text("utf-8"))


def test_the_package_has_what_altair_makes():
    """`make vega` writes it. Each version of Altair names another version of the schema."""
    shipped, made = (_VERSION.sub("", text) for text in (FILE.read_text("utf-8"), written()))
    assert shipped == made
    assert "vega-lite/.json" in shipped


_VERSION = re.compile(r"(?<=/vega-lite/)v[\d.]+\d(?=\.json)")


def test_charts_are_of_the_version_that_draws_them():
    """A browser draws them, too, with the Vega-Lite that vl-convert brings."""
    names = {chart["chart"]["$schema"] for chart in CHARTS.values()}
    [version] = {re.findall(r"/vega-lite/v(\d+)\.[\d.]+\.json$", name)[0] for name in names}
    assert version == vl_convert.get_vegalite_versions()[-1].partition(".")[0]


def test_all_charts_look_alike():
    """A heatmap alone has more: its legend."""
    looks = [{**chart["chart"]["config"], "legend": 0} for chart in CHARTS.values()]
    assert all(look == looks[0] for look in looks)


def test_who_changes_a_chart_changes_no_other():
    chart_of("dots")["layer"][0]["mark"]["opacity"] = 1
    chart_of("dots")["config"].clear()
    assert chart_of("dots")["layer"][0]["mark"]["opacity"] < 1
    assert chart_of("dots")["config"]
