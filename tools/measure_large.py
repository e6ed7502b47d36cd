"""What large grids cost: time and memory of a check and a build, and the weight of their pages.

Makes studies with one grid each, and runs `gridatlas check` and `mkdocs build` on them, each in a
process of its own: cold, with nothing in the cache, and warm, with nothing changed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from math import exp
from pathlib import Path

EXAMPLES = """
examples:
  python tools/measure_large.py                            all sizes: a few minutes
  python tools/measure_large.py --sizes 60 150             smaller grids only
  python tools/measure_large.py --out benchmarks/large-grids.md
"""
SIZES = (20, 60, 99, 100, 150, 400, 1000)
TRIALS = 150
SEED = 20261121
QUIET = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}


@dataclass(frozen=True)
class Spent:
    """What a process took: seconds of the processor, and memory at its most, in MB."""

    seconds: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.memory:.0f} MB"


def write_study(folder: Path, size: int, form: str) -> None:
    """A study with one grid of size × size, its values counts of trials, one in 100 missing."""
    rng = random.Random(SEED)
    folder.mkdir(parents=True)
    (folder / "study.yml").write_text(
        f"format: 1\ntitle: Grid of {size} by {size}\n"
        'metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100], decimals: 1}\n'
        f"x: first\ny: second\nreadings: [{{id: cells, file: cells.{form}}}]\n",
        encoding="utf-8",
    )
    rows: list[tuple[int, int, float | None]] = []
    for y in range(size):
        for x in range(size):
            share = 0.2 + 0.6 * exp(-4 * ((x / size - 0.7) ** 2 + (y / size - 0.3) ** 2))
            spread = (TRIALS * share * (1 - share)) ** 0.5
            k = min(TRIALS, max(0, round(rng.gauss(TRIALS * share, spread))))
            rows.append((x, y, None if rng.random() < 0.01 else round(100 * k / TRIALS, 1)))
    if form == "csv":
        lines = [f"{x},{y},{'' if value is None else value},{TRIALS}\n" for x, y, value in rows]
        (folder / "cells.csv").write_text("first,second,value,n\n" + "".join(lines), "utf-8")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("first", "second", "value")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    pq.write_table(pa.table(columns | {"n": [TRIALS] * len(rows)}), folder / "cells.parquet")


def spent(command: list[str], folder: Path) -> Spent:
    """Run a command in a process of its own.

    Raises:
        RuntimeError: Where it fails.
    """
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **QUIET},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    log = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{log}")
    # Linux counts memory in kB.
    return Spent(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(size: int, form: str, folder: Path) -> list[str]:
    """One row of the table."""
    write_study(folder / "data" / "grid", size, form)
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Home\n", encoding="utf-8")
    theme = {"name": "material", "font": False}
    config = {"site_name": "Large", "theme": theme, "plugins": ["search", "gridatlas"]}
    (folder / "mkdocs.yml").write_text(json.dumps(config), encoding="utf-8")
    check = spent(["-c", "from gridatlas.cli import main; main()", "check", "-q"], folder)
    build = ["-m", "mkdocs", "build", "--quiet"]
    cold, warm = spent(build, folder), spent(build, folder)
    page = (folder / "site/studies/grid/index.html").read_bytes()
    csv, json_ = (
        (folder / f"site/grids/grid/grid.{end}").stat().st_size for end in ("csv", "json")
    )
    return [
        f"{size:,} × {size:,}",
        form.upper() if form == "csv" else form.capitalize(),
        str(check),
        str(cold),
        str(warm),
        f"{len(page) / 1000:.0f} kB ({len(gzip.compress(page)) / 1000:.0f} kB)",
        f"{csv / 1e6:.1f} MB, {json_ / 1e6:.1f} MB",
    ]


def report(rows: list[list[str]]) -> str:
    """The figures as Markdown."""
    head = (
        "Grid", "File", "`gridatlas check`", "Build, cold", "Build, warm", "Page (gzip)",
        "CSV, JSON",
    )  # fmt: skip
    lines = [
        "Measured with `python tools/measure_large.py`: seconds of one processor, and memory at "
        "its most. The page is that of a study with this one grid.",
        "",
        f"| {' | '.join(head)} |",
        "| :--- | :--- |" + " ---: |" * (len(head) - 2),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="levels of each axis")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    given = parser.parse_args()
    rows = []
    for size in given.sizes:
        for form in ("csv", "parquet") if size >= 1000 else ("csv",):
            with tempfile.TemporaryDirectory() as folder:
                rows.append(measure(size, form, Path(folder)))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    if given.out:
        given.out.write_text(report(rows), encoding="utf-8")
    else:
        print(report(rows), end="")


if __name__ == "__main__":
    main()
