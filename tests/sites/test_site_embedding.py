"""What others put into their pages: frames, texts to copy, badges, and cards of links."""

import gzip
import html
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree

import markdown
import pytest
import site_builds
from bs4 import BeautifulSoup, Tag
from expected import GRIDS, name_of, shown, study_of
from hostile import STRINGS, Texts, hostile
from site_builds import (
    DYNTS,
    GRPO,
    SITE_URL,
    Build,
    Project,
    about,
    article,
    data_table,
    drawn_cells,
    figures,
    grid_of,
    is_moved,
    parse,
    text_of,
)

from gridatlas import load
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.badges import best_badge, reproduced_badge, text_width
from gridatlas.model.schema import Source
from gridatlas.pages.embeds import bibtex
from gridatlas.pages.meta import with_tags

SVG = "{http://www.w3.org/2000/svg}"
QWEN = f"studies/{DYNTS}/model/r1-qwen/"

every_grid = pytest.mark.parametrize(("study", "grid"), GRIDS, ids=[grid for _, grid in GRIDS])
every_string = pytest.mark.parametrize("study", STRINGS)


def embed(build: Build, study: str, grid: str) -> BeautifulSoup:
    return parse(build.site / f"grids/{study}/{grid}.html")


def copies(figure: Tag) -> dict[str, str]:
    """The texts to copy below a heatmap, by their names."""
    row = figure.find_parent(class_="ga-multiples")
    found = {}
    cited = row.select(".ga-share > pre") if row and grid_of(figure) else []
    for text in [*about(figure, ".ga-share pre"), *cited]:
        name = text.find_previous_sibling("p")
        assert isinstance(name, Tag)
        found[text_of(name).partition(" of ")[0]] = text.get_text()
    return found


def shared(figure: Tag) -> str:
    """All that a page says of citing and embedding the heatmap."""
    return " ".join(
        map(text_of, (figure.find_parent(class_="ga-multiples") or figure).select(".ga-share"))
    )


# --- the page for frames ------------------------------------------------------------------------


@every_grid
def test_a_page_for_frames_is_whole(atlas: Build, study: str, grid: str) -> None:
    page = embed(atlas, study, grid)
    figure = figures(page)[0]
    assert (len(figures(page)), grid_of(figure)) == (1, grid)
    columns, rows = data_table(figure)
    table = {(x, y): text for y, row in rows.items() for x, text in zip(columns, row, strict=True)}
    assert {point: text.split(" (")[0] for point, text in table.items()} == {
        point: cell.text for point, cell in shown(grid).items()
    }
    assert [str(cell["id"]) for cell in drawn_cells(figure)] == [
        f"{grid}/{x},{y}" for y in rows for x in columns
    ]
    title = text_of(page.select_one("h1"))
    assert title.startswith(f"{name_of(grid)}: ")
    assert text_of(page.select_one("title")) == title
    assert page.select("html[lang=en] > body > main > h1")
    assert page.select('meta[name=viewport][content^="width=device-width"]')
    assert page.select('meta[name=color-scheme][content="light dark"]')
    assert text_of(page.select_one(".ga-source")).startswith(("Source: ", "From the study "))
    for link in page.select("a:not([download])"):
        assert link["target"] == "_top"
    assert not page.select(".ga-share")
    # What the page says that the title leads to.
    [link] = page.select("h1 a")
    place = Path(str(link["href"]).partition("#")[0].removeprefix(SITE_URL).lstrip("./"))
    led_to = article(atlas.page(place.as_posix().removesuffix("index.html")))
    # A frame says what its own grid shows, in the words of the page where that is the same.
    answer = page.select_one(".ga-answer")
    if grid.endswith("/average"):  # An average isn't tested by itself.
        assert answer is None
        return
    own, of_page = text_of(answer), text_of(led_to.h1)
    assert own == of_page or own.startswith(f"{name_of(grid).replace(' | ', ', ')}: ")


def test_lengths_are_those_of_material_in_themes_with_another_rem(atlas: Build) -> None:
    rules = (atlas.site / "assets/gridatlas/gridatlas.css").read_text("utf-8")
    assert re.findall(r"[\d.]+rem\b", rules) == ["1rem"]
    assert ":root:has(.md-container){--ga-rem:1rem}" in rules
    assert rules.count("calc(0.65*var(--ga-rem,20px))") > 10


