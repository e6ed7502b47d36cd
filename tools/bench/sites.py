"""Builds the compared sites: the same heatmaps, theme and texts, each with another tool."""

import csv
import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkdocs.utils.yaml import yaml_load

import packages

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/sites"))

from site_builds import Project

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench"
COUNTS = (1, 8)
"""Heatmaps of a page."""
CELLS = 20
"""Cells of a heatmap: 4 × 5."""

BARE, ATLAS, CHARTS, JUPYTER = "bare", "atlas", "charts", "jupyter"
MODELS = {"r1-qwen": "R1-Qwen", "r1-llama": "R1-Llama"}
BENCHMARKS = {"aime24": "AIME24", "aime25": "AIME25", "amc23": "AMC23", "gpqa_d": "GPQA_D"}
ITEMS = {"aime24": 30, "aime25": 30, "amc23": 40, "gpqa_d": 198}
TITLE = "Local window size and retention ratio"
TEXT = (
    "Pass@1 of reasoning models that keep only part of their KV cache while they decode, over the "
    "number of recent tokens that are always kept (local window) and the share of older tokens "
    "that is kept besides (ratio)."
)
CDN = "https://cdn.jsdelivr.net/npm/"


def names(heatmaps: int) -> dict[str, str]:
    """The ids and labels of a page's heatmaps."""
    every = {
        f"{model}-{benchmark}": f"{MODELS[model]}, {BENCHMARKS[benchmark]}"
        for model in MODELS
        for benchmark in BENCHMARKS
    }
    return dict(list(every.items())[:heatmaps])


def page(tool: str, heatmaps: int) -> str:
    """The address of a page below the folder of all sites."""
    name = f"page-{heatmaps}"
    return f"atlas/studies/{name}/set/all/" if tool == ATLAS else f"{tool}/{name}/"


def build_all() -> Path:
    """Build the four sites; return the folder that they are in, each by its tool's name."""
    folder = FOLDER / "sites"
    shutil.rmtree(folder, ignore_errors=True)
    packages.install()
    atlas = build_atlas(folder)
    specs = {
        count: {
            name: json.loads((atlas / f"grids/page-{count}/all/{name}.vl.json").read_text("utf-8"))
            for name in names(count)
        }
        for count in COUNTS
    }
    build_bare(folder)
    build_charts(folder, specs)
    build_jupyter(folder, specs)
    return folder


# --- one site each ------------------------------------------------------------------------------


def build_atlas(folder: Path) -> Path:
    """Studies of one and of eight grids, with the values of the study of this repository."""
    project = new_project(ATLAS, {"gridatlas": {"cache": str(FOLDER / "cache")}})
    rows = [
        row
        for model in MODELS
        for row in csv.DictReader(
            (ROOT / f"data/dynts-window-ratio/{model}.csv").read_text("utf-8").splitlines()
        )
    ]
    for count in COUNTS:
        levels = [
            {"id": name, "label": label, "items": ITEMS[name.rpartition("-")[2]]}
            for name, label in names(count).items()
        ]
        study = {
            "format": 1,
            "title": TITLE,
            "summary": TEXT,
            "metric": {
                "name": "Pass@1",
                "column": "pass_at_1",
                "unit": "%",
                "range": [0, 100],
                "decimals": 1,
            },
            "x": "ratio",
            "y": "local_window",
            "facets": ["set", "grid"],
            "factors": {
                "ratio": {"label": "Ratio"},
                "local_window": {"label": "Local window size", "unit": "tokens"},
                "set": {"label": "Set", "levels": [{"id": "all", "label": TITLE}]},
                "grid": {"label": "Grid", "levels": levels},
            },
            "trials": {"items": "grid", "samples": 5},
        }
        lines = ["set,grid,local_window,ratio,pass_at_1"]
        lines += [
            f"all,{name},{row['local_window']},{row['ratio']},{row['pass_at_1']}"
            for row in rows
            if (name := f"{row['model']}-{row['benchmark']}") in names(count)
        ]
        assert len(lines) == 1 + CELLS * count, "the study isn't what it was"
        project.write(f"data/page-{count}/study.yml", json.dumps(study, indent=1))
        project.write(f"data/page-{count}/cells.csv", "\n".join(lines) + "\n")
    return finish(project, folder)


def build_bare(folder: Path) -> None:
    """The theme and the texts alone: what no tool can be quicker than."""
    project = new_project(BARE)
    for count in COUNTS:
        project.write(f"docs/page-{count}.md", markdown(count, dict.fromkeys(names(count), "")))
    finish(project, folder)


def build_charts(folder: Path, specs: Mapping[int, Mapping[str, Any]]) -> None:
    """As the README of mkdocs-charts-plugin says, with its scripts as files of the site."""
    scripts = [f"javascripts/{file}" for file in SCRIPTS]
    fence = {
        "name": "vegalite",
        "class": "vegalite",
        "format": "!!python/name:mkdocs_charts_plugin.fences.fence_vegalite",
    }
    project = new_project(
        CHARTS,
        "charts",
        extra_javascript=scripts,
        markdown_extensions=["attr_list", {"pymdownx.superfences": {"custom_fences": [fence]}}],
    )
    # JSON has no tags; YAML needs this one without quotes.
    config = project.folder / "mkdocs.yml"
    config.write_text(
        re.sub(r'"(!!python/name:[\w.]+)"', r"\1", config.read_text("utf-8")), encoding="utf-8"
    )
    for file, package in SCRIPTS.items():
        project.write(f"docs/javascripts/{file}", packages.script(package).read_text("utf-8"))
    for count in COUNTS:
        fences = {
            name: f"```vegalite\n{json.dumps(spec | SCHEMA_5, ensure_ascii=False)}\n```"
            for name, spec in specs[count].items()
        }
        project.write(f"docs/page-{count}.md", markdown(count, fences))
    finish(project, folder)


