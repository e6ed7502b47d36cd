"""The documents describe what there is: no key, option, command or message is missing in them."""

import ast
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest
import yaml
from builders import real_data
from documents import DOCS, PAGES, ROOT, blocks, words
from pydantic import BaseModel

import gridatlas
import write_reference
from gridatlas import registry
from gridatlas.checks import all_checks
from gridatlas.data.columns import OPTIONAL_COLUMNS
from gridatlas.hosts.mkdocs.options import GridAtlasConfig
from gridatlas.model.json_schema import json_schema, key_texts, models
from gridatlas.model.kinds import KINDS
from gridatlas.model.schema import RESERVED_FACETS, AcceptedEntry, StudyFile
from gridatlas.model.study import STATES
from gridatlas.pages.fence import OPTIONS
from gridatlas.pages.filters import FILTERS, GLOBALS
from gridatlas.pages.plan import plan_home, plan_overview, plan_study, plan_unreadable
from gridatlas_zensical.standalone import StandaloneExtension

PACKAGE = Path(gridatlas.__file__).parent
COMMANDS = {
    name: registry.load(registry.COMMANDS, name) for name in registry.found(registry.COMMANDS)
}
PACKAGES = PACKAGE.parent
SOURCES = sorted(PACKAGES.rglob("*.py"))


# --- nothing is left out ------------------------------------------------------------------------


