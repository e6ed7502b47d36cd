"""`uv run docs/reproduce/….py` installs what the extra `reproduce` says (PEP 723)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "reproduce").glob("*.py"))
BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""As PEP 723 defines it."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_inline_metadata_is_that_of_the_project(script: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [found] = BLOCK.finditer(script.read_text())
    assert found["type"] == "script"
    lines = found["content"].splitlines(keepends=True)
    metadata = tomllib.loads("".join(line.removeprefix("#").removeprefix(" ") for line in lines))
    assert metadata["requires-python"] == project["requires-python"]
    name, _, place = metadata["dependencies"][0].partition(" @ ")
    assert name == f"{project['name']}[reproduce]"
    assert len(metadata["dependencies"]) == 1
    # Tools that don't know uv's sources find nothing there, and not a stranger's package.
    assert place == "file:///this-repository"
    assert "reproduce" in project["optional-dependencies"]
    # uv looks for the path from the script's folder.
    source = metadata["tool"]["uv"]["sources"][project["name"]]
    assert (script.parent / source["path"]).resolve() == ROOT
    assert source["editable"] is True
