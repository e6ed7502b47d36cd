"""Measures how soon a page's heatmaps are visible, beside two other tools and the theme alone."""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import figures
import packages
import sites
from figures import Load, Setting, Throttle, Weight
from machine import measured_on
from server import Host, serve

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/browser"))

from chromium import launch

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
PROBE = Path(__file__).with_name("probe.js").read_text("utf-8")
SCREEN = {"width": 1280, "height": 800}
LONGEST = 120_000
"""Milliseconds after which a page is given up."""
QUIET = 0.7
"""Seconds without an answer after which a page has loaded all it loads by itself."""

PYTHON_PACKAGES = (
    "gridatlas", "mkdocs-charts-plugin", "mkdocs-jupyter", "altair", "mkdocs", "mkdocs-material",
)  # fmt: skip
SCRIPTS = {"vega-5": "vega", "vega-lite-5": "vega-lite", "vega-embed-6": "vega-embed"}
"""The packages whose scripts mkdocs-charts-plugin loads."""

EXAMPLES = """\
examples:
  make bench ARGS="--only pages"                        put the tables into the docs
  python tools/bench/pages.py --rounds 2 --only-print   a quick look
  python tools/bench/pages.py --latency 40 --only-print on a wire
"""


@dataclass(frozen=True)
class PageOfSite:
    """A page whose weight is measured."""

    name: str
    path: str


PAGES = (
    PageOfSite("All studies", "studies/"),
    PageOfSite("Study", "studies/dynts-window-ratio/"),
    PageOfSite("Model, 5 heatmaps", "studies/dynts-window-ratio/model/r1-qwen/"),
    PageOfSite("Setting, 10 × 10 cells", "studies/grpo-digits/setting/after_t100/"),
    PageOfSite("Checks", "studies/grpo-digits/checks/"),
    PageOfSite("Embed", "grids/dynts-window-ratio/r1-qwen/aime24.html"),
)


def main() -> int:
    """Measure, print and keep the figures; return the exit status."""
    arguments = _parser().parse_args()
    throttle = Throttle(arguments.mbit, arguments.latency, arguments.cpu)
    folder = sites.FOLDER / "sites" if arguments.as_built else sites.build_all()
    packages.install()
    with sync_playwright() as playwright:
        browser = launch(playwright, whole=True)
        versions = {"Chromium": browser.version} | {
            label: packages.version(name) for name, label in SCRIPTS.items()
        }
        where = measured_on(PYTHON_PACKAGES, versions)
        with serve(folder) as host:
            loads = compare(browser, host, throttle, arguments.rounds)
        with serve(SITE) as host:
            heavy = [weigh(browser, host, page) for page in PAGES if on_site(page)]
        browser.close()
    found = {"setting": where, "throttle": throttle, "loads": loads, "weights": heavy}
    report(where, throttle, loads, heavy)
    if not arguments.only_print:
        figures.keep("pages", found)
        print(f"\nWritten to {figures.PAGE.relative_to(ROOT)}")
    return 0


def on_site(page: PageOfSite) -> bool:
    """Whether the site has a page; says so where it hasn't."""
    file = SITE / page.path
    if (file / "index.html").is_file() or file.is_file():
        return True
    print(f"The site has no {page.path}: its weight is left out. An old site: make site")
    return False


# --- loads --------------------------------------------------------------------------------------


def compare(browser: Browser, host: Host, throttle: Throttle, rounds: int) -> list[Load]:
    """Load each tool's pages in turn; a first round, which isn't counted, warms the server."""
    turn = [(tool, count) for count in sites.COUNTS for tool in figures.TOOLS]
    loads = []
    for number in range(rounds + 1):
        # What comes first in a round isn't always the same.
        for tool, count in turn[number % len(turn) :] + turn[: number % len(turn)]:
            loaded = load(browser, host, tool, count, throttle)
            print(
                f"{'warm-up' if number == 0 else f'round {number}'}: {tool}, {count}: "
                f"{loaded.visible:.0f} ms, {loaded.bytes} bytes, {loaded.requests} requests",
                file=sys.stderr,
            )
            if number:
                loads.append(loaded)
    return loads


