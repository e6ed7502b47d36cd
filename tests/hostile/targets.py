"""What gets any bytes: each of these ends with a result or a problem that is told, or is at fault.

A target is a function of bytes that raises for a fault, and nothing else.
"""

import functools
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from markdown import Markdown

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.reruns import reproduction
from gridatlas.build.site import load_data
from gridatlas.charts.draw import draw_values
from gridatlas.charts.vegalite import specification
from gridatlas.claims import ClaimError, evaluate, evaluate_value
from gridatlas.cli.main import main
from gridatlas.data.text import unprintable
from gridatlas.hosts import fence_lines
from gridatlas.model.problems import Problem
from gridatlas.pages.fence import FenceError, parse
from gridatlas.pages.fence_figures import figures
from gridatlas.pages.reproduction import rerun_rows, run_facts
from gridatlas_reproduce.runner.records import Row
from gridatlas_reproduce.runner.units import Unit, cell_of, plan_as_json

STUDY = b"""\
format: 1
title: A demo
metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100]}
x: rate
y: depth
facets: [model]
repeats: mean
baseline: {model: small}
factors:
  model: {levels: [small, {id: large, items: 40}]}
trials: {items: model, samples: 5}
readings:
  - {id: one, file: cells.csv, label: One, stated_range: [{model: small, range: [0, 50]}]}
regions: [{label: trained, boxes: [{rate: [0.1], depth: [1]}]}]
claims:
  - {text: Large is ahead., check: (grid(model="large") > grid(model="small")).all, source: one}
  - {text: It is robust., not_checkable: It names nothing.}
accepted: [{finding: k-of-n, at: {model: large}, because: rounded}]
reproduce: {script: a/b.py, args: "--m {model} {rate} {depth}", margin: 3}
"""
CELLS = b"""\
model,rate,depth,value,n,successes,stderr,state,note,place,run
small,0.1,1,10.5,40,4,0.5,,"a ""big"" note",table 1,
small,0.2,1,,,,,oom,,,
small,0.1,2,47,,,,disputed,,,
large,0.1,1,60,,,,,,,
large,0.1,1,62.5,,,,ok,,,
"""
RUN = json.dumps(
    {
        "format": 1, "run": "r", "study": "demo", "script": "b", "started": "2026-05-01T12:00:00Z",
        "gpu": {"name": "x"}, "settings": {"a": {"b": 1}}, "arguments": ["--x"], "dirty": False,
        "cells": [{"levels": {"model": "small", "rate": "0.1", "depth": 1}, "done": 1, "of": 2}],
    }
).encode()  # fmt: skip
OUTCOMES = json.dumps(
    {
        "run": "r", "items": [["1", "2"]],
        "cells": [{"cell": {"model": "small", "rate": 0.1, "depth": 1}, "items": 0,
                   "samples": [1, 1], "correct": [1, 0]}],
    }
).encode()  # fmt: skip
TABLES = {
    "csv": b"model,lr,batch,seed,acc\na,0.1,16,1,71.2\na,0.1,16,2,72.2 \xc2\xb1 1\n"
    b"b,0.01,16,1,NaN\n",
    "json": b'[{"m": "a", "lr": 0.1, "b": [1, 2], "acc": 1e-3}, {"m": "b", "lr": 0.2, "b": [1], '
    b'"acc": null}]',
    "jsonl": b'{"m": "a", "lr": 0.1, "b": {"c": 1}, "acc": 71}\n'
    b'{"m": "a", "lr": 0.2, "acc": "x"}\n',
    "md": b"| m | lr | b | **acc** |\n|:--|---|--:|---|\n| a | 0.1 | 1 | 71.2 |\n"
    b"| `b` | 2 | 1 | - |\n",
}