@every_grid
def test_a_page_for_frames_is_light(atlas: Build, study: str, grid: str) -> None:
    """The page as it is; all of it, with stylesheet and script, as it is sent."""
    path = atlas.site / f"grids/{study}/{grid}.html"
    page = parse(path)
    loaded = [str(element["href"]) for element in page.select("link[rel=stylesheet]")]
    loaded += [str(element["src"]) for element in page.select("script, img, iframe")]
    files = [path, *(path.parent / name for name in loaded)]
    assert [file.name for file in files[1:]] == ["gridatlas.css", "gridatlas.js"]
    assert path.stat().st_size < 80_000
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < 30_000


@every_grid
def test_a_page_for_frames_shows_the_drawing_of_the_other_pages(
    atlas: Build, study: str, grid: str
) -> None:
    drawn = (atlas.site / f"grids/{study}/{grid}.svg").read_text(encoding="utf-8")
    file = BeautifulSoup(drawn, "html.parser")
    inline = figures(embed(atlas, study, grid))[0].select("svg")[0]

    def cells(svg: Tag) -> list[tuple[str, str]]:
        drawn_cells = svg.select("path[aria-label]")
        return [(str(cell["aria-label"]), str(cell["d"])) for cell in drawn_cells]

    assert cells(inline) == cells(file) != []
    texts = [[text.get_text() for text in svg.select("text")] for svg in (file, inline)]
    assert texts[0] == texts[1] != []


# --- texts to copy ------------------------------------------------------------------------------


def test_texts_to_copy_have_the_addresses_of_the_published_site(atlas: Build) -> None:
    for path in (QWEN, f"studies/{GRPO}/setting/before/"):
        for figure in figures(atlas.page(path)):
            grid = grid_of(figure)
            if not grid:
                assert not copies(figure)
                continue
            found = copies(figure)
            base = f"{SITE_URL}grids/{study_of(grid)}/{grid}"
            name = grid.partition("/")[0]
            facet = "model" if "/" in grid else "setting"
            home = f"{SITE_URL}studies/{study_of(grid)}/{facet}/{name}/#grid/{grid}"
            image = BeautifulSoup(markdown.markdown(found["Markdown"]), "html.parser")
            assert [str(link["href"]) for link in image.select("a")] == [home]
            assert [str(link["src"]) for link in image.select("a > img")] == [f"{base}.svg"]
            alone = figures(embed(atlas, study_of(grid), grid))[0]
            assert image.select("img")[0]["alt"] == str(alone.select("svg")[0]["aria-label"])
            frame = BeautifulSoup(found["HTML"], "html.parser").select("iframe")[0]
            assert frame["src"] == f"{base}.html"
            assert str(frame["title"]).startswith(f"{name_of(grid)}: ")
            assert "relative" not in shared(figure)
            assert f'href="{base}' not in str(figure)
    assert found["BibTeX"].startswith("@misc{grpo-digits,\n  title = {{")


@pytest.mark.parametrize("directories", [True, False], ids=["folders", "files"])
def test_without_a_site_url_texts_to_copy_are_relative(
    tiny: Callable[..., Project], directories: bool
) -> None:
    build = tiny(use_directory_urls=directories).built("--strict")
    end = "" if directories else "index.html"
    for path in ("studies/tiny/model/large/",):
        page = build.page(f"{path}index.html")
        figure = next(figure for figure in figures(page) if grid_of(figure) == "large")
        found = copies(figure)
        assert list(found) == ["Markdown", "HTML"]  # nothing is known to cite
        image = BeautifulSoup(markdown.markdown(found["Markdown"]), "html.parser")
        links = [str(image.select("a")[0]["href"]), str(image.select("img")[0]["src"])]
        frame = BeautifulSoup(found["HTML"], "html.parser").select("iframe")[0]
        whole = [urljoin(f"https://x.example/{path}", link) for link in [*links, str(frame["src"])]]
        assert whole == [
            f"https://x.example/studies/tiny/model/large/{end}#grid/large",
            "https://x.example/grids/tiny/large.svg",
            "https://x.example/grids/tiny/large.html",
        ]
        assert "relative to this page" in shared(figure)
        assert not page.select('meta[property="og:image"], meta[property="og:url"]')
        assert page.select('meta[property="og:title"]')
        assert page.select('meta[name="twitter:card"][content="summary"]')
    embedded = embed(build, "tiny", "large")
    assert not embedded.select("link[rel=canonical]")
    assert str(embedded.select("h1 a")[0]["href"]) == (
        f"../../studies/tiny/model/large/{end}#grid/large"
    )


