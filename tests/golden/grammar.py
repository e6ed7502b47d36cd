"""One meaning per mark, over the files of a site: what is wrong with its pictures, as sentences.

Nothing here knows how a picture is made: a page has captions, legends and drawings, and these have
to say the same.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from bs4 import BeautifulSoup, Tag

from gridatlas.charts.palette import (
    BLACK_UP_TO,
    FADED,
    INKS,
    Scheme,
    colours,
    faded,
    luminance,
)

MARKS = ("outline", "best", "ring", "corner", "open-corner", "region")
"""Marks that have a layer of their name in a drawing, and an entry of it in a legend."""
GREEN = {fill: step for step, fill in enumerate(colours("values"))}
BLUE = {fill: step for step, fill in enumerate(colours("difference"))}
LOW_UP_TO = 21
MAGENTA = "#b3126b"
"""Of what a reader points at."""
SEEN = {drawn: seen for seen, drawn in INKS.items()}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
_VALUE = re.compile(r": ([-+−]?[\d.,]+)(?: |,|$)")


def faults(files: Mapping[str, bytes], pages: Mapping[str, BeautifulSoup]) -> list[str]:
    """What the pictures of a site's pages say falsely; empty where all is well."""
    found: list[str] = []
    values: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    means: dict[tuple[str, str], set[str]] = defaultdict(set)
    grades = _grades(files)
    for path, page in pages.items():
        if MAGENTA.encode() in files[path]:
            found.append(f"{path}: magenta before anybody points at a cell")
        for picture in [*page.find_all(_is_picture), *_versions(page)]:
            found += [f"{path}: {fault}" for fault in _of_picture(picture, path, grades)]
        for svg in _drawn(page.find_all("svg")):
            found += [f"{path}: {fault}" for fault in _of_drawing(svg)]
            _collect(svg, path, values)
        for figure in _drawn(page.find_all("figure", id=True)):
            if (span := figure.select_one("figcaption > span")) is not None:
                name = (path.split("/")[-2] and _study(path), figure["id"])
                means[name].add(span.get_text().partition(" ·")[0])
    for (study, palette), of in values.items():
        for text, steps in of.items():
            if max(steps) - min(steps) > 1:  # printed alike, and a rounding apart
                found.append(f"{study}: {text} has several {palette} colours: {sorted(steps)}")
    found += [f"{name}: means {texts}" for name, texts in means.items() if len(texts) > 1]
    return found


def _grades(files: Mapping[str, bytes]) -> dict[str, str]:
    """The grade of each page's answer."""
    given = (content for path, content in files.items() if path.endswith("/answers.json"))
    return {of["page"]: of["grade"] for content in given for of in json.loads(content)}


def _is_picture(element: Tag) -> bool:
    """As all that looks through whole pages, without selectors, which take much longer."""
    return not {"ga-picture", "ga-thumbnails"}.isdisjoint(element.get("class") or ())


def _drawn(elements: Iterable[Tag]) -> Iterator[Tag]:
    """Figures, or drawings in figures, that have cells."""
    for element in elements:
        in_figure = element.name == "figure" or element.find_parent("figure")
        if in_figure and element.find(class_="cells_marks"):
            yield element


def _study(path: str) -> str:
    parts = path.split("/")
    return parts[1] if len(parts) > 1 else ""


def _versions(page: BeautifulSoup) -> Iterator[Tag]:
    """What a switch shows."""
    for template in page.find_all("template", {"data-packed": True}):
        html = gzip.decompress(b64decode(str(template["data-packed"])))
        yield from BeautifulSoup(html.decode(), "html.parser").find_all(class_="ga-picture")


def _layers(within: Tag) -> set[str]:
    names = (cls for group in within.find_all("g", class_=True) for cls in group["class"])
    marks = (name.removesuffix("_marks") for name in names if name.endswith("_marks"))
    return {mark.replace("_", "-") for mark in marks}


