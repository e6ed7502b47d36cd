"""The fence ```` ```grid ````: what it shows, where it works, and what it says when it can't."""

import re
from pathlib import Path

import markdown
import pytest
import site_builds
from bs4 import BeautifulSoup, Tag
from builders import write_study
from once import once
from pymdownx.superfences import SuperFencesException
from site_builds import data_table, drawn_cells, figure_name, figures, text_of

STUDY = """\
format: 1
title: Tuning
metric: {name: Accuracy, better: higher, column: accuracy, unit: "%", range: [0, 100], decimals: 1}
x: rate
y: batch
facets: [model, setting]
baseline: {setting: before}
factors:
  rate: {label: Learning rate}
  batch: {label: Batch size}
  model:
    label: Model
    levels: [{id: small, label: Small, items: 50}, {id: large, label: Large, items: 50}]
trials: {items: model, samples: 4}
"""
CELLS = """\
model,setting,batch,rate,accuracy
small,before,8,0.1,11.5
small,before,8,0.2,12.5
small,before,16,0.1,13.5
small,before,16,0.2,
small,after,8,0.1,21.5
small,after,8,0.2,22.5
small,after,16,0.1,23.5
small,after,16,0.2,24.5
large,before,8,0.1,31.5
large,before,8,0.2,32.5
large,before,16,0.1,33.5
large,before,16,0.2,34.5
"""
PLAIN = """\
format: 1
title: Plain
metric: {name: Seconds, column: seconds, decimals: 2, better: lower}
x: width
y: depth
"""
NESTING = [
    "admonition", "attr_list", "md_in_html", "pymdownx.details", "pymdownx.superfences",
    {"pymdownx.tabbed": {"alternate_style": True}},
]  # fmt: skip
FENCE = "```grid\ntune/small/after\n```"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with studies, and drawings that are kept for these tests."""
    folder = tmp_path_factory.mktemp("fence")
    write_study(folder / "data/tune", STUDY, CELLS)
    write_study(folder / "data/plain", PLAIN, "width,depth,seconds\n1,1,0.50\n2,1,0.75\n")
    return folder


def _html(folder: Path, text: str, *extensions: str, **options: object) -> BeautifulSoup:
    """A page as plain Python-Markdown makes it, with the extension by its name."""
    names = [
        extension if isinstance(extension, str) else next(iter(extension)) for extension in NESTING
    ]
    configs = {
        name: extension[name]
        for extension in NESTING
        if isinstance(extension, dict)
        for name in extension
    }
    configs["gridatlas"] = {
        "data": str(folder / "data"),
        "cache": str(folder / "cache"),
        **options,
    }
    html = markdown.markdown(
        text, extensions=[*(extensions or names), "gridatlas"], extension_configs=configs
    )
    return BeautifulSoup(html, "html.parser")


def _only(page: BeautifulSoup) -> Tag:
    [figure] = figures(page)
    return figure


# --- where it works -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "within"),
    [
        (FENCE, ""),
        ("~~~grid\ntune/small/after\n~~~", ""),
        ("````grid\n\n  tune/small/after/  \n\n````", ""),
        ("``` {.grid}\ntune/small/after\n```", ""),
        ('=== "Tab"\n\n    {}', ".tabbed-block"),
        ('=== "Tab"\n\n    !!! note\n\n        {}', ".tabbed-block .admonition"),
        ("!!! note\n\n    {}", ".admonition"),
        ('??? note "More"\n\n    {}', "details"),
        ("- item\n\n    {}", "li"),
        ("1. item\n\n    - item\n\n        {}", "ol ul"),
        ("> {}", "blockquote"),
        ('<div markdown class="own">\n\n{}\n\n</div>', ".own"),
    ],
)
def test_it_works_wherever_blocks_do(folder: Path, text: str, within: str) -> None:
    begin = re.search(r"[ >]*(?={})", text.rpartition("\n")[2]) if "{}" in text else None
    lines = FENCE.split("\n")
    indented = "\n".join([lines[0], *((begin[0] if begin else "") + line for line in lines[1:])])
    page = _html(folder, text.replace("{}", indented))
    # Wilson's intervals of 50 items: those of 200 trials are narrower.
    assert data_table(_only(page)) == (
        ["0.1", "0.2"],
        {"16": ["23.5 (13.9 to 36.9)", "24.5 (14.7 to 38.0)"],
         "8": ["21.5 (12.4 to 34.7)", "22.5 (13.1 to 35.8)"]},
    )  # fmt: skip
    if within:
        assert len(page.select(f"{within} figure.ga-figure")) == 1
    assert "`" not in page.get_text()


@pytest.mark.parametrize("extensions", [("tables",), ("fenced_code",), ("pymdownx.extra",)])
def test_it_needs_no_other_extension(folder: Path, extensions: tuple[str, ...]) -> None:
    assert len(drawn_cells(_only(_html(folder, FENCE, *extensions)))) == 4


def test_within_code_it_is_code(folder: Path) -> None:
    page = _html(
        folder, "````md\n```grid\nnowhere\n```\n````\n\n    ```grid\n    nowhere\n    ```\n"
    )
    assert figures(page) == []
    assert [code.get_text().strip() for code in page.select("code")] == [
        "```grid\nnowhere\n```"
    ] * 2


def test_code_is_code_to_its_own_last_line(folder: Path) -> None:
    page = _html(folder, "```md\n- item\n\n    ```grid\n    nowhere\n    ```\n```\n\n" + FENCE)
    assert page.select_one("code").get_text().count("```") == 2
    assert len(figures(page)) == 1


def test_a_code_block_of_another_language_stays(folder: Path) -> None:
    page = _html(folder, "```grids\na\n```\n\n```python\ngrid = 1\n```\n\n``` {.grid-1}\na\n```")
    assert figures(page) == []
    assert len(page.select("code")) == 3


# --- what it shows ------------------------------------------------------------------------------


def _figures(folder: Path, *lines: str) -> list[Tag]:
    return figures(_html(folder, "\n".join(["```grid", *lines, "```"])))


def test_grids_of_a_study_share_their_scale(folder: Path) -> None:
    both = ("tune/small/before", "tune/large/before")
    alone = _figures(folder, *both)
    assert [figure_name(figure) for figure in alone] == ["Small | before", "Large | before"]
    for figure in (*alone, *_figures(folder, *both, "scale: shared")):
        assert re.fullmatch(
            r"Accuracy in %\. Faded: no difference here is shown to be beyond chance\. "
            r"A difference of [\d.]+ points or more between means would probably have been found\. "
            r"Across: learning rate\. Up: batch size\.",
            text_of(figure.figcaption),
        )
        texts = [text_of(text) for text in figure.select("svg text")]
        title = texts.index("Accuracy (%)")
        assert texts[title + 1 : title + 3] == ["10", "35 better"]


@pytest.mark.parametrize("other", ["before", "small/before", "tune/small/before"])
def test_delta_subtracts_a_level_or_another_grid(folder: Path, other: str) -> None:
    [figure] = _figures(folder, "tune/small/after", f"delta: {other}")
    assert data_table(figure)[1] == {"16": ["+10.0", "–"], "8": ["+10.0", "+10.0"]}
    assert text_of(figure.figcaption) == (
        "after minus before, in points. Each of the 3 cells is beyond chance. "
        "Across: learning rate. Up: batch size."
    )


def test_delta_takes_a_level_of_any_facet(folder: Path) -> None:
    [figure] = _figures(folder, "tune/large/before", "delta: small")
    assert figure_name(figure) == "Large − Small | before"


def test_a_row_is_a_line_with_its_intervals(folder: Path) -> None:
    [figure] = _figures(folder, "tune/small/before", "row: 16")
    assert figure_name(figure) == "Small | before, batch size 16"
    # One value, and a gap.
    assert [cell["aria-label"] for cell in drawn_cells(figure)] == [
        "Learning rate 0.1: 13.5 %, 95 % interval 6.6 to 25.6"
    ]
    assert text_of(figure.figcaption) == (
        "Bars: 95 % intervals. No value at Learning rate 0.2. Own axis; it need not begin at 0."
    )
    rows = [[text_of(cell) for cell in row.select("th, td")] for row in figure.select("tr")]
    assert rows == [
        ["Learning rate", "Accuracy (%)"],
        ["0.1", "13.5 (6.6 to 25.6) n = 200"],
        ["0.2", "missing"],
    ]


def test_a_column_is_named_by_its_number_however_it_is_written(folder: Path) -> None:
    [figure] = _figures(folder, "tune/small/after", "column: 0.10")
    assert [text_of(cell) for cell in figure.select("tbody th")] == ["8", "16"]
    [figure] = _figures(folder, "plain", "row: 1.0")
    assert text_of(figure.figcaption).startswith("No intervals: ")


def test_lines_share_their_axis_if_asked(folder: Path) -> None:
    found = _figures(folder, "tune/small/before", "tune/large/before", "row: 8", "scale: shared")
    assert all("shared by these 2 lines" in text_of(figure.figcaption) for figure in found)
    axes = [[text_of(element) for element in figure.select("svg text")] for figure in found]
    assert [label for label in axes[0] if label == "40.0"] == ["40.0"]
    assert "40.0" in axes[1]


def _plots(folder: Path, *lines: str) -> list[Tag]:
    return _html(folder, "\n".join(["```grid", *lines, "```"])).select("figure.ga-plots")


def test_dots_rank_the_settings(folder: Path) -> None:
    [plot] = _plots(folder, "tune/small/after", "as: dots", "title: Mine", "caption: So it is")
    assert text_of(plot.figcaption) == (
        "MineSo it is. Each setting with its 95 % interval, for these questions. Band: 95 % "
        "interval of the highest. The top score of 4 is partly luck: expect a little less."
    )
    rows = plot.select("svg .ga-row")
    assert [row["data-cell"] for row in rows] == ["0.2,16", "0.1,16", "0.2,8", "0.1,8"]
    assert [[text_of(cell) for cell in row.select("th, td")] for row in plot.select("tr")][:2] == [
        ["Learning rate × Batch size", "Accuracy (%)", "95 % interval, for these questions",
         "95 % interval, for questions of the kind"],
        ["0.2 × 16", "24.5", "19.1 to 30.9", "14.7 to 38.0"],
    ]  # fmt: skip
    assert "role" in plot.svg.attrs


def test_a_row_leads_to_its_cell_where_the_page_has_it(folder: Path) -> None:
    page = _html(folder, f"{FENCE}\n\n```grid\ntune/small/after\nas: dots\n```")
    links = [row["xlink:href"] for row in page.select("a.ga-row")]
    assert links == [f"#small/after/{cell}" for cell in ("0.2,16", "0.1,16", "0.2,8", "0.1,8")]
    assert all(page.find(id=link[1:]) for link in links)
    assert [row["href"] for row in page.select(".ga-plots table a")] == links
    assert {row["tabindex"] for row in page.select("a.ga-row")} == {"-1"}


def test_dots_without_intervals_are_drawn_if_asked_for(folder: Path) -> None:
    [plot] = _plots(folder, "plain", "as: dots")
    assert text_of(plot.figcaption) == ("Each setting; no interval is known. Lower is better.")
    assert [text_of(cell) for cell in plot.select("tbody th")] == ["1", "2"]


def test_profiles_are_of_both_axes(folder: Path) -> None:
    [plot] = _plots(folder, "tune/small/after", "as: profile", "compact: yes")
    assert [svg["role"] for svg in plot.select("svg")] == ["img", "img"]
    assert plot.select("table, details, a") == []


@pytest.mark.parametrize("address", ["tune/setting", "tune"])
def test_a_forest_is_of_a_facet(folder: Path, address: str) -> None:
    [plot] = _plots(folder, address, "as: forest")
    assert text_of(plot.figcaption).startswith("after minus before, averaged over the settings")
    rows = [[text_of(cell) for cell in row.select("th, td")] for row in plot.select("tbody tr")]
    assert rows == [["Small", "+10.0", "+5.7 to +14.3",
                     "if these questions are asked again", "clear"]]  # fmt: skip


@pytest.mark.parametrize("more", [(), ("delta: before",)])
def test_delta_is_from_the_baseline(folder: Path, more: tuple[str, ...]) -> None:
    [figure] = _figures(folder, "tune/small/after", "as: delta", *more)
    assert figure_name(figure) == "Small | after − before"
    assert data_table(figure)[1] == {"16": ["+10.0", "–"], "8": ["+10.0", "+10.0"]}


@pytest.mark.parametrize(
    ("lines", "titles"),
    [([], ["Plain", "Tuning"]), (["tune", "plain"], ["Tuning", "Plain"]), (["tune"], ["Tuning"])],
)
def test_a_list_has_each_studys_answer(folder: Path, lines: list[str], titles: list[str]) -> None:
    text = "\n".join(["```grid", *lines, "as: studies", "```"])
    html = _html(folder, text, downloads=True)
    entries = html.select("article.ga-level")
    assert [text_of(entry.p.b) for entry in entries] == titles
    addresses = [f"studies/{'plain' if title == 'Plain' else 'tune'}/" for title in titles]
    for entry, address in zip(entries, addresses, strict=True):
        links = [str(link["href"]).partition("#")[0] for link in entry.select("a")]
        assert links[0] == address  # of the answer
        assert {link[: len(address)] for link in links} == {address}
        assert entry.select(".ga-chips li, .ga-thumbnails svg.marks")
        assert entry.select("[id]:not([id^=ga-])") == []  # permalinks lead to the study's pages
        entry.decompose()
    assert text_of(html) == ""  # such as the front matter of the page that it is taken from


def test_title_and_caption_are_text(folder: Path) -> None:
    text = 'Before & <b>after</b> "it"'
    [figure] = _figures(folder, "tune/small/after", f"title: {text}", f"caption: {text}")
    assert figure_name(figure) == text
    assert text_of(figure.select_one(".role-title-text")) == text
    assert text_of(figure.figcaption).startswith(f"{text}. Accuracy in %. ")
    assert figure.select("b") == []


def test_a_caption_of_several_stands_below_them(folder: Path) -> None:
    page = _html(folder, "```grid\ntune/small/before\nplain\ncaption: 'Both: ours'\n```")
    assert text_of(page.select_one(".ga-gallery + .ga-caption")) == "Both: ours"


def test_compact_leaves_table_and_downloads_out(folder: Path) -> None:
    text = "```grid\ntune/small/after\ncompact: {}\n```"
    assert _html(folder, text.format("yes"), downloads=True).select("table, a") == []
    page = _html(folder, text.format("no"), downloads=True)
    assert len(page.select("table")) == 1
    assert page.select_one("a")["href"] == "grids/tune/small/after.svg"


GALLERY = "--ga-panels: 1"


@pytest.mark.parametrize(
    ("lines", "gallery", "drawing"),
    [
        (["width: 600"], f"{GALLERY}; --ga-width: 600px", "600px"),
        (["width: 600px"], f"{GALLERY}; --ga-width: 600px", "600px"),
        (["width: page", "delta: before"], f"{GALLERY}; --ga-width: 100%", "100%"),
        (["width: page", "row: 8"], f"{GALLERY}; --ga-width: 100%", "100%"),
    ],
)
def test_a_width_is_that_of_drawing_and_row(
    folder: Path, lines: list[str], gallery: str, drawing: str
) -> None:
    page = _html(folder, "\n".join(["```grid", "tune/small/after", *lines, "```"]))
    assert page.select_one(".ga-gallery")["style"] == gallery
    assert _only(page).svg["style"] == f"max-width:{drawing}"
    assert not _only(page).get("style")


@pytest.mark.parametrize("columns", [3, 20])
def test_a_drawing_takes_what_its_columns_need(tmp_path: Path, columns: int) -> None:
    """A figure is as wide as its texts need, and wider only for a drawing that is."""
    cells = "".join(f"{at},{deep},{at}.25\n" for at in range(columns) for deep in (1, 2))
    write_study(tmp_path / "data/plain", PLAIN, f"width,depth,seconds\n{cells}")
    figure = _only(_html(tmp_path, "```grid\nplain\n```"))
    wide = float(str(figure.svg["style"]).removeprefix("max-width:").removesuffix("px"))
    assert (wide > 430) is (columns == 20)
    assert figure.get("style", "") == (f"--ga-width: {wide:g}px" if columns == 20 else "")


def test_without_the_files_there_is_no_link_to_them(folder: Path) -> None:
    assert _html(folder, FENCE).select("a") == []


def test_ids_are_unique_where_a_grid_stands_twice(folder: Path) -> None:
    twice = _html(folder, f"{FENCE}\n\n{FENCE}\n\n{FENCE}")
    ids = [str(element["id"]) for element in twice.select("[id]")]
    assert len(ids) == len(set(ids))
    assert ids.count("grid/small/after") == 1
    assert ids.count("small/after/0.1,16") == 1
    assert len(figures(twice)) == 3


def test_a_page_follows_its_data(folder: Path, tmp_path: Path) -> None:
    seen = []
    for value in ("0.50", "10.25"):
        write_study(tmp_path / "data/plain", PLAIN, f"width,depth,seconds\n1,1,{value}\n")
        page = _html(tmp_path, "```grid\nplain\n```\n\n{{ grid(study='plain').mean }}")
        seen.append((data_table(_only(page))[1]["1"], text_of(page.select_one(".ga-number"))))
    assert seen == [(["0.50"], "0.50"), (["10.25"], "10.25")]


# --- what it says when it can't -----------------------------------------------------------------

ERRORS = {
    "colour and delta": (
        ["tune/small/after", "colour: value", "delta: before"], 3, "delta and colour in one fence",
        "delta with no `colour`", "remove one of the lines delta and colour",
    ),
    "colour of several studies": (
        ["tune/small/after", "plain", "colour: value"], 3, "colour for grids of several studies",
        "grids of one study", "write a fence for each study",
    ),
    "unknown colour": (
        ["tune/small/after", "colour: valu"], 2, "colour: valu", "evidence or value",
        "write `colour: value`",
    ),
    "unknown study": (
        ["tunes/small/after"], 1, 'no study "tunes"; did you mean tune?',
        "one of the studies plain, tune", "write tune/small/after or tune/small/before",
    ),
    "unknown level": (
        ["tune/small/after", "tune/smal/after"], 2, 'no grid "smal/after" in the study tune',
        "tune/model/setting, one of 3 grids: tune/small/after, tune/small/before, "
        "tune/large/before",
        "write tune/small/after or tune/small/before or tune/large/before",
    ),
    "level left out": (
        ["tune"], 1, "no grid named in the study tune", "tune/model/setting, one of 3 grids: "
        "tune/small/before, tune/small/after, tune/large/before", "write tune/small/before",
    ),
    "no address": (
        ["", "scale: shared"], 0, "no address",
        "the address of a grid in the first line, such as study/level/level",
        "write it; the address of a heatmap is in its page's links, after #grid/",
    ),
    "unknown option": (
        ["tune/small/after", "scal: shared"], 2, 'no option "scal"; did you mean scale?',
        "one of as, scale, colour, delta, row, column, title, caption, compact, width",
        "write scale in its place",
    ),
    "option twice": (
        ["plain", "row: 1", "row: 1"], 3, "the option row a second time", "each option once",
        "remove one of the lines 2 and 3 of the fence",
    ),
    "option without value": (
        ["plain", "title:"], 2, "the option title without a value", "a text",
        "write it after the colon, as in `title: …`, or remove the line",
    ),
    **{
        f"width {width}": (
            ["plain", f"width: {width}"], 2, f"width: {width}", "pixels from 100 to 3000, or page",
            "write pixels, as in `width: 600`, or `page`",
        )
        for width in ("99", "3001", "60%", "600.5", "-300", "\u0664\u0660\u0660", "1;color:red")
    },
    "width of a plot": (
        ["tune/small/after", "as: dots", "width: 600"], 3, "width with as: dots",
        "width with no `as`", "remove one of the lines as and width, or write two fences",
    ),
    "width with colour": (
        ["tune/small/after", "colour: value", "width: 600"], 3, "width and colour in one fence",
        "width with no `colour`", "remove one of the lines width and colour",
    ),
    "unknown value": (
        ["plain", "scale: share"], 2, "scale: share", "own or shared", "write `scale: shared`",
    ),
    "unknown row": (
        ["tune/small/after", "row: 17"], 2, 'no level "17" of batch',
        "one of 8, 16", "write `row: 8`",
    ),
    "unknown delta": (
        ["tune/small/after", "delta: befor"], 2, 'no level "befor" in tune; did you mean before?',
        "one of before, after, small, large", "write before in its place",
    ),
    "no grid for delta": (
        ["tune/small/after", "delta: large"], 2, "no grid like small/after at model large",
        "a level, or the address of another grid of the study",
        "name another level, or another grid",
    ),
    "delta of itself": (
        ["tune/small/before", "delta: before"], 2, "small/before minus itself",
        "two grids that differ in the level of one facet",
        "name a grid that differs from it in one facet",
    ),
    "delta of two facets": (
        ["tune/small/after", "delta: large/before"], 2,
        "small/after and large/before, which differ in 2 facets",
        "two grids that differ in the level of one facet",
        "name a grid that differs from it in one facet",
    ),
    "delta elsewhere": (
        ["tune/small/after", "delta: small/befor"], 2,
        'no grid "small/befor" in the study tune',
        "a level, or the address of another grid of the study",
        "write tune/small/before or tune/small/after or tune/large/before",
    ),
    "two of a kind": (
        ["plain", "row: 1", "column: 1"], 3, "row and column in one fence",
        "at most one of delta, row, column", "write two fences, or remove column",
    ),
    "title of several": (
        ["plain", "plain", "title: Both"], 3, "one title for 2 grids", "a title for one grid",
        "write a fence for each grid, or use caption",
    ),
    "several metrics": (
        ["plain", "tune/small/after", "scale: shared"], 3,
        "a shared scale for Seconds (), Accuracy (%)", "grids of one metric in one unit",
        "remove the line, or write a fence for each metric",
    ),
    "unknown plot": (
        ["plain", "as: dot"], 2, "as: dot",
        "dots, rows, profile, forest, sweep, ratios, seeds, delta or studies",
        "write `as: dots`",
    ),
    "list with another option": (
        ["as: studies", "title: Ours"], 2, "title with as: studies",
        "as: studies with studies' ids, or with nothing else", "remove the line title",
    ),
    "list of an unknown study": (
        ["tun", "as: studies"], 1, 'no study "tun"; did you mean tune?',
        "one of the studies plain, tune", "write tune in its place",
    ),
    "list without pages": (
        ["as: studies"], 1, "as: studies, where the site has no pages of studies",
        "a site with pages to link to",
        "write them with `gridatlas build`, and set `downloads: true` for the extension",
    ),
    "plot with a shared scale": (
        ["plain", "scale: shared", "as: dots"], 2, "scale with as: dots", "scale with no `as`",
        "remove one of the lines as and scale, or write two fences",
    ),
    "plot of a difference": (
        ["tune/small/after", "as: profile", "delta: before"], 3, "delta with as: profile",
        "delta with as: delta", "remove one of the lines as and delta, or write two fences",
    ),
    "difference as a line": (
        ["tune/small/after", "as: delta", "row: 8"], 3, "row with as: delta", "row with no `as`",
        "remove one of the lines as and row, or write two fences",
    ),
    "dots of two studies": (
        ["plain", "tune/small/after", "as: dots"], 3, "as: dots for grids of 2 studies",
        "grids of one study", "write a fence for each study",
    ),
    "dots of what differs": (
        ["tune/small/after", "tune/small/before", "as: dots"], 3,
        "as: dots for grids that differ in setting",
        "one grid, or grids that differ in model alone",
        "write a fence for each, or compare them with `as: forest`",
    ),
    "forest of a grid": (
        ["tune/small/after", "as: forest"], 1, 'no facet "small/after" in the study tune',
        "tune/model, setting", "write tune/setting",
    ),
    "forest of several": (
        ["tune/setting", "tune/model", "as: forest"], 3, "as: forest with 2 addresses",
        "one address: a study and one of its facets", "write a fence for each",
    ),
    "forest of an unknown study": (
        ["tunes/model", "as: forest"], 1, 'no study "tunes"; did you mean tune?',
        "one of the studies plain, tune", "write tune in its place",
    ),
    "forest without facets": (
        ["plain", "as: forest"], 1, "no facet of the study plain named", "a study with facets",
        "name a study that compares levels",
    ),
    "forest of what is not compared": (
        ["tune/model", "as: forest"], 2, "as: forest for model, whose levels aren't compared",
        "a facet whose levels are a choice",
        "write `roles: {model: choice}` in tune, or name another facet",
    ),
    "delta without a baseline": (
        ["plain", "as: delta"], 2, "as: delta, and no baseline in plain",
        "a study with one baseline, or the option delta",
        "add the line `delta: …` with the level that is subtracted",
    ),
    "delta of the baseline": (
        ["tune/small/before", "as: delta"], 2, "as: delta for small/before, which is the baseline",
        "a grid that isn't the baseline's",
        "name a grid at another level, or what is subtracted with `delta: …`",
    ),
}  # fmt: skip


UNFIT = {
    "dots of conditions": (
        ["hard", "as: dots"], 2,
        "as: dots for hard, whose axes are conditions: none of them is the best",
        "a study whose axes are settings to choose from", "write `as: profile`",
    ),
    "dots of what is alike": (
        ["alike", "as: dots"], 2,
        "as: dots for settings of which most are alike, or fewer than two have a value",
        "2 to 2,500 settings with different values", "remove the line, which shows the heatmap",
    ),
    "profile of what is alike": (
        ["alike", "as: profile"], 2,
        "as: profile for axes whose levels can't be compared: too few, too many, or never all "
        "with a value in one row",
        "an axis of 2 to 100 levels with different means",
        "remove the line, which shows the heatmap",
    ),
    "forest of what cannot be tested": (
        ["untested/model", "as: forest"], 2,
        "as: forest for model, where no difference can be tested",
        "levels whose difference has an interval",
        "write `as: delta`, which shows the differences without a test",
    ),
}  # fmt: skip
"""Plots of studies that they can't be of."""


