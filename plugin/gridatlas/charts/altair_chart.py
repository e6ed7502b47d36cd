"""A grid as a plain Altair chart, for a notebook to go on with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gridatlas.model.format import name_with_unit
from gridatlas.model.study import Study

if TYPE_CHECKING:
    from altair import Chart as Chart  # noqa: PLC0414 (handed on)

LEVEL_LETTERS = 6
"""Characters up to which labels stay level."""


def altair_chart(study: Study, table: Mapping[str, Sequence[Any]], title: str) -> Chart:
    """The chart of a grid: no configuration, one mark.

    Args:
        table: The grid's cells as columns by name; all of them are the chart's data.
    """
    import altair as alt

    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    across, *rows_of = (list(dict.fromkeys(table[axis.id])) for axis in study.varied)
    down = rows_of[0] if rows_of else []
    if study.y.direction == "up":
        down.reverse()
    value: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": name_with_unit(study.metric.name, study.metric.unit),
    }
    x, *y = (
        dict[str, Any](field=_field(axis.id), type="ordinal", title=axis.title)
        for axis in study.varied
    )
    # The better end is dark.
    scale = alt.Scale(scheme="yellowgreenblue", reverse=study.metric.falls or alt.Undefined)
    level = all(len(str(key)) <= LEVEL_LETTERS for key in across)
    chart: Chart = (
        alt.Chart(alt.InlineData(values=rows), title=title)
        .transform_filter("isValid(datum.value)")
        .mark_rect()
        .encode(
            x=alt.X(
                **x,
                sort=across,
                scale=alt.Scale(domain=across),
                axis=alt.Axis(labelAngle=0 if level else -40),
            ),
            **({"y": alt.Y(**y[0], sort=down, scale=alt.Scale(domain=down))} if y else {}),
            color=alt.Color(**value, scale=scale),
            tooltip=[alt.Tooltip(**field) for field in (x, *y, value)],
        )
    )
    return chart


def _field(name: str) -> str:
    """A column's name as Vega-Lite reads it: dots and brackets would lead into objects."""
    return re.sub(r"([.\[\]\\])", r"\\\1", name)
