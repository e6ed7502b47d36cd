"""Measures how long builds take: beside other tools, after an edit, and as the data grows."""

import argparse
import gzip
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import build_figures
import build_projects
import figures
import imports
import large
from build_figures import Build, Edit, Import, Large, Steps
from build_projects import Projects
from machine import measured_on

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/sites"))

from site_builds import Project, environ

from gridatlas.files.cache import FILE

ROOT = Path(__file__).parents[2]
CHECK = ("-c", "from gridatlas.cli import main; main()", "check", "--quiet")
IMPORT = ("-c", "from gridatlas.cli import main; main()", "import")
BUILD = ("-m", "mkdocs", "build", "--quiet")
PACKAGES = (
    "gridatlas", "mkdocs", "mkdocs-material", "mkdocs-charts-plugin", "mkdocs-jupyter", "altair",
    "vl-convert-python",
)  # fmt: skip
BESIDE_IMPORTS = ("gridatlas", "pandas")
GRIDS = 100
NOTEBOOKS = (1, 6)
"""Pages that mkdocs-jupyter runs: what one more of them takes is the difference, per page."""
LARGE: Mapping[str, Callable[[Path], None]] = {
    "One grid of 100 × 100 cells, Parquet": large.grid(100, 100),
    "One grid of 400 × 250 cells, Parquet": large.grid(400, 250),
    "One grid of 1,000 × 1,000 cells, Parquet": large.grid(1000, 1000),
    "1,000,000 rows of repeats, 10,000 for each of 10 × 10 cells": large.repeats(10, 10, 10_000),
    "200 readings of one grid of 5 × 4 cells": large.readings(5, 4, 200),
}
IMPORTS: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    f"{what}, {rows:,} rows": (file, make(rows))
    for rows in (40_000, 200_000)
    for what, file, make in (
        ("Tidy CSV", "tidy.csv", imports.tidy),
        ("JSON lines", "lines.jsonl", imports.lines),
    )
} | {
    "CSV of full floats, 200,000 rows": ("full.csv", imports.tidy(200_000, full=True)),
    "Wide CSV, 200,000 cells": ("wide.csv", imports.wide(200_000)),
}
READ = {
    ".csv": "import sys, pandas; pandas.read_csv(sys.argv[1])",
    ".jsonl": "import sys, pandas; pandas.read_json(sys.argv[1], lines=True)",
}
"""Reads a file with pandas, by its ending."""
LONG = 5
"""Seconds of the processor from which a command on a large study is run once."""
PATIENCE = 600
"""Seconds until a server must have built its site."""

EXAMPLES = """\
examples:
  make bench ARGS="--only builds"                          one part; the docs keep the others
  python tools/bench/builds.py --only edits --rounds 2 --only-print    a quick look
  python tools/bench/builds.py --only builds --sizes 10 100            no 1,000 grids
"""
PARTS = ("builds", "edits", "imports", "large", "steps")


def main() -> int:
    """Measure, print and keep the figures; return the exit status."""
    given = _parser().parse_args()
    python = {"Python": ".".join(map(str, sys.version_info[:3]))}
    projects = None
    if {"builds", "edits", "steps"} & set(given.only):
        projects = make(GRIDS)
    for part in given.only:
        where = measured_on(BESIDE_IMPORTS if part == "imports" else PACKAGES, python)
        say(f"{part}: {figures.setting(where)}")
        found: dict[str, Any] = {"setting": where}
        if part == "large":
            found["large"] = measure_large(given.rounds)
        elif part == "imports":
            found["imports"] = measure_imports(given.rounds)
        elif projects is not None:
            found[part] = {"builds": compare, "edits": edit, "steps": steps}[part](projects, given)
        report(part, json.loads(json.dumps(found, default=asdict)))
        if not given.only_print:
            figures.keep(part, found, build_figures.PAGE, build_figures.PARTS)
            print(f"\nWritten to {build_figures.PAGE.relative_to(ROOT)}")
    return 0


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def report(part: str, found: Mapping[str, Any]) -> None:
    """Print what was measured."""
    for key, write in build_figures.PARTS.values():
        if key == part:
            print(f"\n{write(found)}")


def make(grids: int) -> Projects:
    say(f"writing the projects of {grids:,} grids")
    return build_projects.make(grids)


@dataclass(frozen=True)
class Spent:
    """What a process took: seconds on the clock and of the processor, and memory in MB."""

    wall: float
    processor: float
    memory: float