@pytest.fixture
def unfit(tmp_path: Path) -> Path:
    """A folder with studies that some plots can't be of."""
    for name, more, value in (("hard", "axes: conditions\n", "0.75"), ("alike", "", "0.50")):
        cells = f"width,depth,seconds\n1,1,0.50\n2,1,{value}\n"
        write_study(tmp_path / "data" / name, PLAIN + more, cells)
    cells = "model,width,depth,seconds\na,1,1,0.50\na,2,1,0.75\nb,1,1,1\nb,2,1,2\n"
    more = "facets: [model]\nbaseline: {model: a}\n"
    write_study(tmp_path / "data/untested", PLAIN + more, cells)
    return tmp_path


@pytest.mark.parametrize("case", UNFIT)
def test_a_plot_that_a_study_does_not_carry_is_an_error(unfit: Path, case: str) -> None:
    _assert_error(unfit, *UNFIT[case])


@pytest.mark.parametrize("case", ERRORS)
def test_errors_name_line_and_nearest(folder: Path, case: str) -> None:
    _assert_error(folder, *ERRORS[case])


def _assert_error(
    folder: Path, lines: list[str], line: int, found: str, expected: str, fix: str
) -> None:
    text = "\n".join(["# Page", "", "```grid", *lines, "```"])
    with pytest.raises(SuperFencesException) as caught:
        _html(folder, text)
    assert str(caught.value) == (
        f"gridatlas: the page:{3 + line}: this grid can't be shown\n"
        f"  found:    {found}\n  expected: {expected}\n  fix:      {fix}"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```grid scale=shared\nplain\n```", '"scale=shared" after the word grid'),
        ('```grid scale="shared"\nplain\n```', '"scale=shared" after the word grid'),
        ("> ```grid plain\n> ```", '"plain" after the word grid'),
        ("```grid\nplain\n\ntext", "a fence that isn't ended"),
        ("!!! note\n\n    ```grid\n    plain\n", "a fence that isn't ended"),
        ("- item\n\n    ```grid\n  plain\n    ```", "a fence that isn't ended"),
    ],
)
def test_a_fence_that_would_be_text_is_an_error(folder: Path, text: str, found: str) -> None:
    with pytest.raises(SuperFencesException, match=re.escape(found)):
        _html(folder, f"Text\n\n{text}")


