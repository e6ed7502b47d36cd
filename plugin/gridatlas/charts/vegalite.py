"""The Vega-Lite specification of a heatmap: layers of rect, text, point and rule, data inline.

Strings from data are only ever values of data, titles and domains, never expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from gridatlas.charts.marks import (
    ABSENT,
    NOT_COMPARED,
    RUNNING,
    SEVERAL,
    WORDS,
    CellMark,
    MarkKind,
    Segment,
    is_dash,
    lows,
    marks_of,
)
from gridatlas.charts.palette import FADED, INK, STEPS, colours, ink
from gridatlas.charts.plotting import INK as TEXT
from gridatlas.charts.plotting import (
    KEY_LIMIT,
    LABEL_LIMIT,
    LETTER,
    LINE,
    PLOT_WIDTH,
    TITLE_LIMIT,
    chart_of,
    drawable_labels,
    drawable_text,
    is_drawable,
    labels_below,
    narrowest,
    round_step,
    shown,
)

if TYPE_CHECKING:
    from gridatlas.charts.kinds.heatmap import Heatmap

MUTED = "#56646b"
LABELLED = {"whole": 420, "large": 480, "panel": 230}
"""Pixels across that cells may take in all to be as wide as their labels."""
UNPRINTED = 500
"""Pixels that the cells of a grid without numbers take at most, across and down."""
MOST_TICKS = 10
"""Labels along an axis of a grid without numbers."""
THUMBNAIL = 120, 96
"""Most pixels of all cells of a thumbnail, across and down."""
FONT = {"whole": 12, "large": 13, "panel": 12, "thumbnail": 12}
"""Pixels of the values in cells."""
LABEL, SCALED = 12, 15
"""Pixels of the labels of levels; of a grid that is scaled."""
MEANS = 18
"""Height of the line of means above a grid."""
BESIDE = 48
"""Width of the column of means at the right of a grid."""
COURSE, COURSE_GAP = 24, 5
"""Pixels between the lowest and the highest mean of a line at an edge, and from it to the grid."""
ABOVE = COURSE + COURSE_GAP
STRIP = 190, 10
"""Width and height of the legend's strip of colours."""
KEYS: Mapping[MarkKind, str] = {
    "outline": "what the headline says",
    "best": "{extreme} seen",
    "ring": "may be the best",
    "corner": "readings differ",
    "open-corner": "one reading only",
    "region": "{region}",
    "low": "worse, by more than 15 % of the scale",
    "missing": "no value",
}
"""What the legend calls the marks; of faded cells the caption says what they are."""


def specification(heatmap: Heatmap) -> dict[str, Any]:
    """The complete Vega-Lite specification of a heatmap."""
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    width, height = cell_size(heatmap)
    whole = heatmap.size == "whole"
    # A grid without numbers is scaled to a phone, of which its labels must stay legible.
    label = SCALED if heatmap.size in ("large", "panel") and not heatmap.printed else LABEL
    few = _few(heatmap, heatmap.x_labels)
    below, _ = labels_below(heatmap.x_labels, width * LABEL // label, few)
    axes = None if heatmap.size == "thumbnail" else _axes(heatmap, below, height)
    return {
        "$schema": chart_of("line")["$schema"],
        "description": heatmap.description,
        "background": "transparent",
        "config": {
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": {
                "labelColor": TEXT,
                "titleColor": TEXT,
                "labelFontSize": label,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "titlePadding": 8,
                "titleLimit": TITLE_LIMIT,
            },
        },
        **(_title(heatmap) if whole else {}),
        "width": width * nx,
        "height": height * ny,
        "data": {"values": [row_of(heatmap, mark) for mark in heatmap.marks]},
        "encoding": {
            axis: {
                "field": axis,
                "type": "nominal",
                "sort": None,
                "title": title if whole else None,
                "axis": axes and axes[axis],
                "scale": {"domain": list(labels), "paddingInner": 0, "paddingOuter": 0},
            }
            for axis, title, labels in (
                ("x", heatmap.x_title, heatmap.x_labels),
                ("y", heatmap.y_title, heatmap.y_labels),
            )
        },
        "resolve": {"scale": {"shape": "independent"}},
        "layer": [layer for layer in layers(heatmap, width, height) if layer],
    }


def _title(heatmap: Heatmap) -> dict[str, Any]:
    return {
        "title": {
            "text": heatmap.title,
            "anchor": "start",
            "fontSize": 14,
            "color": TEXT,
            "offset": 8 + (MEANS if heatmap.x_means else ABOVE if heatmap.x_course else 0),
            "aria": False,
        }
    }


