"""Folders that sweeps leave: trials of Ray Tune, runs of MLflow; also those that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.model.problems import quote
from gridatlas_import.files import File
from gridatlas_import.json_values import flat, parse_json, parse_settings, table_of
from gridatlas_import.rows import CannotImport, LogFiles, RawTable, Reported

Read = Callable[[Path, str], str]
Record = tuple[str, dict[str, Any]]

ENDINGS = ()
_RAY_BOOK = frozenset(
    {"timestamp", "checkpoint_dir_name", "done", "training_iteration", "trial_id", "date",
     "time_this_iter_s", "time_total_s", "pid", "hostname", "node_ip", "config",
     "time_since_restore", "iterations_since_restore", "timesteps_since_restore",
     "timesteps_total", "episodes_total", "experiment_tag", "logdir", "should_checkpoint"}
)  # fmt: skip
"""What Ray Tune notes in each report besides metrics; names and addresses of hosts among it."""
_MLFLOW_STATES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
"""Numbers of states in files (MLflow's `RunStatus`)."""


def read_folder(below: File) -> RawTable | None:
    """The trials below a folder; None where it is neither Ray Tune's nor MLflow's.

    Raises:
        CannotImport: For files that can't be read.
    """
    folder, read = below.path, below.text_of
    trials = [path.parent for path in sorted(folder.rglob("params.json")) if _is_trial(path.parent)]
    if trials:
        return _ray(folder, trials, read)
    runs = [path.parent for path in sorted(folder.rglob("meta.yaml")) if _is_run(path.parent)]
    return _mlflow(folder, runs, read) if runs else None


def _is_trial(folder: Path) -> bool:
    """Whether a folder is a trial of Ray Tune: settings, and reports or an error."""
    return (folder / "result.json").is_file() and any(
        (folder / name).is_file() for name in ("progress.csv", "error.txt")
    )


def _is_run(folder: Path) -> bool:
    """Whether a folder is a run of MLflow; one that failed may have no metrics."""
    return (folder / "params").is_dir() and (folder.parent / "meta.yaml").is_file()


def _named(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


# --- Ray Tune -------------------------------------------------------------------------------------


def _ray(folder: Path, trials: Sequence[Path], read: Read) -> RawTable:
    """A row per trial: its settings as in `params.json`, and its last report."""
    records: list[Record] = []
    for trial in trials:
        name = _named(trial / "result.json", folder)
        params = parse_json(
            read(trial / "params.json", name), _named(trial / "params.json", folder)
        )
        if not isinstance(params, Mapping):
            found = f"{_named(trial / 'params.json', folder)}: no object"
            raise CannotImport(found, "the settings of a trial", "leave this trial out")
        record = {f"config/{key.replace('.', '/')}": value for key, value in flat(params).items()}
        report = _last_report(read(trial / "result.json", name), name)
        record |= {"status": "finished" if report else "started", **report}
        if (trial / "error.txt").is_file():
            lines = read(trial / "error.txt", _named(trial / "error.txt", folder)).split("\n")
            record["status"] = "failed"
            record["note"] = next((line.strip() for line in reversed(lines) if line.strip()), "")
        records.append((name, record))
    table = table_of(records, f"{len(records)} trials of Ray Tune")
    return replace(table, logs=_logs("Ray Tune", [name for name, _ in records]))


def _last_report(text: str, name: str) -> Mapping[str, Any]:
    """The metrics of the last object of a file with one on each line; empty where it has none."""
    lines = [(at, line) for at, line in enumerate(text.split("\n")) if line.strip()]
    if not lines:
        return {}
    tree = parse_json(lines[-1][1], name, lines[-1][0])
    tree = tree if isinstance(tree, Mapping) else {}
    return flat({key: tree[key] for key in tree if key not in _RAY_BOOK}) if tree else {}


# --- MLflow ---------------------------------------------------------------------------------------


def _mlflow(folder: Path, runs: Sequence[Path], read: Read) -> RawTable:
    """A row per run, with the columns of MLflow's own table."""
    records: list[Record] = []
    reported = []
    for run in runs:
        name = _named(run, folder)
        meta = _yaml(run / "meta.yaml", f"{name}/meta.yaml", read)
        if str(meta.get("lifecycle_stage")) == "deleted":
            reported.append(Reported(name, "a run that was deleted"))
            continue
        status = str(meta.get("status"))
        record: dict[str, Any] = {"experiment_id": str(meta.get("experiment_id") or "")}
        record["status"] = _MLFLOW_STATES.get(status, status)
        for path in _files_of(run / "params"):
            record[f"params.{_named(path, run / 'params')}"] = read(path, _named(path, folder))
        for path in _files_of(run / "metrics"):
            value = _latest(read(path, _named(path, folder)), _named(path, folder))
            record[f"metrics.{_named(path, run / 'metrics')}"] = value
        records.append((name, record))
    if not records:
        raise CannotImport(
            f"{folder.name}: only runs that were deleted", "at least one run", "name another folder"
        )
    table = table_of(records, f"{len(records)} runs of MLflow")
    found = replace(table, reported=(*table.reported, *reported))
    return replace(found, logs=_logs("MLflow", [name for name, _ in records]))


def _files_of(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _yaml(path: Path, name: str, read: Read) -> Mapping[str, Any]:
    tree = parse_settings(read(path, name), name)
    return tree if isinstance(tree, Mapping) else {}


def _latest(text: str, name: str) -> str:
    """The value of the last step: each line has a time, a value and a step."""
    found: list[tuple[tuple[int, int], str]] = []
    for at, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            time, value, step = parts[0], parts[1], parts[2] if len(parts) > 2 else "0"
            found.append(((int(step), int(time)), value))
        except (IndexError, ValueError):
            raise CannotImport(
                f"{name}:{at}: {quote(line, 60)}",
                "a time, a value and a step",
                "leave this run out",
            ) from None
    return max(found)[1] if found else ""


def _logs(tool: str, names: Sequence[str]) -> LogFiles:
    return LogFiles(tool, files={name: (name, name) for name in names})
