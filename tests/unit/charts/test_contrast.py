"""Numbers can be read on each colour, light and dark, faded or not; colours tell values apart."""

import re
from itertools import pairwise, product

import pytest

from gridatlas.charts.palette import (
    INK,
    INKS,
    PAGE,
    PALETTES,
    SERIES,
    STEPS,
    ColourScale,
    centred_scale,
    colours,
    faded,
    ink,
    luminance,
    stylesheet,
    values_scale,
)

SCHEMES = ("light", "dark")
WRITTEN = {drawn: dict(zip(SCHEMES, seen, strict=True)) for seen, drawn in INKS.items()}


def _contrast(first, other):
    def whole(colour):
        return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])

    low, high = sorted(luminance(whole(colour)) for colour in (first, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("palette", "scheme", "fades"), [*product(PALETTES, SCHEMES, (False, True))]
)
def test_numbers_stand_out_on_every_colour(palette, scheme, fades):
    for step, fill in enumerate(colours(palette, scheme)):
        seen = faded(fill, scheme) if fades else fill
        text = WRITTEN[ink(palette, step, is_faded=fades)][scheme]
        assert _contrast(seen, text) >= 4.5, (fill, text)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_outlines_and_tabs_stand_out_on_the_page(scheme):
    assert _contrast(INK[scheme], PAGE[scheme]) >= 7


def test_no_colour_means_two_things():
    every = [fill for palette in PALETTES for fill in colours(palette)]
    assert len({*every}) == len(every) == 2 * STEPS
    assert not {*every} & {INK["light"], *INKS.values()}


def test_a_dark_page_has_another_colour_for_each():
    rules = stylesheet()
    for palette in PALETTES:
        for light, dark in zip(colours(palette), colours(palette, "dark"), strict=True):
            assert f'[fill="{light}"] {{ fill: {dark}; }}' in rules
    for light, dark in zip(SERIES["light"], SERIES["dark"], strict=True):
        assert f'[stroke="{light}"] {{ stroke: {dark}; }}' in rules
    # Of Material and Zensical, of MkDocs' own theme, and in frames of others as the reader prefers.
    themes, frames = re.findall(r"^@media .*\{\n(?:.*\n)*?\}", rules, re.MULTILINE)
    assert ':is([data-md-color-scheme="slate"], [data-bs-theme="dark"]) :is(.ga-figure' in themes
    assert ".ga-embed :is(.ga-figure" in frames


def test_contrast_is_computed_as_by_wcag():
    assert _contrast("#000", "#fff") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


# --- scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("falls", [False, True])
def test_values_apart_by_2_percent_of_the_scale_have_other_colours(falls):
    scale = ColourScale("values", 0, 100, falls)
    for value in range(0, 977):
        first, second = (scale.step(at / 10) for at in (value, value + 21))
        assert (second > first) is not falls
        assert first != second


@pytest.mark.parametrize(
    ("reach", "end"),
    [(0, 1), (6.97, 7), (7, 7), (7.1, 10), (0.034, 0.05), (12, 20), (95, 100), (0.3, 0.3)],
)
def test_ends_of_differences_read_well(reach, end):
    scale = centred_scale(reach)
    assert (scale.low, scale.high) == (-end, end)
    assert scale.step(0) == STEPS // 2


@pytest.mark.parametrize(
    ("values", "options", "ends"),
    [
        ([51.5, 56.3], {}, (51.5, 56.5)),
        ([5, 30], {"bounds": (0, 100)}, (5, 30)),
        ([5, 94], {"bounds": (0, 100)}, (0, 100)),  # most of the range
        ([7, 7], {}, (6.5, 7.5)),  # in the middle
        ([], {}, (0, 1)),
        ([-3.2, 4.1], {}, (-3.5, 4.5)),
        # The worse end is that of the worst fifth; the better one always has all.
        ([2.8, 2.9, 3, 3, 3.1, 3.2, 3.3, 3.4, 9, 99], {"falls": True}, (2.8, 3.4)),
        ([2.8, 2.9, 3, 3, 3.1, 3.2, 3.3, 3.4, 9, 99], {}, (0, 100)),
    ],
)
def test_ends_of_values_are_round(values, options, ends):
    scale = values_scale(values, **options)  # type: ignore[arg-type]
    assert (scale.low, scale.high) == pytest.approx(ends)


def test_equal_ratios_are_equal_steps_on_a_log_scale():
    scale = values_scale([2.1, 377], log=True, falls=True)
    steps = [scale.step(value) for value in (4, 12, 36, 108)]
    gaps = {first - second for first, second in pairwise(steps)}
    assert len(gaps) <= 2
    assert max(gaps) - min(gaps) <= 1
    assert scale.step(2.1) == STEPS - 1
    assert scale.step(500) == 0
