"""The command of a cell: what it names, and that no string from data gets out of its argument."""

import json
import shlex
import subprocess
import sys

import pytest
from builders import table

from gridatlas.charts.marks import rows_from_top
from gridatlas.pages.reproduction import command, command_parts, commands, grid_command
from gridatlas.table.choose import analyse

HEAD = (
    "format: 1\ntitle: A demo\n"
    "metric: {name: Accuracy, better: higher}\nx: rate\ny: depth\nfacets: [model]\n"
    "reproduce:\n  script: docs/run.py\n  args: "
)
ARGS = "--model {model} --rate={rate} --depth {depth} --out 'runs of {rate}/{depth}' --fast"
HOSTILE = [
    "$(touch hit)", "`touch hit`", "; touch hit", "a b", "' ; touch hit '", '" && touch hit "',
    "{rate}", "\\", "-rf", "*", "é",
]  # fmt: skip


def _grid(make_study, args, model="small", more=""):
    cells = table(
        "model,rate,depth,value",
        *(f'"{model.replace(chr(34), chr(34) * 2)}",{x},{y},1' for x in (1, 2) for y in (10, 20)),
    )
    study = make_study(HEAD + json.dumps(args) + "\n" + more, cells)
    return next(iter(analyse(study).grids.values()))


def _commands(grid):
    return {(x.key, y.key): command(grid, x, y) for x, y, _ in grid.points()}


def test_levels_stand_where_the_study_names_them(make_study):
    assert _commands(_grid(make_study, ARGS))["2", "10"] == (
        "python docs/run.py --model small --rate=2 --depth 10 --out 'runs of 2/10' --fast"
    )


@pytest.mark.parametrize(
    "args", [ARGS, "{rate} {depth}", "{depth}{rate}", "a {depth} b c {rate} {model}"]
)
def test_the_parts_together_are_the_commands(make_study, args):
    grid = _grid(make_study, args)
    rows = rows_from_top(grid.study.y)
    found = {}
    for column, x in enumerate(grid.study.x.levels):
        for row, y in enumerate(rows):
            found[x.key, y.key] = " ".join(
                part
                if isinstance(part, str)
                else part["xy"][row][column]
                if "xy" in part
                else part["x"][column]
                if "x" in part
                else part["y"][row]
                for part in command_parts(grid, rows)
            )
    assert found == _commands(grid)
    assert len(set(found.values())) == 4


@pytest.mark.parametrize("model", HOSTILE)
def test_a_level_is_one_argument_to_a_shell(make_study, tmp_path, model):
    grid = _grid(make_study, "--model {model} --at {rate},{depth},{model} $(touch hit); x", model)
    line = _commands(grid)["1", "20"]
    (tmp_path / "docs").mkdir()
    script = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"
    (tmp_path / "docs/run.py").write_text(script, "utf-8")
    shell = shlex.quote(sys.executable) + line.removeprefix("python")
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    expected = ["--model", model, "--at", f"1,20,{model}", "$(touch", "hit);", "x"]
    assert json.loads(done.stdout) == expected
    assert not (tmp_path / "hit").exists()


@pytest.mark.parametrize("model", [*HOSTILE, "$x", "{depth}"])
def test_the_command_of_a_grid_runs_those_of_its_cells(make_study, tmp_path, model):
    """In a real shell, row by row; variables stand only for the levels of the axes."""
    args = "--model {model} --at {rate},'$x' {depth},{model} $(touch hit); x{rate}{depth} ''"
    grid = _grid(make_study, args, model)
    rows = rows_from_top(grid.study.y)
    (tmp_path / "docs").mkdir()
    script = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"
    (tmp_path / "docs/run.py").write_text(script, "utf-8")

    def output(line):
        shell = f'python() {{ {shlex.quote(sys.executable)} "$@"; }}; {line}'
        done = subprocess.run(
            ["sh", "-c", shell], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
        )
        return done.stdout.splitlines()

    each = [line for text in commands(grid, rows) for line in output(text)]
    assert len(each) == 4
    assert output(grid_command(grid, rows)) == each
    assert not (tmp_path / "hit").exists()


def test_a_grid_has_one_command_of_its_own_where_the_study_names_it(make_study):
    more = "  grid_args: --model {model} --out 'runs/{model} all'\n"
    grid = _grid(make_study, ARGS, "$(touch hit)", more)
    assert grid_command(grid, rows_from_top(grid.study.y)) == (
        "python docs/run.py --model '$(touch hit)' --out 'runs/$(touch hit) all'"
    )


def no_command(grid):
    assert set(_commands(grid).values()) == {""}
    assert command_parts(grid, grid.study.y.levels) == []
    assert grid_command(grid, grid.study.y.levels) == ""


def test_without_reproduce_there_is_no_command(make_study):
    no_command(analyse(make_study("", table("rate,depth,value", "1,2,3"))).grid())


def test_an_aggregate_has_no_command(make_study):
    more = "factors: {model: {levels: [{id: small, aggregate: {by: mean}}, big]}}\n"
    grid = _grid(make_study, ARGS, more=more)
    assert grid.aggregate
    no_command(grid)
