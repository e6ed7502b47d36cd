"""Measures what there is to read on each kind of page, and how far it is to an answer."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, sync_playwright

from server import serve

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/browser"))

from chromium import launch

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "benchmarks" / "reading.md"
EARLIER = Path(__file__).with_name("reading-earlier.json")
"""The figures that a page's are shown beside: of an earlier state of the site."""
WIDE, PHONE = (1280, 800), (390, 844)
DYNTS, OURS = "studies/dynts-window-ratio", "studies/digits-pass-1"
PAGES: Mapping[str, str] = {
    "Home": "",
    "Studies": "studies/",
    "Study": f"{DYNTS}/",
    "Level, 5 grids of 4 × 5": f"{DYNTS}/model/r1-qwen/",
    "Level against level": f"{DYNTS}/benchmark/aime25/",
    "Comparison": f"{DYNTS}/model/",
    "Level, conditions": f"{OURS}/setting/grpo/",
    "Checks": f"{DYNTS}/checks/",
    "Runs": f"{OURS}/reproduction/",
    "Embed": "grids/dynts-window-ratio/r1-qwen/aime24.html",
}


@dataclass(frozen=True)
class Task:
    """What a visitor wants to know.

    Attributes:
        path: The pages on the way, each linked from the one before; the first is the list of
            studies.
        answer: A regular expression; the first element whose text it matches has the answer.
    """

    question: str
    path: tuple[str, ...]
    answer: str


TASKS = (
    Task(
        "Which setting for R1-Qwen?",
        (f"{DYNTS}/", f"{DYNTS}/model/r1-qwen/"),
        r"ratio clearly matters",
    ),
    Task(
        "Is 0.4 × 2000 really better?",
        (f"{DYNTS}/", f"{DYNTS}/model/r1-qwen/"),
        r"0\.4 with local window size 2000 ranks best|told apart from the best",
    ),
    Task(
        "Did GRPO help?",
        (f"{OURS}/", f"{OURS}/setting/grpo/"),
        r"clearly scores higher",
    ),
    Task(
        "Which statements are wrong, and whose are they?",
        (f"{DYNTS}/", f"{DYNTS}/checks/"),
        r"Doesn.t hold",
    ),
    Task(
        "Where is this number from?",
        (f"{DYNTS}/", f"{DYNTS}/model/r1-qwen/"),
        r"(read|typed) (from|off|by)|first reading",
    ),
    Task("Can I trust this study?", (f"{DYNTS}/",), r"[Dd]isputed|[Ss]econd readings?|disagree"),
    Task("Give me the data", (f"{DYNTS}/",), r"All cells|Croissant"),
    Task(
        "How do I rerun this cell?",
        (f"{DYNTS}/", f"{DYNTS}/reproduction/"),
        r"python docs/reproduce/",
    ),
)

_READ = """([answer]) => {
  const main = document.querySelector("article") || document.body;
  const seen = (element) => element.checkVisibility({contentVisibilityAuto: true,
    visibilityProperty: true}) && element.getBoundingClientRect().width > 1;
  const words = (text) => (text.match(/[\\p{L}\\p{N}]\\S*/gu) || []).length;
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  let count = 0, before = null, found = null;
  const wanted = answer && new RegExp(answer);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("svg, script, style, template, .headerlink")) continue;
    const block = element.closest(
      "p, li, h1, h2, h3, td, th, dt, dd, summary, pre, figcaption");
    if (wanted && !found && block && wanted.test(block.textContent)) {
      found = block; before = count;
    }
    if (seen(element)) count += words(node.data);
  }
  let folded = 0;
  for (let up = found; up; up = up.parentElement)
    if (up.tagName === "DETAILS" && !up.open && !found.closest("summary")) {
      folded++;
      up.open = true;
    }
  const box = found && found.getBoundingClientRect();
  const end = box && box.top + scrollY + Math.min(box.height, 60);
  return {words: count, height: document.documentElement.scrollHeight, before, folded,
    scroll: box && Math.max(0, Math.round(end - innerHeight))};
}"""


@dataclass(frozen=True)
class Reading:
    """A page as its readers have it.

    Attributes:
        words: That are visible without a click, outside of drawings.
        height, phone: In pixels, at 1280 and at 390 px.
        bytes: Of its HTML, not compressed.
        sheets: Of A4, when it is printed.
    """

    words: int
    height: int
    phone: int
    bytes: int
    sheets: int


