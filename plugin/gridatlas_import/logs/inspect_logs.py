"""A table of logs of Inspect: a row per log, with the outcomes of its items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gridatlas.model.format import many
from gridatlas.model.problems import join_names, nearest
from gridatlas.progress import tracked
from gridatlas_import.files import File
from gridatlas_import.logs.inspect_files import (
    ENDING,
    FORM,
    InspectLog,
    is_inspect,
    mapping,
    read_eval,
    read_tree,
)
from gridatlas_import.logs.inspect_scores import MEAN, Score, items_of, scores_of
from gridatlas_import.logs.items import Item, outcomes, tally, told_apart
from gridatlas_import.logs.settings import Group, group, varied
from gridatlas_import.rows import (
    CannotImport,
    ItemOutcomes,
    LogFiles,
    RawTable,
    Reported,
    WrongUsage,
)

SUCCESS = "success"
_OOM = re.compile(r"out ?of ?memory|\boom\b", re.IGNORECASE)
_MESSAGE = 200
"""Letters of an error's message that become a note."""
_WORK = frozenset(
    {"max_connections", "max_retries", "timeout", "attempt_timeout", "batch", "cache",
     "max_samples", "max_tasks", "max_subprocesses", "max_sandboxes", "log_level"}
)  # fmt: skip
"""Settings of how a run is carried out; factors only where rows can't be told apart without."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A log as a row: what it measured, or why nothing."""

    log: InspectLog
    cells: Mapping[str, str]
    items: ItemOutcomes | None


def inspect_table(files: Sequence[File]) -> RawTable:
    """The rows of logs.

    Raises:
        CannotImport: For logs that can't be read, or have no such score.
    """
    metric = files[0].asked.metric
    logs, reported = _read(files)
    logs, again = _current(logs)
    reported += again
    chosen = _chosen(logs, metric)
    rows = [row for log in logs for row in _rows(log, chosen.get(log.name, ()))]
    names = [row.log.name for row in rows]
    settings = varied([_groups(row.log) for row in rows], names)
    limits = varied([[_limits(row.log)] for row in rows], names)
    score = next((scores[0] for scores in chosen.values() if scores), None)
    if score is None:
        raise CannotImport(
            f"{FORM} without a score: {_states(logs)}",
            "at least one that ended well and was scored",
            "run them again: inspect eval-retry",
        )
    called = metric or (score.name if _alike(chosen) else score.metric)
    columns: dict[str, list[str]] = {
        "model": [str(row.log.eval.get("model") or "") for row in rows],
        "task": [str(row.log.eval.get("task") or "") for row in rows],
    }
    columns |= {name: [*texts] for name, texts in settings.columns.items()}
    extra = [name for name in limits.columns if name not in columns]
    columns |= {name: [*limits.columns[name]] for name in extra}
    called = called if called not in columns else f"{called} score"
    for name, source in ((called, "value"), *((key, key) for key in _COUNTS)):
        columns[name] = [row.cells.get(source, "") for row in rows]
    columns["status"] = [_status(row.log) for row in rows]
    columns = {name: texts for name, texts in columns.items() if any(texts)}
    if "reducer" in columns:
        # A log with one reducer, the default, doesn't name it; one that failed has none.
        columns["reducer"] = [
            row.cells.get("reducer") or (MEAN if row.cells.get("value") else score.reducer)
            for row in rows
        ]
    places = _places(rows)
    found = {place: row.items for place, row in zip(places, rows, strict=True) if row.items}
    paired, several = told_apart(found)
    notes = [*settings.notes, *_notes(rows, several, chosen, score)]
    work = [name for name in settings.columns if name in _WORK]
    title = score.label if called in (score.name, score.metric) else called
    return RawTable(
        _form(len(files)),
        columns,
        places,
        tuple(reported),
        tuple(notes),
        keep={"reducer": score.reducer} if "reducer" in columns else {},
        origins=(*extra, *work),
        metric=title,
        settings=tuple(name for name in settings.columns if name not in work),
        logs=_about(rows, places, paired),
    )


_COUNTS = ("n", "successes", "stderr", "reducer", "note")


def _form(number: int) -> str:
    return f"{number} {FORM}" if number > 1 else "a log of Inspect"


# --- which logs there are -------------------------------------------------------------------------


def _read(files: Sequence[File]) -> tuple[list[InspectLog], list[Reported]]:
    logs, reported = [], []
    for file in tracked(files, "logs read"):
        if file.ending == ENDING:
            logs.append(read_eval(file.path, file.name))
        elif is_inspect(file.tree):
            logs.append(read_tree(file.tree, file.name))
        else:
            reported.append(Reported(file.name, "a file that isn't a log of Inspect"))
    return logs, reported


