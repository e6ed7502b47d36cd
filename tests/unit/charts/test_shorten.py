"""Drawings in fewer letters: what is left out and what is told once. Nothing looks different."""

import io

import pytest
import vl_convert
from builders import cases
from PIL import Image, ImageChops

from gridatlas.charts.shorten import shorter

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">'
    '<g font-family="Liberation Sans" fill="none">'
)


def test_what_changes_nothing_is_left_out_but_of_texts():
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


@pytest.mark.parametrize(("kind", "drawn", "expected"), cases(__file__, "groups"))
def test_what_a_groups_elements_share_is_told_once(kind, drawn, expected):
    svg = f'{HEAD}<g class="{kind}">{drawn}</g></g></svg>'
    short = shorter(svg)
    assert short.partition(kind + '"')[2] == f"{expected}</g></g></svg>"
    assert ImageChops.difference(_pixels(svg), _pixels(short)).getbbox() is None


UNPAINTED = '<path class="background" aria-hidden="true" d="M0,0h9v9h-9Z"/>'


def test_only_the_first_unpainted_background_stays():
    painted = UNPAINTED.replace("/>", ' fill="#eee"/>')
    lines = '<g class="mark-group role-scope"><g transform="translate(0,0)">'
    svg = f"{HEAD}{UNPAINTED}{lines}{UNPAINTED}{painted}</g></g></g></svg>"
    short = shorter(svg)
    assert short.count("background") == 2
    assert f'role-scope"><g>{painted}</g>' in short
    assert ImageChops.difference(_pixels(svg), _pixels(short)).getbbox() is None


def _pixels(svg):
    picture = Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=4))).convert("RGBA")
    assert picture.getbbox() is not None  # something is drawn
    return picture