def _axes(heatmap: Heatmap, below: Mapping[str, Any], height: int) -> dict[str, dict[str, Any]]:
    """Both axes, with labels thinned so that none overlap."""
    shared: dict[str, Any] = dict.fromkeys(("ticks", "domain", "aria"), False)
    shared |= {"labelLimit": LABEL_LIMIT, "labelPadding": 6}
    # Counted from the first level on, so that numbers are round where the levels are.
    from_first = heatmap.y_labels[::-1] if heatmap.upwards else heatmap.y_labels
    every = max(round_step(LINE / height), _few(heatmap, from_first))
    return {"x": {**shared, **below}, "y": shared | shown(from_first, every)}


def _few(heatmap: Heatmap, labels: Sequence[str]) -> int:
    return 1 if heatmap.printed else round_step(len(labels) / MOST_TICKS)


# --- sizes ----------------------------------------------------------------------------------------


def cell_size(heatmap: Heatmap) -> tuple[int, int]:
    """Width and height of a cell in pixels; the same for all of a view with such levels."""
    nx, ny = len(heatmap.x_labels), len(heatmap.y_labels)
    if heatmap.size == "thumbnail":
        across, down = THUMBNAIL
        return max(across // nx, 1), max(min(down // ny, across // nx), 1)
    if not heatmap.printed:
        side = max(2, min(UNPRINTED // max(nx, ny), 28))
        return max(side, min(28, 120 // nx)), max(side, min(28, 120 // ny))
    text = ceil((heatmap.letters or heatmap.longest) * FONT[heatmap.size] * 0.6) + 6
    label = narrowest(heatmap.x_labels)
    text = max(text, label if label * nx <= LABELLED[heatmap.size] else 0)
    if heatmap.size == "panel":
        return max(text, 30 if nx <= 12 else 24), 26 if ny <= 12 else 20
    if heatmap.size == "large":
        wide = max(text, min(66, 420 // nx))
        return wide, min(48, max(30 if ny <= 12 else 20, 240 // ny))
    width = min(max(ceil(PLOT_WIDTH / nx), text), max(64, text))
    return width, max(min(width, 42), 30) if ny <= 12 and nx <= 12 else max(min(width, 42), 20)


def font_size(heatmap: Heatmap) -> int:
    """Pixels of the values in cells."""
    return FONT[heatmap.size]


# --- layers, from the lowest up -------------------------------------------------------------------


def layers(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """The layers of a heatmap; None for those without a mark."""
    marks = {*marks_of([heatmap])}
    thumb, size = heatmap.size == "thumbnail", font_size(heatmap)
    small = min(width, height)
    at_foot = 0 if not heatmap.printed else height / 2 - 5
    corner = max(width, height) ** 2
    return [
        _layer(
            "cells",
            {"type": "rect", "aria": True},
            {
                "fill": _raw("fill"),
                "fillOpacity": {
                    "condition": {"test": "isValid(datum.faded)", "value": FADED},
                    "value": 1,
                },
                "description": {"field": "label", "type": "nominal"},
            },
            where="value",
        ),
        _absent(heatmap, width, height),
        _words(heatmap, width, height),
        *_region(heatmap, width, height),
        *(
            _layer(
                name,
                {"type": "text", "aria": False, "fontSize": size, "fontWeight": weight},
                {"text": {"field": "text", "type": "nominal"}, "fill": _raw("ink")},
                where=name,
                of=heatmap.printed and any(_is_bold(m) is bold and m.text for m in heatmap.marks),
            )
            for name, weight, bold in (("values", "normal", False), ("bold", "bold", True))
        ),
        _point("best", 12 if heatmap.printed else max(6, min(24, small**2)), at_foot, marks),
        _point("ring", 16, at_foot, marks, hollow=True),
        _point("corner", corner, 0, marks, shape=_corner(width, height)),
        _point("open-corner", corner, 0, marks, shape=_corner(width, height), hollow=True),
        _point("low", max(9, small**2 / 3), 0, marks if thumb else set(), "stroke", hollow=True),
        *_outlines(heatmap, width, height),
        *_means(heatmap, width, height),
        *_courses(heatmap, width, height),
        *(_legend(heatmap, width, height) if heatmap.size == "whole" else ()),
    ]


def _is_bold(mark: CellMark) -> bool:
    return mark.best or mark.strong


def row_of(heatmap: Heatmap, mark: CellMark) -> dict[str, Any]:
    """The data of a cell: a field of a mark's name where it has that mark."""
    row: dict[str, Any] = {"x": mark.x, "y": mark.y, "value": mark.value, "label": mark.label}
    if mark.value is None:
        return row | {"absent": mark.absent}
    palette = heatmap.scale.palette
    row["fill"] = colours(palette)[mark.step]
    row["ink"] = ink(palette, mark.step, is_faded=mark.faded)
    row["text"] = mark.text
    flags = {"bold" if _is_bold(mark) else "values", mark.corner} - {""}
    flags |= {name for name in ("best", "ring", "faded") if getattr(mark, name)}
    if heatmap.size == "thumbnail" and mark in lows(heatmap):
        flags.add("low")
    return row | dict.fromkeys(sorted(flags), 1)


def _layer(
    name: str,
    mark: Mapping[str, Any],
    encoding: Mapping[str, Any],
    *,
    where: str = "",
    rows: Sequence[Mapping[str, Any]] | None = None,
    of: bool = True,
) -> dict[str, Any] | None:
    """A layer; None without anything in it.

    Args:
        where: A field that only its cells have.
        rows: Data of its own.
    """
    if not of or (rows is not None and not rows):
        return None
    layer: dict[str, Any] = {"name": name, "mark": {**mark}, "encoding": {**encoding}}
    if where:
        layer["transform"] = [{"filter": f"isValid(datum['{where}'])"}]
    if rows is not None:
        layer["data"] = {"values": [dict(row) for row in rows]}
    return layer


def _raw(field: str) -> dict[str, Any]:
    """A channel that takes a field as it is."""
    return {"field": field, "type": "nominal", "scale": None, "legend": None}


def _pixels(x: str = "left", y: str = "top", x2: str = "", y2: str = "") -> dict[str, Any]:
    """Places in pixels from the top left corner of the cells."""
    found: dict[str, Any] = {
        axis: {"field": field, "type": "quantitative", "scale": None, "axis": None, "title": None}
        for axis, field in (("x", x), ("y", y))
    }
    return found | {name: {"field": field} for name, field in (("x2", x2), ("y2", y2)) if field}


def _point(
    kind: MarkKind,
    size: float,
    down: float,
    marks: Iterable[MarkKind],
    shape: str = "circle",
    *,
    hollow: bool = False,
) -> dict[str, Any] | None:
    """A small mark on the cells that have a field of its name."""
    look = {"type": "point", "aria": False, "opacity": 1, "shape": shape, "size": size}
    look |= {"yOffset": down}
    look |= {"filled": False, "strokeWidth": 1.2} if hollow else {"filled": True, "strokeWidth": 0}
    paint = {"stroke": _raw("ink")} if hollow else {"fill": _raw("ink")}
    return _layer(kind, look, paint, where=kind, of=kind in marks)


def _box(segment: Segment, width: int, height: int) -> dict[str, Any]:
    return {
        "left": segment.x * width,
        "top": segment.y * height,
        "right": segment.x2 * width,
        "bottom": segment.y2 * height,
    }


def _region(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """The edges of regions, dotted on white so that they are seen on each fill."""
    rows = [_box(edge, width, height) for edge in heatmap.region]
    places = _pixels(x2="right", y2="bottom")
    looks = {"halo": {"stroke": "#fff", "strokeWidth": 2.5}}
    looks["region"] = {"stroke": MUTED, "strokeWidth": 1.5, "strokeDash": [2, 2]}
    return [
        _layer(name, {"type": "rule", "aria": False, **look}, places, rows=rows)
        for name, look in looks.items()
    ]


def _outlines(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """What the headline says: outlines, and tabs below the means of asserted levels."""
    rows = [_box(box, width, height) for box in heatmap.outlined]
    look = {"type": "rect", "aria": False, "fill": None, "stroke": INK["light"], "strokeWidth": 2}
    tabs = [
        {"left": at * width, "right": (at + 1) * width, "top": -MEANS, "bottom": 0}
        for at in heatmap.x_asserted
        if heatmap.x_means
    ]
    right = width * len(heatmap.x_labels)
    tabs += [
        {"left": right, "right": right + BESIDE, "top": at * height, "bottom": (at + 1) * height}
        for at in heatmap.y_asserted
        if heatmap.y_means
    ]
    places = _pixels(x2="right", y2="bottom")
    ink_box = {"type": "rect", "aria": False, "fill": INK["light"]}
    return [_layer("outline", look, places, rows=rows), _layer("tab", ink_box, places, rows=tabs)]


def _means(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """The means of levels outside the grid's edges, asserted ones white on ink."""
    right = width * len(heatmap.x_labels)
    above = [
        {"left": (at + 0.5) * width, "top": -MEANS / 2, "text": text, "asserted": at}
        for at, text in enumerate(heatmap.x_means)
    ]
    beside = [
        {"left": right + BESIDE / 2, "top": (at + 0.5) * height, "text": text, "asserted": at}
        for at, text in enumerate(heatmap.y_means)
    ]
    asserted = [row for row in above if row["asserted"] in heatmap.x_asserted]
    asserted += [row for row in beside if row["asserted"] in heatmap.y_asserted]
    plain = [row for row in (*above, *beside) if row not in asserted]
    if heatmap.y_means:
        plain.append({"left": right + BESIDE / 2, "top": -MEANS / 2, "text": "mean"})
    look = {"type": "text", "aria": False, "fontSize": 12}
    places = _pixels() | {"text": {"field": "text", "type": "nominal"}}
    room = {
        "left": 0,
        "right": right + (BESIDE if heatmap.y_means else 0),
        "top": -MEANS,
        "bottom": 0,
    }
    left = [{"left": -8, "top": -MEANS / 2, "text": "mean"}] if heatmap.x_means else []
    return [
        # As wide and as high for all grids of a view, whatever their means are.
        _layer("room", {"type": "rect", "aria": False, "fill": "transparent"},
               _pixels(x2="right", y2="bottom"), rows=[room] if above or beside else []),
        _layer("means", {**look, "fill": TEXT}, places, rows=plain),
        _layer("mean", {**look, "fill": TEXT, "align": "right"}, places, rows=left),
        _layer("asserted", {**look, "fill": "#fff", "fontWeight": "bold"}, places, rows=asserted),
    ]  # fmt: skip


def _courses(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """The means of columns above a grid without numbers, and of rows beside it, as two lines."""
    # Nowhere without a mean, where the line breaks.
    far = [
        [None if mean is None else COURSE_GAP + mean * COURSE for mean in means]
        for means in (heatmap.x_course, heatmap.y_course)
    ]
    right, foot = width * len(heatmap.x_labels), height * len(heatmap.y_labels)
    # A block stands for several levels.
    across, down = (size / max(1, len(of)) for size, of in zip((right, foot), far, strict=True))
    above = [
        {"left": (at + 0.5) * across, "top": None if up is None else -up, "at": at}
        for at, up in enumerate(far[0])
    ]
    beside = [
        {"left": None if out is None else right + out, "top": (at + 0.5) * down, "at": at}
        for at, out in enumerate(far[1])
    ]
    look = {"type": "line", "aria": False, "stroke": TEXT, "strokeWidth": 1.2,
            "invalid": "break-paths-show-domains"}  # fmt: skip
    order = {"order": {"field": "at", "type": "quantitative"}}
    lines = [
        _layer(name, look, _pixels() | order, rows=rows)
        for name, rows in (("course-x", above), ("course-y", beside))
    ]
    room = {"left": 0, "right": right + ABOVE, "top": -ABOVE, "bottom": 0}
    return [
        _layer("course-room", {"type": "rect", "aria": False, "fill": "transparent"},
               _pixels(x2="right", y2="bottom"), rows=[room] if above else []),
        *lines,
    ]  # fmt: skip


# --- cells without a value ------------------------------------------------------------------------


def _absent(heatmap: Heatmap, width: int, height: int) -> dict[str, Any] | None:
    """Frames of empty cells, and hatches of those with a reason."""
    kinds = list(dict.fromkeys(mark.absent for mark in heatmap.marks if mark.absent))
    shapes = [_hatch(kind, width, height) for kind in kinds]
    fine = min(width, height) < 14
    return _layer(
        "absent",
        {
            "type": "point",
            "aria": True,
            "opacity": 1,
            "filled": False,
            "stroke": TEXT,
            "strokeOpacity": 0.3,
            "strokeWidth": 0.5 if fine else 1,
            "size": max(width, height) ** 2,
        },
        {
            "shape": {
                "field": "absent",
                "type": "nominal",
                "legend": None,
                "scale": {"domain": kinds, "range": shapes},
            },
            "description": {"field": "label", "type": "nominal"},
        },
        where="absent",
        of=bool(kinds),
    )


def _words(heatmap: Heatmap, width: int, height: int) -> dict[str, Any] | None:
    """Dashes in empty cells, and in each block of equal hatched ones its word, where it fits."""
    if heatmap.size == "thumbnail" or min(width, height) < 14:
        return None
    x = {label: at for at, label in enumerate(heatmap.x_labels)}
    y = {label: at for at, label in enumerate(heatmap.y_labels)}
    at = {(x[mark.x], y[mark.y]): mark for mark in heatmap.marks if mark.value is None}
    rows = [
        {"left": (i + 0.5) * width, "top": (j + 0.5) * height, "text": "–"}
        for (i, j), mark in at.items()
        if is_dash(mark)
    ]
    left = {place: mark.absent for place, mark in at.items() if not is_dash(mark)}
    while left:
        (i, j), kind = next(iter(left.items()))
        across = next(n for n in range(1, len(x) + 1) if left.get((i + n, j)) != kind)
        down = next(
            n
            for n in range(1, len(y) + 1)
            if any(left.get((i + m, j + n)) != kind for m in range(across))
        )
        for m in range(across):
            for n in range(down):
                del left[i + m, j + n]
        word = WORDS[kind]
        if len(word) * LETTER + 2 <= across * width:
            middle = {"left": (i + across / 2) * width, "top": (j + down / 2) * height}
            rows.append(middle | {"text": word})
    size = 10.5 if heatmap.printed else SCALED
    return _layer(
        "words",
        {"type": "text", "aria": False, "fontSize": size, "fill": TEXT},
        _pixels() | {"text": {"field": "text", "type": "nominal"}},
        rows=rows,
    )


def _hatch(kind: str, width: int, height: int) -> str:
    """An SVG path in halves of the cell's longer side, as Vega scales it."""
    unit = max(width, height) / 2
    w, h = width / 2, height / 2
    inset = 1 if min(width, height) >= 14 else 0
    a, b = w - inset, h - inset
    frame = _path([(-a, -b), (a, -b), (a, b), (-a, b)], unit) + "Z"
    step = max(min(w, h) / 2, 2.0)
    count = ceil((w + h) / step)
    falling = [
        line for i in range(-count, count + 1) if (line := _diagonal(i * step, a, b)) is not None
    ]
    rising = [[(x, -y) for x, y in line] for line in falling]
    lines = {
        ABSENT["failed"]: falling,
        ABSENT["oom"]: rising,
        ABSENT["disputed"]: rising + falling,
        RUNNING: rising,
        NOT_COMPARED: falling,
        SEVERAL: rising + falling,
    }.get(kind, [])
    return frame + "".join(_path(line, unit) for line in lines)


def symbol(kind: str) -> str:
    """The SVG path of a state's hatching, from −1 to 1 both ways."""
    return _hatch(kind, 16, 16)


def _corner(width: int, height: int) -> str:
    """The path of a filled or open corner at the top right."""
    unit, size = max(width, height) / 2, min(width, height) * 0.28
    w, h = width / 2 - 0.5, height / 2 - 0.5
    return _path([(w - size, -h), (w, -h), (w, size - h)], unit) + "Z"


def _path(points: Sequence[tuple[float, float]], unit: float) -> str:
    return "M" + "L".join(f"{round(x / unit, 3):g},{round(y / unit, 3):g}" for x, y in points)


def _diagonal(c: float, w: float, h: float) -> list[tuple[float, float]] | None:
    """The part of the line y = x + c that lies in the cell, or None."""
    left, right = max(-w, -h - c), min(w, h - c)
    return [(left, left + c), (right, right + c)] if right - left > 0.5 else None


# --- the legend of a picture that stands alone ----------------------------------------------------


def key_texts(heatmaps: Sequence[Heatmap]) -> dict[MarkKind, str]:
    """The marks that occur in heatmaps and that their legend names."""
    extreme = "lowest" if any(heatmap.scale.falls for heatmap in heatmaps) else "highest"
    region = next((heatmap.region_label for heatmap in heatmaps if heatmap.region), "")
    return {
        kind: KEYS[kind].format(extreme=extreme, region=region)
        for kind in marks_of(heatmaps)
        if kind in KEYS
    }


def _legend(heatmap: Heatmap, width: int, height: int) -> list[dict[str, Any] | None]:
    """The strip of colours with its ends, and a key of the marks, below the cells."""
    _, labels = labels_below(heatmap.x_labels, width)
    top = height * len(heatmap.y_labels) + labels + 42
    wide, high = STRIP
    fills = colours(heatmap.scale.palette)
    strip = [
        {"left": at * wide / STEPS, "right": (at + 1) * wide / STEPS + 0.3, "top": top,
         "bottom": top + high, "fill": fill}
        for at, fill in enumerate(fills)
    ]  # fmt: skip
    low, high_end = heatmap.ends
    ends = [{"left": 0, "top": top + high + 9, "text": low}]
    right = [{"left": wide, "top": top + high + 9, "text": high_end}]
    name = [{"left": 0, "top": top - 9, "text": drawable_text(heatmap.measure, TITLE_LIMIT)}]
    at, line = 0.0, top + high + 30
    keys: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    for kind, words in key_texts([heatmap]).items():
        text = drawable_text(words, KEY_LIMIT)
        size = 18 + min(KEY_LIMIT, len(text) * LETTER) + 14
        if at and at + size > max(PLOT_WIDTH, width * len(heatmap.x_labels)):
            at, line = 0.0, line + 18
        keys.append({"left": at + 6, "top": line, "key": kind})
        texts.append({"left": at + 16, "top": line, "text": text})
        at += size
    look = {"type": "text", "aria": False, "fontSize": 11, "fill": TEXT, "align": "left",
            "limit": KEY_LIMIT}  # fmt: skip
    places = _pixels() | {"text": {"field": "text", "type": "nominal"}}
    return [
        _layer("strip", {"type": "rect", "aria": False},
               _pixels(x2="right", y2="bottom") | {"fill": _raw("fill")}, rows=strip),
        _layer("measure", {**look, "limit": TITLE_LIMIT}, places, rows=name),
        _layer("ends", look, places, rows=ends),
        _layer("end", {**look, "align": "right"}, places, rows=right),
        *(
            _layer(f"key-{row['key']}", KEY_LOOKS[row["key"]], _pixels(), rows=[row])
            for row in keys
        ),
        _layer("keys", look, places, rows=texts),
    ]  # fmt: skip


_DRAWN = {"type": "point", "aria": False, "opacity": 1}
_LINE = {**_DRAWN, "filled": False, "stroke": TEXT, "fill": None, "strokeWidth": 1.2}
_SOLID = {**_DRAWN, "filled": True, "fill": TEXT, "strokeWidth": 0}
KEY_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "outline": {**_LINE, "shape": "square", "size": 90, "strokeWidth": 2},
    "best": {**_SOLID, "shape": "circle", "size": 16},
    "ring": {**_LINE, "shape": "circle", "size": 22},
    "corner": {**_SOLID, "shape": "M-1,-1L1,-1L1,1Z", "size": 70},
    "open-corner": {**_LINE, "shape": "M-1,-1L1,-1L1,1Z", "size": 70},
    "region": {**_LINE, "shape": "square", "size": 90, "strokeDash": [2, 2], "stroke": MUTED},
    "missing": {**_LINE, "shape": "stroke", "size": 40},
}
"""How the marks are drawn in a legend."""


# --- texts ----------------------------------------------------------------------------------------


def drawable(heatmap: Heatmap) -> Heatmap:
    """The heatmap with texts that Vega can cut where they are too long.

    It cuts between the halves of a character beyond U+FFFF, such as an emoji, and half of one can't
    be drawn by vl-convert: where a text may be cut, a square stands for each. The labels of cells
    keep them, and so does the specification for browsers, which can.
    """
    texts = (heatmap.x_title, heatmap.y_title, heatmap.measure, heatmap.region_label)
    if all(map(is_drawable, (*texts, *heatmap.x_labels, *heatmap.y_labels))):
        return heatmap
    x, y = (drawable_labels(labels) for labels in (heatmap.x_labels, heatmap.y_labels))
    return replace(
        heatmap,
        x_title=drawable_text(heatmap.x_title, TITLE_LIMIT),
        y_title=drawable_text(heatmap.y_title, TITLE_LIMIT),
        measure=drawable_text(heatmap.measure, TITLE_LIMIT),
        region_label=drawable_text(heatmap.region_label, KEY_LIMIT),
        x_labels=tuple(x.values()),
        y_labels=tuple(y.values()),
        marks=tuple(replace(mark, x=x[mark.x], y=y[mark.y]) for mark in heatmap.marks),
    )