@dataclass(frozen=True)
class Way:
    """How far it is from the list of studies to an answer.

    Attributes:
        clicks: Links, and parts to unfold.
        scroll: Pixels on the last page, at 1280 × 800.
        words: On the last page, before the answer.
    """

    clicks: int
    scroll: int
    words: int


def opened(browser: Browser, address: str, size: tuple[int, int]) -> Page:
    """A page in a window of its own."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(address, wait_until="load")
    return page


def read(browser: Browser, home: str, path: str, site: Path) -> Reading:
    """Measure one page."""
    wide, phone = (opened(browser, home + path, size) for size in (WIDE, PHONE))
    found, narrow = (page.evaluate(_READ, [None]) for page in (wide, phone))
    pdf = wide.pdf(format="A4", print_background=True)
    wide.close()
    phone.close()
    file = site / path
    html = (file / "index.html" if file.is_dir() else file).read_bytes()
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    return Reading(found["words"], found["height"], narrow["height"], len(html), sheets)


def way(browser: Browser, home: str, task: Task) -> Way:
    """Follow a task's links, and find its answer.

    Raises:
        SystemExit: a link or the answer isn't there.
    """
    page = opened(browser, home + "studies/", WIDE)
    for path in task.path:
        links = [
            urljoin(page.url, link)
            for link in page.evaluate(
                "() => [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"
            )
        ]
        if home + path not in {link.partition("#")[0] for link in links}:
            raise SystemExit(f"{task.question} {page.url} doesn't link to {path}")
        page.goto(home + path, wait_until="load")
    found = page.evaluate(_READ, [task.answer])
    page.close()
    if found["before"] is None:
        raise SystemExit(f"{task.question} {path} doesn't have {task.answer}")
    return Way(len(task.path) + found["folded"], found["scroll"], found["before"])


def measure(site: Path) -> dict[str, Any]:
    """The figures of a built site: per page, and per task."""
    with sync_playwright() as playwright, serve(site) as host:
        browser = launch(playwright, whole=True)
        pages = {
            name: asdict(read(browser, host.address, path, site)) for name, path in PAGES.items()
        }
        tasks = {task.question: asdict(way(browser, host.address, task)) for task in TASKS}
        browser.close()
    return {"day": time.strftime("%Y-%m-%d", time.gmtime()), "pages": pages, "tasks": tasks}


HEAD = """# What there is to read

Measured in Chromium with `make bench ARGS="--only reading"` on {now} (after the arrow), beside the
site as it was on {before}, before its pages led with their answers. *Words* are those that are
visible without a click, outside of drawings; *sheets* are of A4.
"""
TASKS_HEAD = """
## Eight questions of a visitor

From the list of studies to the answer: clicks on links and on parts to unfold, pixels to scroll on
the last page at 1280 × 800, and words on it before the answer.
"""


def report(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The page that compares two states of a site."""
    lines = [HEAD.format(now=now["day"], before=before["day"])]
    lines += ["| Page | Words | Height, px | at 390 px | HTML, kB | Sheets |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for name, page in now["pages"].items():
        cells = _cells(before["pages"].get(name), page)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [TASKS_HEAD, "| Question | Clicks | Scrolling, px | Words |", "|---|---:|---:|---:|"]
    for question, found in now["tasks"].items():
        cells = _cells(before["tasks"].get(question), found)
        lines.append(f"| {question} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cells(before: Mapping[str, int] | None, now: Mapping[str, int]) -> Iterator[str]:
    for name, value in now.items():
        unit = 1000 if name == "bytes" else 1
        text = f"{value / unit:,.0f}"
        yield text if before is None else f"{before[name] / unit:,.0f} → {text}"


def main() -> int:
    """Measure, print, and put the figures into the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="default: site")
    parser.add_argument("--earlier", action="store_true", help="keep as what later ones go beside")
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    given = parser.parse_args()
    found = measure(given.site)
    if given.earlier:
        EARLIER.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    page = report(json.loads(EARLIER.read_text("utf-8")), found)
    sys.stdout.write(page)
    if not given.only_print:
        DOCS.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