def spent(command: Sequence[str], folder: Path) -> Spent:
    """Run Python with this command in a process of its own.

    Raises:
        SystemExit: it fails.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _ALONE, sys.executable, *command],
        cwd=folder,
        env=environ(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed in {folder}:\n{done.stderr.decode()}")
    wall, processor, memory = json.loads(done.stdout.splitlines()[-1])
    return Spent(wall, processor, memory * 1024 / 1e6)  # Linux counts memory in kB.


_ALONE = """\
import os, sys, time
begin = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - begin
print([wall, used.ru_utime + used.ru_stime, used.ru_maxrss], flush=True)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command. A process begins with the memory of the one that starts it: this one is small."""


# --- beside other tools -------------------------------------------------------------------------


def compare(projects: Projects, given: argparse.Namespace) -> list[Build]:
    """Build each tool's site in turn; a first round, which isn't counted, warms the caches."""
    notebooks = {number: build_projects.jupyter(projects, number) for number in NOTEBOOKS}
    tools: list[tuple[str, int, Project]] = [
        ("bare", GRIDS, projects.bare),
        ("warm", GRIDS, projects.atlas),
        ("charts", GRIDS, build_projects.charts(projects)),
        ("cold", GRIDS, projects.atlas),
        *(("jupyter", number, project) for number, project in notebooks.items()),
    ]
    found = []
    for size in given.sizes:
        if size == GRIDS:
            turn, rounds = tools, given.rounds
        else:
            other = make(size)
            turn = [("bare", size, other.bare), ("warm", size, other.atlas)]
            rounds = given.rounds if size <= GRIDS else given.rounds_of_many
            if size < GRIDS:
                turn.append(("cold", size, other.atlas))
        for number in range(rounds + 1):
            for what, count, project in turn:
                if number == 0 and (what not in ("bare", "warm") or count > GRIDS):
                    continue
                if what == "cold":
                    shutil.rmtree(project.folder / ".cache", ignore_errors=True)
                run = spent(BUILD, project.folder)
                say(
                    f"{'warm-up' if number == 0 else f'round {number} of {rounds}'}: {what}, "
                    f"{count}: {run.processor:.2f} s, {run.wall:.2f} s on the clock, "
                    f"{run.memory:.0f} MB"
                )
                if number:
                    found.append(Build(what, count, run.wall, run.processor, run.memory))
    for number in range(1, given.rounds + 1):
        run = spent(CHECK, ROOT)
        say(f"round {number}: check: {run.processor:.2f} s, {run.wall:.2f} s on the clock")
        found.append(Build("check", 0, run.wall, run.processor, run.memory))
    return found


# --- while serving ------------------------------------------------------------------------------


class Served:
    """A running `mkdocs serve`."""

    def __init__(self, project: Project) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.log = project.folder / "log"
        self._log_file = self.log.open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", address],
            cwd=project.folder,
            env=environ(),
            stdout=self._log_file,
            stderr=self._log_file,
        )

    def wait(self, number: int) -> float:
        """Wait for the build with this number, from 1; return its seconds.

        MkDocs says them, too, but nothing twice: not those of a build that took as long as another.

        Raises:
            SystemExit: it doesn't come.
        """
        began = now = time.monotonic()
        end = began + PATIENCE
        while len(re.findall("Serving on|Reloading", text := self.log.read_text())) < number:
            if self._process.poll() is not None or now > end:
                raise SystemExit(f"the server didn't build:\n{text}")
            time.sleep(0.02)
            now = time.monotonic()
            began = now if text.count("Building") < number else began
        return now - began

    def processor(self) -> float:
        """Seconds of the processor so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(20)
        self._log_file.close()


def edit(projects: Projects, given: argparse.Namespace) -> list[Edit]:
    """Edit the same cell of one grid in both projects, in turn, while both are served."""
    spent(BUILD, projects.atlas.folder)  # fills the cache, where it isn't full
    data = projects.atlas.folder / "data" / "sweep-00" / "cells.csv"
    page = projects.bare.folder / "docs" / projects.leaves[0].path
    files = {"bare": (page, page.read_text("utf-8")), "warm": (data, data.read_text("utf-8"))}
    # A cell in the middle, whose values stay so: no scale that grids share depends on it.
    line = sorted(files["warm"][1].splitlines()[1:21], key=_last)[10]
    servers = {"bare": Served(projects.bare), "warm": Served(projects.atlas)}
    found = []
    try:
        for server in servers.values():
            server.wait(1)
        for number in range(1, given.rounds + 2):
            new = f"{_last(line) + (number % 7 + 1) / 2}"
            edited = {
                "bare": files["bare"][1].replace(f"| {_last(line)} ", f"| {new} ", 1),
                "warm": files["warm"][1].replace(line, f"{line.rpartition(',')[0]},{new}", 1),
            }
            assert all(edited[what] != files[what][1] for what in edited), "the cell isn't there"
            for what, server in servers.items():
                before, drawn = server.processor(), drawings(projects.atlas)
                files[what][0].write_text(edited[what], encoding="utf-8")
                wall = server.wait(number + 1)
                used = server.processor() - before
                new_ones = drawings(projects.atlas) - drawn
                say(f"edit {number}: {what}: {used:.2f} s, {wall:.2f} s on the clock, {new_ones}")
                found.append(Edit(what, number, wall, used, new_ones))
                time.sleep(0.5)
    finally:
        for server in servers.values():
            server.end()
        for file, text in files.values():
            file.write_text(text, encoding="utf-8")
    return found


