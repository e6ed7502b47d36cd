"""A toy of each kind of part, added by one file, or by a package of another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


class Elsewhere:
    """A folder with packages of others, as pip installs them, and with a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages = folder / "packages"
        self.packages.mkdir()

    def install(self, name: str, group: str, point: str, modules: dict[str, str]) -> None:
        about = self.packages / f"{name.replace('-', '_')}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{group}]\n{point}\n")
        for module, source in modules.items():
            (self.packages / f"{module}.py").write_text(source)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gridatlas", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.packages)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


COMMAND = """
import click

@click.command()
def greet():
    \"\"\"Greet who runs it.\"\"\"
    click.echo("hello")
"""


def test_a_command_of_others_is_listed_and_runs(elsewhere: Elsewhere) -> None:
    elsewhere.install("toy-greet", "gridatlas.commands", "greet = toy:greet", {"toy": COMMAND})
    assert "  greet    Greet who runs it.\n" in elsewhere.run("--help").stdout
    assert elsewhere.run("greet").stdout == "hello\n"


def test_a_command_whose_module_is_gone_is_not_listed(elsewhere: Elsewhere) -> None:
    elsewhere.install("toy-greet", "gridatlas.commands", "greet = toy:greet", {})
    listed = elsewhere.run("--help")
    assert (listed.returncode, "greet" in listed.stdout) == (0, False)
    assert elsewhere.run("greet").stderr.endswith(
        'Error: the entry point "greet" of gridatlas.commands needs toy, which isn\'t installed\n'
    )


HOST = """
CONFIGS = ("toy.ini",)
PACKAGES = ("toy",)

def build(project, strict, report):
    report(f"built {project.config.name} with {project.host}")
    return 0

def serve(project, address, report):
    return 0

def data_of(config):
    return "data"
"""


@pytest.mark.parametrize("named", [("--host", "toy"), ()], ids=["named", "by its configuration"])
def test_a_host_of_others_builds_a_site(elsewhere: Elsewhere, named: tuple[str, ...]) -> None:
    elsewhere.install("toy-host", "gridatlas.hosts", "toy = toy", {"toy": HOST})
    (elsewhere.folder / "toy.ini").write_text("")
    built = elsewhere.run("build", "--site", *named)
    assert (built.returncode, built.stdout + built.stderr) == (0, "built toy.ini with toy\n")
    assert "toy" in elsewhere.run("build", "--help").stdout


TWICE = 'both bring the entry point "toy" of gridatlas.{}: remove one of them\n'


@pytest.mark.parametrize(
    ("group", "source", "arguments"),
    [
        ("commands", COMMAND, ("toy",)),
        ("hosts", HOST, ("build", "--site", "--host", "toy")),
        ("hosts", HOST, ("build", "--site")),
    ],
)
def test_of_two_packages_with_the_same_name_both_are_named(
    elsewhere: Elsewhere, group: str, source: str, arguments: tuple[str, ...]
) -> None:
    point = "{}:greet" if group == "commands" else "{}"
    for name in ("one", "two"):
        own = f"toy = {point.format(name)}"
        elsewhere.install(f"toy-{name}", f"gridatlas.{group}", own, {name: source})
    (elsewhere.folder / "toy.ini").write_text("")
    said = elsewhere.run(*arguments)
    assert said.returncode in (1, 2)
    assert f"toy-one and toy-two {TWICE.format(group)}" in said.stderr
    assert "Traceback" not in said.stderr
    assert elsewhere.run("check", "--help").returncode == 0
