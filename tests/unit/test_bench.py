"""The figures of the benchmark: what is made of measurements, and that the page has it so."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import figures
from figures import Load, Score, Setting, Throttle, Weight

MARKED = "a\n<!-- speed -->\n\nold\n\n<!-- /speed -->\nz\n"


def load(tool: str, heatmaps: int = 1, visible: float = 400, size: int = 90_000) -> Load:
    return Load(tool, heatmaps, visible, size, requests=9, shift=0, largest=350)


LOADS = [
    load("atlas", visible=500),
    load("atlas", visible=300, size=91_000),
    load("atlas", visible=400),
    load("charts", visible=1300, size=360_000),
    load("charts", visible=1100, size=360_000),
    load("jupyter", visible=2000, size=450_000),
    load("bare", visible=250, size=80_000),
]


def test_medians_are_of_one_tool_and_one_page() -> None:
    loads = [*LOADS, load("atlas", heatmaps=8, visible=9000)]
    assert figures.medians(loads, "atlas", 1) == load("atlas", visible=400)
    assert figures.medians(loads, "charts", 1) == load("charts", visible=1200, size=360_000)
    assert figures.medians(loads, "atlas", 8).visible == 9000
    assert figures.spread(loads, "atlas", 1) == (300, 500)
    with pytest.raises(ValueError, match="no load of a page with 8 heatmaps by charts"):
        figures.medians(loads, "charts", 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (figures.seconds(1234.5), "1.23 s"),
        (figures.seconds(45), "0.04 s"),
        (figures.kilobytes(1234), "1.2 kB"),
        (figures.kilobytes(9_940), "9.9 kB"),
        (figures.kilobytes(10_000), "10 kB"),
        (figures.kilobytes(1_234_567), "1,235 kB"),
        (figures.ratio(3, 2), "1.5×"),
        (figures.ratio(0, 2), "0.0×"),
        (figures.ratio(250, 2), "125×"),
        (figures.shift(0), "0"),
        (figures.shift(0.0004), "< 0.001"),
        (figures.shift(0.0104), "0.010"),
        (figures.times(1), "one heatmap"),
        (figures.times(8), "eight heatmaps"),
        (figures.times(9), "9 heatmaps"),
        (figures.table(["a", "b"], [["c", "d"]]), "| a | b |\n| --- | ---: |\n| c | d |\n"),
    ],
)
def test_how_figures_are_written(text: str, expected: str) -> None:
    assert text == expected


def test_there_is_no_ratio_to_nothing() -> None:
    with pytest.raises(ValueError, match="no ratio to 0"):
        figures.ratio(1, 0)


def test_the_tools_side_by_side() -> None:
    assert figures.comparison(LOADS) == (
        "| Page with one heatmap | Visible | × Grid Atlas | Transferred | × Grid Atlas | Requests "
        "| CLS | LCP |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| Grid Atlas | 0.40 s (0.30 to 0.50) | 1.0× | 90 kB | 1.0× | 9 | 0 | 0.35 s |\n"
        "| mkdocs-charts-plugin | 1.20 s (1.10 to 1.30) | 3.0× | 360 kB | 4.0× | 9 | 0 | 0.35 s |\n"
        "| mkdocs-jupyter | 2.00 s (2.00 to 2.00) | 5.0× | 450 kB | 5.0× | 9 | 0 | 0.35 s |\n"
        "| the theme alone | 0.25 s (0.25 to 0.25) | 0.6× | 80 kB | 0.9× | 9 | 0 | 0.35 s |\n"
    )


@pytest.mark.parametrize(
    ("loads", "expected"),
    [
        (
            LOADS,
            [
                "Visible 3.0× sooner than with mkdocs-charts-plugin with one heatmap (goal: 3×): "
                "**met**.",
                "4.0× fewer bytes with one heatmap (goal: 3×): **met**.",
                "Layout shift of at most 0 (goal: 0.01): **met**.",
            ],
        ),
        (
            [
                Load("atlas", 8, 1000, 100_000, 9, 0.0101, 350),
                load("charts", 8, visible=2999.9, size=299_999),
            ],
            [
                "Visible 3.0× sooner than with mkdocs-charts-plugin with eight heatmaps "
                "(goal: 3×): **missed**.",
                "3.0× fewer bytes with eight heatmaps (goal: 3×): **missed**.",
                "Layout shift of at most 0.010 (goal: 0.01): **missed**.",
            ],
        ),
    ],
    ids=["met", "just missed"],
)
def test_goals_are_judged_before_rounding(loads: list[Load], expected: list[str]) -> None:
    assert [str(goal) for goal in figures.goals(loads)] == expected


def test_the_share_of_the_theme() -> None:
    assert figures.floor(LOADS) == (
        "The theme alone shows its first text after the time in the last row, which no tool can "
        "save. To that, with one heatmap, Grid Atlas adds 0.15 s and mkdocs-charts-plugin 0.95 s."
    )


def test_weights_and_scores() -> None:
    assert figures.weights([Weight("Study", "s/", 11_400, 67_000, 122_000, 9)]) == (
        "| Page of this site | HTML | HTML with gzip | All with gzip | Requests |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| Study (`s/`) | 67 kB | 11 kB | 122 kB | 9 |\n"
    )

    def run(performance: int, seo: int = 100) -> Score:
        names = dict.fromkeys(figures.CATEGORIES, 100)
        return Score("Study", "s/", {**names, "performance": performance, "seo": seo})

    runs = [run(90), run(99), run(96)]
    assert figures.scores(runs) == (
        "| Page | Performance | Accessibility | Best practices | SEO |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| Study (`s/`) | 96 | 100 | 100 | 100 |\n"
    )
    assert str(figures.score_goal(runs)) == "Lowest median: 96 (goal: 95): **met**."
    assert str(figures.score_goal([run(96, seo=94)])) == "Lowest median: 94 (goal: 95): **missed**."


def test_a_text_between_marks() -> None:
    once = figures.between(MARKED, "speed", "\nnew\n")
    assert once == "a\n<!-- speed -->\n\nnew\n\n<!-- /speed -->\nz\n"
    assert figures.between(once, "speed", "new") == once


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<!-- speed -->",
        "<!-- /speed -->",
        "<!-- /speed --> <!-- speed -->",
        "<!-- speed --> <!-- speed --> <!-- /speed -->",
    ],
)
def test_marks_that_are_not_a_pair(page: str) -> None:
    with pytest.raises(ValueError, match="expected <!-- speed --> and after it <!-- /speed -->"):
        figures.between(page, "speed", "new")


def test_measured_is_kept_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "FIGURES", tmp_path / "figures.json")
    monkeypatch.setattr(figures, "PAGE", tmp_path / "page.md")
    marks = [f"<!-- {name} -->\n<!-- /{name} -->\n" for name in figures.PARTS]
    figures.PAGE.write_text("".join(marks), encoding="utf-8")
    setting = Setting("2026-01-31", "a machine", {"Chromium": "156"})
    measured = {
        "setting": setting,
        "throttle": Throttle(6, 100, 4),
        "loads": LOADS,
        "weights": [Weight("Study", "s/", 11_400, 67_000, 122_000, 9)],
    }
    figures.keep("pages", measured)
    scores = dict.fromkeys(figures.CATEGORIES, 100)
    figures.keep("lighthouse", {"setting": setting, "runs": [Score("Study", "s/", scores)]})
    page = figures.PAGE.read_text("utf-8")
    assert "Medians of 3 cold loads each, at 6 Mbit/s with 100 ms of latency" in page
    assert figures.comparison(LOADS) in page
    assert "Measured 2026-01-31, on a machine; Chromium 156." in page
    assert "| Study (`s/`) | 100 | 100 | 100 | 100 |" in page
    assert page == figures.with_figures(page, json.loads(figures.FIGURES.read_text("utf-8")))


def test_the_page_has_the_figures_that_were_measured() -> None:
    kept = json.loads(figures.FIGURES.read_text("utf-8"))
    page = figures.PAGE.read_text("utf-8")
    assert set(kept) == {key for key, _ in figures.PARTS.values()}
    assert page == figures.with_figures(page, kept)
