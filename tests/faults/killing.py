"""Kills commands at random moments, and says at which: so that a failure can be repeated."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import forked
import site_builds
from amount import amount

from gridatlas.files.cache import FILE, Cache

DYING = Path(__file__).with_name("dying.py")
SEED = int(os.environ.get("FAULTS_SEED", "20261"))
"""Another one gives other moments."""

PATIENCE = 600
"""Seconds after which what is waited for hangs, on however busy a machine."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Case:
    """A command that changes what is in a folder.

    Attributes:
        template: The folder in the state before.
        command: What is run in it; `mkdocs`, `gridatlas`, or a script.
        result: Reads what the command shall have made.
        whole: Fails where what is there, after a kill, isn't whole; given the result before and
            the one of a run that nobody disturbed.
    """

    template: Path
    command: tuple[str, ...]
    result: Callable[[Path], Files]
    whole: Callable[[Path, Files, Files], None]


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody disturbed: what was before and after, how long, and how many changes."""

    before: Files
    after: Files
    seconds: float
    changes: int


def start(case: Case, folder: Path, number: int = 0) -> forked.Running:
    """The command in a folder; `number` of the change to files that it shall not survive."""
    count = folder.with_name(f"{folder.name}.count")
    environment = site_builds.environ({"TMPDIR": str(_temporary(folder))})
    log = folder.with_name(f"{folder.name}.log")
    return forked.start(
        [str(DYING), str(count), str(number), *case.command], folder, environment, log, log
    )


def _temporary(folder: Path) -> Path:
    temporary = folder.with_name(f"{folder.name}.tmp")
    temporary.mkdir(exist_ok=True)
    return temporary


def finish(case: Case, folder: Path) -> None:
    """The command in a folder, to its end."""
    process = start(case, folder)
    assert process.wait(PATIENCE) == 0, log_of(folder)


def log_of(folder: Path) -> str:
    return folder.with_name(f"{folder.name}.log").read_text("utf-8", "replace")


def undisturbed(case: Case, folder: Path) -> Undisturbed:
    copied(case.template, folder)
    before = case.result(folder)
    begun = time.monotonic()
    finish(case, folder)
    seconds = time.monotonic() - begun
    after = case.result(folder)
    assert after != before, "a command that changes nothing"
    nothing_left(folder)
    changes = int(folder.with_name(f"{folder.name}.count").read_text())
    assert changes, "no change was counted"
    return Undisturbed(before, after, seconds, changes)


def copied(template: Path, folder: Path) -> None:
    shutil.copytree(template, folder, symlinks=True)


def killed_and_done_again(case: Case, folder: Path, share: int = 2) -> None:
    """Half of the kills at moments in time, half at changes to files.

    Args:
        share: Kills with `make test`; there are 50 with `make soak`.
    """
    reference = undisturbed(case, folder / "undisturbed")
    for number in range(amount(share, 50)):
        place = folder / f"kill-{number}"
        copied(case.template, place)
        chance = random.Random(f"{SEED} {case.command} {number}")
        if number % 2:
            at = chance.randrange(reference.changes) + 1
            description = f"killed before change {at} of {reference.changes}"
            status = start(case, place, at).wait(PATIENCE)
            # The last ones may not be made each time.
            ended = status == 0 and at <= 0.9 * reference.changes
            assert not ended, f"{description}: it came to its end all the same"
        else:
            moment = chance.uniform(0, reference.seconds)
            how = chance.choice([signal.SIGKILL] * 3 + [signal.SIGTERM, signal.SIGINT])
            description = f"{how.name} after {moment:.3f} s of {reference.seconds:.3f} s"
            status = _killed(start(case, place), moment, how)
        description = (
            f"kill {number} of seed {SEED}: {description}, status {status}, in {place}\n"
            f"{log_of(place)}"
        )
        try:
            case.whole(place, reference.before, reference.after)
            whole_caches(place)
            finish(case, place)
            assert_same(case.result(place), reference.after)
            nothing_left(place)
        except AssertionError as error:
            raise AssertionError(f"{description}\n{error}") from error
        shutil.rmtree(place)


def _killed(process: forked.Running, moment: float, how: signal.Signals) -> int:
    time.sleep(moment)
    process.send_signal(how)
    return process.wait(PATIENCE)


# --- what is looked at --------------------------------------------------------------------------


def files(folder: Path) -> Files:
    """All files of a folder by their paths, but for those that begin with a dot."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not any(_hidden(file.relative_to(folder)))
    }


def _hidden(path: Path) -> Iterator[bool]:
    return (part.startswith(".") for part in path.parts)


def nothing_left(folder: Path) -> None:
    """Nothing is there of what is made aside."""
    temporary = folder.with_name(f"{folder.name}.tmp")
    left = [
        path
        for place in (folder, temporary)
        for path in place.rglob(".*")
        if path.name.startswith((".gridatlas-", ".import-")) or path.name.endswith(".new")
    ]
    assert left == [], f"left behind: {left}"
    assert list(temporary.iterdir()) == []


def whole_caches(folder: Path) -> None:
    """Each entry of the cache can be read."""
    file = folder / ".cache/gridatlas" / FILE
    if not file.exists():
        return
    cache = Cache(file.parent)
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        keys = database.execute("SELECT key FROM entries").fetchall() if tables else []
    assert [key for (key,) in keys if cache.get(key) is None] == []


def assert_same(found: Files, expected: Files) -> None:
    assert sorted(found) == sorted(expected)
    assert [path for path in found if found[path] != expected[path]] == []
