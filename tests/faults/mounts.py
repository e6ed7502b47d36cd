"""Runs commands where a folder is on a disk of its own: small, or one that can't be written to.

Mounts are made in a namespace of the command's own, and go with it. That needs root, or a user
that may make user namespaces, or sudo without a password (as on GitHub's runners); where none is
to be had the tests fail and say so.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import site_builds
from killing import DYING, Files, files

WAYS = (
    ("unshare", "--mount"),
    ("unshare", "--map-root-user", "--mount"),
    ("sudo", "--non-interactive", "--preserve-env", "unshare", "--mount"),
)
NEEDED = (
    "a disk that is full or can't be written to needs a mount: run the tests as root, or allow "
    "user namespaces (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0), or sudo without a password"
)


PAGE = 4096


@functools.cache
def _way() -> tuple[str, ...]:
    for way in WAYS:
        command = [*way, "sh", "-c", "mount -t tmpfs none /mnt"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            return way
    pytest.fail(NEEDED)


@dataclass(frozen=True)
class Done:
    """What a command did on a disk of its own: all that the folder has now, hidden files too."""

    status: int
    log: str
    files: Files
    hidden: tuple[str, ...]


def on_disk_with(pages: int | None, folder: Path, place: str, command: Sequence[str]) -> Done:
    """Run a command in a folder of which a part is on a disk with so many free pages of 4 KiB.

    Args:
        pages: None for more than enough.
    """
    fill = f"""fill() {{
head -c 64M /dev/zero > "$1/.filler" 2> /dev/null || true
truncate -s -{PAGE * (pages or 0)} "$1/.filler"
}}
fill"""
    return _mounted(
        folder, place, command, "mount -t tmpfs -o size=64M none", fill * (pages is not None)
    )


def on_read_only(folder: Path, place: str, command: Sequence[str]) -> Done:
    """Run a command in a folder of which a part can't be written to, not by root either."""
    return _mounted(folder, place, command, "mount -t tmpfs none", "mount -o remount,ro")


def _mounted(folder: Path, place: str, command: Sequence[str], mount: str, then: str) -> Done:
    out = folder.with_name(f"{folder.name}.result")
    shutil.rmtree(out, ignore_errors=True)
    (out / "files").mkdir(parents=True)
    (folder / place).mkdir(parents=True, exist_ok=True)
    # `cp` of a user namespace can't give files to others, and needn't.
    script = f"""\
set -e
cp -r {_quoted(folder / place)} {_quoted(out / "before")}
{mount} {_quoted(folder / place)}
cp -r {_quoted(out / "before")}/. {_quoted(folder / place)}
{f"{then} {_quoted(folder / place)}" if then else ""}
cd {_quoted(folder)}
set +e
{shlex.join([sys.executable, str(DYING), os.devnull, "0", *command])} > {_quoted(out / "log")} 2>&1
echo $? > {_quoted(out / "status")}
rm -f {_quoted(folder / place / ".filler")}
cp -r {_quoted(folder / place)}/. {_quoted(out / "files")}
chmod -R a+rwX {_quoted(out)}
"""
    run = subprocess.run(
        [*_way(), "sh", "-c", script],
        env=site_builds.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    return Done(
        int((out / "status").read_text()),
        (out / "log").read_text("utf-8"),
        files(out / "files"),
        tuple(sorted(path.name for path in (out / "files").rglob(".*"))),
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def pages_of(content: bytes) -> int:
    """Pages of a disk that a file takes."""
    return -(-len(content) // PAGE)
