"""Takes pictures of the built website: to look at a change, and for the README."""

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from pypdfium2 import PdfDocument

from chromium import launch

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "repository")]
from documents import follow

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
FOLDER = ROOT / "build" / "screenshots"
IMAGES = ROOT / "docs" / "images"

DYNTS, GRPO = "studies/dynts-window-ratio", "studies/grpo-digits"
PAGES = {
    "overview": "studies/",
    "model": f"{DYNTS}/model/r1-qwen/",
    "benchmark": f"{DYNTS}/benchmark/aime24/",
    "comparison": f"{DYNTS}/model/",
    "setting": f"{GRPO}/setting/after_t100/",
    "disputed": f"{GRPO}/setting/after_t125/",
    "checks": f"{GRPO}/checks/",
}
"""Addresses of the pages that pictures are taken of, by the pictures' names."""

SCREENS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "forced": {
        "viewport": {"width": 1280, "height": 900},
        "color_scheme": "dark",
        "forced_colors": "active",
    },
    # 1280 × 900 at 200 %.
    "zoomed": {"viewport": {"width": 640, "height": 450}, "color_scheme": "light"},
    # As high as the head of a page and its first row of heatmaps.
    "docs": {"viewport": {"width": 1280, "height": 820}, "color_scheme": "light"},
    # As wide as a column of text, in which it is read.
    "docs-near": {"viewport": {"width": 760, "height": 900}, "color_scheme": "light"},
    "docs-dark": {"viewport": {"width": 1280, "height": 820}, "color_scheme": "dark"},
}

DOCS_PICTURES = (
    ("r1-qwen.png", PAGES["model"], "docs", ""),
    ("r1-qwen-dark.png", PAGES["model"], "docs-dark", ""),
    ("reading-settings.png", PAGES["model"], "docs", ".ga-columns"),
)
"""Pictures of this site in the README and the documentation: the page, how, and which element."""

EXAMPLES = """\
examples:
  make screenshots                        each page: light, dark, on a phone, in forced
                                          colours, at 200 %, and each sheet of it on paper
  make screenshots ARGS=--docs            pictures of the documentation, in docs/images
  make screenshots ARGS="--into /tmp/new" in another folder
"""


def main() -> int:
    """Take the pictures that the arguments ask for; return the exit status."""
    arguments = _parser().parse_args()
    if not arguments.site.is_dir():
        if arguments.site != SITE:
            print(f"there is no folder {arguments.site}", file=sys.stderr)
            return 2
        print(f"there is no {SITE}; building it", flush=True)
        _build(ROOT, "--strict")
    with serve(arguments.site) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        if arguments.docs:
            for name, path, screen, part in DOCS_PICTURES:
                take(browser, address + path, IMAGES / name, screen, whole=False, part=part)
            take_start(browser)
        else:
            for name, path in PAGES.items():
                for screen in ("light", "dark", "phone", "forced", "zoomed"):
                    file = arguments.into / f"{name}-{screen}.png"
                    take(browser, address + path, file, screen, whole=True)
                print_sheets(browser, address + path, arguments.into / f"{name}-print.png")
        browser.close()
    return 0


def take_start(browser: Browser) -> None:
    """Save the pictures of docs/start.md, of the site that its commands make, and of docs/hosts.md:
    that with two other themes, side by side."""
    with tempfile.TemporaryDirectory() as folder:
        project, study = Path(folder), "studies/tuning/"
        follow(ROOT / "docs/start.md", project)
        with serve(project / "site") as address:
            take(browser, address + study, IMAGES / "start-study.png", "docs-near", whole=False)
        halves = []
        for theme in ("mkdocs", "readthedocs"):
            _build(project, "--theme", theme, "--site-dir", theme)
            with serve(project / theme) as address:
                file = project / f"{theme}.png"
                take(browser, address + study, file, "docs-near", whole=False)
            halves.append(Image.open(file).resize((600, 710)))
    both = Image.new("RGB", (1200, 710))
    for place, half in enumerate(halves):
        both.paste(half, (600 * place, 0))
    both.quantize(64).save(IMAGES / "themes.png")
    _say(IMAGES / "themes.png")


def take(
    browser: Browser, url: str, file: Path, screen: str, *, whole: bool, part: str = ""
) -> None:
    """Save a picture of a page, the whole of it or what the screen shows at first.

    Args:
        part: Selector of the first element that the picture is of; the page without.

    Raises:
        SystemExit: The site has no such page.
    """
    context = browser.new_context(**SCREENS[screen], device_scale_factor=1, reduced_motion="reduce")
    page = _opened(context, url)
    file.parent.mkdir(parents=True, exist_ok=True)
    if part:
        page.locator(part).first.screenshot(path=file, animations="disabled")
    else:
        page.screenshot(path=file, full_page=whole, animations="disabled")
    context.close()
    _say(file)


def print_sheets(browser: Browser, url: str, file: Path) -> None:
    """Save a picture of a page as it is printed on A4, with all its sheets side by side.

    Raises:
        SystemExit: The site has no such page.
    """
    context = browser.new_context()
    with PdfDocument(_opened(context, url).pdf(format="A4")) as document:
        sheets = [sheet.render(scale=0.9).to_pil() for sheet in document]
    context.close()
    width, height = (max(size) + 10 for size in zip(*(sheet.size for sheet in sheets), strict=True))
    whole = Image.new("RGB", (width * min(len(sheets), 6), height * -(-len(sheets) // 6)), "grey")
    for number, sheet in enumerate(sheets):
        whole.paste(sheet, (number % 6 * width, number // 6 * height))
    file.parent.mkdir(parents=True, exist_ok=True)
    whole.save(file)
    _say(file)


def _opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    answer = page.goto(url, wait_until="networkidle")
    if answer is None or not answer.ok:
        raise SystemExit(f"the site has no page {url}; if it is an old one: make site")
    return page


def _say(file: Path) -> None:
    print(f"{file} ({file.stat().st_size // 1000} kB)")


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine; give the address, with its last slash."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _build(project: Path, *options: str) -> None:
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    command = [sys.executable, "-m", "mkdocs", "build", *options]
    subprocess.run(command, cwd=project, env={**os.environ, **quiet}, check=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--docs",
        action="store_true",
        help="take the pictures of the documentation instead of all others",
    )
    parser.add_argument(
        "--into", type=Path, default=FOLDER, metavar="FOLDER",
        help="folder for the pictures (default: build/screenshots)",
    )  # fmt: skip
    parser.add_argument(
        "--site", type=Path, default=SITE, metavar="FOLDER",
        help="built website (default: site, which is built where it is missing)",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(main())
