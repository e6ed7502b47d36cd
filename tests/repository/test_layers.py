"""What import-linter doesn't hold: no circles, laziness, and what the extra brings."""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from builders import table, write_study
from forked import run

import gridatlas

PACKAGES = Path(gridatlas.__file__).parents[1]


def _modules() -> dict[str, Path]:
    """Files by the names of the modules: `gridatlas.api`, `gridatlas_review`."""
    modules = {}
    for path in sorted(PACKAGES.rglob("*.py")):
        parts = path.relative_to(PACKAGES).with_suffix("").parts
        modules[".".join(parts).removesuffix(".__init__")] = path
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
    """Our modules among imported names."""
    ours = set()
    for name in imported:
        parts = name.split(".")
        within = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        ours.update([name for name in within if name in MODULES][:1])
    return ours


def test_no_modules_import_one_another_in_a_circle() -> None:
    # A package itself only hands on what its modules have.
    imports = {name: _of_ours(_imports(path)) - {name} for name, path in MODULES.items()}
    TopologicalSorter(imports).prepare()


def test_imports_are_seen() -> None:
    assert "gridatlas.claims.tree" in _of_ours(_imports(MODULES["gridatlas.claims.evaluation"]))
    assert "decimal.Decimal" in _imports(MODULES["gridatlas.claims.evaluation"])
    names = {"gridatlas.claims.tree.Node", "gridatlas_review", "json"}
    assert _of_ours(names) == {"gridatlas.claims.tree", "gridatlas_review"}


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
    users = _users(library)
    assert {name for name in users if not name.startswith("gridatlas_reproduce.")} == set()


ALLOWED = {
    "gridatlas_reproduce": {
        "gridatlas.cli.shared",
        "gridatlas.data.reader",
        "gridatlas.data.runs",
        "gridatlas.data.tables",
        "gridatlas.data.text",
        "gridatlas.files.atomic",
        "gridatlas.files.disks",
        "gridatlas.meter",
        "gridatlas.model.format",
        "gridatlas.model.inert",
        "gridatlas.model.problems",
        "gridatlas.model.schema",
        "gridatlas.progress",
    },
}
"""What a package may know of the core, where that is less than the contracts allow."""


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_knows_only_the_form_of_the_data(package: str) -> None:
    core = set()
    for name, path in MODULES.items():
        if name.partition(".")[0] == package:
            core |= {our for our in _of_ours(_imports(path)) if not our.startswith(package)}
    assert core <= ALLOWED[package]


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
HEAVY = {"altair", "pandas", "vl_convert"}
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
    assert "scipy" not in cold["modules"]
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
        "charts.kinds.heatmap",
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


# --- the packages beside the core ---------------------------------------------------------------


def test_the_list_of_commands_imports_none_of_them() -> None:
    loaded = _loaded("from gridatlas.cli import main; main(['--help'], standalone_mode=False)")
    assert {"import", "diff", "collect", "gridatlas.cli.main"} <= loaded  # the list, the modules
    packages = {name.partition(".")[0] for name in loaded if name.startswith("gridatlas")}
    assert not any(name.endswith(".command") for name in loaded)
    assert packages == {"gridatlas", "gridatlas_import", "gridatlas_reproduce", "gridatlas_review"}
    assert loaded & {"pydantic", "yaml", "gridatlas.cli.check"} == set()


ABSENT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0].startswith("gridatlas_")
        return None if absent else super().find_spec(name, path, target)

if sys.argv.pop() == "alone":
    sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
SITE = """\
site_name: Mine
theme: {name: material, font: false}
plugins: [search, gridatlas: {strict: true}]
"""


def _python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ABSENT + code, *arguments],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_core_alone_builds_the_same_site(tmp_path: Path) -> None:
    """Dear: a site in a process of its own, which can't import the other packages."""
    sites = {}
    for how in ("all", "alone"):
        folder = tmp_path / how
        write_study(folder / "data/demo", STUDY, CELLS)
        (folder / "docs").mkdir()
        (folder / "docs/index.md").write_text("# Home\n\n```grid\ndemo/a\n```\n", "utf-8")
        (folder / "mkdocs.yml").write_text(SITE, "utf-8")
        code = "from mkdocs.__main__ import cli; cli(['build', '--strict'])"
        every = ("mkdocs", "build", "--strict")
        built = _python(code, folder, how) if how == "alone" else run(every, folder, os.environ)
        assert built.returncode == 0, built.stdout + (built.stderr or "")
        files = [path for path in (folder / "site").rglob("*") if path.is_file()]
        sites[how] = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    assert len(sites["all"]) > 30
    dated = {name for name in sites["all"] if Path(name).name.startswith("sitemap.xml")}
    assert sites["alone"].keys() == sites["all"].keys()
    assert [
        name for name in sites["all"].keys() - dated if sites["alone"][name] != sites["all"][name]
    ] == []


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    write_study(tmp_path / "data/demo", STUDY, CELLS)
    run = "from gridatlas.cli import main; main()"
    listed = _python(run, tmp_path, "--help", "alone")
    assert "\n  check " in listed.stdout
    assert "\n  diff " not in listed.stdout
    absent = _python(run, tmp_path, "diff", "data", "data", "alone")
    assert absent.returncode == 2
    assert absent.stderr.splitlines()[-1] == (
        'Error: the entry point "diff" of gridatlas.commands needs gridatlas_review, which '
        "isn't installed"
    )
    into = _python(run, tmp_path, "build", "--into", "docs", "alone")
    assert into.returncode == 2
    assert into.stderr.splitlines()[-1] == (
        'Error: --into: the entry point "folder" of gridatlas.exports needs gridatlas_zensical, '
        "which isn't installed"
    )