def test_a_data_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuperFencesException, match="expected: a study; there is none"):
        _html(tmp_path, FENCE)


def test_a_number_that_is_not_there_is_an_error(folder: Path) -> None:
    with pytest.raises(SuperFencesException, match='there is no study "plan"; did you mean plain'):
        _html(folder, "{{ grid(study='plan').mean }}")


# --- in MkDocs ----------------------------------------------------------------------------------

PAGE = """\
---
title: A page
---
# Page

{fence}

```grid
tune/small/after
```

```grid
tune/smal/after
```

- item

    ```grid
    tune/small/after
    row: 9
    ```

```grid
tune/smal/after
```
"""


@once
def fenced_site(base: Path) -> site_builds.Build:
    """A site with figures and faults, built in an own folder below that of its pages."""
    project = site_builds.make_project(base / "fenced", site_builds.shared_cache(base))
    write_study(project.folder / "data/tune", STUDY, CELLS)
    project.write("docs/below/page.md", PAGE.replace("{fence}", FENCE))
    project.write("docs/index.md", "[A cell](below/page.md#small/after/0.1,16)\n")
    return project.built()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> site_builds.Build:
    return fenced_site(tmp_path_factory.getbasetemp())


def test_mkdocs_shows_figures_and_what_is_wrong_in_place(built: site_builds.Build) -> None:
    page = built.page("below/page/")
    assert [bool(figure.get("id")) for figure in figures(page)] == [True, False]
    found = site_builds.article(page).select("figure.ga-figure, .ga-fence-error")
    assert ["figure" if element.name == "figure" else "error" for element in found] == [
        "figure", "figure", "error", "error", "error",
    ]  # fmt: skip
    assert text_of(found[3]) == (
        'This grid can’t be shown. found: no level "9" of batch; expected: one of 8, 16; '
        "to fix it: write `row: 8`."
    )