def test_a_page_is_cited_where_there_is_no_source(tiny: Callable[..., Project]) -> None:
    build = tiny(site_url="https://x.example/a (b)/").built("--strict")
    figure = figures(build.page("studies/tiny/model/large/"))[0]
    assert copies(figure)["BibTeX"] == (
        "@misc{tiny,\n  title = {{Large: Accuracy over learning rate and batch size}},\n"
        "  url = {https://x.example/a%20%28b%29/studies/tiny/model/large/#grid/large},\n}"
    )
    assert "(https://x.example/a%20%28b%29/grids/tiny/large.svg)" in copies(figure)["Markdown"]


SOURCES: list[tuple[dict[str, Any], str]] = [
    ({"title": "T", "bibtex": " @article{t,\n title={<b>}}\n"}, "@article{t,\n title={<b>}}"),
    ({"title": "T"}, "@misc{s,\n  title = {{T}},\n}"),
    (
        {"title": "A & {B} 50 % \\x", "authors": ["Ann", "Research and Co"], "year": 2026},
        "@misc{s,\n  title = {{A \\& \\textbraceleft{}B\\textbraceright{} 50 \\% "
        "\\textbackslash{}x}},\n  author = {Ann and {Research and Co}},\n  year = {2026},\n}",
    ),
    (
        {"title": "_a^b~c$#", "url": "https://x.example/a_{b}#c%20d"},
        "@misc{s,\n  title = {{\\_a\\textasciicircum{}b\\textasciitilde{}c\\$\\#}},\n"
        "  url = {https://x.example/a_%7Bb%7D#c%20d},\n}",
    ),
]


@pytest.mark.parametrize(("source", "expected"), SOURCES)
def test_bibtex_says_what_the_source_says_and_no_more(
    tmp_path: Path, source: dict[str, Any], expected: str
) -> None:
    project = site_builds.make_project(tmp_path / "s")
    site_builds.add_tiny_study(project, "s")
    study = project.folder / "data/s/study.yml"
    study.write_text(f"{study.read_text()}source: {json.dumps(source)}\n")
    results = load(project.folder / "data")["s"]
    assert results.study.source == Source(**source)
    assert bibtex(results.study, "unused", "https://unused.example/") == expected


@every_string
def test_hostile_strings_are_text_in_all_that_is_copied(base: Path, study: str) -> None:
    build, texts = hostile(base), Texts(study)
    level = texts.levels[-1]
    files = sorted((build.site / "grids" / study).glob("*.html"))
    assert len(files) == len(texts.levels)
    page = parse(next(file for file in files if Path(file).stem == _slug(build, study)))
    title = " ".join(f"{texts[level]}: {texts['metric']} over".split())
    assert text_of(page.select_one("h1")).startswith(title)
    assert " ".join(texts["author"].split()) in text_of(page.select_one(".ga-source"))
    assert {element.name for element in page.find_all(True)} - {"br", "title"} == {
        "html", "head", "meta", "link", "script", "body", "main", "h1", "a", "figure",
        "figcaption", "details", "summary", "span", "div", "table", "thead", "tbody", "tr", "th",
        "td", "p", "ul", "li", "strong", *(element.name for element in page.select("svg, svg *")),
    }  # fmt: skip
    assert not [
        element
        for element in page.find_all(True)
        for name in element.attrs
        if name.startswith("on")
    ]
    addresses = [str(element[name]) for element in page.find_all(True) for name in ("href", "src")
                 if name in element.attrs]  # fmt: skip
    # The icon is none, so that no browser asks for one.
    others = [
        address for address in addresses if address.partition(":")[0] not in ("https", address)
    ]
    assert others == ["data:,"]

    outer = build.page(f"studies/{study}/facet/{_slug(build, study)}/")
    figure = figures(outer)[0]
    found = copies(figure)
    label = str(figure.select("svg")[0]["aria-label"])
    image = BeautifulSoup(markdown.markdown(found["Markdown"]), "html.parser")
    alt = str(image.select("a > img")[0]["alt"])
    assert " ".join(alt.split()) == " ".join(label.split())
    assert {element.name for element in image.find_all(True)} == {"p", "a", "img"}
    frame = BeautifulSoup(found["HTML"], "html.parser")
    assert [element.name for element in frame.find_all(True)] == ["iframe", "script"]
    assert str(frame.select("iframe")[0]["title"]).startswith(title)
    entry = found["BibTeX"]
    assert entry.count("{") == entry.count("}")
    # Every opened brace is closed before the last one.
    depth = [entry[: at + 1].count("{") - entry[: at + 1].count("}") for at in range(len(entry))]
    assert min(depth[entry.index("{") : -1]) == 1

    for name in ("best", "reproduced"):
        file = next((build.site / "grids" / study).glob(f"{_slug(build, study)}.{name}.svg"))
        tree = ElementTree.parse(file).getroot()
        assert {element.tag for element in tree.iter()} == {
            f"{SVG}{tag}" for tag in ("svg", "title", "path", "g", "text")
        }
        assert (tree.findtext(f"{SVG}title") or "").startswith(" ".join(texts[level].split()))

    head = outer.head
    assert head is not None
    tags = {
        str(element["property"]): str(element["content"])
        for element in head.select("meta[property]")
    }
    name = " ".join(texts[level].split())
    assert tags["og:title"].startswith(name)
    assert tags["og:description"].startswith(name)


