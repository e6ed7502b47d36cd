"""What import-linter doesn't hold: no circles, laziness, and what the extra brings."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from builders import table, write_study

import gridatlas

PACKAGE = Path(gridatlas.__file__).parent


def _modules() -> dict[str, Path]:
    """Files by the modules' names below the package: `load`, `hosts.mkdocs`, `__init__`."""
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1] == "__init__" and len(parts) > 1:
            parts = parts[:-1]
        modules[".".join(parts)] = path
    return modules


MODULES = _modules()


@functools.cache
def _imports(path: Path) -> set[str]:
    """The full names of all that a file imports, wherever in it, but for types alone."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _of_ours(imported: set[str]) -> set[str]:
    """Our modules among imported names; a name of the package itself is `__init__`'s."""
    ours = set()
    for name in imported:
        top, _, rest = name.partition(".")
        if top != "gridatlas":
            continue
        while rest and rest not in MODULES:
            rest = rest.rpartition(".")[0]
        ours.add(rest or "__init__")
    return ours


def test_no_modules_import_one_another_in_a_circle() -> None:
    # A package itself only hands on what its modules have.
    imports = {name: _of_ours(_imports(path)) - {name} for name, path in MODULES.items()}
    TopologicalSorter(imports).prepare()


def test_imports_are_seen() -> None:
    assert "claims.tree" in _of_ours(_imports(MODULES["claims.evaluation"]))
    assert "decimal.Decimal" in _imports(MODULES["claims.evaluation"])
    names = {"gridatlas.claims.tree.Node", "gridatlas.checks", "json"}
    assert _of_ours(names) == {"claims.tree", "checks"}


def _users(library: str) -> set[str]:
    return {
        name
        for name, path in MODULES.items()
        if any(module.partition(".")[0] == library for module in _imports(path))
    }


EXTRA = {"accelerate", "datasets", "math_verify", "ray", "torch", "transformers", "trl"}
"""What the extra `reproduce` brings."""


@pytest.mark.parametrize("library", sorted(EXTRA))
def test_what_the_extra_brings_is_imported_in_reproduce_only(library: str) -> None:
    assert {name for name in _users(library) if not name.startswith("reproduce.")} == set()


def test_reproduce_knows_only_the_form_of_the_data() -> None:
    core = set()
    for name, path in MODULES.items():
        if name.startswith("reproduce"):
            core |= {our for our in _of_ours(_imports(path)) if not our.startswith("reproduce")}
    assert core <= {
        "files.atomic",
        "files.disks",
        "model.inert",
        "model.problems",
        "model.schema",
        "data.reader",
        "data.runs",
        "data.tables",
        "data.text",
        "progress",
    }


# --- a build in which nothing changed -----------------------------------------------------------

STUDY = """\
format: 1
title: A demo
metric: {name: Accuracy, better: higher, unit: "%", range: [0, 100]}
x: rate
y: depth
facets: [model]
compare: [model]
factors: {model: {levels: [{id: a, items: 100}, {id: b, items: 100}]}}
trials: {items: model}
readings: [{id: one, file: cells.csv, label: One}]
claims: [{text: B is ahead., check: '(grid(model="b") > grid(model="a")).all'}]
"""
CELLS = table(
    "model,rate,depth,value,n",
    *(f"{model},{rate},{depth},{value + rate * depth},100"
      for model, value in (("a", 20), ("b", 30)) for rate in (1, 2) for depth in (1, 2)),
)  # fmt: skip
HEAVY = {"altair", "scipy", "pandas", "vl_convert"}
BUILD = """
import hashlib, json, sys
from pathlib import Path
from gridatlas.build.site import build

drawn = []
site = build(Path("data"), cache=Path(sys.argv[1]), progress=drawn.append)
content = {page.plan.path: page.whole() for page in site.pages} | dict(site.files)
digests = {
    path: hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
    for path, text in content.items()
}
drawn = [done for done in drawn if done.startswith("drew ")]
print(json.dumps({"drawn": len(drawn), "modules": sorted(sys.modules), "digests": digests}))
"""


def _build(folder: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder / "cache")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_build_in_which_nothing_changed_imports_nothing_heavy(tmp_path: Path) -> None:
    """Of one small study; tests/sites/test_site_rebuilds.py builds the real ones with MkDocs."""
    write_study(tmp_path / "data/demo", STUDY, CELLS)
    cold, warm = _build(tmp_path), _build(tmp_path)
    assert cold["drawn"] > 0
    assert HEAVY & set(cold["modules"])
    assert warm["drawn"] == 0
    assert HEAVY & set(warm["modules"]) == set()
    # And the same data gives the same bytes.
    assert len(warm["digests"]) > 30
    assert warm["digests"] == cold["digests"]


# --- a script that only reads -------------------------------------------------------------------


def _loaded(code: str) -> set[str]:
    """The modules that a script has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_a_package_of_ours_imports_nothing_for_scripts() -> None:
    """Each module imports the package itself, in processes that draw, too."""
    loaded = {name for name in _loaded("import gridatlas.progress") if "gridatlas" in name}
    assert loaded == {"gridatlas", "gridatlas.progress"}
    assert "gridatlas.api" not in _loaded("import gridatlas.charts.render")


def test_scripts_import_what_reads_and_checks_not_what_draws_and_writes_pages() -> None:
    loaded = _loaded("from gridatlas import load")
    assert {"gridatlas.assessment.pipeline", "gridatlas.api"} <= loaded
    ours = {name.removeprefix("gridatlas.") for name in loaded if name.startswith("gridatlas.")}
    drawing = {
        "charts.heatmap",
        "charts.vegalite",
        "charts.render",
        "pages.plan",
        "pages.render",
        "pages.notebook_display",
        "build.site",
        "pages.meta",
    }
    assert ours & drawing == set()
    assert loaded & (HEAVY | {"mkdocs"}) == set()
