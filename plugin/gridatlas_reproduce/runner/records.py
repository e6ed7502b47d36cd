"""Records: one file per unit of work, written whole, so that a run can stop at any moment.

A run's folder has `run.json` (the manifest, written first), `plan.json` (its units), `records/`
with a file per finished unit, and `work/` for what can be made again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gridatlas.data.runs import OUTCOMES, manifest_problems
from gridatlas.meter import report
from gridatlas.model.problems import quote, visible
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage, not_written, readable
from gridatlas_reproduce.runner.files import (
    NotStrict,
    compact,
    digest,
    indented,
    strict_json,
    write_atomic,
)
from gridatlas_reproduce.runner.runs import Manifest, differences, flat
from gridatlas_reproduce.runner.units import Unit, seed_of, units_of_plan


@dataclass(frozen=True, slots=True)
class Row:
    """One graded sample.

    Attributes:
        item: The question.
        sample: Number of the sample of this question, from 0.
        seed: Of its random numbers; see `seed_of`.
        text: What was generated.
        tokens: How many tokens that is.
        finish: `stop`, or `length` where the limit ended it.
        prediction: The answer found in the text, or None.
        gold: The right answer.
        seconds: Time taken; samples made together share it. None where another program made it.
        peak_kv_bytes: Largest KV cache of the sample, where there is one.
        prunes: How often the cache was pruned.
        pruned_at: Tokens drawn before each prune.
        prefix: Hash of the tokens that the sample shares with the question's other cells.
        refilled: Whether an earlier command decoded these, and this one passed them through the
            model again.
        batch_tokens: Where samples of several questions were decoded together: the tokens of all of
            them in `seconds`, in which this one was among them.
    """

    item: str
    sample: int
    seed: int
    text: str
    tokens: int
    finish: Literal["stop", "length"]
    prediction: str | None
    gold: str
    correct: bool
    seconds: float | None
    peak_kv_bytes: int | None = None
    prunes: int | None = None
    pruned_at: list[int] | None = None
    prefix: str | None = None
    refilled: bool | None = None
    batch_tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As a line of the unit's file; what only some scripts note stands there where it is."""
        content = asdict(self)
        return {
            key: value for key, value in content.items() if key not in _NOTED or value is not None
        }


_NOTED = ("pruned_at", "prefix", "refilled", "batch_tokens")


def _types(hint: Any) -> tuple[type, ...]:
    """What a value may be, as it stands in JSON."""
    if isinstance(hint, UnionType):
        return tuple(kind for part in get_args(hint) for kind in _types(part))
    if hint is float:
        return int, float
    return (str,) if get_origin(hint) is Literal else (get_origin(hint) or hint,)


_TYPES = {key: _types(hint) for key, hint in get_type_hints(Row).items()}
_KEYS = [key for key in _TYPES if key not in _NOTED]


class BrokenRecord(Exception):
    """A unit's file that isn't whole, or isn't this run's; says why."""


def rows_of(data: bytes, unit: Unit, settings: str) -> list[Row]:
    """The rows of a unit's file.

    Raises:
        BrokenRecord: Where it isn't whole, or isn't this run's.
    """
    lines = data.split(b"\n")
    if lines.pop() or len(lines) < unit.rows + 1:
        raise BrokenRecord(f"is half-written ({max(len(lines) - 1, 0)} of {unit.rows} rows)")
    if len(lines) > unit.rows + 1:
        raise BrokenRecord(f"has more than its {unit.rows} rows")
    try:
        head, *rows = map(strict_json, lines)
    except NotStrict as error:
        raise BrokenRecord(f"has a line with {error}") from error
    except (ValueError, RecursionError) as error:
        raise BrokenRecord("has a line that is not JSON") from error
    if not isinstance(head, dict) or not _is_of(head.get("unit"), unit):
        raise BrokenRecord("is of another unit")
    if head.get("settings") != settings:
        raise BrokenRecord("is of a run with other settings")
    return [_row(row) for row in rows]


def _is_of(head: Any, unit: Unit) -> bool:
    # To Python 1 is the same as true and 1.0.
    return bool(head == unit.as_json()) and type(head["rows"]) is int


def _row(content: Any) -> Row:
    if not isinstance(content, dict) or {*content} - {*_NOTED} != {*_KEYS}:
        raise BrokenRecord(f"has a row with other than the keys {', '.join(_KEYS)}")
    for key, value in content.items():
        types = _TYPES[key]
        absent = value is None and key in _NOTED
        if absent or not isinstance(value, types) or (isinstance(value, bool) > (bool in types)):
            raise BrokenRecord(f"has a row whose {key} is {quote(value)}")
    return Row(**content)


# --- run.json and plan.json -----------------------------------------------------------------------


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
        expected = "the units of the run, as the script wrote them"
        with readable(path, expected, "start the run again in another folder"):
            return units_of_plan(strict_json(path.read_bytes()))

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
        if not folder.exists():
            return frozenset()
        with readable(folder, "a folder that can be read", "correct its permissions"):
            return frozenset(os.listdir(folder))

    def find(self, unit: Unit, among: Collection[str] | None = None) -> list[Row] | None:
        """The rows of a unit, or None where it isn't done.

        Args:
            among: What `written` gave; without it the file is looked for.

        Raises:
            BrokenRecord: Where its file isn't whole, or isn't this run's.
        """
        if among is not None and unit.path not in among:
            return None
        path = self.path(unit)
        with readable(path, "a file that can be read", "correct its permissions"):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                return None
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
    expected = "the manifest of a run, as the script wrote it"
    fix = "restore it, or start the run again in another folder"
    if not path.exists():
        fix = "name the folder that the script was given with --out"
        raise CannotRun(f"{folder} has no {RUN_FILE}", "the folder of a run", fix)
    with readable(path, expected, fix):
        manifest: dict[str, Any] = strict_json(path.read_bytes())
    if not isinstance(manifest, dict) or manifest.get("format") != 1:
        newer = "update gridatlas, or name another folder"
        raise CannotRun(f"{path} isn't a manifest of format 1", expected, newer)
    for problem in manifest_problems({**manifest, "cells": []}, RUN_FILE)[:1]:
        of = "" if problem.kind == "missing-key" else f" as its {problem.column}"
        raise CannotRun(f"{path} has {problem.found}{of}", expected, fix)
    for key, holds in (("run", _run_id), ("hash", _text)):
        if not holds(manifest.get(key)):
            raise CannotRun(f"{path} has the {key} {quote(manifest.get(key))}", expected, fix)
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


def _read_resumed(path: Path) -> dict[str, Any]:
    expected = "what changed when the run was resumed"
    with readable(path, expected, "restore the file, or remove it: then it isn't reported"):
        entry: dict[str, Any] = strict_json(path.read_bytes())
        if not _text(entry["at"]):
            raise ValueError(f"at is {quote(entry['at'])}")
    return entry
