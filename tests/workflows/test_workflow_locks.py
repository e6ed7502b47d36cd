"""The locks: in step with one another and with pyproject.toml, and every file known by its hash."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.version import Version
from workflows import ROOT, WORKFLOWS, workflow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PINNED = re.compile(r"^([\w.-]+)==(\S+?)(?: ; (.+?))?(?: \\)?$", re.MULTILINE)
NO_HASH = {"reproduce"}
"""Extras whose files have no hashes: PyTorch has several builds of one version."""


def pins(name: str) -> dict[tuple[str, str], str]:
    """Versions by package and marker."""
    text = (ROOT / name).read_text("utf-8")
    return {(package, marker): version for package, version, marker in PINNED.findall(text)}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_hashed_versions_are_those_of_the_lock() -> None:
    plain: dict[str, set[str]] = {}
    for (package, _), version in pins("requirements.lock").items():
        plain.setdefault(package, set()).add(version)
    hashed = pins("requirements-hashed.lock")
    assert len(hashed) > 150
    assert [name for (name, _), version in hashed.items() if version not in plain[name]] == []
    for _, marker in hashed:
        assert not marker or Marker(marker)


def test_every_file_of_the_hashed_lock_has_a_hash() -> None:
    text = (ROOT / "requirements-hashed.lock").read_text("utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins("requirements-hashed.lock"))
    assert [
        entry.split()[0] for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)
    ] == []


def _asked() -> list[tuple[str, str]]:
    """What pyproject.toml asks for, and by which name."""
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    asked = [("the package", requirement) for requirement in project["dependencies"]]
    for extra, those in project["optional-dependencies"].items():
        asked += [(extra, requirement) for requirement in those]
    for group, those in groups.items():
        # Another group that it includes is asked for itself.
        asked += [(group, requirement) for requirement in those if isinstance(requirement, str)]
    return asked


@pytest.mark.parametrize(("of", "requirement"), _asked())
def test_what_is_asked_for_is_locked_in_a_version_that_fits(of: str, requirement: str) -> None:
    parsed = Requirement(requirement)
    files = ["requirements.lock"] + (["requirements-hashed.lock"] if of not in NO_HASH else [])
    for file in files:
        found = [
            Version(v)
            for (package, _), v in pins(file).items()
            if package == canonical(parsed.name)
        ]
        assert found, f"make lock: {parsed.name} isn't in {file}"
        assert all(parsed.specifier.contains(version, prereleases=True) for version in found)


def installations(file: Path) -> list[str]:
    """What pip is told to install by a file's commands, and those that make a package."""
    text = re.sub(r"\s*\\\n\s*", " ", file.read_text("utf-8"))
    # The arguments that `install_hashed.sh` calls it with are looked at where it does.
    text = re.sub(r"^install=\(.*\)$", "", text, flags=re.MULTILINE)
    return re.findall(
        r"""(?:pip install|\$\(PIP\) install|"\$\{install\[@\]\}"|-m build) +(.*)""", text
    )


BY_HASH = (
    "$(HASHED)",
    "--no-isolation",
    "--require-hashes",
    '--constraint "$lock"',
    "--no-deps",
    "--no-index",
)
"""Ways to install only what the hashed lock has, or nothing more than is there."""
NOT_LOCKED = {
    "Makefile": ['--constraint requirements.lock --editable ".[reproduce]"'],
    ".github/workflows/results.yml": [
        '--quiet --disable-pip-version-check --requirement "$REQUIREMENTS"'
    ],
    ".github/scripts/test_versions.sh": [
        '--quiet --python "$venv/bin/python" --resolution "$resolution" '
        '--editable ".[mkdocs,parquet]" --group test'
    ],
}
"""What no hashed lock has: PyTorch, what other repositories ask for, and other versions."""


def test_all_that_has_a_hash_is_installed_by_it() -> None:
    files = [ROOT / "Makefile", *(ROOT / ".github").rglob("*.*")]
    found = {
        file.relative_to(ROOT).as_posix(): [
            installation
            for installation in installations(file)
            if not any(way in installation for way in BY_HASH)
        ]
        for file in files
        if file.is_file() and file.suffix != ".pyc"
    }
    assert {file: those for file, those in found.items() if those} == NOT_LOCKED
    ours = workflow(WORKFLOWS / "site.yml")["jobs"]["results"]["with"]["install"]
    assert ours.splitlines()[-1].startswith(
        "bash .github/scripts/install_hashed.sh python requirements-hashed.lock "
    )


def test_dependencies_are_those_of_the_package_and_its_extras() -> None:
    def requirements_of(*extras: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ".github/scripts/dependencies.py", *extras]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    expected = [*project["dependencies"], *extras["mkdocs"], *extras["parquet"]]
    assert requirements_of("mkdocs", "parquet").stdout.splitlines() == expected
    assert requirements_of().stdout.splitlines() == project["dependencies"]
    assert requirements_of("nothing").stderr == (
        "no extra nothing (there are mkdocs, zensical, excel, logs, notebooks, pandas, parquet, "
        "reproduce)\n"
    )
