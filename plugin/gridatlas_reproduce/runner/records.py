"""Records: one file per unit of work, written whole, so that a run can stop at any moment.

A run's folder has `run.json` (the manifest, written first), `plan.json` (its units), `records/`
with a file per finished unit, and `work/` for what can be made again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gridatlas.data.runs import OUTCOMES
from gridatlas.meter import report
from gridatlas.model.problems import quote, visible
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, not_written
from gridatlas_reproduce.runner.files import (
    compact,
    digest,
    indented,
    strict_json,
    write_atomic,
)
from gridatlas_reproduce.runner.rows import BrokenRecord, Row, rows_of
from gridatlas_reproduce.runner.runs import Manifest, differences, flat
from gridatlas_reproduce.runner.units import Unit, seed_of, units_of_plan

__all__ = ["BrokenRecord", "Over", "Row", "RunFolder", "SettingsDiffer", "Unit", "seed_of"]

RUN_FILE = "run.json"
PLAN_FILE = "plan.json"
RECORDS = "records"
WORK = "work"
RESUMED = "resumed"
BROKEN = ".broken"

Over = Literal["items", "units"]
"""What standard errors are taken over; see `Manifest`."""


class SettingsDiffer(WrongUsage):
    """The folder has a run with other settings; `differences` are (key, then, now)."""

    def __init__(self, folder: str, found: Sequence[tuple[str, str, str]]) -> None:
        self.folder, self.differences = folder, tuple(found)
        super().__init__(
            f"{folder} has a run with other settings\n{difference_table(self.differences)}",
            "the settings with which the run was started",
            "name another folder with --out, or give the settings of then",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder, self.differences)


def difference_table(found: Sequence[tuple[str, str, str]]) -> str:
    """Differences as a table of three columns: the setting, then, now."""
    rows = [("setting", "then", "now"), *found]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"    {a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)


_FOLLOWING = ("plan", "cells", "units", "rows", "settings.decoder.slots")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run; may be sent to other processes and machines that share the disk.

    Attributes:
        folder: Absolute path.
        run: The run's id.
        settings: Hash of everything that determines its results.
        stderr_over: Where it is `items`, a unit that has an item has rows of that one only.
    """

    folder: Path
    run: str
    settings: str
    report: Callable[[str], None] = report
    stderr_over: Over = "items"

    @classmethod
    def start(
        cls, folder: Path, manifest: Manifest, report: Callable[[str], None] = report
    ) -> RunFolder:
        """Begin a run, or go on with the one that is there.

        Another machine, other packages or other code are reported and recorded.

        Raises:
            SettingsDiffer: Where the folder has a run with other settings.
            CannotRun: Where the folder can't be used.
        """
        folder = folder.absolute()
        if not (folder / RUN_FILE).exists():
            _write_first(folder, manifest)
        recorded = _read_manifest(folder)
        found = differences(recorded, manifest.identity())
        if found:
            # What follows from the settings is reported only where it is all that differs.
            causes = [difference for difference in found if difference[0] not in _FOLLOWING]
            raise SettingsDiffer(str(folder), causes or found)
        with contextlib.suppress(OSError):
            (folder / WORK).mkdir(exist_ok=True)
        started = cls(folder, manifest.run, manifest.digest[:16], report, manifest.stderr_over)
        started.note_environment(manifest.environment, manifest.now)
        return started

    @classmethod
    def open(cls, folder: Path, report: Callable[[str], None] = report) -> RunFolder:
        """The run in a folder, to read it.

        Raises:
            CannotRun: Where the folder has none.
        """
        folder = folder.absolute()
        manifest = _read_manifest(folder)
        return cls(folder, manifest["run"], manifest["hash"][:16], report, manifest["stderr_over"])

    # --- what the run is ------------------------------------------------------------------------

    def manifest(self) -> dict[str, Any]:
        """The manifest, with `resumed`: what changed when the run was resumed."""
        manifest = _read_manifest(self.folder)
        resumed = [_read_resumed(path) for path in sorted((self.folder / RESUMED).glob("*.json"))]
        return manifest | {
            "resumed": sorted(resumed, key=lambda entry: (entry["at"], compact(entry)))
        }

    def plan(self) -> tuple[Unit, ...]:
        """All units of the run, done or not, in the order in which they were planned.

        Raises:
            CannotRun: Where the file isn't there or isn't whole.
        """
        path = self.folder / PLAN_FILE
        try:
            units = units_of_plan(strict_json(path.read_bytes()))
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise CannotRun(
                f"{path} can't be read: {error}",
                "the units of the run, as the script wrote them",
                "start the run again in another folder",
            ) from error
        return units

    def note_environment(self, environment: Mapping[str, Any], at: str) -> None:
        """Tell and record what of the machine, the packages and the code isn't as at the start."""
        then = _read_manifest(self.folder)
        found = differences({key: then.get(key) for key in environment}, environment)
        if not found:
            return
        now = flat(environment)
        content = {key: now.get(key) for key, _, _ in found}
        name = f"{digest(content)[:10]}.json"
        entry = {"at": at, "differs": content}
        if write_atomic(self.folder / RESUMED / name, indented(entry), replace=False):
            self.report(
                "The run resumes with other settings than it began with:\n"
                f"{difference_table(found)}"
            )

    # --- units ----------------------------------------------------------------------------------

    def path(self, unit: Unit) -> Path:
        """Where the unit's records stand once it is done."""
        return self.folder / RECORDS / unit.path

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """The units that aren't done; a file that isn't whole is reported and set aside."""
        return [unit for unit in units if not self._is_done(unit)]

    def _is_done(self, unit: Unit) -> bool:
        try:
            return self.find(unit) is not None
        except BrokenRecord as broken:
            self._set_aside(self.path(unit), str(broken))
            return False

    def _set_aside(self, path: Path, why: str) -> None:
        broken = path.with_name(path.name + BROKEN)
        try:
            os.replace(path, broken)
        except FileNotFoundError:  # another process was faster
            return
        except OSError as error:
            raise not_written(broken, error) from error
        self.report(f"{path} {why}: moved to {broken.name}, and measured again")

    def write(self, unit: Unit, rows: Sequence[Row]) -> None:
        """Write the rows of a finished unit, whole or not at all.

        Raises:
            ValueError: Where these aren't the unit's rows.
            CannotRun: For a full disk, or a folder that can't be written to.
        """
        if len(rows) != unit.rows:
            raise ValueError(f"{len(rows)} rows for a unit of {unit.rows}")
        if why := self._not_of(unit, rows):
            raise ValueError(f"the unit {why}")
        head = {"run": self.run, "settings": self.settings, "unit": unit.as_json()}
        lines = [compact(head), *(compact(row.as_json()) for row in rows)]
        write_atomic(self.path(unit), "".join(f"{line}\n" for line in lines).encode())

    def read(self, unit: Unit) -> list[Row]:
        """The rows of a unit that is done.

        Raises:
            CannotRun: Where it isn't done, or its file isn't whole.
        """
        try:
            rows = self.find(unit)
        except BrokenRecord as broken:
            found = f"{self.path(unit)} {broken}"
        else:
            if rows is not None:
                return rows
            found = f"there is no {self.path(unit)}"
        fix = "give the run's command again: it does what is missing"
        raise CannotRun(found, "the records of a finished unit", fix)

    def written(self) -> frozenset[str]:
        """The names of all files with records: one look, where units are many and few are done.

        Raises:
            CannotRun: Where the folder can't be read.
        """
        folder = self.folder / RECORDS
        try:
            with os.scandir(folder) as entries:
                return frozenset(entry.name for entry in entries)
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise CannotRun(
                f"{folder} can't be read: {error.strerror or error}",
                "a folder that can be read",
                "correct its permissions",
            ) from error

    def find(self, unit: Unit, among: Collection[str] | None = None) -> list[Row] | None:
        """The rows of a unit, or None where it isn't done.

        Args:
            among: What `written` gave; without it the file is looked for.

        Raises:
            BrokenRecord: Where its file isn't whole, or isn't this run's.
        """
        name = unit.path
        if among is not None and name not in among:
            return None
        try:
            data = (self.folder / RECORDS / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotRun(
                f"{self.path(unit)} can't be read: {error.strerror or error}",
                "a file that can be read",
                "correct its permissions",
            ) from error
        rows = rows_of(data, unit, self.settings)
        if why := self._not_of(unit, rows):
            raise BrokenRecord(why)
        return rows

    def _not_of(self, unit: Unit, rows: Sequence[Row]) -> str:
        """Why rows can't be those of a unit; empty where they can."""
        seen: set[tuple[str, int]] = set()
        for row in rows:
            if (row.item, row.sample) in seen:
                return f"has sample {row.sample} of item {quote(row.item)} twice"
            seen.add((row.item, row.sample))
            if self.stderr_over == "items" and unit.item not in (None, row.item):
                return f"has a row of item {quote(row.item)}, and is of {quote(unit.item)}"
        return ""


def _write_first(folder: Path, manifest: Manifest) -> None:
    if any((folder / RECORDS).glob("*.jsonl")):
        raise CannotRun(
            f"{folder} has records, and no {RUN_FILE} that describes the run",
            "the folder of a run, or a new one",
            f"restore {RUN_FILE}, or name another folder with --out",
        )
    # The plan first: where the manifest is, everything is. Of several processes that start
    # together one writes, and the others compare.
    write_atomic(folder / PLAN_FILE, f"{compact(manifest.plan)}\n".encode())
    write_atomic(folder / RUN_FILE, indented(manifest.as_json()), replace=False)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / RUN_FILE
    try:
        manifest: dict[str, Any] = strict_json(path.read_bytes())
    except FileNotFoundError as error:
        raise CannotRun(
            f"{folder} has no {RUN_FILE}",
            "the folder of a run",
            "name the folder that the script was given with --out",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise CannotRun(
            f"{path} can't be read: {error}",
            "the manifest of a run, as the script wrote it",
            "restore it, or start the run again in another folder",
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != 1:
        raise CannotRun(
            f"{path} isn't a manifest of format 1",
            "the manifest of a run, as the script wrote it",
            "update gridatlas, or name another folder",
        )
    wrong = [key for key, holds in _KEYS.items() if not holds(manifest.get(key))]
    if wrong:
        key = wrong[0]
        found = f"the {key} {quote(manifest[key])}" if key in manifest else f"no key {key}"
        raise CannotRun(
            f"{path} has {found}",
            "the manifest of a run, as the script wrote it",
            "restore it, or start the run again in another folder",
        )
    return manifest


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _run_id(value: Any) -> bool:
    """Whether files can be named after a run, in the folder that they belong in."""
    return (
        _text(value)
        and re.fullmatch(r"[^./][^/]{0,200}", value) is not None
        # The file would be taken for the outcomes of another run.
        and not f"{value}.json".endswith(OUTCOMES)
        and (visible(value) == value)
    )


_KEYS: Mapping[str, Callable[[Any], bool]] = {
    "run": _run_id,
    "hash": _text,
    "study": _text,
    "started": _text,
    "arguments": lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value),
    "stderr_over": lambda value: value in ("items", "units"),
    "settings": lambda value: isinstance(value, dict),
}
"""What must hold of the parts of a manifest."""


def _read_resumed(path: Path) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = strict_json(path.read_bytes())
        if not _text(entry["at"]):
            raise ValueError(f"at is {quote(entry['at'])}")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise CannotRun(
            f"{path} can't be read: {error}",
            "what changed when the run was resumed",
            "restore the file, or remove it: then it isn't reported",
        ) from error
    return entry
