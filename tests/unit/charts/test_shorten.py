"""Drawings in fewer letters: what is left out and what is told once. Nothing looks different."""

from __future__ import annotations

import io

import pytest
import vl_convert
from PIL import Image, ImageChops

from gridatlas.charts.shorten import shorter

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">'
    '<g font-family="Liberation Sans" fill="none">'
)


def test_what_changes_nothing_is_left_out_but_of_texts() -> None:
    harmless = 'fill="rgb(1, 2, 3)" opacity="1" &lt;text d="1.23456"'
    label = "a &gt; b opacity=1 d= 1.23456"
    svg = (
        '<svg class="marks"><text font-family="sans-serif" fill="rgb(1, 2, 3)" opacity="1" '
        f'transform="translate(1.23456,-0.5)" aria-label="{label}">{harmless}</text>'
        f'<path d="M0.3333333,1" stroke="#000" stroke-width="0" fill="none"/>'
        '<path stroke="rgb(255, 0, 10)" stroke-width="0.5" opacity="0.5"/></svg>'
    )
    assert shorter(svg) == (
        '<svg font-family="sans-serif" class="marks"><text fill="#010203" '
        f'x="1.2" y="-0.5" aria-label="{label}">{harmless}</text>'
        '<path d="M0.3,1" fill="none"/>'
        '<path stroke="#ff000a" stroke-width="0.5" opacity="0.5"/></svg>'
    )


TEXT = '<text text-anchor="middle" fill="#000" transform="translate({x},9)">{x}</text>'
RULE = '<line transform="translate(5,5)" {end} stroke="#000" stroke-width="2"{more}/>'
TWO_LINES = (
    '<text fill="#000" transform="translate(9,9)"><tspan>a</tspan>'
    '<tspan x="0" dy="12">b</tspan></text>'
)
DASHED = ' stroke-dasharray="5,3"'
DOT = '<path fill="#f00"{more} d="M3,0A3,3,0,1,1,-3,0A3,3,0,1,1,3,0"/>'