def keys(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """(model, key) of a model and all models within it."""
    seen: set[type[BaseModel]] = set()
    todo = [model]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for name, field in path.model_fields.items():
            yield path.__name__, field.alias or name
            todo += _models(field.annotation)


def _models(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def test_models_are_walked_whole() -> None:
    assert {("StudyFile", "format"), ("Aggregate", "by"), ("LevelEntry", "items")} <= set(
        keys(StudyFile)
    )


@pytest.mark.parametrize("page", write_reference.PAGES)
def test_reference_is_what_the_code_says(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert "<!--code: " in text
    assert write_reference.written(text) == text, "`make reference` writes it anew"


def test_every_part_of_the_format_is_described() -> None:
    schema = json_schema(all_checks())
    parts = [schema, *schema["$defs"].values()]
    assert len(parts) == len(models())
    for part in parts:
        keys = part["properties"]
        assert [key for key, entry in keys.items() if not entry.get("description")] == []
        assert "](" not in "".join(key["description"] for key in keys.values())


def test_data_format_describes_every_key() -> None:
    assert [key for key in keys(StudyFile) if key[1] not in words(DOCS / "data-format.md")] == []


def test_tables_page_describes_every_column_and_state() -> None:
    assert {*OPTIONAL_COLUMNS, *STATES} - words(DOCS / "tables.md") == set()


MAKE_PROBLEMS = ("Problem", "NotRead", "of", "problem", "unknown")


def problem_kinds() -> set[str]:
    """The first argument of everything that makes a problem."""
    kinds = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            kind = node.args[0]
            if (
                called in MAKE_PROBLEMS
                and isinstance(kind, ast.Constant)
                and kind.value[:2] != "--"
            ):
                kinds.add(kind.value)
    return kinds


def test_every_kind_of_problem_has_its_texts_in_one_place() -> None:
    assert list(KINDS) == sorted(problem_kinds())
    assert not KINDS.keys() & all_checks().keys()


def test_troubleshooting_quotes_messages_that_there_are() -> None:
    headings = re.findall(r"^### (.*)$", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [name for heading in headings for name in re.findall(r"`([^`]+)`", heading)]
    kinds = problem_kinds() | all_checks().keys()
    sources = re.sub(r"\s+", " ", "".join(path.read_text() for path in SOURCES))
    assert len(quoted) > 12
    for name in quoted:
        if name.startswith("["):
            assert name[1:-1] in kinds, name
        elif " " in name:
            parts = [part.strip(' "()') for part in re.split("…|found:", name)]
            assert all(part in sources for part in parts), name


def test_trust_page_explains_every_check_and_rule() -> None:
    rules = get_args(StudyFile.model_fields["reconcile"].annotation)
    assert {*all_checks(), *rules} - words(DOCS / "trust.md") == set()


def test_measured_page_is_made_by_the_script() -> None:
    page = (ROOT / "benchmarks/measured-checks.md").read_text("utf-8")
    assert page.startswith(
        "Measured with `python tools/measure_checks.py`: mistakes planted into 1,000 simulated "
    )


def test_options_page_has_every_option_with_its_default() -> None:
    page = (DOCS / "options.md").read_text("utf-8")
    for name, option in GridAtlasConfig._schema:
        default = "none" if option.default in (None, {}) else f"`{option.default}`"
        if isinstance(option.default, bool):
            default = default.lower()
        assert f"\n### `{name}`\n\nDefault: {default}. " in page


def test_key_of_accepted_findings_lists_every_kind() -> None:
    listed = key_texts(AcceptedEntry, all_checks())["finding"]
    assert set(re.findall("`([^`]+)`", listed)) == set(all_checks())


def test_no_facet_can_take_the_place_of_a_page_or_file() -> None:
    for study_id, assessment in real_data().items():
        facets = {facet.id for facet in assessment.study.facets}
        below = {page.path.split("/")[2] for page in plan_study(assessment, "s")} - {"index.md"}
        assert below - facets <= set(RESERVED_FACETS), study_id


def test_commands_page_has_every_command() -> None:
    page = (DOCS / "commands.md").read_text("utf-8")
    parts = re.findall(r"^## (.*)\n\n<!--code: (.*)-->$", page, re.MULTILINE)
    names = ["", *COMMANDS]
    assert sorted(parts) == sorted(
        (f"gridatlas {name}".rstrip(), f"command {name}".rstrip()) for name in names
    )
    # No command is below another one, where none would look for it.
    assert not any(isinstance(command, click.Group) for command in COMMANDS.values())


def test_every_template_is_described_with_what_it_gets() -> None:
    words_there = words(PACKAGE / "pages" / "TEMPLATES.md")
    assessments = [*real_data().values()]
    plans = [
        plan_overview([plan_home(assessment, "s") for assessment in assessments], "s", {}),
        *plan_study(assessments[0], "s"),
        plan_unreadable("x", (), "s"),
    ]
    assert {
        path.name for path in (PACKAGE / "pages" / "templates").iterdir()
    } - words_there == set()
    keys = {key for plan in plans for key in plan.context}
    keys |= {key for plan in plans if plan.anatomy for key in plan.anatomy().context}
    assert keys - words_there == set()
    assert {*FILTERS, *GLOBALS} - {re.sub(r"\(.*", "", word) for word in words_there} == set()


def test_contributing_has_every_package_and_target() -> None:
    words_there = words(ROOT / "CONTRIBUTING.md")
    packages = {path.relative_to(PACKAGES).parts[0] for path in SOURCES}
    rooms = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/*.py")}
    assert (packages | rooms) - words_there == set()
    modules = {
        word for word in words_there if re.fullmatch(r"[a-z_]+/([a-z_]+/)*[a-z_]+\.py", word)
    }
    folders = (PACKAGE, PACKAGES, ROOT)
    absent = [name for name in modules if not any((folder / name).is_file() for folder in folders)]
    assert absent == []
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)) - {"help"}
    assert {f"make {target}" for target in targets} - words_there == set()


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
    records = sorted((ROOT / "decisions").glob("0*.md"))
    listed = re.findall(r"\((0[^)]+)\)", (ROOT / "decisions/README.md").read_text("utf-8"))
    assert [record.name for record in records] == listed
    for record in records:
        text = record.read_text("utf-8")
        assert re.findall("^## .*$", text, re.MULTILINE) == [
            "## Context",
            "## Decision",
            "## Consequences",
        ]
        assert len(text.splitlines()) < 40


def test_fence_page_has_every_option() -> None:
    text = (DOCS / "fence.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [
        *OPTIONS,
        *StandaloneExtension().config,
    ]


def test_full_example_uses_every_key() -> None:
    [text] = [
        block.text
        for block in blocks(DOCS / "data-format.md")
        if block.title == "data/tuning/study.yml"
    ]
    used = set(re.findall(r"(\w+):", text))
    # It has a baseline, repeats nothing, links to no other study: these keys have examples below.
    absent = {key for _, key in keys(StudyFile)} - used
    assert absent == {
        "agreement",
        "axes",
        "cells",
        "compare",
        "of",
        "repeats",
        "replicates",
        "same",
        "same_runs",
        "scale",
        "see_also",
        "study",
    }
    sections = "".join(block.text for block in blocks(DOCS / "data-format.md"))
    shown = set(re.findall(r"^(\w+):", sections, re.MULTILINE))
    assert {"agreement", "cells", "roles", "see_also"} <= shown


def test_python_page_has_all_of_the_interface() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    shown = {name.rpartition(".")[2] for name in re.findall(r"^::: gridatlas\.(\S+)$", page, re.M)}
    assert shown >= {*gridatlas.__all__}


def test_frames_describe_every_column() -> None:
    study = gridatlas.load(ROOT / "data")["dynts-window-ratio"]
    frame = study.frame()
    text = next(iter(study.grids.values())).frame.__doc__ or ""
    named = set(re.findall("`([^`]+)`", text))
    factors = {"model", "benchmark", "ratio", "local_window"}
    assert set(frame.columns) - factors - named == set()


def test_citation_file_says_what_the_package_is() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cff.keys()
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert cff["version"] == project["version"] == gridatlas.__version__
    assert cff["license"] == project["license"]
    assert cff["authors"] == project["authors"]
    assert cff["type"] == "software"
