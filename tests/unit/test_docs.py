"""The documents describe what there is: no key, option, command or message is missing in them."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click
import pytest
import yaml
from pydantic import BaseModel

import gridatlas
from gridatlas.assessment import assess_study
from gridatlas.cells import OPTIONAL_COLUMNS
from gridatlas.checks import TITLES
from gridatlas.cli import main
from gridatlas.fence import OPTIONS
from gridatlas.hosts.mkdocs import GridAtlasConfig
from gridatlas.hosts.standalone import StandaloneExtension
from gridatlas.loaded import load_data
from gridatlas.plan import plan_overview, plan_study, plan_unreadable
from gridatlas.schema import StudyFile
from gridatlas.study import STATES
from gridatlas.words import FILTERS, GLOBALS
from gridatlas.yaml_lines import parse_yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = Path(gridatlas.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
LEAST = {"format": 1, "title": "t", "metric": {"name": "m"}, "x": "x", "y": "y"}

NOT_RUN = re.compile(r"python3 -m venv|\. \.venv/|pip install|mkdocs serve|make ")
"""Commands of the documents that need a network, or don't end."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    fence = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    return [Block(*found) for found in fence.findall(page.read_text("utf-8").replace("\r", ""))]


def words(page: Path) -> set[str]:
    """All that stands in single backticks on a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_MKDOCS_2_WARNING": "1",
        "DISABLE_MKDOCS_2_WARNING": "true",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def follow(page: Path, folder: Path) -> list[str]:
    """Do what a page says, from top to bottom; return the commands that were run."""
    done = []
    for block in blocks(page):
        if block.language == "sh":
            for command in block.text.splitlines():
                if NOT_RUN.match(command):
                    continue
                # Strict, so that a warning of the build is seen here.
                strictly = command.replace("mkdocs build", "mkdocs build --strict")
                result = run(strictly, folder)
                assert result.returncode == 0, command + result.stdout + result.stderr
                done.append(command)
        elif block.language == "text" and block.title:
            assert run(block.title, folder).stdout == block.text
        elif block.title:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
    return done


# --- examples work as printed -------------------------------------------------------------------


def test_start_page_leads_to_a_site(tmp_path: Path) -> None:
    assert follow(DOCS / "start.md", tmp_path) == ["gridatlas check", "mkdocs build"] * 2
    site = tmp_path / "site"
    assert "studies/" in (site / "index.html").read_text("utf-8")
    for address in ("studies", "studies/tuning", "studies/tuning/model/large"):
        assert (site / address / "index.html").is_file()
    values = [line.split(",")[-1] for line in blocks(DOCS / "start.md")[-3].text.splitlines()[1:]]
    html = (site / "studies/tuning/model/index.html").read_text("utf-8")
    assert "81.4" in values
    assert "" in values  # the cell that the page calls missing
    shown = set(re.findall(r"<td[^>]*>(?:<strong>)?([^<]+)<", html))
    assert {value or "missing" for value in values} <= shown
    for ending in ("svg", "png", "csv", "json", "vl.json"):
        assert (site / f"grids/tuning/large.{ending}").is_file()


def test_readme_leads_to_a_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A site", "utf-8")
    first = blocks(ROOT / "README.md")
    assert [block.text for block in first if block.title == "mkdocs.yml"] == [
        "plugins:\n  - search\n  - gridatlas\n"
    ]
    page = tmp_path / "README.md"  # the reader's own mkdocs.yml has a name already
    readme = (ROOT / "README.md").read_text("utf-8")
    page.write_text(readme.replace("plugins:\n", "site_name: Mine\nplugins:\n"), "utf-8")
    assert follow(page, tmp_path) == ["gridatlas check", "mkdocs build"]
    html = (tmp_path / "site/studies/tuning/index.html").read_text("utf-8")
    shown = set(re.findall(r"<td[^>]*>(?:<strong>)?([^<]+)<", html))
    assert {"71.2", "73.9", "70.4", "missing"} <= shown


def test_import_page_works(tmp_path: Path) -> None:
    done = follow(DOCS / "import.md", tmp_path)
    assert [command.split()[2] for command in done if "import" in command] == [
        "results.csv",
        "results.csv",
        "ablation.md",
        "runs",
    ]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "ablation",
        "by-rate",
        "results",
        "runs",
    ]


def test_hosts_page_leads_to_a_site_and_to_plain_pages(tmp_path: Path) -> None:
    study = tmp_path / "data/tuning"
    study.mkdir(parents=True)
    for block in blocks(DOCS / "start.md"):
        if block.title.startswith("data/tuning") and not (tmp_path / block.title).exists():
            (tmp_path / block.title).write_text(block.text, "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Mine\n\n```grid\ntuning\n```\n", "utf-8")
    assert follow(DOCS / "hosts.md", tmp_path) == [
        "gridatlas build --into docs",
        "zensical build --clean",
        "gridatlas build --into results --format markdown",
        "gridatlas build --into my-project.wiki --format wiki",
    ]
    for page in ("site/index.html", "site/studies/tuning/index.html"):
        assert "<td>71.2" in (tmp_path / page).read_text("utf-8")
    for page in ("results/studies/tuning/README.md", "my-project.wiki/studies-tuning.md"):
        assert "| 71.2 |" in (tmp_path / page).read_text("utf-8")


def test_examples_of_the_fence_page_stand_on_it_as_they_are_written() -> None:
    text = (DOCS / "fence.md").read_text("utf-8")
    written = re.findall(r"^````md\n(.*?)^````$", text, re.MULTILINE | re.DOTALL)
    written += re.findall(r"^```md\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(written) == 6
    live = re.sub(r"^(`{3,4})md\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [one for one in written if one.strip() not in live] == []


def test_fence_page_has_every_option() -> None:
    text = (DOCS / "fence.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [
        *OPTIONS,
        *StandaloneExtension().config,
    ]


def test_python_of_the_fence_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = [block for block in blocks(DOCS / "fence.md") if block.language == "python"]
    made: dict[str, str] = {}
    exec(compile(code.text, "fence.md", "exec"), made)
    assert made["html"].count("<figure") == 1


def test_full_example_of_the_data_format_is_fine(tmp_path: Path) -> None:
    page = DOCS / "data-format.md"
    example = [block for block in blocks(page) if block.title.startswith("data/")]
    for block in example:
        (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / block.title).write_text(block.text, "utf-8")
    fine, wrong = (block for block in blocks(page) if block.title.startswith("gridatlas"))
    result = run(fine.title, tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == (fine.text, "", 0)
    figure = tmp_path / "data/tuning/figure.csv"
    figure.write_text(figure.read_text("utf-8").replace("78.7", "787"), "utf-8")
    result = run(wrong.title, tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == (wrong.text, "", 1)


def test_full_example_uses_every_key() -> None:
    [text] = [
        block.text
        for block in blocks(DOCS / "data-format.md")
        if block.title == "data/tuning/study.yml"
    ]
    used = set(re.findall(r"(\w+):", text))
    assert {key for _, key in keys(StudyFile)} - used == {"compare"}  # it has a baseline


def test_least_example_of_the_data_format_is_fine(tmp_path: Path) -> None:
    study = tmp_path / "data/least"
    study.mkdir(parents=True)
    for block in blocks(DOCS / "data-format.md"):
        if block.title in ("study.yml", "cells.csv"):
            (study / block.title).write_text(block.text, "utf-8")
    assert run("gridatlas check", tmp_path).stdout == "least: 1 grid, 2 values, 1 reading\n" + (
        "0 problems\n"
    )


@pytest.mark.parametrize(
    "block",
    [block for block in blocks(DOCS / "data-format.md") if block.language == "yaml"],
    ids=lambda block: block.title or block.text.split(":")[0],
)
def test_snippets_of_study_yml_are_valid(block: Block) -> None:
    tree, _, problems = parse_yaml(block.text, "study.yml")
    assert problems == []
    StudyFile.model_validate(LEAST | tree)


def test_printed_commands_of_the_data_format_run(tmp_path: Path) -> None:
    for block in blocks(DOCS / "data-format.md"):
        if block.language == "sh":
            result = run(block.text, tmp_path)
            assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "data/schema/study.v1.json").read_text("utf-8").startswith("{")


def test_template_of_the_options_page_works(tmp_path: Path) -> None:
    follow(DOCS / "start.md", tmp_path)
    [template] = [block for block in blocks(DOCS / "options.md") if block.language == "jinja"]
    (tmp_path / "templates").mkdir()
    (tmp_path / template.title).write_text(template.text, "utf-8")
    config = tmp_path / "mkdocs.yml"
    config.write_text(
        config.read_text("utf-8").replace(
            "- gridatlas", "- gridatlas:\n      templates: templates"
        ),
        "utf-8",
    )
    result = run("mkdocs build --strict", tmp_path)
    assert result.returncode == 0, result.stderr
    html = (tmp_path / "site/studies/index.html").read_text("utf-8")
    assert '<a href="tuning/">Batch size and learning rate</a>' in html


def test_python_of_the_options_page_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    [code] = [block for block in blocks(DOCS / "options.md") if block.language == "python"]
    exec(compile(code.text, "options.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[0] == "0.1 500 42.7 ok"


def test_python_page_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    page = blocks(DOCS / "python.md")
    code = "\n".join(block.text for block in page if block.language == "python")
    known: dict[str, Any] = {}
    exec(compile(code, "python.md", "exec"), known)
    [said] = [block.text for block in page if block.language == "text"]
    assert said in capsys.readouterr().out
    assert Path("grid.svg").read_text("utf-8").startswith("<svg ")
    assert Path("chart.svg").read_text("utf-8").startswith("<svg ")
    assert len(known["single"]) == 160


def test_python_page_has_every_column() -> None:
    frame = gridatlas.load(ROOT / "data")["dynts-window-ratio"].frame()
    named = words(DOCS / "python.md")
    factors = {"model", "benchmark", "ratio", "local_window"}
    assert set(frame.columns) - factors - named == set()


def test_python_page_has_the_settings_of_this_site() -> None:
    [config] = [block for block in blocks(DOCS / "python.md") if block.language == "yaml"]
    for line in config.text.splitlines()[2:]:
        setting = line.replace("execute: true", "execute: !ENV [EXECUTE_NOTEBOOKS, true]")
        assert f"\n{setting}" in (ROOT / "mkdocs.yml").read_text("utf-8")


def test_citation_file_says_what_the_package_is() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cff.keys()
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert cff["version"] == project["version"] == gridatlas.__version__
    assert cff["license"] == project["license"]
    assert cff["authors"] == project["authors"]
    assert cff["type"] == "software"


# --- nothing is left out ------------------------------------------------------------------------


def keys(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """(model, key) of a model and all models within it."""
    seen: set[type[BaseModel]] = set()
    todo = [model]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for name, field in one.model_fields.items():
            yield one.__name__, field.alias or name
            todo += _models(field.annotation)


def _models(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def test_models_are_walked_whole() -> None:
    assert {("StudyFile", "format"), ("Aggregate", "by"), ("LevelEntry", "items")} <= set(
        keys(StudyFile)
    )


def test_data_format_describes_every_key() -> None:
    assert [key for key in keys(StudyFile) if key[1] not in words(DOCS / "data-format.md")] == []


def test_data_format_describes_every_column_and_state() -> None:
    assert {*OPTIONAL_COLUMNS, *STATES} - words(DOCS / "data-format.md") == set()


def problem_kinds() -> set[str]:
    """The first argument of everything that makes a problem, and the kinds of findings."""
    kinds = set(TITLES)
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            kind = node.args[0]
            if called in ("Problem", "problem", "unknown") and isinstance(kind, ast.Constant):
                kinds.add(kind.value)
    return kinds


def test_data_format_lists_every_kind_of_problem() -> None:
    text = (DOCS / "data-format.md").read_text("utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \|$", text, re.MULTILINE)
    assert listed == sorted(problem_kinds())


def test_troubleshooting_quotes_messages_that_there_are() -> None:
    headings = re.findall(r"^### (.*)$", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [one for heading in headings for one in re.findall(r"`([^`]+)`", heading)]
    kinds = problem_kinds()
    sources = re.sub(r"\s+", " ", "".join(path.read_text() for path in SOURCES))
    assert len(quoted) > 12
    for one in quoted:
        if one.startswith("["):
            assert one[1:-1] in kinds, one
        elif " " in one:
            parts = [part.strip(' "()') for part in re.split("…|found:", one)]
            assert all(part in sources for part in parts), one


def test_trust_page_explains_every_check_and_rule() -> None:
    rules = get_args(StudyFile.model_fields["reconcile"].annotation)
    assert {*TITLES, *rules} - words(DOCS / "trust.md") == set()


def test_measured_page_is_made_by_the_script() -> None:
    page = (DOCS / "measured-checks.md").read_text("utf-8")
    assert page.startswith("Measured with `python tests/measure_checks.py` on 1,000 simulated ")


def test_options_page_has_every_option_with_its_default() -> None:
    page = (DOCS / "options.md").read_text("utf-8")
    for name, option in GridAtlasConfig._schema:
        default = "none" if option.default is None else f"`{option.default}`"
        if isinstance(option.default, bool):
            default = default.lower()
        assert f"\n### `{name}`\n\nDefault: {default}. " in page


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from commands(one, f"{path} {name}")


def test_options_page_has_every_command_and_its_options() -> None:
    there = words(DOCS / "options.md")
    for path, command in commands(main, "gridatlas"):
        assert path in there
        with click.Context(command, help_option_names=["-h", "--help"]) as context:
            options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
        names = [name for one in options for name in one.opts]
        choices = [
            choice
            for one in options
            if isinstance(one.type, click.Choice)
            for choice in one.type.choices
        ]
        assert {*names, *choices} - there == set(), path


def test_options_page_has_every_template_and_what_it_gets() -> None:
    there = words(DOCS / "options.md")
    loaded = load_data(ROOT / "data")
    known = [
        assess_study(one, loaded.checks[one.study.id], loaded.claims[one.study.id])
        for one in loaded.results
    ]
    plans = [
        plan_overview(known, "s", {}),
        *plan_study(known[0], "s"),
        plan_unreadable("x", (), "s"),
    ]
    assert {path.name for path in (PACKAGE / "templates").iterdir()} - there == set()
    assert {key for plan in plans for key in plan.context} - there == set()
    assert {*FILTERS, *GLOBALS} - {re.sub(r"\(.*", "", word) for word in there} == set()


def test_contributing_has_every_module_and_target() -> None:
    there = words(ROOT / "CONTRIBUTING.md")
    modules = {path.relative_to(PACKAGE).as_posix() for path in SOURCES}
    assert {one for one in modules if not one.endswith("__init__.py")} - there == set()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)) - {"help"}
    assert {f"make {target}" for target in targets} - there == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for target in re.findall(r"\]\(([^)#\s]+)", prose):
        place = os.path.relpath(page.parent / target, DOCS)
        generated = page.is_relative_to(DOCS) and place.startswith(("studies/", "grids/"))
        # The build checks these.
        assert generated or ":" in target or (page.parent / target).exists(), target


def test_every_decision_is_in_the_list_and_short() -> None:
    records = sorted((DOCS / "decisions").glob("0*.md"))
    listed = re.findall(r"\((0[^)]+)\)", (DOCS / "decisions/index.md").read_text("utf-8"))
    assert [record.name for record in records] == listed
    for record in records:
        text = record.read_text("utf-8")
        assert re.findall("^## .*$", text, re.MULTILINE) == [
            "## Context",
            "## Decision",
            "## Consequences",
        ]
        assert len(text.splitlines()) < 40