SCRIPTS = {
    "vega.min.js": "vega-5",
    "vega-lite.min.js": "vega-lite-5",
    "vega-embed.min.js": "vega-embed-6",
}
"""The scripts that mkdocs-charts-plugin needs, and the packages that they are from."""
SCHEMA_5 = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
"""What the specification is for that scripts of version 5 draw."""


def build_jupyter(folder: Path, specs: Mapping[int, Mapping[str, Any]]) -> None:
    """Notebooks that show the charts with Altair, as it does by itself; executed by the build."""
    options = {"execute": True, "allow_errors": False, "cache": False}
    project = new_project(JUPYTER, {"mkdocs-jupyter": options})
    for count in COUNTS:
        for name, spec in specs[count].items():
            project.write(f"charts/{count}/{name}.vl.json", json.dumps(for_altair(spec)))
        cells = {name: f'heatmap("charts/{count}/{name}.vl.json")' for name in names(count)}
        project.write(f"docs/page-{count}.py", notebook(count, cells))
    built = finish(project, folder)
    for count in COUNTS:
        localise(folder / page(JUPYTER, count) / "index.html", built / "npm")


def for_altair(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification without a key that Altair's schema lacks; it aligns the legend."""
    config = {**spec["config"], "legend": dict(spec["config"]["legend"])}
    config["legend"].pop("layout", None)
    return {**spec, "config": config}


# --- what they share ----------------------------------------------------------------------------


def new_project(tool: str, plugin: Any = None, **config: Any) -> Project:
    """A project with the theme of this repository's site, the search and one plugin."""
    folder = FOLDER / "projects" / tool
    shutil.rmtree(folder, ignore_errors=True)
    project = Project(folder)
    base = {
        "site_name": "Results",
        "site_description": "Pages that are compared.",
        "theme": theme(),
        "plugins": ["search", plugin] if plugin else ["search"],
        "markdown_extensions": ["attr_list", "pymdownx.superfences"],
    }
    project.write("mkdocs.yml", json.dumps(base | config, indent=1))
    project.write("docs/index.md", f"# Home\n\n{TEXT}\n")
    return project


def theme() -> dict[str, Any]:
    """The theme of this repository's site, but for its own templates."""
    ours = yaml_load((ROOT / "mkdocs.yml").read_text("utf-8"))["theme"]
    return {key: ours[key] for key in ("name", "font", "features", "palette")}


def finish(project: Project, folder: Path) -> Path:
    """Build a project's site into the folder of all sites; return its own folder."""
    build = project.build()
    if build.status:
        raise SystemExit(f"{project.folder} could not be built:\n{build.log}")
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / project.folder.name
    build.site.rename(place)
    return place


def markdown(heatmaps: int, charts: Mapping[str, str]) -> str:
    """A page with a heading per heatmap, and its chart."""
    sections = [
        f"## {label}\n\n{charts[name]}\n".rstrip() for name, label in names(heatmaps).items()
    ]
    return "\n\n".join([f"# {TITLE}", TEXT, *sections]) + "\n"


def notebook(heatmaps: int, cells: Mapping[str, str]) -> str:
    """The same as a notebook in the percent format."""
    parts = [
        f"# %% [markdown]\n# # {TITLE}\n# {TEXT}",
        "# %%\nimport json\nfrom pathlib import Path\n\nimport altair as alt\n\n\n"
        "def heatmap(file):\n"
        "    return alt.Chart.from_dict(json.loads(Path(file).read_text()))",
    ]
    for name, label in names(heatmaps).items():
        parts += [f"# %% [markdown]\n# ## {label}", f"# %%\n{cells[name]}"]
    return "\n\n".join(parts) + "\n"


def localise(html: Path, into: Path) -> None:
    """Make the scripts that a page takes from jsDelivr files of the site.

    Raises:
        SystemExit: it takes one that package.json doesn't pin.
    """
    text = html.read_text("utf-8")
    into.mkdir(exist_ok=True)
    pinned = {"vega": "vega-6", "vega-lite": "vega-lite-6", "vega-embed": "vega-embed-7"}
    for name, wanted in set(re.findall(rf'"{CDN}([\w-]+)@([\w.]+)\?noext"', text)):
        if name not in pinned or not f"{packages.version(pinned[name])}.".startswith(f"{wanted}."):
            raise SystemExit(f"Altair asks for {name}@{wanted}: pin it in tools/bench/package.json")
        shutil.copy(packages.script(pinned[name]), into / f"{name}.js")
        text = text.replace(f'"{CDN}{name}@{wanted}?noext"', f'"../npm/{name}.js"')
    html.write_text(text, encoding="utf-8")