def _files(files: Mapping[str, bytes]) -> Assessments:
    """What a study's files come to, all that is checked, and its drawings' specifications."""
    with tempfile.TemporaryDirectory() as name:
        for path, content in ({"study.yml": STUDY, "cells.csv": CELLS} | files).items():
            file = Path(name) / "demo" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        loaded = load_data(Path(name), "data")
        for results in loaded.results.values():
            for grid in results.grids.values():
                specification(draw_values(grid))
    _are_told(loaded.problems)
    return loaded


def _are_told(problems: Iterable[Problem]) -> None:
    for problem in problems:
        assert problem.file.startswith("data"), problem
        assert all(line.isprintable() for line in str(problem).split("\n")), problem
        assert all((problem.kind, problem.found, problem.expected, problem.fix)), problem


def study(data: bytes) -> None:
    _files({"study.yml": data})


def table(data: bytes) -> None:
    loaded = _files({"cells.csv": data})
    assert loaded or loaded.problems


def run(data: bytes) -> None:
    _reproduced(_files({"runs/r.json": data}))


def outcomes(data: bytes) -> None:
    _reproduced(_files({"runs/r.json": RUN, "runs/r.outcomes.json": data}))


UNIT = Unit(cell_of({"model": "small", "rate": "0.1", "depth": "1"}), "q", 1)
COLLECTED: Mapping[str, bytes] = {
    "run.json": json.dumps(
        {
            "format": 1, "run": "r-1", "hash": "0123456789abcdef", "study": "demo", "script": "b",
            "started": "2026-05-01T12:00:00Z", "arguments": ["--x"], "stderr_over": "items",
            "settings": {"limit": None, "a": {"b": 1}}, "gpu": None, "packages": {},
        }
    ).encode(),
    "plan.json": json.dumps(plan_as_json([UNIT])).encode(),
    f"records/{UNIT.path}": "".join(
        f"{json.dumps(content)}\n"
        for content in (
            {"run": "r-1", "settings": "0123456789abcdef", "unit": UNIT.as_json()},
            asdict(Row("q", 0, 1, "4", 1, "stop", "4", "4", True, 0.5)),
        )
    ).encode(),
    "resumed/a.json": b'{"at": "2026-05-01T12:00:00Z", "differs": {"gpu": null}}',
}  # fmt: skip
"""What a script leaves in the folder of a run, by its files."""


def collect(file: str, data: bytes) -> None:
    """What `gridatlas collect` makes of a run's folder with such a file."""
    with tempfile.TemporaryDirectory() as name:
        study = Path(name) / "data/demo"
        files = {"../data/demo/study.yml": STUDY, "../data/demo/cells.csv": CELLS, **COLLECTED}
        for path, content in (files | {file: data}).items():
            target = Path(name) / "run" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        before = set(Path(name).rglob("*"))
        command = ["collect", f"{name}/run", "--data", str(study.parent), "--study", "demo"]
        done = CliRunner().invoke(main, [*command, "--reading", "ours"])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert all(line.isprintable() for line in done.output.split("\n")), done.output
        new = set(Path(name).rglob("*")) - before
        assert all(path.is_relative_to(study) for path in new), new
        if done.exit_code == 0:
            _reproduced(load_data(study.parent, "data"))


def _reproduced(loaded: Assessments) -> None:
    """What the page Reproduction says can stand on a page."""
    for results in loaded.results.values():
        reproduced = reproduction(results)
        if reproduced is not None:
            facts = [text for run in reproduced.runs for fact in run_facts(run) for text in fact]
            rows = [row.run for rerun in reproduced.reruns for row in rerun_rows(rerun)]
            assert [text for text in facts + rows if unprintable(text)] == []


def parquet(data: bytes) -> None:
    study = STUDY.replace(b"cells.csv", b"cells.parquet")
    loaded = _files({"study.yml": study, "cells.parquet": data})
    assert loaded or loaded.problems


@functools.cache
def _assessed() -> Assessments:
    return _files({})