def _current(logs: Sequence[InspectLog]) -> tuple[list[InspectLog], list[Reported]]:
    """The logs that count: none twice, of a retried task the newest, and no failure made good."""
    reported: list[Reported] = []
    by_eval: dict[str, InspectLog] = {}
    for log in logs:
        first = by_eval.setdefault(str(log.eval.get("eval_id") or log.name), log)
        if first is not log:
            reported.append(Reported(log.name, f"a copy of {first.name}: the same eval_id"))
    by_task: dict[str, list[InspectLog]] = {}
    for log in by_eval.values():
        by_task.setdefault(str(log.eval.get("task_id") or log.name), []).append(log)
    found = []
    for same in by_task.values():
        same.sort(key=lambda log: (str(log.eval.get("created")), log.name))
        found.append(same[-1])
        reported += [
            Reported(log.name, f"tried again: {same[-1].name} is newer, with the same task_id")
            for log in same[:-1]
        ]
    return _without_failed(found, reported), reported


def _without_failed(logs: Sequence[InspectLog], reported: list[Reported]) -> list[InspectLog]:
    """Without logs that didn't end well where another of the same settings did."""
    keys = {log.name: _key(log) for log in logs}
    ended = {keys[log.name]: log for log in logs if log.status == SUCCESS}
    found = []
    for log in logs:
        better = ended.get(keys[log.name])
        if log.status == SUCCESS or better is None:
            found.append(log)
        else:
            why = f"{log.status}; {better.name} has the same settings, and ended well"
            reported.append(Reported(log.name, why))
    return found


def _key(log: InspectLog) -> tuple[Any, ...]:
    parts = (*_groups(log), _limits(log))
    texts = tuple((part.place, tuple(sorted(part.values.items()))) for part in parts)
    return str(log.eval.get("model")), str(log.eval.get("task")), texts


def _groups(log: InspectLog) -> list[Group]:
    """Settings that may have been swept, those that count first in front."""
    plan = mapping(log.header.get("plan"))
    steps = plan.get("steps")
    found = [
        group(f"plan.{mapping(step).get('solver')}", mapping(step).get("params"), shared=True)
        for step in (steps if isinstance(steps, list) else ())
    ]
    found.append(group("plan.config", plan.get("config"), shared=True))
    given = log.eval.get("model_generate_config")
    found.append(group("model_generate_config", given, shared=True))
    found.append(group("task_args", log.eval.get("task_args")))
    found.append(group("model_args", log.eval.get("model_args")))
    roles = {
        f"{role}.{key}": value
        for role, entry in mapping(log.eval.get("model_roles")).items()
        for key, value in mapping(entry).items()
        if key in ("model", "config")
    }
    found.append(group("model_roles", roles))
    return found


def _limits(log: InspectLog) -> Group:
    """What bounds a run: how many items, epochs, tokens."""
    config = mapping(log.eval.get("config"))
    names = ("limit", "sample_id", "epochs", "message_limit", "token_limit", "time_limit")
    return group("config", {name: config.get(name) for name in names})


# --- what they say --------------------------------------------------------------------------------


def _chosen(logs: Sequence[InspectLog], metric: str | None) -> dict[str, list[Score]]:
    """The scores of each log that are taken: of one name, with any reducer.

    Raises:
        CannotImport: Where no log has the score that is asked for.
    """
    every = {log.name: scores_of(log) for log in logs if log.status == SUCCESS}
    if metric is None:
        return {
            name: [score for score in scores if _same(score, scores[0])]
            for name, scores in every.items()
        }
    found = {
        name: [score for score in scores if score.name == metric] for name, scores in every.items()
    }
    if not any(found.values()):
        found = {
            name: [score for score in scores[:1] if score.metric == metric]
            for name, scores in every.items()
        }
    if not any(found.values()):
        names = sorted({score.name for scores in every.values() for score in scores})
        near = nearest(metric, names)
        raise WrongUsage(
            f"--metric {metric}",
            f"a score of these logs: {join_names(names, 20) or 'none has one'}",
            f"write --metric {near}" if near else "correct the name",
        )
    return found


def _same(score: Score, first: Score) -> bool:
    return (score.name, score.scorer) == (first.name, first.scorer)


def _alike(chosen: Mapping[str, Sequence[Score]]) -> bool:
    return len({score.name for scores in chosen.values() for score in scores}) == 1


def _rows(log: InspectLog, scores: Sequence[Score]) -> list[_Row]:
    if log.status != SUCCESS:
        return [_Row(log, {"note": _message(log)}, None)]
    if not scores:
        return [_Row(log, {"note": "no such score in the log"}, None)]
    several = len(scores) > 1
    return [_scored(log, score, several) for score in scores]


