"""The figures of the benchmark: what is made of measurements, and that the page has it so."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gridatlas.cli.main import main

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/bench"))

import build_figures
import figures
import imports
import inputs
import weights
from build_figures import Build, Edit, Import, Large, Steps
from figures import Load, Part, Score, Setting, Throttle, Weight

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


PAGES = (
    (figures.PAGE, figures.PARTS),
    (build_figures.PAGE, build_figures.PARTS),
)


def test_the_pages_have_the_figures_that_were_measured() -> None:
    content = json.loads(figures.FIGURES.read_text("utf-8"))
    written = {key for _, parts in PAGES for key, _ in parts.values()}
    assert set(content) <= written
    for file, parts in PAGES:
        page = file.read_text("utf-8")
        assert page == figures.with_figures(page, content, parts)
        for name, (key, _) in parts.items():
            # What isn't measured of the pages as they are isn't shown either.
            shown = page.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0].strip()
            assert bool(shown) == (key in content), name


# --- weights ------------------------------------------------------------------------------------


def test_parts_of_pages() -> None:
    assert figures.parts_table([Part("A", 2900, 3000), Part("B", 3001, 3000)]) == (
        "| Part of a page, with gzip | Weighs | Goal, at most |  |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| A | 2.9 kB | 3.0 kB | met |\n"
        "| B | 3.0 kB | 3.0 kB | **missed** |\n"
    )


def test_a_heatmap_weighs_what_its_page_is_lighter_by_without_it() -> None:
    figure = f"<figure class='a'>{''.join(map(str, range(500)))}</figure>"
    page = f"<p>text</p>{figure}"
    assert weights.per_heatmap(page) == weights.zipped(page) - weights.zipped("<p>text</p>")


# --- builds -------------------------------------------------------------------------------------


def runs(what: str, size: int, *processor: float, memory: float = 50) -> list[Build]:
    return [Build(what, size, 2 * seconds, seconds, memory) for seconds in processor]


BUILDS = [
    *runs("bare", 100, 2, 3, 1),
    *runs("charts", 100, 4),
    *runs("warm", 100, 2.3, memory=80),
    *runs("cold", 100, 10, memory=300),
    *runs("bare", 1000, 20, memory=100),
    *runs("warm", 1000, 22.2, memory=184.0),
    *runs("jupyter", 1, 3),
    *runs("jupyter", 6, 18),
    *runs("check", 0, 0.5, 0.9, 0.6),
]


def test_builds_side_by_side() -> None:
    assert build_figures.build_table(BUILDS, 100) == (
        "| 100 grids, one page each | Processor | × MkDocs | Clock | Per page | Memory |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| MkDocs and the theme alone | 2.00 s | 1.00× | 4.00 s | 0.02 s | 50 MB |\n"
        "| mkdocs-charts-plugin | 4.00 s | 2.00× | 8.00 s | 0.04 s | 50 MB |\n"
        "| Grid Atlas, warm | 2.30 s | 1.15× | 4.60 s | 0.02 s | 80 MB |\n"
        "| Grid Atlas, cold | 10.0 s | 5.00× | 20.0 s | 0.10 s | 300 MB |\n"
        "| mkdocs-jupyter, one more page | 3.00 s |  | 6.00 s | 3.00 s | 50 MB |\n"
    )


def test_goals_of_builds() -> None:
    goals = build_figures.build_goals(BUILDS, 100, 1000)
    assert [str(goal) for goal in goals] == [
        "A warm build of 100 grids takes 1.15× the time of MkDocs alone (goal: 1.15×): **met**.",
        "A warm build of 1,000 grids takes 1.11× the time of MkDocs alone (goal: 1.1×): "
        "**missed**.",
        "A cold page takes 1/30 of the processor's time of mkdocs-jupyter's, and 1/30 of its time "
        "on the clock (goal: 1/15): **met**.",
    ]
    assert str(build_figures.check_goal(BUILDS)) == (
        "`gridatlas check` of this repository's data takes 0.60 s of the processor, 1.20 s on the "
        "clock (goal: 0.6 s): **met**."
    )


def test_growth_is_judged_by_ratios() -> None:
    assert [goal.met for goal in build_figures.growth_goals(BUILDS)] == [True, True]
    more = [*BUILDS, *runs("warm", 1000, 40, 40, 40, memory=190)]
    time, memory = build_figures.growth_goals(more)
    assert not time.met
    assert str(memory) == (
        "Memory against MkDocs alone: 1.60× with 100, 1.90× with 1,000 grids; it grows by at most "
        "19% from one size to a larger one (goal: 15%): **missed**."
    )
    assert "| 1,000 | 20.0 s | 22.2 s | 1.11× | 100 MB | 184 MB | 1.84× | – | – |" in (
        build_figures.growth_table(BUILDS)
    )


def test_one_more_notebook_needs_two_numbers_of_them() -> None:
    with pytest.raises(ValueError, match="two numbers of notebooks"):
        build_figures.per_page(runs("jupyter", 6, 18))
    with pytest.raises(ValueError, match="no build of cold with 7"):
        build_figures.of(BUILDS, "cold", 7)


def test_edits() -> None:
    edits = [
        Edit("bare", 1, 2, 2, 0),
        Edit("bare", 2, 2, 1, 0),
        Edit("warm", 1, 5, 4, 2),
        Edit("warm", 2, 2.1, 1.1, 2),
        Edit("warm", 3, 2.3, 1.1, 4),
    ]
    assert "| Grid Atlas, warm, later edits | 1.10 s | 2.20 s | 2 or 4 |" in (
        build_figures.edit_table(edits)
    )
    assert build_figures.edit_goal(edits).met
    assert not build_figures.edit_goal(
        [*edits, Edit("warm", 4, 9, 9, 2), Edit("warm", 5, 9, 9, 2)]
    ).met


def test_large_studies_and_steps() -> None:
    found = [
        Large("Big", "check", 2, 1.5, 100),
        Large("Big", "cold", 9, 8, 200, 4000),
        Large("Big", "warm", 3, 2, 100, 4000),
        Large("Big", "warm", 3, 4, 100, 4000),
    ]
    assert "| Big | 1.50 s, 100 MB (1×) | 8.00 s, 200 MB (1×) | 3.00 s, 100 MB (2×) | 4 kB |" in (
        build_figures.large_table(found)
    )
    cut_short = build_figures.large_table([Large("Big", "check", 2, 1.5, 100)])
    assert "| Big | 1.50 s, 100 MB (1×) | – | – | – |" in cut_short
    steps = build_figures.steps_table([Steps("Cold", {"chart": 3.0, "host": 1.0})])
    assert "| Chart: draw with Vega, and bundle it | 3.00 s, 75% |" in steps
    assert "| All | 4.00 s |" in steps


def test_imports_are_held_against_pandas() -> None:
    found = [
        Import("CSV", "import", 2, 3.0, 200),
        Import("CSV", "import", 2, 5.0, 220),
        Import("CSV", "pandas", 1, 0.8, 100),
    ]
    assert build_figures.import_table(found) == (
        "| One table | `gridatlas import` | Read with pandas | × pandas |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| CSV | 4.00 s, 210 MB | 0.80 s, 100 MB | 5.0× |\n"
    )


@pytest.mark.parametrize("what", ["tidy", "lines", "wide"])
def test_tables_to_import_have_their_rows_and_no_cell_twice(tmp_path: Path, what: str) -> None:
    file = tmp_path / ("t.jsonl" if what == "lines" else "t.csv")
    getattr(imports, what)(2000)(file)
    result = CliRunner().invoke(
        main, ["import", str(file), "--yes", "--data", str(tmp_path / "data")]
    )
    cells, repeats = ("2,000", "0") if what == "wide" else ("400", "1,600")
    assert (
        f"2,000 rows read\n  = {cells} cells\n  + {repeats} repeats of these cells\n"
        "  + 0 reported\n" in result.output
    )
    assert result.exit_code == 0


def test_every_tool_gets_the_same_pages(tmp_path: Path) -> None:
    inputs.write_data(tmp_path / "data", 12)
    values = [inputs.value(0, 0, x, y) for x in range(5) for y in range(4)]
    assert all(0 <= value <= 100 and value * 2 == int(value * 2) for value in values)
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["sweep-00", "sweep-01"]
    rows = (tmp_path / "data/sweep-01/cells.csv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + 2 * 20
    assert inputs.as_written("Pass&#64;1 &#45; 2&amp;") == "Pass@1 - 2&amp;"
    html = (
        "<figure><svg></svg><figcaption>A <b>c</b></figcaption></figure><table><tr><th>x</th></tr>"
        "<tr><td>1 <i>best</i></td></tr></table>"
    )
    assert inputs.as_markdown(html) == "A c\n\n| x |\n| --- |\n| 1 best |"