def _last(line: str) -> float:
    return float(line.rpartition(",")[2])


def drawings(project: Project) -> int:
    """Number of heatmaps in a project's cache."""
    with closing(sqlite3.connect(project.folder / ".cache/gridatlas" / FILE)) as cache:
        (number,) = cache.execute("SELECT count(*) FROM parts WHERE name = 'svg'").fetchone()
    return int(number)


# --- where the time goes ------------------------------------------------------------------------


def steps(projects: Projects, given: argparse.Namespace) -> list[Steps]:
    """Builds in one process each, with a clock around every step."""
    script = str(Path(__file__).with_name("steps.py"))
    found = []
    for number in range(1, given.rounds + 1):
        for kind in ("Cold", "Warm"):
            if kind == "Cold":
                shutil.rmtree(projects.atlas.folder / ".cache", ignore_errors=True)
            done = subprocess.run(
                [sys.executable, script, str(time.time())],
                cwd=projects.atlas.folder,
                env=environ(),
                capture_output=True,
                check=False,
            )
            if done.returncode:
                raise SystemExit(f"steps.py failed:\n{done.stderr.decode()}")
            run = json.loads(done.stdout)
            say(f"steps, round {number}: {kind}: {sum(run.values()):.2f} s")
            found.append(Steps(kind, run))
    return found


# --- large studies ------------------------------------------------------------------------------


def measure_large(rounds: int) -> list[Large]:
    """Check and build each large study, cold and warm."""
    found = []
    for number, (what, write) in enumerate(LARGE.items()):
        project = Project(build_projects.FOLDER / f"large-{number}")
        shutil.rmtree(project.folder, ignore_errors=True)
        say(f"writing: {what}")
        write(project.folder / "data" / "large")
        config = {
            "site_name": "Large",
            "theme": {"name": "material", "font": False},
            "plugins": ["search", "gridatlas"],
        }
        project.write("mkdocs.yml", json.dumps(config))
        project.write("docs/index.md", "# Home\n")
        for command in ("check", "cold", "warm"):
            for again in range(rounds):
                if command == "cold":
                    shutil.rmtree(project.folder / ".cache", ignore_errors=True)
                run = spent(CHECK if command == "check" else BUILD, project.folder)
                page = 0 if command == "check" else zipped(project.folder / "site/studies")
                say(
                    f"{what}: {command}: {run.processor:.1f} s, {run.wall:.1f} s on the clock, "
                    f"{run.memory:.0f} MB"
                )
                found.append(Large(what, command, run.wall, run.processor, run.memory, page))
                if run.processor > LONG and again == 0:
                    break
        shutil.rmtree(project.folder)
    return found


# --- imports ------------------------------------------------------------------------------------


def measure_imports(rounds: int) -> list[Import]:
    """Import each table, and read it with pandas, in turn; in processes of their own."""
    found = []
    folder = build_projects.FOLDER / "imports"
    for what, (file, write) in IMPORTS.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(folder / file)
        commands = {
            "import": (*IMPORT, file, "--yes", "--replace"),
            "pandas": ("-c", READ[Path(file).suffix], file),
        }
        for _ in range(rounds):
            for command, words in commands.items():
                run = spent(words, folder)
                say(
                    f"{what}: {command}: {run.processor:.2f} s, {run.wall:.2f} s on the clock, "
                    f"{run.memory:.0f} MB"
                )
                found.append(Import(what, command, run.wall, run.processor, run.memory))
    shutil.rmtree(folder)
    return found


def zipped(folder: Path) -> int:
    """Bytes of all pages of a folder, with gzip."""
    return sum(len(gzip.compress(page.read_bytes(), 6)) for page in folder.rglob("*.html"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, help="measure these parts only"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="how often (default: %(default)d)"
    )
    parser.add_argument(
        "--rounds-of-many",
        type=int,
        default=5,
        metavar="N",
        help=f"how often with more than {GRIDS} grids (default: %(default)d)",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=(GRIDS, 10, 1000),
        metavar="N",
        help=f"numbers of grids, {GRIDS} among them (default: %(default)s)",
    )
    parser.add_argument("--only-print", action="store_true", help="leave the docs as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
