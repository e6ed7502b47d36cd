"""Lets Lighthouse judge pages of the built website, on mobile settings."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import figures
import packages
from figures import CATEGORIES, Score
from machine import measured_on
from server import serve

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/browser"))

from chromium import find_chromium, launch

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
REPORTS = ROOT / "build" / "bench" / "lighthouse"

PAGES: Mapping[str, str] = {
    "Home": "",
    "Overview": "studies/",
    "Study": "studies/dynts-window-ratio/",
    "Model page": "studies/dynts-window-ratio/model/r1-qwen/",
    "Comparison": "studies/dynts-window-ratio/model/",
    "Checks": "studies/dynts-window-ratio/checks/",
    "Runs": "studies/digits-pass-1/reproduction/",
    "Embed": "grids/dynts-window-ratio/r1-qwen/aime24.html",
}
EXAMPLES = """\
examples:
  make lighthouse                                judge, print, and put the scores into the docs
  make lighthouse ARGS="--runs 1 --only-print"   a quick look
  make lighthouse ARGS="--runs 1 --dark"         the same in dark colours
"""


@dataclass(frozen=True)
class Audit:
    """An audit that didn't get its full score.

    Attributes:
        category: A key of `CATEGORIES`.
        id: Lighthouse's name of the audit.
        weight: Its share of the category's score; 0 where it only informs.
        text: What it found, and where.
    """

    category: str
    id: str
    weight: float
    text: str


def main() -> int:
    """Judge, print and keep the scores; return the exit status."""
    arguments = _parser().parse_args()
    pages = {name: path for name, path in PAGES.items() if on_site(path)}
    if not pages:
        print("Nothing to judge: make site", file=sys.stderr)
        return 1
    packages.install()
    with sync_playwright() as playwright:
        browser = launch(playwright, whole=True)
        versions = {"Chromium": browser.version, "Lighthouse": packages.version("lighthouse")}
        browser.close()
        chromium = find_chromium(playwright, whole=True)
    assert chromium is not None, "it was started above"
    where = measured_on(("gridatlas", "mkdocs", "mkdocs-material"), versions)
    REPORTS.mkdir(parents=True, exist_ok=True)
    runs: list[Score] = []
    last: dict[str, dict[str, Any]] = {}
    with serve(SITE) as host:
        for number in range(1, arguments.runs + 1):
            for name, path in pages.items():
                report = judge(
                    chromium, host.address + path, REPORTS / f"{name}-{number}.json", arguments.dark
                )
                runs.append(Score(name, path, scores(report)))
                last[name] = report
                print(f"run {number}: {name}: {runs[-1].scores}", file=sys.stderr)
    print(f"\nMeasured {figures.setting(where)}\n\n{figures.scores(runs)}")
    print(figures.score_goal(runs))
    for name, report in last.items():
        print(f"\n{name}: what didn't get its full score in the last run")
        for audit in below_full(report):
            print(f"- {audit.category}, {audit.id} (weight {audit.weight:g}): {audit.text}")
    if len(pages) < len(PAGES):
        print("\nA page is missing (see above): nothing is written to the docs", file=sys.stderr)
        return 1
    if not arguments.only_print and not arguments.dark:
        figures.keep("lighthouse", {"setting": where, "runs": runs})
        print(f"\nWritten to {figures.PAGE.relative_to(ROOT)}")
    return 0


def on_site(path: str) -> bool:
    """Whether the site has a page; says so where it hasn't."""
    if (SITE / path).is_file() or (SITE / path / "index.html").is_file():
        return True
    print(f"The site has no {path}. An old site: make site", file=sys.stderr)
    return False


def judge(chromium: Path, address: str, report: Path, dark: bool = False) -> dict[str, Any]:
    """Run Lighthouse on a page; return its report.

    Args:
        dark: Whether the browser prefers dark colours.

    Raises:
        SystemExit: it failed; it has said why.
    """
    flags = ["--headless=new", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    flags += ["--blink-settings=preferredColorScheme=0"] if dark else []
    command = [
        packages.program("node"),
        str(packages.FOLDER / "node_modules/lighthouse/cli/index.js"),
        address,
        "--quiet",
        "--output=json",
        f"--output-path={report}",
        f"--only-categories={','.join(CATEGORIES)}",
        f"--chrome-flags={' '.join(flags)}",
        "--no-enable-error-reporting",
    ]
    environment = {**os.environ, "CHROME_PATH": str(chromium)}
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit(f"Lighthouse failed on {address} (see above)")
    found: dict[str, Any] = json.loads(report.read_text("utf-8"))
    if error := found.get("runtimeError"):
        raise SystemExit(f"Lighthouse failed on {address}: {error['message']}")
    return found


def scores(report: Mapping[str, Any]) -> dict[str, int]:
    """The scores of a report, from 0 to 100.

    Raises:
        SystemExit: a category has none.
    """
    found = {key: report["categories"][key]["score"] for key in CATEGORIES}
    if without := [key for key, score in found.items() if score is None]:
        raise SystemExit(f"Lighthouse gave no score for {', '.join(without)}")
    return {key: round(100 * score) for key, score in found.items()}


def below_full(report: Mapping[str, Any]) -> list[Audit]:
    """What lowered a report's scores, or might be better; what weighs most first."""
    found = []
    for category in CATEGORIES:
        for reference in report["categories"][category]["auditRefs"]:
            audit = report["audits"][reference["id"]]
            if audit["score"] is None or audit["score"] >= 1:
                continue
            details = audit.get("details") or {}
            where = [place for item in details.get("items", []) if (place := _place(item))]
            text = " ".join([audit["title"], audit.get("displayValue") or "", *where[:4]])
            found.append(
                Audit(category, reference["id"], reference["weight"], " ".join(text.split()))
            )
    return sorted(found, key=lambda audit: (list(CATEGORIES).index(audit.category), -audit.weight))


def _place(item: Mapping[str, Any]) -> str:
    """Where an audit found something: an element, a file, or what the console said and of what."""
    node, source = item.get("node"), item.get("sourceLocation")
    if isinstance(node, dict):
        return f"[{node.get('selector', '')}]"
    if isinstance(source, dict):
        return f"[{item.get('description', '')} {source.get('url', '')}]"
    return f"[{item['url']}]" if isinstance(item.get("url"), str) else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="of each page (default: 3)"
    )
    parser.add_argument(
        "--dark", action="store_true", help="judge the dark colours; the docs stay as they are"
    )
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