def _of_picture(picture: Tag, path: str, grades: Mapping[str, str]) -> Iterator[str]:
    drawn = _layers(picture) & {*MARKS}
    small = "ga-thumbnails" in picture.get_attribute_list("class")
    captions = picture.find_all(class_=["ga-multiples-caption", "ga-thumbnails-caption"])
    text = " ".join(caption.get_text() for caption in captions)
    if not small:
        legend = picture.find_all(class_="ga-key", attrs={"data-mark": True})
        keys = {key["data-mark"] for key in legend} & {*MARKS}
        if keys != drawn:
            yield f"the legend has {sorted(keys)}, the drawings {sorted(drawn)}"
    opacities = picture.find_all(attrs={"fill-opacity": str(FADED)})
    # Where every cell is beyond chance, that is a sentence; thumbnails have no bold numbers.
    bold = small or picture.find(class_="bold_marks")
    everywhere = bold and re.search(r"Each of the \d+ cells is beyond chance", text)
    marked = opacities or everywhere
    if "chance" in text and not marked and ", beyond chance" not in str(picture):
        yield f"speaks of chance without a test: {text}"
    if bool(opacities) != ("faded" in text.casefold()):
        yield f"{len(opacities)} faded elements under: {text}"
    page = f"{path.removesuffix('index.html')}"
    if "outline" in drawn and not small and grades.get(page, "clear") not in ("clear", "likely"):
        yield f"an outline on a page that asserts nothing ({grades[page]})"


def _groups(svg: Tag) -> Mapping[str, list[Tag]]:
    """The groups of a drawing by their classes."""
    found = defaultdict(list)
    for group in svg.find_all("g"):
        for name in group.get_attribute_list("class"):
            found[name].append(group)
    return found


def _texts(groups: Mapping[str, list[Tag]], name: str) -> list[Tag]:
    return [text for group in groups[name] for text in group.find_all("text")]


def _cells(groups: Mapping[str, list[Tag]]) -> list[tuple[str, str, bool]]:
    """The label, fill and fading of each cell with a value."""
    return [
        (
            str(path.get("aria-label", "")),
            str(path["fill"]),
            str(FADED)
            in (path.get("fill-opacity"), path.parent and path.parent.get("fill-opacity")),
        )
        for group in groups["cells_marks"]
        for path in group.find_all("path", fill=True)
    ]


def _of_drawing(svg: Tag) -> Iterator[str]:
    groups = _groups(svg)
    cells = _cells(groups)
    strange = {fill for _, fill, _ in cells} - {*GREEN, *BLUE}
    if strange:
        yield f"fills of no palette: {sorted(strange)}"
    bold = _texts(groups, "bold_marks")
    texts = _texts(groups, "values_marks") + bold
    if texts and len(texts) == len(cells) and not bold:
        for text, (label, fill, fades) in zip(texts, cells, strict=True):
            yield from _unreadable(text, label, fill, fades)
    if not texts and not groups["role-axis"] and len(cells) <= 16 * 16:
        low = sum(step <= LOW_UP_TO for _, fill, _ in cells if (step := BLUE.get(fill, 99)) < 99)
        dashes = sum(len(group.find_all(True, recursive=False)) for group in groups["low_marks"])
        if low != dashes and svg.find_parent(class_="ga-thumbnails"):
            yield f"{dashes} dashes for {low} low cells"


def _unreadable(text: Tag, label: str, fill: str, fades: bool) -> Iterator[str]:
    paint = text.get("fill") or text.parent["fill"]  # type: ignore[index]
    palette = "values" if fill in GREEN else "difference"
    step = (GREEN if fill in GREEN else BLUE)[fill]
    for scheme, seen in zip(SCHEMES, SEEN[str(paint)], strict=True):
        below = colours(palette, scheme)[step]
        below = faded(below, scheme) if fades else below
        if (luminance(below) <= BLACK_UP_TO) != (seen == "#fff"):
            yield f"{label}: {seen} on {below} ({scheme})"


def _collect(svg: Tag, path: str, values: Mapping[tuple[str, str], Mapping[str, set[int]]]) -> None:
    """The colours of values, which are on one scale of their study."""
    if not svg.find_parent(class_=["ga-picture", "ga-thumbnails"]):
        return
    for label, fill, _ in _cells(_groups(svg)):
        if (value := _VALUE.search(label)) and fill in GREEN:
            values[_study(path), "green"][value[1]].add(GREEN[fill])
