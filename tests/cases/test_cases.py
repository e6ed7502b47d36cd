"""What `gridatlas check` says of a data folder, word for word.

Each YAML file beside this one is a rule, each of its cases a data folder. A file's content is a
text, `{hex: …}` for bytes that are no text, `{repeat: …, times: …}` (`%d` is the number of the
time, from 0), or a list of these; `files` at the head of a rule are those of every case that
doesn't bring its own.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import gridatlas
from gridatlas.cli.main import main

PACKAGE = Path(gridatlas.__file__).parent
RULES = sorted(Path(__file__).parent.glob("*.yml"))
IN_UNIT_TESTS = {
    "no-parquet",  # needs a Python without pyarrow
    "not-parquet",  # its text is pyarrow's
    "broken-template",  # not said by `check`
    "taken-address",  # neither
}


KIND_FIRST = {"Problem", "of", "problem", "unknown", "NotRead"}
"""What is called with a kind of problem."""


@dataclass(frozen=True)
class Case:
    rule: str
    name: str
    exit: int
    output: str
    files: dict[str, Any] = field(default_factory=dict)
    folder: str = "demo"
    arguments: tuple[str, ...] = ()


def _cases() -> list[Case]:
    cases = []
    for path in RULES:
        rule = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert rule.keys() <= {"files", "cases"}, path
        for case in rule["cases"]:
            files = {**rule.get("files", {}), **case.pop("files", {})}
            cases.append(Case(rule=path.stem, files=files, **case))
    return cases


def _content(entry: Any) -> bytes:
    if isinstance(entry, str):
        return entry.encode()
    if isinstance(entry, list):
        return b"".join(map(_content, entry))
    if set(entry) == {"hex"}:
        return bytes.fromhex(entry["hex"])
    assert set(entry) == {"repeat", "times"}, entry
    text = entry["repeat"]
    if "%d" not in text:
        return text.encode() * entry["times"]
    return "".join(text.replace("%d", str(time)) for time in range(entry["times"])).encode()


CASES = _cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.name}")
def test_check_says(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    for name, entry in case.files.items():
        # A path from the data folder begins with a slash; others are the study's.
        within = name[1:] if name.startswith("/") else f"{case.folder}/{name}"
        path = tmp_path / "data" / within
        if entry is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(entry))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(
        main, ["check", *case.arguments], prog_name="gridatlas", catch_exceptions=False
    )
    assert result.output == case.output
    assert result.exit_code == case.exit


def test_no_two_cases_of_a_rule_have_the_same_name() -> None:
    names = [(case.rule, case.name) for case in CASES]
    assert len(names) == len(set(names))


def test_a_rule_is_named_after_the_kind_of_problem_that_its_cases_show() -> None:
    others = {"fine", "several"}
    for path in RULES:
        if path.stem not in others:
            outputs = [case.output for case in CASES if case.rule == path.stem]
            assert any(f"[{path.stem}]" in output for output in outputs), path.stem


def test_every_kind_of_problem_has_a_case() -> None:
    kinds = set()
    for module in (
        "data.columns",
        "data.levels",
        "data.names",
        "data.rows",
        "data.match_runs",
        "data.reader",
        "assessment.pipeline",
        "assessment.agreement",
        "data.runs",
        "data.tables",
        "data.text",
        "data.validate",
        "data.yaml",
        "files.door",
        "model.limits",
    ):
        path = PACKAGE / f"{module.replace('.', '/')}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            called = call.func.attr if isinstance(call.func, ast.Attribute) else None
            called = call.func.id if isinstance(call.func, ast.Name) else called
            kind = call.args[0]
            if called in KIND_FIRST and isinstance(kind, ast.Constant):
                kinds.add(kind.value)
    written = {
        kind for case in CASES for kind in re.findall(r": (?:problem|note) \[(.+)\]", case.output)
    }
    assert len(kinds) > 30
    assert kinds - IN_UNIT_TESTS == written