def test_mkdocs_tells_the_line_of_each_fault(built: site_builds.Build) -> None:
    places = re.findall(r"WARNING +-  (below/page\.md:\d+): this grid", built.log)
    assert places == ["below/page.md:15", "below/page.md:22", "below/page.md:26"]


def test_mkdocs_fails_strictly_on_a_fault_only(built: site_builds.Build) -> None:
    project = site_builds.Project(built.site.parent)
    assert project.build("--strict", into="strict").status == 1
    page = project.folder / "docs/below/page.md"
    page.write_text(f"{FENCE}\n", "utf-8")
    # The link to a cell of the figure is known to be there.
    project.configure(validation={"anchors": "warn"})
    project.built("--strict", into="strict")


def test_downloads_of_a_figure_lead_to_files(built: site_builds.Build) -> None:
    links = [str(link["href"]) for link in built.page("below/page/").select(".ga-downloads a")]
    assert len(links) == 10
    assert all((built.site / "below/page" / link).resolve().is_file() for link in links)


def test_figures_are_not_in_the_search_index(built: site_builds.Build) -> None:
    index = (built.site / "search/search_index.json").read_text("utf-8")
    [entry] = re.findall(r'\{[^{}]*"location":"below/page/"[^{}]*\}', index)
    assert "21.5" not in entry


def test_pages_without_a_fence_keep_their_code_blocks(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    project = site_builds.make_project(tmp_path / "project", cache)
    site_builds.add_tiny_study(project)
    project.write("docs/index.md", "```python\na = 1\n```\n")
    plain = project.built().page("")
    project.write("docs/other.md", "```grid\ntiny/small\n```\n")
    beside = project.built()
    assert plain.select(".highlight") == []
    assert len(beside.page("").select(".highlight")) == 1
    assert len(figures(beside.page("other/"))) == 1
