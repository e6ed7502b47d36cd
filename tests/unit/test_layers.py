"""No module imports a later stage, and each heavy library has one module that knows it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from studies import REPOSITORY

import gridatlas

PACKAGE = Path(gridatlas.__file__).parent
ORDER = [
    {"model.docstrings"},
    {
        "model.addresses",
        "files.staging",
        "files.garbage",
        "files.packed",
        "model.problems",
        "model.schema",
        "charts.compress",
        "model.study",
        "files.store",
    },
    {"pages.citation"},
    {"data.text", "data.git"},
    {"data.runs", "data.tables", "data.yaml"},
    {"data.reader"},
    {"reproduce"},
    {"data.rows", "data.match_runs", "data.typos"},
    {"data.validate"},
    {"results.grids"},
    {"pages.commands", "results.items"},
    {"statistics"},
    {"assessment.evidence"},
    {"assessment.uncertainty"},
    {"assessment.reruns"},
    {"assessment.profiles", "assessment.tidy"},
    {"checks"},
    {"assessment.agreement"},
    {"claims"},
    {"assessment.pipeline"},
    {"assessment.assessment"},
    {"charts.binning"},
    {"charts.heatmap"},
    {"charts.line"},
    {"charts.vegalite"},
    {"charts.render", "pages.exports", "charts.badges"},
    {"charts.pool"},
    {"pages.panels"},
    {"pages.fence"},
    {"pages.filters"},
    {"pages.agreement"},
    {"diff"},
    {"pages.plan"},
    {"pages.changes"},
    {"pages.figure_context", "pages.tooltips"},
    {"pages.rerun_tables"},
    {"pages.share", "pages.meta"},
    {"pages.dataset", "pages.notebook_display", "pages.redirects"},
    {"pages.render"},
    {"pages.embeds", "build.page_cache"},
    {"build.study_writer"},
    {"build.serve_cache"},
    {"build.site"},
    {"api", "build.markdown_export", "diff.sources"},
    {"__init__"},
    {"csp.policy", "csp.notebooks", "assessment.summary"},
    {"cli.mkdocs_config"},
    {"importing", "cli.new"},
    {"cli.main", "hosts"},
]
"""Stages from first to last; a module imports from its own stage or from earlier ones."""
HOST = {"", "_files", "_nav", "_options"}
ONLY_IN = {
    "altair": {"charts.vegalite"},
    "vl_convert": {"charts.render"},
    "mkdocs": {f"hosts.mkdocs{part}" for part in HOST},
}


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
LISTED = {name: stage for stage, names in enumerate(ORDER) for name in names}


def _stage(name: str) -> int:
    """The stage of a module: its own, or that of the package around it; 0 of a bare package."""
    while name and name not in LISTED:
        name = name.rpartition(".")[0]
    return LISTED.get(name, 0)


STAGE = {name: _stage(name) for name in MODULES}


def _imports(path: Path) -> set[str]:
    """The full names of all that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def test_every_stage_has_its_modules() -> None:
    assert LISTED.keys() - MODULES.keys() == set()


@pytest.mark.parametrize("name", MODULES)
def test_no_module_imports_a_later_stage(name: str) -> None:
    ours = _of_ours(_imports(MODULES[name])) - {name}
    assert {other for other in ours if STAGE[other] > STAGE[name]} == set()


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
        if any(one.partition(".")[0] == library for one in _imports(path))
    }


@pytest.mark.parametrize(("library", "modules"), ONLY_IN.items())
def test_a_library_is_imported_in_its_own_modules_only(library: str, modules: set[str]) -> None:
    assert _users(library) == modules


EXTRA = {"accelerate", "datasets", "math_verify", "ray", "torch", "transformers", "trl"}
"""What the extra `reproduce` brings."""


@pytest.mark.parametrize("library", sorted(EXTRA))
def test_what_the_extra_brings_is_imported_in_reproduce_only(library: str) -> None:
    assert {name for name in _users(library) if not name.startswith("reproduce.")} == set()


def test_reproduce_knows_only_the_form_of_the_data() -> None:
    core = set()
    for name, path in MODULES.items():
        if name.startswith("reproduce"):
            core |= {one for one in _of_ours(_imports(path)) if not one.startswith("reproduce")}
    assert core <= {
        "files.staging",
        "model.problems",
        "model.schema",
        "data.reader",
        "data.runs",
        "data.tables",
        "data.text",
    }


def test_jinja_is_imported_for_pages_only() -> None:
    assert _users("jinja2") == {"pages.render"}


# --- a build in which nothing changed -----------------------------------------------------------

HEAVY = {"altair", "scipy", "pandas", "vl_convert"}
BUILD = """
import hashlib, json, sys
from pathlib import Path
from gridatlas.build.site import build

drawn = []
site = build(Path("data"), cache=Path(sys.argv[1]), progress=lambda done, of: drawn.append(done))
content = {page.plan.path: page.whole() for page in site.pages} | dict(site.files)
digests = {
    path: hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
    for path, text in content.items()
}
print(json.dumps({"drawn": len(drawn), "modules": sorted(sys.modules), "digests": digests}))
"""


def _build(cache: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(cache)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_build_in_which_nothing_changed_imports_nothing_heavy(tmp_path: Path) -> None:
    cold, warm = _build(tmp_path), _build(tmp_path)
    assert cold["drawn"] > 0
    assert HEAVY & set(cold["modules"])
    assert warm["drawn"] == 0
    assert HEAVY & set(warm["modules"]) == set()
    # And the same data gives the same bytes.
    assert len(warm["digests"]) > 60
    assert warm["digests"] == cold["digests"]


# --- a script that only reads -------------------------------------------------------------------


def test_scripts_import_what_reads_and_checks_not_what_draws_and_writes_pages() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import gridatlas, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
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
        "pages.dataset",
    }
    assert ours & drawing == set()
    assert loaded & (HEAVY | {"numpy", "mkdocs"}) == set()
