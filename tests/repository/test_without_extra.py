"""Nothing but the evaluation scripts themselves needs the extra `reproduce`, or waits for it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from builders import HEAD, REPOSITORY, write_study
from test_layers import EXTRA

UNITS = """
from pathlib import Path
from gridatlas_reproduce.runner.engine import run_units
from gridatlas_reproduce.runner.options import run_options
from gridatlas_reproduce.runner.records import Row, RunFolder, Unit
from gridatlas_reproduce.runner.runs import manifest

class Worker:
    def work(self, group):
        for unit in group:
            yield unit, [Row(unit.item, 0, 1, "7", 1, "stop", "7", "7", True, 0.1)]

units = [Unit((("rate", "0.1"), ("depth", "1")), item, 1) for item in ("a", "b")]
about = manifest("demo", "script", {}, units, seeds=0)
run_units(units, Worker, folder=RunFolder.start(Path("run"), about))
"""
COLLECT = (
    'from gridatlas.cli import main; main(["collect", "run", "--study", "demo", "--reading", "x"])'
)


def test_without_the_extra_records_are_written_and_collected(tmp_path: Path) -> None:
    # Modules that can't be imported stand in the way of those that may be installed, and tell.
    absent = tmp_path / "absent"
    absent.mkdir()
    for name in EXTRA:
        (absent / f"{name}.py").write_text(
            f"import sys; print('{name} is asked for', file=sys.stderr); raise ImportError\n"
        )
    head = HEAD.replace("Accuracy", "Accuracy, range: [0, 1]")
    study = write_study(tmp_path / "data/demo", head, "rate,depth,value\n0.1,1,0.5\n")
    before = f"import sys; sys.path.insert(0, {str(absent)!r})\n"
    for code in (
        "import gridatlas, gridatlas.cli.main, gridatlas.hosts.mkdocs.plugin",
        UNITS,
        COLLECT,
    ):
        done = subprocess.run(
            [sys.executable, "-c", before + code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        # On a machine with a GPU a manifest asks PyTorch for its name.
        assert "asked for" not in done.stderr or code == UNITS
    rows = (study / "x.csv").read_text().splitlines()
    assert rows[0] == "rate,depth,value,n,successes,stderr,run"
    assert rows[1].startswith("0.1,1,1.0000,2,2,,script-")


def test_all_tests_but_those_that_need_the_extra_are_run() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    tests = {path.parent.name for path in (REPOSITORY / "tests").glob("*/test_*.py")}
    assert settings["tool"]["pytest"]["testpaths"] == [
        f"tests/{name}" for name in sorted(tests - {"reproduce"})
    ]
