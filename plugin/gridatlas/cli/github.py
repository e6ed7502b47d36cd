"""The workflows that `gridatlas new --github` writes: those that call ours, or ours themselves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import yaml

from gridatlas.hosts.sites import HostError
from gridatlas.model.problems import quote

STARTER = Path(__file__).with_name("starter")
WORKFLOWS = ".github/workflows"
CALLERS = ("results", "comment")
CALLED = ("results", "deploy", "comment")

_SOURCE = re.compile(r"([\w.-]+/[\w.-]+)@([0-9a-f]{40})")
_ADDRESS = re.compile(
    r"(?:(?:https|ssh)://(?:git@)?github\.com/|git@github\.com:)([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


class NoSource(Exception):
    """Where Grid Atlas comes from isn't known, so nothing can name its commit."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where workflows and Grid Atlas are taken from.

    Attributes:
        repository: On GitHub, as `owner/name`.
        commit: 40 hexadecimal digits.
    """

    repository: str
    commit: str


def parse_source(text: str) -> Source | None:
    """A source from `owner/name@commit`; nothing for another form."""
    found = _SOURCE.fullmatch(text)
    return Source(found[1], found[2]) if found else None


def installed_source() -> Source:
    """Where pip installed this version from, as it recorded it (PEP 610).

    Of a folder that is a clone, the commit that is checked out, if GitHub has it.

    Raises:
        NoSource: Where that is no commit of a repository on GitHub.
    """
    text = metadata.distribution("gridatlas").read_text("direct_url.json")
    if not text:
        raise NoSource("pip recorded no source of this installation")
    record = json.loads(text)
    url, commit = str(record.get("url", "")), record.get("vcs_info", {}).get("commit_id", "")
    if "dir_info" in record:
        url, commit = _checked_out(Path(url2pathname(urlsplit(url).path)))
    address = _ADDRESS.fullmatch(url)
    found = parse_source(f"{address[1]}@{commit}") if address else None
    if found is None:
        raise NoSource("this installation isn't from a commit on GitHub")
    return found


def _checked_out(folder: Path) -> tuple[str, str]:
    """The address of a clone's origin, and its commit; empty where origin hasn't that commit."""

    def git(*words: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False
            )
        except OSError:
            return ""  # no git here
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "--verify", "HEAD")
    pushed = commit and git("branch", "--remotes", "--list", "origin/*", "--contains", commit)
    return (git("remote", "get-url", "origin"), commit) if pushed else ("", "")


def github_files(
    source: Source, data: str = "data", config: str = "mkdocs.yml", *, vendored: bool = False
) -> dict[str, str]:
    """The files of workflows, by their paths in a repository.

    Args:
        source: What the workflows and Grid Atlas are taken from.
        data: The folder of the studies.
        config: The configuration of the site.
        vendored: Whether the called workflows are files of that repository, too.

    Raises:
        HostError: For a folder whose name GitHub would evaluate.
    """
    if "${{" in data:
        raise HostError(
            f"the data folder {quote(data)}",
            "a name without ${{, which begins an expression in workflows",
            "rename the folder, and the option data of the plugin",
        )
    inputs = {"data": data, "config": config}
    files = {f"{WORKFLOWS}/{name}.yml": _caller(name, source, inputs, vendored) for name in CALLERS}
    if vendored:
        files |= {f"{WORKFLOWS}/gridatlas-{name}.yml": called_workflow(name) for name in CALLED}
    dependabot = (STARTER / "github/dependabot.yml").read_text("utf-8")
    return {**files, ".github/dependabot.yml": dependabot}


def called_workflow(name: str) -> str:
    """A workflow of Grid Atlas: as it was packed, or of the repository that this runs from."""
    packed = STARTER / "workflows" / f"{name}.yml"
    ours = Path(__file__).parents[3] / WORKFLOWS / f"{name}.yml"
    return (packed if packed.is_file() else ours).read_text("utf-8")


DEFAULTS = {"data": "data", "config": "mkdocs.yml"}
"""Inputs of results.yml that needn't be given."""


def _caller(name: str, source: Source, inputs: dict[str, str], vendored: bool) -> str:
    text = (STARTER / f"github/{name}.yml").read_text("utf-8")
    given = {key: value for key, value in inputs.items() if value != DEFAULTS[key]}
    more = {"source": f"{source.repository}@{source.commit}"} if vendored else {}

    def with_inputs(found: re.Match[str]) -> str:
        call = found[0]
        values = {**(given if found[1] == "results" else {}), **more}
        lines = "".join(f"      {key}: {_scalar(value)}\n" for key, value in values.items())
        if not lines or found[2]:
            return call + lines
        return f"{call}    with:\n{lines}"

    text = re.sub(r"    uses: \S+/(\w+)\.yml@COMMIT\n(    with:\n)?", with_inputs, text)
    if vendored:
        text = re.sub(
            r"OWNER/grid-atlas/\.github/workflows/(\w+\.yml)@COMMIT",
            rf"./{WORKFLOWS}/gridatlas-\1 # zizmor: ignore[self-repository] not on every server",
            text,
        )
    return text.replace("COMMIT", source.commit).replace("OWNER/grid-atlas", source.repository)


def _scalar(text: str) -> str:
    """A text in YAML, on one line."""
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=sys.maxsize).strip()
