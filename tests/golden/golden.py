"""Sites as they are: a digest of each file, and the text of each page, to be compared with.

A site is built from each folder of `projects/`, and from this repository. Drawings in pixels and
packed files are only listed, and what Material brings isn't.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from once import made_once
from site_builds import Build, make_project

HERE = Path(__file__).parent
Pages = Mapping[str, BeautifulSoup]
PROJECTS: dict[str, Mapping[str, Any]] = {
    folder.name: {} for folder in sorted((HERE / "projects").iterdir())
} | {"compared": {"compare_to": "before"}}
"""Options of the plugin, by project."""

FILES, TEXTS = "files.txt", "pages.txt"
_LISTED = (".png", ".gz", ".zip")
_THEME = ("assets/images/", "assets/javascripts/", "assets/stylesheets/")
_STUDY = re.compile(r"studies/.*\.html$")
_ARTICLE = re.compile(rb"<article.*</article>", re.DOTALL)
_FOOTER = re.compile(rb'<footer class="ga-footer".*?</footer>', re.DOTALL)
_BLOCKS = [
    *("h1", "h2", "h3", "h4", "p", "li", "dt", "dd", "tr", "caption", "figcaption", "summary"),
    *("details", "div", "section", "nav", "figure", "button", "blockquote", "pre", "table"),
]


@dataclass(frozen=True)
class Recorded:
    """A site as text.

    Attributes:
        files: A line per file: its digest and its path.
        pages: The text of each page, below its path.
    """

    files: str
    pages: str


def build(name: str, folder: Path, **environment: str) -> Build:
    """Build one of the projects, without anything in its cache."""
    project = make_project(folder, options=PROJECTS[name])
    shutil.copytree(HERE / "projects" / name, project.folder, dirs_exist_ok=True)
    return project.built(**environment)


def site(base: Path, name: str) -> Build:
    """The site of one of the projects, built once per test run."""
    return made_once(base, f"golden-{name}", lambda folder: build(name, folder / f"golden/{name}"))


def recorded(files: Mapping[str, bytes], pages: Pages) -> Recorded:
    """What is compared of a whole site; it changes the pages."""
    files = {path: content for path, content in files.items() if not path.startswith(_THEME)}
    return Recorded(
        "".join(f"{digest(path, content)}  {path}\n" for path, content in files.items()),
        "".join(text_of_page(path, page) for path, page in pages.items()),
    )


def articles(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """What is ours of the pages of this repository's studies, but for the footer with the commit.

    The theme's part has the titles of all documents, and the small sites have it whole.
    """
    found = {path: _ARTICLE.search(text) for path, text in files.items() if _STUDY.match(path)}
    return {path: _FOOTER.sub(b"", article[0]) for path, article in found.items() if article}


def recorded_studies(files: Mapping[str, bytes], pages: Pages) -> Recorded:
    """What is compared of this repository's site: articles of studies, and downloads.

    It changes the pages.
    """
    bytes_of = {path: files[path] for path in pages} | {
        path: content for path, content in files.items() if path.startswith("grids/")
    }
    for page in pages.values():
        for folded in page.find_all("details"):
            folded.decompose()
    return Recorded(
        "".join(f"{digest(path, content)}  {path}\n" for path, content in bytes_of.items()),
        "".join(text_of_page(path, page) for path, page in pages.items()),
    )


def parsed(files: Mapping[str, bytes]) -> Pages:
    """The pages of a site, by their paths."""
    return {
        path: BeautifulSoup(content.decode(), "html.parser")
        for path, content in files.items()
        if path.endswith(".html")
    }


def digest(path: str, content: bytes) -> str:
    return "-" * 16 if path.endswith(_LISTED) else hashlib.sha256(content).hexdigest()[:16]


def text_of_page(path: str, page: BeautifulSoup) -> str:
    """The text of a page's own part, a line per block."""
    body = page.article or page.body
    return f"--- {path}\n" + "".join(f"{line}\n" for line in lines_of(body)) if body else ""


def lines_of(element: Tag) -> Iterable[str]:
    """The text of an element, a line per block; cells of a row are parted by bars.

    It changes the element.
    """
    for drawing in element.select("svg, script, style"):
        drawing.decompose()
    for cell in element.select("td, th"):
        cell.insert_after(" | ")
    for block in element.find_all(_BLOCKS):
        block.insert_before("\n")
        block.insert_after("\n")
    lines = (" ".join(line.split()) for line in element.get_text().split("\n"))
    return (re.sub(r"( \|)+$", "", line) for line in lines if line.strip(" |"))


def wrong(name: str, found: Recorded, files: Mapping[str, bytes], folder: Path) -> str:
    """How a site differs from what is recorded of it; empty where it doesn't.

    Args:
        name: The site's.
        found: What is to be compared of it now.
        files: Its files, of which those that differ are put into a folder to be looked at.
        folder: That folder.
    """
    expected = read(name)
    if found == expected:
        return ""
    before, now = (dict(map(_entry, text.splitlines())) for text in (expected.files, found.files))
    changed = sorted(
        path for path in before.keys() | now.keys() if before.get(path) != now.get(path)
    )
    for path in changed:
        if path in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(files[path])
    lines = sorted(f"  {_verb(path, before, now)} {path}" for path in changed)
    return "\n".join(
        (
            f"{name}: {len(changed)} files differ from tests/golden/sites/{name}; see {folder}",
            *lines[:40],
            *([f"  and {len(lines) - 40} more"] if len(lines) > 40 else []),
            "If they are as they should be: make golden, and read the difference of the texts",
        )
    )


def _entry(line: str) -> tuple[str, str]:
    found, _, path = line.partition("  ")
    return path, found


def _verb(path: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    return "gone" if path not in now else "added" if path not in before else "changed"


def read(name: str) -> Recorded:
    folder = HERE / "sites" / name
    texts = ((folder / file) for file in (FILES, TEXTS))
    return Recorded(*(text.read_text("utf-8") if text.exists() else "" for text in texts))


def write(name: str, found: Recorded) -> None:
    folder = HERE / "sites" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILES).write_text(found.files, "utf-8")
    (folder / TEXTS).write_text(found.pages, "utf-8")
