"""The site of this repository kept from one test run to the next, where nothing of it has changed.

It is kept under a digest of the bytes of all that it is made of: the repository's files, our code,
that of the tests which builds it, and the installed packages. A byte more, or a file less, and it
is built anew, as always with `CI=true`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from importlib.metadata import distributions
from pathlib import Path

NOT_READ = (".*", "__pycache__", "build", "dist", "plugin", "site", "tests")
"""What stands in the repository, and its site isn't made of."""

BUILDERS = (
    "compiled.py",
    "drawn.py",
    "forked.py",
    *(f"sites/{name}.py" for name in ("kept", "site_builds", "without_network")),
)
"""The tests' own code that builds the site."""

_ROOT = Path(__file__).parents[2]
_PLACE = _ROOT / ".cache/kept-sites"
_MOST = 3
_CODE = shutil.ignore_patterns("__pycache__", "*.pyc")


def place(environment: tuple[tuple[str, str], ...]) -> Path | None:
    """The folder of what is kept of this state; nothing with `CI=true`.

    Args:
        environment: Variables that the build has besides those of the test run.
    """
    if os.environ.get("CI"):
        return None
    tests = [_ROOT / "tests" / name for name in BUILDERS]
    hashed = digest(
        {
            "repository": files_of(_ROOT, shutil.ignore_patterns(*NOT_READ)),
            "code": files_of(_ROOT / "plugin", _CODE),
            "tests": tests,
            "jupyter": files_of(_ROOT / ".jupyter", _CODE),
        },
        [sys.version, sys.platform, *installed(), *map("=".join, [*environment, *_environment()])],
    )
    return _PLACE / hashed


def drawings() -> Path | None:
    """The drawings that were kept last, of whichever state: each is under a digest of its own."""
    if os.environ.get("CI"):
        return None
    found = _PLACE.glob("[!.]*/drawings.sqlite3")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _environment() -> list[tuple[str, str]]:
    """Variables of the test run that the build reads."""
    named = re.findall(r"!ENV \[?(\w+)", (_ROOT / "mkdocs.yml").read_text("utf-8"))
    names = (*named, "LANG", "LC_ALL", "TZ")
    return [(name, os.environ[name]) for name in names if name in os.environ]


def files_of(folder: Path, ignored: Callable[[str, list[str]], set[str]]) -> list[Path]:
    """All files of a folder but what `shutil.copytree` would leave out, in their order."""
    found = []
    for parent, folders, names in os.walk(folder):
        left_out = ignored(parent, [*folders, *names])
        folders[:] = sorted(set(folders) - left_out)
        found += [Path(parent, name) for name in sorted(set(names) - left_out)]
    return found


def installed() -> list[str]:
    """Each installed package, with its version and its list of files and their digests."""
    return sorted(
        f"{package.name} {package.version}\n{package.read_text('RECORD') or ''}"
        for package in distributions()
    )


def digest(files: Mapping[str, Iterable[Path]], texts: Iterable[str]) -> str:
    """Of the names and bytes of files, and of texts; each with its length, so that none run on."""
    found = hashlib.sha256()

    def add(content: bytes) -> None:
        found.update(f"{len(content)} ".encode() + content)

    for group, paths in files.items():
        add(group.encode())
        for path in paths:
            add(str(path).encode())
            add(path.read_bytes())
    for text in texts:
        add(text.encode())
    return found.hexdigest()


def keep(state: Path, site: Path, log: str, drawings: Path) -> None:
    """Keep a site that was built, what its build said, and the drawings; the last few states."""
    state.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state.parent, prefix=".new-") as name:
        new = Path(name, "kept")
        shutil.copytree(site, new / "site")
        (new / "log.txt").write_text(log, encoding="utf-8")
        # Another process may be writing into the drawings.
        with (
            closing(sqlite3.connect(drawings)) as source,
            closing(sqlite3.connect(new / "drawings.sqlite3")) as target,
        ):
            source.backup(target)
        if not state.exists():
            new.rename(state)
    for old in sorted(state.parent.glob("[!.]*"), key=lambda path: path.stat().st_mtime)[:-_MOST]:
        shutil.rmtree(old, ignore_errors=True)