@pytest.mark.parametrize(
    ("kind", "drawn", "expected"),
    [
        (
            "mark-text values_marks",
            TEXT.format(x=10) + TEXT.format(x=30),
            ' fill="#000" text-anchor="middle"><text x="10" y="9">10</text>'
            '<text x="30" y="9">30</text>',
        ),
        (
            "mark-text names_marks",  # a turned text stays where it is
            '<text transform="translate(9,9) rotate(90)" fill="#000">a</text>',
            '><text transform="translate(9,9) rotate(90)" fill="#000">a</text>',
        ),
        (
            "mark-text role-axis-label",  # lines are placed from where the text is
            TWO_LINES,
            f">{TWO_LINES}",
        ),
        (
            "mark-symbol dots_marks",  # most are told for all, and the other for itself
            DOT.format(more="") * 2 + DOT.format(more="").replace("#f00", "#0f0"),
            ' fill="#f00"><circle r="3"/><circle r="3"/><circle fill="#0f0" r="3"/>',
        ),
        (
            "mark-symbol dots_marks",  # one without a stroke would get it
            DOT.format(more=' stroke="#000"') * 2 + DOT.format(more=""),
            ' fill="#f00"><circle stroke="#000" r="3"/><circle stroke="#000" r="3"/>'
            '<circle r="3"/>',
        ),
        (
            "mark-symbol dots_marks",
            DOT.format(more=' transform="translate(9.5,8)"'),
            '><circle fill="#f00" cx="9.5" cy="8" r="3"/>',
        ),
        (
            "mark-rule grid_marks",
            '<line stroke="#000" x2="0" y2="9" opacity="0.5"/>' * 2,
            ' stroke="#000" stroke-opacity="0.5"><line y2="9"/><line y2="9"/>',
        ),
        (
            "mark-rule grid_marks",  # two opacities multiply: neither takes the other's place
            '<line y2="9" stroke="#000" stroke-opacity="0.5" opacity="0.5"/>' * 2,
            ' stroke="#000" stroke-opacity="0.5"><line y2="9" opacity="0.5"/>'
            '<line y2="9" opacity="0.5"/>',
        ),
        (
            "mark-rule outline_marks",  # lines that look alike are one path
            RULE.format(end='x2="9"', more=DASHED) + RULE.format(end='y2="9"', more=DASHED),
            ' stroke="#000" stroke-width="2"><path d="M5,5h9M5,5v9" stroke-dasharray="5,3"/>',
        ),
        (
            "mark-rule outline_marks",
            RULE.format(end='x2="9"', more=DASHED) + RULE.format(end='y2="9"', more=""),
            ' stroke="#000" stroke-width="2">'
            '<line transform="translate(5,5)" x2="9" stroke-dasharray="5,3"/>'
            '<line transform="translate(5,5)" y2="9"/>',
        ),
        (
            "mark-rule outline_marks",  # where see-through lines cross, both are seen
            RULE.format(end='x2="9"', more=' opacity="0.5"') * 2,
            ' stroke="#000" stroke-width="2" stroke-opacity="0.5">'
            '<line transform="translate(5,5)" x2="9"/><line transform="translate(5,5)" x2="9"/>',
        ),
        (
            "mark-rect cells_marks",  # a cell's fill is its value
            '<path d="M0,0h9v9h-9Z" fill="#f00"/>' * 2,
            '><path d="M0,0h9v9h-9Z" fill="#f00"/><path d="M0,0h9v9h-9Z" fill="#f00"/>',
        ),
        (
            "mark-rect cells_marks",  # but how faded they are
            '<path d="M0,0h9v9h-9Z" fill="#f00" fill-opacity="0.55"/>' * 2,
            ' fill-opacity="0.55">' + '<path d="M0,0h9v9h-9Z" fill="#f00"/>' * 2,
        ),
        (
            "mark-rect rows_marks",
            '<path aria-label="a &lt; b" d="M0,0h9v9h-9Z" fill="#000" opacity="0.2"/>' * 2,
            ' fill="#000"><path aria-label="a &lt; b" d="M0,0h9v9h-9Z" opacity="0.2"/>'
            '<path aria-label="a &lt; b" d="M0,0h9v9h-9Z" opacity="0.2"/>',
        ),
        (
            "mark-group role-axis",  # groups of groups are left alone
            '<g class="mark-text x"><text fill="#000">a</text></g><text fill="#000">b</text>',
            '><g class="mark-text x"><text fill="#000">a</text></g><text fill="#000">b</text>',
        ),
    ],
)
def test_what_a_groups_elements_share_is_told_once(kind: str, drawn: str, expected: str) -> None:
    svg = f'{HEAD}<g class="{kind}">{drawn}</g></g></svg>'
    short = shorter(svg)
    assert short.partition(kind + '"')[2] == f"{expected}</g></g></svg>"
    assert ImageChops.difference(_pixels(svg), _pixels(short)).getbbox() is None


UNPAINTED = '<path class="background" aria-hidden="true" d="M0,0h9v9h-9Z"/>'


def test_only_the_first_unpainted_background_stays() -> None:
    painted = UNPAINTED.replace("/>", ' fill="#eee"/>')
    lines = '<g class="mark-group role-scope"><g transform="translate(0,0)">'
    svg = f"{HEAD}{UNPAINTED}{lines}{UNPAINTED}{painted}</g></g></g></svg>"
    short = shorter(svg)
    assert short.count("background") == 2
    assert f'role-scope"><g>{painted}</g>' in short
    assert ImageChops.difference(_pixels(svg), _pixels(short)).getbbox() is None


def _pixels(svg: str) -> Image.Image:
    picture = Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=4))).convert("RGBA")
    assert picture.getbbox() is not None  # something is drawn
    return picture
