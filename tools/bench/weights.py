"""Weighs the heatmaps and the pages of the built website, compressed as servers send them."""

import argparse
import gzip
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import figures
from figures import Part

SITE = Path(__file__).parents[2] / "site"
MODEL = "studies/dynts-window-ratio/model/r1-qwen/"
SETTING = "studies/grpo-digits/setting/after_t100/"
FIGURE = re.compile(r"<figure.*?</figure>", re.DOTALL)

EXAMPLES = """\
examples:
  make bench ARGS="--only weights"            weigh, and put the table into the docs
  python tools/bench/weights.py --only-print  weigh site/ as it is
"""


def main() -> int:
    """Weigh, print and keep the figures; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    given = parser.parse_args()
    if not (SITE / MODEL).is_dir():
        print("Nothing to weigh: make site", file=sys.stderr)
        return 1
    found = weigh(SITE)
    print(figures.parts_table(found))
    if not given.only_print:
        figures.keep("weights", {"parts": found})
        print(f"Written to {figures.PAGE.relative_to(SITE.parent)}")
    return 0


def weigh(site: Path) -> list[Part]:
    """The parts of pages that have a goal."""
    model, setting = (read(site, page) for page in (MODEL, SETTING))
    return [
        Part("A heatmap of 4 × 5 cells, with its tables and cards", per_heatmap(model), 3000),
        Part("A heatmap of 10 × 10 cells, with its tables and cards", per_heatmap(setting), 6000),
        Part("HTML of a model page, with 5 heatmaps", zipped(model), 60_000),
    ]


def read(site: Path, page: str) -> str:
    return (site / page / "index.html").read_text("utf-8")


def per_heatmap(html: str) -> int:
    """What a page is lighter by without its heatmaps, for each of them."""
    heatmaps: Sequence[str] = FIGURE.findall(html)
    return round((zipped(html) - zipped(FIGURE.sub("", html))) / len(heatmaps))


def zipped(html: str) -> int:
    return len(gzip.compress(html.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