def _scored(log: InspectLog, score: Score, several: bool) -> _Row:
    items = items_of(log, score)
    found = tally(items)
    cells = {"value": score.value, "stderr": score.stderr}
    cells |= {"reducer": score.reducer} if several or score.reducer != MEAN else {}
    notes = [*_said_of(log, items)]
    paired = None
    if found is not None and score.value and _near(found.mean, score.value):
        cells["value"] = f"{found.mean:f}"
        if found.successes is None:
            # In the data format n are trials that succeed or fail; these have a worth between.
            notes.append(f"{found.n} scored samples")
            paired = outcomes(items)
        elif log.samples or str(mapping(log.eval.get("config")).get("epochs") or "1") == "1":
            cells |= {"n": str(found.n), "successes": str(found.successes)}
            paired = outcomes(items)
        if found.stderr is not None:
            cells["stderr"] = f"{found.stderr:f}"
    elif found is not None:
        notes.append("its value isn't the mean over items")
    cells["note"] = "; ".join(notes)
    return _Row(log, cells, paired)


def _near(mean: Decimal, text: str) -> bool:
    try:
        return abs(float(mean) - float(text)) < 1e-9
    except ValueError:
        return False


def _said_of(log: InspectLog, items: Sequence[Item]) -> Iterable[str]:
    """What a person should know of a value: items without a score, and limits."""
    asked = {str(sample.get("id")) for sample in log.samples}
    if asked and len(items) < len(asked):
        yield f"{len(items)} of {len(asked)} items were scored"
    limits = Counter(_limit(sample.get("limit")) for sample in log.samples if sample.get("limit"))
    for kind, times in sorted(limits.items()):
        yield f"{times} of {len(log.samples)} samples ended at a {kind} limit"
    if not log.samples:
        yield "the log has no samples"


def _limit(limit: Any) -> str:
    return str(mapping(limit).get("type") or "") or str(limit)


def _message(log: InspectLog) -> str:
    error = mapping(log.header.get("error")).get("message")
    text = " ".join(str(error or "").split())[:_MESSAGE]
    asked = mapping(log.eval.get("dataset")).get("samples")
    if log.status == "started":
        text = f"it hasn't ended: {len(log.samples)} samples in the log"
        text += f", of {asked} items" if asked else ""
    return "; ".join(filter(None, (log.status, text)))


def _status(log: InspectLog) -> str:
    if log.status == "error" and _OOM.search(_message(log)):
        return "out of memory"
    return log.status


def _states(logs: Sequence[InspectLog]) -> str:
    found = Counter(log.status for log in logs)
    return join_names(f"{times} {state}" for state, times in sorted(found.items())) or "no log"


def _places(rows: Sequence[_Row]) -> list[str]:
    return [
        row.log.name + (f":{row.cells['reducer']}" if row.cells.get("reducer") else "")
        for row in rows
    ]


def _notes(
    rows: Sequence[_Row],
    several: Sequence[str],
    chosen: Mapping[str, Sequence[Score]],
    score: Score,
) -> Iterable[str]:
    """What is worth a word of all logs together."""
    others = sorted(
        {
            other.name
            for row in rows
            for other in (scores_of(row.log) if row.log.status == SUCCESS else ())
        }
        - {other.name for scores in chosen.values() for other in scores}
    )
    if others:
        yield f"other scores of these logs: {join_names(others, 10)} (--metric {others[0]})"
    reducers = sorted({other.reducer for scores in chosen.values() for other in scores})
    if len(reducers) > 1:
        other = next(name for name in reducers if name != score.reducer)
        yield f"reducers: {join_names(reducers)} (--only reducer={other})"
    if several:
        yield (
            f"{many(len(several), 'id')} with unequal targets, such as {several[0]}: it is "
            "another item in each log, so nothing is paired by it"
        )
    lists = {row.items.ids for row in rows if row.items}
    if len(lists) > 1:
        yield "not all logs have the same items: those that don't aren't compared item by item"
    if any(row.cells.get("value") and not row.items for row in rows):
        yield ("logs with partial credit, or without samples, aren't compared item by item")


def _about(
    rows: Sequence[_Row], places: Sequence[str], paired: Mapping[str, ItemOutcomes]
) -> LogFiles:
    packages: dict[str, set[str]] = {}
    for row in rows:
        for name, version in mapping(row.log.eval.get("packages")).items():
            packages.setdefault(str(name), set()).add(str(version))
    started = min((str(row.log.eval.get("created") or "") for row in rows), default="")
    versions = {name: ", ".join(sorted(found)) for name, found in sorted(packages.items())}
    tool = " ".join(filter(None, ("Inspect", versions.get("inspect_ai"))))
    files = {place: (row.log.name, row.log.name) for place, row in zip(places, rows, strict=True)}
    return LogFiles(tool, started, versions, paired, files)