def claim(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    studies = {"demo": _assessed()["demo"].results}
    for evaluated in (evaluate, evaluate_value):
        try:
            evaluated(text, studies, "demo")  # type: ignore[operator]
        except ClaimError as error:
            refusal = error
        else:
            continue
        assert 0 <= refusal.start <= refusal.end <= len(text), refusal
        assert refusal.pointer


def fence(data: bytes) -> None:
    try:
        figures(parse(data.decode("utf-8", "replace")), _assessed())
    except FenceError as error:
        message = error.message("a.md:1")
    else:
        return
    assert message.count("\n") == 3


def page(data: bytes) -> None:
    """The lines of a Markdown page, and what becomes of them."""
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    for fence in fence_lines.fences(lines):
        assert 1 <= fence.line <= len(lines)
    fence_lines.with_faults(lines)
    Markdown(extensions=["pymdownx.superfences"]).convert("\n".join(fence_lines.with_faults(lines)))


COUNTS = re.compile(
    r"(?m)^(\d+) rows? read\n +=\D+(\d+) cells?\n +\+\D+(\d+) repeat.*\n +\+\D+(\d+) rep"
)


def _imported(ending: str) -> Callable[[bytes], None]:
    def imported(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / f"t.{ending}"
            file.write_bytes(data)
            into = str(Path(name) / "data")
            done = CliRunner().invoke(main, ["import", str(file), "--data", into, "--yes"])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code in (0, 1, 2), done.output
        assert done.output.strip()
        counts = COUNTS.search(done.output)
        if counts:
            read, cells, repeats, reported = map(int, counts.groups())
            assert read == cells + repeats + reported, done.output

    return imported


def _parquet() -> bytes:
    head, *rows = [line.split(",") for line in CELLS.decode().splitlines()]
    columns = [[row[at] for row in rows] for at in range(len(head))]
    file = io.BytesIO()
    pq.write_table(pa.table(dict(zip(head, columns, strict=True))), file)
    return file.getvalue()


TARGETS: Mapping[str, tuple[Callable[[bytes], None], tuple[bytes, ...]]] = {
    "study": (study, (STUDY,)),
    "table": (table, (CELLS,)),
    "parquet": (parquet, (_parquet(),)),
    "run": (run, (RUN,)),
    "outcomes": (outcomes, (OUTCOMES,)),
    **{
        f"collect-{file.split('/')[0].removesuffix('.json')}": (
            functools.partial(collect, file),
            (content,),
        )
        for file, content in COLLECTED.items()
    },
    "claim": (
        claim,
        (
            b'(grid(model="large") - grid(model="small")).where(rate=[0.1, 0.2]).best.value > 5',
            b'not (grid(model="large").row(1).trend("rate") == 1 and 1 < 2 <= 3 / 4 or -2 > +1)',
            b'(grid(reading="one", model="small") > 3).and_(grid(model="small") < 9).not_().share',
            b'grid(study="demo", model="small").best.any_at(rate=0.1)',
        ),
    ),
    "fence": (
        fence,
        (
            b"demo/small\ndemo/large\nscale: shared\ncompact: yes\ncaption: 'A caption'\n",
            b"demo/large\ndelta: small\ntitle: A title\n",
            b"/demo/large/\nrow: 1\n",
        ),
    ),
    "page": (
        page,
        (
            b"# A\n\n```grid\ndemo/small\n```\n\n> ~~~~ {.grid a=b}\n> demo\n> ~~~~\n"
            b"\n\t``` grid x\n",
        ),
    ),
} | {f"import-{ending}": (_imported(ending), (seed,)) for ending, seed in TABLES.items()}
"""By name: what gets the bytes, and what they begin from."""
HARMLESS_STUDY = {
    "format": 1, "title": "A demo",
    "metric": {"name": "Accuracy", "better": "higher", "range": [0, 100]},
    "x": "rate", "y": "depth", "facets": ["model"],
}  # fmt: skip
"""The least that has a facet."""
