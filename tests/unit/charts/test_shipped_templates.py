"""Specifications in the package: Vega-Lite, and as the code that puts data into them expects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import altair
import jsonschema
import pytest
import vl_convert

from gridatlas.charts import dots, forest
from gridatlas.charts.palette import BLACK_UP_TO
from gridatlas.charts.plotting import (
    ACCENT,
    FILE,
    INK,
    KEY_LIMIT,
    LABEL_LIMIT,
    TITLE_LIMIT,
    chart_of,
)

CHARTS: dict[str, Any] = json.loads(FILE.read_text("utf-8"))


def found(content: Any, key: str) -> Iterator[Any]:
    """What stands under a key, wherever it is."""
    if isinstance(content, dict):
        for name, below in content.items():
            if name == key:
                yield below
            yield from found(below, key)
    elif isinstance(content, list):
        for below in content:
            yield from found(below, key)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_vega_lite(name: str) -> None:
    """Altair knows its schema; Vega answers some mistakes with an empty chart."""
    chart = chart_of(name)
    # Of Vega, which places several legends in columns by it.
    chart["config"].get("legend", {}).pop("layout", None)
    altair.LayerChart.from_dict(chart)
    chart["layer"][0]["mark"]["type"] = "rectangle"
    with pytest.raises(jsonschema.ValidationError):
        altair.LayerChart.from_dict(chart)


def test_charts_are_of_the_version_that_draws_them() -> None:
    """A browser draws them, too, with the Vega-Lite that vl-convert brings."""
    names = {chart["chart"]["$schema"] for chart in CHARTS.values()}
    [version] = {re.findall(r"/vega-lite/v(\d+)\.[\d.]+\.json$", name)[0] for name in names}
    assert version == vl_convert.get_vegalite_versions()[-1].partition(".")[0]


def test_all_charts_look_alike() -> None:
    """A heatmap alone has more: its legend."""
    looks = [{**chart["chart"]["config"], "legend": 0} for chart in CHARTS.values()]
    assert all(look == looks[0] for look in looks)


def test_texts_are_cut_where_the_code_counts_on_it() -> None:
    """It replaces what can't be cut in texts that are longer."""
    assert {*found(CHARTS, "titleLimit")} == {TITLE_LIMIT}
    assert {*found(CHARTS, "labelLimit")} == {LABEL_LIMIT, KEY_LIMIT}
    assert {*found([*found(CHARTS, "legend")], "labelLimit")} == {KEY_LIMIT}
    assert {*found([*found(CHARTS, "axis")], "labelLimit")} == {LABEL_LIMIT}
    assert {*found(CHARTS, "limit")} == {LABEL_LIMIT}


@pytest.mark.parametrize(("name", "plot"), [("dots", dots), ("forest", forest)])
def test_texts_of_rows_are_beside_the_axis(name: str, plot: Any) -> None:
    texts = [CHARTS[name]["layers"][layer]["mark"]["dx"] for layer in ("texts", "bold-texts")]
    assert texts == [plot.WIDTH + 10] * 2


def test_colours_are_those_of_the_code() -> None:
    assert CHARTS["dots"]["layers"]["band"]["mark"]["fill"] == ACCENT
    assert CHARTS["dots"]["layers"]["names"]["mark"]["color"] == INK
    tests = [test for test in found(CHARTS, "test") if "luminance" in test]
    assert tests
    assert all(test.endswith(f") > {BLACK_UP_TO}") for test in tests)


def test_who_changes_a_chart_changes_no_other() -> None:
    chart_of("dots")["layer"][0]["mark"]["opacity"] = 1
    chart_of("dots")["config"].clear()
    assert chart_of("dots")["layer"][0]["mark"]["opacity"] < 1
    assert chart_of("dots")["config"]
