"""Measures all that the docs say of speed, or parts of it: pages in a browser, and builds."""

import argparse
import subprocess
import sys
from pathlib import Path

import builds

EXAMPLES = """\
examples:
  make bench                                        measure all, and put the tables into the docs
  make bench ARGS="--only pages"                    how soon heatmaps are visible
  make bench ARGS="--only edits steps --rounds 2 --only-print"    a quick look
  python tools/bench/pages.py --help                options of single programs
  python tools/bench/builds.py --help
"""


def main() -> int:
    """Run the programs that measure; return the exit status of the first one that fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("pages", "weights", "reading", *builds.PARTS)
    parser.add_argument(
        "--only", nargs="+", choices=parts, default=parts, help="measure these parts only"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="how often (default: %(default)d)"
    )
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    given = parser.parse_args()
    rounds = ["--rounds", str(given.rounds)]
    of_builds = [part for part in given.only if part in builds.PARTS]
    commands = [["pages.py", *rounds]] if "pages" in given.only else []
    commands += [["weights.py"]] if "weights" in given.only else []
    commands += [["reading.py"]] if "reading" in given.only else []
    commands += [["builds.py", "--only", *of_builds, *rounds]] if of_builds else []
    also = ["--only-print"] if given.only_print else []
    for program, *options in commands:
        script = str(Path(__file__).with_name(program))
        status = subprocess.run([sys.executable, script, *options, *also], check=False).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