def load(browser: Browser, host: Host, tool: str, heatmaps: int, throttle: Throttle) -> Load:
    """Load a page in a new context, throttled, until it is complete."""
    wanted = {"heatmaps": 0 if tool == sites.BARE else heatmaps, "cells": sites.CELLS}
    context = browser.new_context(viewport=SCREEN)  # an empty cache
    context.add_init_script(f"{PROBE}({wanted})".replace("'", '"'))
    page = context.new_page()
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((host.address, "data:", "blob:"))
            else elsewhere.append(request.url)
        ),
    )
    slow_down(page, throttle)
    host.taken()
    page.goto(host.address + sites.page(tool, heatmaps), wait_until="commit", timeout=LONGEST)
    page.wait_for_function("__found.visible !== null", polling=250, timeout=LONGEST)
    settle(page, host)
    found = page.evaluate(
        "({...__found, first: performance.getEntriesByName('first-contentful-paint')[0].startTime})"
    )
    context.close()
    answers = host.taken()
    if elsewhere or any(answer.status != 200 for answer in answers):
        wrong = [answer.path for answer in answers if answer.status != 200]
        raise SystemExit(f"{tool} asked for what isn't there: {elsewhere + wrong}")
    return Load(
        tool,
        heatmaps,
        # Boxes are there before the first paint; what isn't painted isn't seen.
        round(max(found["visible"] if wanted["heatmaps"] else 0, found["first"]), 1),
        sum(answer.bytes for answer in answers),
        len(answers),
        round(found["shifts"], 5),
        round(found["largest"], 1),
    )


def slow_down(page: Page, throttle: Throttle) -> None:
    """Slow down the network and the processor of a page."""
    session = page.context.new_cdp_session(page)
    per_second = throttle.mbit * 1e6 / 8
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": throttle.latency,
            "downloadThroughput": per_second,
            "uploadThroughput": per_second,
        },
    )
    session.send("Emulation.setCPUThrottlingRate", {"rate": throttle.cpu})


def settle(page: Page, host: Host) -> None:
    """Wait until a page asks for nothing more, and its layout has come to rest."""
    page.wait_for_load_state("networkidle", timeout=LONGEST)
    count = -1
    while count != len(host.answers):
        count = len(host.answers)
        time.sleep(QUIET)


def weigh(browser: Browser, host: Host, page: PageOfSite) -> Weight:
    """Load a page of the site, as quick as it goes, and count."""
    context = browser.new_context(viewport=SCREEN)
    opened = context.new_page()
    host.taken()
    opened.goto(host.address + page.path, wait_until="load")
    settle(opened, host)
    context.close()
    answers = host.taken()
    itself = next(answer for answer in answers if answer.path == f"/{page.path}")
    file = SITE / page.path
    plain = (file / "index.html" if file.is_dir() else file).stat().st_size
    total = sum(answer.bytes for answer in answers)
    return Weight(page.name, page.path, itself.content, plain, total, len(answers))


# --- telling ------------------------------------------------------------------------------------


def report(where: Setting, throttle: Throttle, loads: list[Load], heavy: list[Weight]) -> None:
    """Print what was measured."""
    print(f"\nMeasured {figures.setting(where)}")
    print(
        f"{throttle.mbit:g} Mbit/s, {throttle.latency:g} ms of latency, "
        f"processor {throttle.cpu:g}× slower; medians\n"
    )
    print(figures.comparison(loads))
    print("\n".join(str(goal) for goal in figures.goals(loads)))
    print(f"{figures.floor(loads)}\n")
    print(figures.weights(heavy))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def option(name: str, kind: type, default: float, help: str) -> None:
        parser.add_argument(
            name, type=kind, default=default, metavar="N", help=f"{help} (default: %(default)g)"
        )

    option("--rounds", int, 7, "cold loads of each page")
    option("--mbit", float, 6, "megabits per second")
    option("--latency", float, 100, "milliseconds until the first byte of an answer")
    option("--cpu", float, 4, "how many times slower the processor is")
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    parser.add_argument(
        "--as-built", action="store_true", help="take the compared sites as they were built last"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
