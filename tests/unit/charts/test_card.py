"""Cards: their size, and that every text fits and stays text."""

import struct
from xml.etree import ElementTree

import pytest

from gridatlas.charts.card import HEIGHT, WIDTH, SocialCard, card_svg
from gridatlas.charts.render import draw_one

SVG = "{http://www.w3.org/2000/svg}"
THUMBNAIL = '<svg width="300" height="200"><path d="M0,0h9v9h-9z"/></svg>'
LONG = "R1-Qwen: the ratio of tokens that stay in the cache clearly matters; 0.4 scores highest now"


def _card(headline=LONG, certainty="Likely"):
    return SocialCard(headline, "A study of settings", certainty, "atlas.example/results", None)


def _texts(svg):
    """Each text of an SVG, with its place."""
    return [
        (element.text or "", float(element.attrib["x"]), float(element.attrib["y"]))
        for element in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


@pytest.mark.parametrize("thumbnail", ["", THUMBNAIL], ids=["alone", "with-a-heatmap"])
@pytest.mark.parametrize(
    "headline", ["x", LONG, "word " * 60, "w" * 300, "漢字" * 90], ids=str.__len__
)
def test_every_line_has_room(headline, thumbnail):
    texts = _texts(card_svg(_card(headline), thumbnail))
    study, *lines, certainty, site = [text for text, _, _ in texts]
    assert (study, certainty, site) == ("A study of settings", "Likely", "atlas.example/results")
    whole = " ".join(lines)
    assert whole == " ".join(headline.split()) or whole.endswith("…")
    heights = [y for _, _, y in texts]
    assert heights == sorted(set(heights))
    assert heights[-2] < HEIGHT - 100


@pytest.mark.parametrize(
    "text", ["<b>&amp;</b>", '"/><script>alert(1)</script>', "a\x00b\x1bc", "{{ 7 }}", "]]>"]
)
def test_a_text_is_never_markup(text):
    card = SocialCard(text, text, text, text, None)
    tree = ElementTree.fromstring(card_svg(card))
    assert {element.tag for element in tree.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "rect", "text")
    }
    assert struct.unpack(">II", draw_one(card).png[16:24]) == (WIDTH, HEIGHT)


def test_the_same_card_is_the_same_bytes_and_another_another():
    first, again, other = (draw_one(card).png for card in (_card(), _card(), _card("Another")))
    assert first == again != other
    assert _card().to_json() != _card(certainty="").to_json()
    assert _card().description == f"A study of settings: {LONG}. Likely."