def _slug(build: Build, study: str) -> str:
    """The address of the last level."""
    files = (build.site / "grids" / study).glob("*.csv")
    last = Texts(study)[Texts(study).levels[-1]]
    for file in files:
        content = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        if content["facets"]["facet"] in (last, "two"):
            return file.stem
    raise AssertionError(f"no grid of {last!r}")


# --- cards of links -----------------------------------------------------------------------------


def test_each_page_of_ours_has_a_card(atlas: Build) -> None:
    pages = sorted((atlas.site / "studies").rglob("index.html"))
    assert len(pages) > 15
    pictures = set()
    for file in pages:
        address = f"{SITE_URL}{file.parent.relative_to(atlas.site).as_posix()}/"
        head, _, body = file.read_text("utf-8").partition("</head>")
        page = BeautifulSoup(head, "html.parser")
        if is_moved(page):
            continue  # an old address, which leads to a page with one
        tags = page.select("meta[property], meta[name^=twitter]")
        found = {str(tag.get("property") or tag["name"]): str(tag["content"]) for tag in tags}
        assert len(found) == len(tags)
        assert found["og:url"] == address
        assert found["og:title"]
        assert found["og:description"]
        assert found["og:image"] == f"{address}card.png"
        picture = file.with_name("card.png")
        assert struct.unpack(">II", picture.read_bytes()[16:24]) == (1200, 630)
        assert (found["og:image:width"], found["og:image:height"]) == ("1200", "630")
        assert found["twitter:card"] == "summary_large_image"
        # A page leads with the same everywhere: on its card, in its description, in itself.
        text = " ".join(html.unescape(re.sub("<[^>]*>", "", body)).split())
        assert any(
            lead in text and lead in found["og:image:alt"]
            for lead in re.split(r"[.:] ", f"{found['og:description']} ")
            if lead
        )
        assert picture.stat().st_size < 150_000
        pictures.add(picture.read_bytes())
    assert len(pictures) > 5
    assert not atlas.page("start/").select('meta[property^="og:"]')


OURS = [("og:title", 'a "b" <c>'), ("og:image", "https://x/"), ("twitter:card", "summary")]


@pytest.mark.parametrize(
    ("head", "added"),
    [
        ("<title>t</title>", ["og:title", "og:image", "twitter:card"]),
        ('<meta property="og:image" content="https://y/">', []),
        ("<META content='https://y/' property='og:image'>", []),
        ("<meta property=og:image content=y>", []),
        ('<meta property="og:title" content="theirs">', ["og:image", "twitter:card"]),
        ('<meta name="twitter:card" content="player">', ["og:title", "og:image"]),
    ],
)
def test_a_card_that_is_there_stays(head: str, added: list[str]) -> None:
    page = f"<html><head>{head}</head><body>&lt;/head></body></html>"
    changed = with_tags(page, OURS)
    lines = changed[changed.index(head) + len(head) : changed.index("</head>")].splitlines()
    found = [re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', line)[0]
             for line in lines]  # fmt: skip
    assert [(name, html.unescape(content)) for name, content in found] == [
        our for our in OURS if our[0] in added
    ]
    without = "".join(f"{line}\n" for line in lines)
    assert changed.replace(without, "") == page if without else changed == page


def test_a_page_without_a_head_stays() -> None:
    assert with_tags("<p>x</p>", OURS) == "<p>x</p>"


# --- badges -------------------------------------------------------------------------------------


