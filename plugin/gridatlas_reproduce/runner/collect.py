"""From the records of runs to a reading of a study. Needs no PyTorch."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, count
from pathlib import Path

from gridatlas.data.reader import DEFAULT_TABLE, STUDY_FILE, StudySource, read_study
from gridatlas.data.tables import guarded, read_table
from gridatlas.data.text import NAMEABLE, outside, unnameable
from gridatlas.model.format import format_value
from gridatlas.model.problems import join_names, nearest, quote
from gridatlas.model.schema import level_number
from gridatlas.progress import tracked
from gridatlas_reproduce.runner.errors import CannotRun, WrongUsage
from gridatlas_reproduce.runner.files import compact, indented, write_atomic
from gridatlas_reproduce.runner.records import RunFolder
from gridatlas_reproduce.runner.runs import differences
from gridatlas_reproduce.runner.tally import (
    CollectedRun,
    Tally,
    collected_runs,
    incomplete,
    manifest_as_json,
    outcomes_as_json,
    pass_at,
    words_of,
)
from gridatlas_reproduce.runner.units import Cell, cell_of

RUNS = "runs"
_COUNTS = ("n", "successes", "stderr", "run")
_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")

Line = dict[str, str]
"""One row of the reading's table, by column."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The study that a reading is made for."""

    source: StudySource
    folder: Path
    name: str
    reading: str
    file: str
    named: bool

    @property
    def factors(self) -> tuple[str, ...]:
        """All factors: facets, x and y."""
        file = self.source.file
        return (*file.facets, file.x, *filter(None, (file.y,)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the reading's table."""
        return (*self.factors, self.source.file.metric.column, *_COUNTS)


def collect(
    runs: Sequence[Path],
    data: Path,
    study: str,
    reading: str,
    label: str | None = None,
    k: int | None = None,
) -> Iterator[str]:
    """Write what the runs measured as a reading of a study; give what there is to say about it.

    Cells that aren't complete are left out and reported. Rows of the reading that other runs
    measured are kept.

    Args:
        runs: Folders of runs.
        data: The folder with one folder per study.
        study, reading: Their ids.
        label: Of the reading, for the entry that `study.yml` needs.
        k: Counts items, and an item as right where any of its k samples is (pass@k); such a study
            is another metric of the runs (`same_runs`) of the study that they measured.

    Raises:
        CannotRun: For runs or a study that don't fit.
    """
    target = _target(data, study, reading)
    found = collected_runs([RunFolder.open(folder) for folder in tracked(runs, "runs read")])
    if k is not None:
        found, notes = _counted_by_items(found, target, study, k)
        yield from notes
    listed = [_listed(run, target) for run in found]
    for run, part in zip(found, listed, strict=True):
        if left_out := len(run.tallies) - len(part.tallies):
            yield (
                f"{run.run}: {left_out:,} of {len(run.tallies):,} cells aren't complete, at levels "
                f"that {target.name}/{STUDY_FILE} doesn't list, and are left out"
            )
        _check(part, target, study)
    found = [_named_apart(run, target) for run in listed]
    lines = _lines(found, target)
    for run in found:
        base = target.folder / RUNS / run.run
        write_atomic(base.with_name(f"{run.run}.json"), indented(manifest_as_json(run)))
        content = f"{compact(outcomes_as_json(run))}\n"
        write_atomic(base.with_name(f"{run.run}.outcomes.json"), content.encode())
    if lines:
        write_atomic(target.folder / target.file, _csv(lines, target.columns))
    yield from _report(found, target, label, bool(lines))


def _named_apart(run: CollectedRun, target: _Target) -> CollectedRun:
    """A run under an id of its own, where another run with the same settings has its files.

    The id comes from the settings. Files of a run that measured cells which this one lacks are of
    another: who measures one cell of a study again keeps what is there.
    """
    complete = {tally.cell for tally in run.tallies if tally.complete}
    names = chain([run.run], (f"{run.run}-{number}" for number in count(2)))
    name = next(name for name in names if _complete_cells(name, target) <= complete)
    return CollectedRun({**run.manifest, "run": name}, run.tallies)


def _complete_cells(run: str, target: _Target) -> set[Cell]:
    """The cells that a run's manifest in the study calls complete; none where there is none."""
    for file in target.source.runs.runs:
        if file.manifest.run == run:
            cells = file.manifest.cells
            return {cell_of(cell.levels) for cell in cells if cell.done >= cell.of}
    if (target.folder / RUNS / f"{run}.json").exists():
        raise CannotRun(
            f"{target.name}/{RUNS}/{run}.json is no manifest of a run",
            "a file that this command wrote",
            "remove it, and collect its run again",
        )
    return set()


def _counted_by_items(
    runs: Sequence[CollectedRun], target: _Target, study: str, k: int
) -> tuple[list[CollectedRun], list[str]]:
    """The runs as those of a study of pass@k, and what to say about the cells left out."""
    same_runs = {entry.study for entry in target.source.file.see_also if entry.same_runs}
    counted, notes = [], []
    for run in runs:
        by_items, left_out = pass_at(run, k)
        if left_out and not any(tally.complete for tally in by_items.tallies):
            raise CannotRun(
                f"no complete cell of the run {run.run} has {k} samples per item",
                f"{k} samples of each item, of which one right is enough",
                "correct --pass-at",
            )
        if left_out:
            notes.append(
                f"{run.run}: {len(left_out)} of {len(run.tallies)} cells haven't {k} samples per "
                f"item, and are left out, such as {words_of(left_out[0])}"
            )
        measured = run.manifest["study"]
        name = study if measured in same_runs else measured
        counted.append(CollectedRun({**by_items.manifest, "study": name}, by_items.tallies))
    return counted, notes


def _listed(run: CollectedRun, target: _Target) -> CollectedRun:
    """A run without the cells that aren't complete at levels that the study doesn't list.

    A run may be planned for more than is measured, such as seeds that the time didn't suffice for,
    and of a cell that isn't done nobody knows how many samples its items will have.
    """

    def listed(cell: Cell) -> bool:
        found = ((level, _levels(target, factor)) for factor, level in cell)
        return all(levels is None or level in levels for level, levels in found)

    tallies = tuple(tally for tally in run.tallies if tally.complete or listed(tally.cell))
    return CollectedRun(run.manifest, tallies)


# --- what is asked for ----------------------------------------------------------------------------


def _target(data: Path, study: str, reading: str) -> _Target:
    folder, name = data / study, f"{data.as_posix()}/{study}"
    form = "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
    for wrong, expected in ((not _ID.fullmatch(reading), form), (unnameable(reading), NAMEABLE)):
        if wrong:
            raise WrongUsage(f"the reading's id {quote(reading)}", expected, "correct --reading")
    if not (folder / STUDY_FILE).is_file():
        studies = [path.parent.name for path in data.glob(f"*/{STUDY_FILE}")]
        near = nearest(study, studies)
        raise WrongUsage(
            f"there is no {name}/{STUDY_FILE}",
            f"one of the studies: {join_names(sorted(studies))}"
            if studies
            else f"a study in {data}",
            f"write --study {near}" if near else f"write {STUDY_FILE} first, or correct --data",
        )
    _within(folder, data, name)
    _within(folder / RUNS, data, f"{name}/{RUNS}")
    source, problems = read_study(folder, name)
    if source is None:
        raise CannotRun(
            "\n".join(map(str, problems)), f"a {STUDY_FILE} that can be read", "fix it first"
        )
    entry = next((entry for entry in source.file.readings if entry.id == reading), None)
    file = entry.file if entry else f"{reading}.csv"
    if not file.endswith(".csv") or Path(file).is_absolute() or ".." in Path(file).parts:
        raise CannotRun(
            f"the reading {reading} has the file {quote(file)}",
            "a CSV file in the study's folder",
            f"give it such a file in {name}/{STUDY_FILE}, or collect into another reading",
        )
    if entry is None and any(reading.file == file for reading in source.readings):
        raise CannotRun(
            f"{file} is the file of another reading",
            "a file for this reading alone",
            "give --reading another id",
        )
    _within(folder / file, data, f"{name}/{file}")
    return _Target(source, folder, name, reading, file, entry is not None)


def _within(path: Path, data: Path, name: str) -> None:
    """Refuse to write where a link leads out of the data folder."""
    if problem := outside(path, data, name):
        raise CannotRun(f"{name} is {problem.found}", problem.expected, problem.fix)


def _check(run: CollectedRun, target: _Target, study: str) -> None:
    if run.manifest["study"] != study:
        raise WrongUsage(
            f"the run {run.run} measures the study {quote(run.manifest['study'])}",
            f"runs of the study {study}",
            f"correct --study, or leave the run out: its arguments were "
            f"{quote(' '.join(run.manifest['arguments']))}",
        )
    for tally in run.tallies:
        factors = [factor for factor, _ in tally.cell]
        if sorted(target.factors) != factors:
            raise CannotRun(
                f"the run {run.run} varies {join_names(factors)}",
                f"the study's factors: {join_names(target.factors)}",
                f"correct facets, x and y in {target.name}/{STUDY_FILE}",
            )
        for factor, level in tally.cell:
            levels = _levels(target, factor)
            if levels is not None and level not in levels:
                raise CannotRun(
                    f"the run {run.run} has cells at {factor} {quote(level)}",
                    f"one of its levels: {join_names(levels, 30)}",
                    f"add the level in {target.name}/{STUDY_FILE}",
                )


def _levels(target: _Target, factor: str) -> list[str] | None:
    entry = target.source.file.factors.get(factor)
    return None if entry is None or entry.levels is None else [level.id for level in entry.levels]


def _scale(target: _Target) -> int:
    """What a share of 1 is in the metric's unit."""
    metric = target.source.file.metric
    if metric.unit == "%" or metric.range == (Decimal(0), Decimal(100)):
        return 100
    if metric.range == (Decimal(0), Decimal(1)):
        return 1
    raise CannotRun(
        f"the metric {metric.name} has neither the unit % nor the range [0, 1] or [0, 100]",
        "a share of right answers, which is what the records have",
        f"give the metric its unit or range in {target.name}/{STUDY_FILE}",
    )


# --- the table ------------------------------------------------------------------------------------


def _lines(runs: Sequence[CollectedRun], target: _Target) -> list[Line]:
    """The rows of the runs' complete cells and those of other runs that are there, in order."""
    scale = _scale(target)
    lines: dict[Cell, Line] = {}
    for line in _rows_of_other_runs(runs, target):
        lines[_cell(line, target)] = line
    for run in runs:
        for tally in run.tallies:
            if not tally.complete:
                continue
            if tally.cell in lines:
                raise CannotRun(
                    f"{words_of(tally.cell)} is measured by the runs {lines[tally.cell]['run']} "
                    f"and {run.run}",
                    "each cell once in a reading",
                    f"leave one run out, collect it into another reading, or remove "
                    f"{target.name}/{target.file} to start again",
                )
            lines[tally.cell] = _line(tally, run.run, target, scale)
    return [lines[cell] for cell in sorted(lines, key=lambda cell: _order(cell, target))]


def _rows_of_other_runs(runs: Sequence[CollectedRun], target: _Target) -> Iterator[Line]:
    """The rows of a reading that is there, but for those of the runs collected now."""
    path = target.folder / target.file
    if not path.exists():
        return
    table, problems = read_table(path, f"{target.name}/{target.file}", target.folder)
    if table is None or problems or table.columns != target.columns:
        found = "\n".join(map(str, problems)) or (
            f"{target.name}/{target.file} has the columns "
            f"{join_names(table.columns if table else ())}"
        )
        raise CannotRun(
            found,
            f"a file that this command wrote, with the columns {join_names(target.columns)}",
            "remove it to start again, or collect into another reading",
        )
    now = {run.run for run in runs}
    for row in table.rows():
        line = dict(zip(table.columns, row, strict=True))
        if line["run"] not in now:
            yield line


def _cell(line: Line, target: _Target) -> Cell:
    return cell_of([(factor, line[factor]) for factor in target.factors])


def _line(tally: Tally, run: str, target: _Target, scale: int) -> Line:
    metric = target.source.file.metric
    places = max(metric.decimals or 0, 4 if scale == 1 else 2)
    value = Decimal(scale * tally.successes) / tally.n
    stderr = None if tally.stderr is None else Decimal(scale * tally.stderr)
    return {
        **dict(tally.cell),
        metric.column: format_value(value, places),
        "n": str(tally.n),
        "successes": str(tally.successes),
        "stderr": "" if stderr is None else format_value(stderr, places),
        "run": run,
    }


def _order(cell: Cell, target: _Target) -> list[tuple[int, Decimal, str]]:
    """Facets as listed, then rows of y, then x: by their place, else their number, else text."""
    levels = dict(cell)
    file = target.source.file
    factors = (*file.facets, *filter(None, (file.y,)), file.x)
    keys = []
    for factor in factors:
        level, order = levels[factor], _levels(target, factor)
        number = level_number(level)
        if order is not None and level in order:
            keys.append((0, Decimal(order.index(level)), ""))
        else:
            keys.append((1, number, "") if number is not None else (2, Decimal(0), level))
    return keys


def _csv(lines: Sequence[Line], columns: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    for line in ({name: name for name in columns}, *lines):
        writer.writerow({name: guarded(str(line.get(name, ""))) for name in columns})
    return text.getvalue().encode()


# --- what is said ---------------------------------------------------------------------------------


def _report(
    runs: Sequence[CollectedRun], target: _Target, label: str | None, written: bool
) -> Iterator[str]:
    done = sum(tally.complete for run in runs for tally in run.tallies)
    of = sum(len(run.tallies) for run in runs)
    if written:
        yield f"{target.name}/{target.file}: {done} of {of} cells"
    else:
        yield f"No cell of {of} is complete: {target.name}/{target.file} isn't written."
    for run in runs:
        yield f"{target.name}/{RUNS}/{run.run}.json"
        limit = run.manifest["settings"].get("limit")
        if limit is not None:
            yield f"  a try: only the first {limit} items (--limit)"
        for line in incomplete(run, target.source.file.facets):
            yield f"  absent: {line}"
    yield from _differing(runs)
    if written and not target.named:
        yield from _entry(target, label)


def _differing(runs: Sequence[CollectedRun]) -> Iterator[str]:
    """The settings in which the runs of one reading differ."""
    for run in runs[1:]:
        found = differences(
            {"settings": runs[0].manifest["settings"]}, {"settings": run.manifest["settings"]}
        )
        for key, first, second in found:
            yield f"  note: {key} is {first} in {runs[0].run} and {second} in {run.run}"


def _entry(target: _Target, label: str | None) -> Iterator[str]:
    """What `study.yml` must say for the reading to be shown."""
    entry = {"id": target.reading, "file": target.file}
    entry |= {} if label is None else {"label": label}
    yield from ("", f"To show it, add to {target.name}/{STUDY_FILE}:", "", "readings:")
    if not target.source.file.readings and (target.folder / DEFAULT_TABLE).exists():
        yield f"  - {{id: cells, file: {DEFAULT_TABLE}}}"
    text = ", ".join(f"{key}: {_yaml(value)}" for key, value in entry.items())
    yield f"  - {{{text}}}"


def _yaml(value: str) -> str:
    return value if _ID.fullmatch(value) else json.dumps(value, ensure_ascii=False)