@every_grid
def test_badges(atlas: Build, study: str, grid: str) -> None:
    folder = atlas.site / f"grids/{study}"
    best = ElementTree.parse(folder / f"{grid}.best.svg").getroot()
    values = {point: cell.text for point, cell in shown(grid).items()}
    highest = max(values.values(), key=float)
    cells = [(point, cell) for point, cell in shown(grid).items() if cell.text == highest]
    at = [f"{x} × {y}" for (x, y), _ in cells]
    doubt = " (disputed)" if all(cell.disputed for _, cell in cells) else ""
    label, message = [element.text or "" for element in best.iter(f"{SVG}text")]
    tested = study == DYNTS and "average" not in grid
    assert label == (
        "best Pass@1" if tested else "highest Pass@1" if study == DYNTS else "highest Score"
    )
    unit = " %" if study == DYNTS else ""
    more = f" and {len(at) - 1} more" if len(at) > 1 else ""
    texts = [f"{highest}{unit}{doubt} at {place}{more}" for place in at]
    if tested:  # Of no grid one cell alone may be the best.
        assert message == f"{highest}{unit}{doubt} · no clear best"
        assert any(text in str(best.findtext(f"{SVG}title")) for text in texts)
        assert "20 of 20 cells may be the best" in str(best.findtext(f"{SVG}title"))
    else:
        assert message in texts
    run = ElementTree.parse(folder / f"{grid}.reproduced.svg").getroot()
    assert [element.text for element in run.iter(f"{SVG}text")] == ["reproduced", "not run"]
    for badge in (best, run):
        assert badge.attrib["role"] == "img"
        title = badge.findtext(f"{SVG}title") or ""
        assert title == badge.attrib["aria-label"]
        assert title.startswith(f"{name_of(grid)}: ")
        ends = [float(element.attrib["x"]) + float(element.attrib["textLength"]) / 2
                for element in badge.iter(f"{SVG}text")]  # fmt: skip
        assert ends[1] == float(badge.attrib["width"]) - 6


@pytest.mark.parametrize(
    ("cells", "messages"),
    [
        ("small,8,0.1,,,r1\n", ["no value", "not run"]),
        ("small,8,0.1,3,,\nsmall,8,0.2,1,,\n", ["1.0 % at 0.2 × 8", "not run"]),
        (
            "small,8,0.1,3,,r1\nsmall,8,0.2,3,,\n",
            ["3.0 % at 0.1 × 8 and 1 more", "1 of 2 cells"],
        ),
    ],
    ids=["no-value", "lower", "ties-and-a-run"],
)  # fmt: skip
def test_badges_of_other_grids(tmp_path: Path, cells: str, messages: list[str]) -> None:
    project = site_builds.make_project(tmp_path / "s")
    study = site_builds.TINY_STUDY.replace("better: higher", "better: lower")
    project.write("data/s/study.yml", study)
    project.write("data/s/cells.csv", f"model,batch,rate,accuracy,state,run\n{cells}")
    grid = load(project.folder / "data")["s"].grid(model="small")
    badges = [best_badge(grid, GridUncertainty.unknown(grid.study)), reproduced_badge(grid, None)]
    found = [[element.text for element in ElementTree.fromstring(badge).iter(f"{SVG}text")][1]
             for badge in badges]  # fmt: skip
    assert found == messages


def test_a_badge_is_readable_and_never_too_long(atlas: Build) -> None:
    for file in sorted((atlas.site / "grids").rglob("*.best.svg")):
        fills = re.findall(r'<path fill="#(\w{6})"', file.read_text(encoding="utf-8"))
        assert len(fills) == 2
        assert all(_contrast_to_white(fill) >= 4.5 for fill in fills)
    assert _contrast_to_white("5f5f5f") >= 4.5  # behind "not run"
    assert text_width("iiii") < text_width("MMMM") / 2
    assert text_width("漢字") == 22


def _contrast_to_white(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_texts_of_the_page_lead_to_files_of_this_site(atlas: Build) -> None:
    page = (site_builds.ROOT / "docs/embedding/index.md").read_text("utf-8")
    [frame, *images] = re.findall(r"^```(?:html|markdown)\n(.*?)^```$", page, re.M | re.S)
    addresses = re.findall(r"https://example\.org/atlas/([^\s\")#]+)", "".join([frame, *images]))
    assert len(addresses) == 6
    for address in addresses:
        path = atlas.site / (f"{address}index.html" if address.endswith("/") else address)
        assert path.is_file(), address
    model = atlas.page("studies/dynts-window-ratio/model/r1-qwen/")
    figure = next(figure for figure in figures(model) if grid_of(figure) == "r1-qwen/aime24")
    offered = BeautifulSoup(copies(figure)["HTML"], "html.parser").select("iframe")[0]
    printed = BeautifulSoup(frame, "html.parser").select("iframe")[0]
    for name in ("title", "width", "height", "loading", "style"):
        assert printed[name] == offered[name]
    assert copies(figure)["HTML"].endswith(
        f'</iframe>\n<script src="{SITE_URL}assets/gridatlas/embed.js" async></script>'
    )
    assert (atlas.site / "assets/gridatlas/embed.js").is_file()
