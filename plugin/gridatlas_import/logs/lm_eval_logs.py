"""Logs of lm-evaluation-harness besides their results: settings, repeated runs, documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from gridatlas.files.door import open_file
from gridatlas.model.format import many
from gridatlas.progress import tracked
from gridatlas_import.json_values import parse_json
from gridatlas_import.logs.items import Item, digest, outcomes, score_of, tally, told_apart
from gridatlas_import.logs.settings import Group, group, varied
from gridatlas_import.rows import CannotImport, ItemOutcomes, LogFiles, Reported, importable

TIME = re.compile(r"(?:.*_)?(\d{4}-\d\d-\d\dT[\d.:-]+)\.json")
"""Names of files with results: with a time, and nothing else that varies."""
SAMPLES = re.compile(r"samples_.+_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl")
"""Files that lie beside results with `--log_samples`."""
_REST = (
    "limit", "random_seed", "numpy_seed", "torch_seed", "fewshot_seed", "fewshot_as_multiturn",
    "chat_template_sha", "system_instruction_sha",
)  # fmt: skip
Record = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class ResultFile:
    """A file of results: its path, its name in messages, and what it says."""

    path: Path
    name: str
    tree: Mapping[str, Any]

    @property
    def config(self) -> Mapping[str, Any]:
        """How the run was called."""
        found = self.tree.get("config")
        return found if isinstance(found, Mapping) else {}

    @property
    def date(self) -> Decimal:
        """When it was run, in seconds; 0 where it doesn't say."""
        try:
            found = Decimal(str(self.tree.get("date") or 0))
        except InvalidOperation:
            return Decimal(0)
        return found if found.is_finite() else Decimal(0)

    def samples(self, task: str) -> Path | None:
        """The file with the documents of a task; None where there is none of the same time."""
        time = TIME.fullmatch(self.path.name)
        if time is None:
            return None
        name = f"samples_{task}_{time[1]}.jsonl"
        return next((path for path in self.beside if path.name == name), None)

    @cached_property
    def beside(self) -> tuple[Path, ...]:
        """The files with documents in its folder: a task's name is data, and no path."""
        return tuple(sorted(self.path.parent.glob("samples_*.jsonl")))


@dataclass(frozen=True, slots=True)
class FromLogs:
    """Records with settings and counts, and what else is to be known of them.

    Attributes:
        settings: Columns that are settings.
        origins: Columns that are factors only where rows can't be told apart without them.
    """

    records: tuple[Record, ...]
    reported: tuple[Reported, ...]
    notes: tuple[str, ...]
    settings: tuple[str, ...]
    origins: tuple[str, ...]
    logs: LogFiles


def arguments(given: Any) -> Mapping[str, Any]:
    """Arguments of a model, given as an object or as the text `a=b,c=d`."""
    if isinstance(given, Mapping):
        return given
    pairs = (part.partition("=") for part in str(given or "").split(","))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals and key.strip()}


def from_logs(
    files: Sequence[ResultFile],
    records: Sequence[Sequence[Record]],
) -> FromLogs:
    """Records with what their logs say besides.

    Args:
        records: Of each file.

    Raises:
        CannotImport: For files with documents that can't be read.
    """
    names = [file.name for file in files]
    settings = varied([_groups(file) for file in files], names)
    others = varied([[_rest(file)] for file in files], names)
    origins = [name for name in others.columns if name not in settings.columns]
    current, reported = _newest(files, records)
    found: list[Record] = []
    items: dict[str, ItemOutcomes] = {}
    where: dict[str, tuple[str, str]] = {}
    both = [*zip(files, current, strict=True)]
    for at, (file, given) in enumerate(tracked(both, "results read")):
        added = {name: levels[at] for name, levels in settings.columns.items()}
        added |= {name: others.columns[name][at] for name in origins}
        documents = _Documents(file)
        for place, record in given:
            cell, paired = documents.counted(record)
            found.append((place, {**record, **added, **cell}))
            samples = documents.name(str(record["task"]))
            where[place] = (file.name, samples)
            if paired is not None:
                items[place] = paired
    paired_items, several = told_apart(items)
    notes = [*settings.notes]
    if several:
        notes.append(
            f"{many(len(several), 'doc_id')} with other documents in some files, such as "
            f"{several[0]}: nothing is paired by it"
        )
    return FromLogs(
        tuple(found),
        tuple(reported),
        tuple(notes),
        tuple(settings.columns),
        tuple(origins),
        _about(files, paired_items, where),
    )


def _groups(file: ResultFile) -> list[Group]:
    """Settings that may have been swept; the model's name is a column already."""
    given = {
        key: value
        for key, value in arguments(file.config.get("model_args")).items()
        if key not in ("pretrained", "model")
    }
    return [
        group("gen_kwargs", arguments(file.config.get("gen_kwargs"))),
        group("model_args", given),
    ]


def _rest(file: ResultFile) -> Group:
    """Bounds and seeds of a run, and how prompts are put together."""
    return group("config", {name: file.config.get(name, file.tree.get(name)) for name in _REST})


def _newest(
    files: Sequence[ResultFile], records: Sequence[Sequence[Record]]
) -> tuple[list[list[Record]], list[Reported]]:
    """The records that count: of equal settings those of the newest run."""
    newest: dict[tuple[Any, ...], tuple[Decimal, str]] = {}
    keys: list[list[tuple[Any, ...]]] = []
    for file, given in zip(files, records, strict=True):
        parts = tuple(
            (part.place, tuple(sorted(part.values.items())))
            for part in (*_groups(file), _rest(file))
        )
        keys.append([(*map(str, _identity(record)), parts) for _, record in given])
        for key in keys[-1]:
            if file.date and (key not in newest or newest[key][0] < file.date):
                newest[key] = (file.date, file.name)
    current: list[list[Record]] = []
    reported: list[Reported] = []
    for file, given, own in zip(files, records, keys, strict=True):
        current.append([])
        for (place, record), key in zip(given, own, strict=True):
            date, name = newest.get(key, (file.date, file.name))
            if file.date and date > file.date:
                reported.append(Reported(place, f"run again: {name} is newer, with its settings"))
            else:
                current[-1].append((place, record))
    return current, reported


def _identity(record: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("model", "revision", "task", "metric", "filter", "num_fewshot")
    return tuple(record.get(name) for name in names)


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents that a run was asked, where it logged them; read once per task."""

    file: ResultFile
    _read: dict[str, Mapping[tuple[str, str], Sequence[Item]]] = field(default_factory=dict)

    def name(self, task: str) -> str:
        """The file's name in messages; empty where there is none."""
        path = self.file.samples(task)
        return f"{self.file.name.rpartition('/')[0]}/{path.name}".lstrip("/") if path else ""

    def counted(self, record: Mapping[str, Any]) -> tuple[dict[str, Any], ItemOutcomes | None]:
        """What the documents say of a record: counts, and the outcome of each."""
        task = str(record["task"])
        if task not in self._read:
            self._read[task] = self._items(task)
        items = self._read[task].get((str(record["filter"]), str(record["metric"])), ())
        found = tally(items)
        if found is None:
            return {}, None
        try:
            close = abs(float(found.mean) - float(record["value"])) < 1e-9
        except (TypeError, ValueError):
            close = False
        if not close:
            return {"note": "its value isn't the mean over documents"}, None
        cell: dict[str, Any] = {"value": f"{found.mean:f}", "n": str(found.n)}
        if found.successes is not None:
            cell["successes"] = str(found.successes)
        if found.stderr is not None:
            cell["stderr"] = f"{found.stderr:f}"
        return cell, outcomes(items)

    def _items(self, task: str) -> Mapping[tuple[str, str], Sequence[Item]]:
        """The items of a task, by filter and metric: a document has a line for each filter."""
        path = self.file.samples(task)
        if path is None:
            return {}
        scores: dict[tuple[str, str], dict[tuple[str, str], list[Fraction]]] = {}
        for line in self._lines(path, self.name(task)):
            check = str(line.get("doc_hash") or "") or digest(line.get("doc"))
            item = (str(line.get("doc_id")), check[:12])
            way = str(line.get("filter") or "none")
            metrics = line.get("metrics")
            for metric in map(str, metrics) if isinstance(metrics, list) else _scored(line):
                score = score_of(line.get(metric))
                if score is not None:
                    below = scores.setdefault((way, metric), {})
                    below.setdefault(item, []).append(score)
        return {
            key: [Item(name, check, tuple(found)) for (name, check), found in below.items()]
            for key, below in scores.items()
        }

    def _lines(self, path: Path, name: str) -> Iterator[Mapping[str, Any]]:
        """The objects of a file with one on each line: it may be larger than the memory."""
        try:
            with importable(name), open_file(path) as file:
                for at, line in enumerate(file):
                    tree = parse_json(line.decode("utf-8"), name, at) if line.strip() else None
                    if isinstance(tree, Mapping):
                        yield tree
        except UnicodeDecodeError:
            raise CannotImport(
                f"{name}:{at + 1}: bytes that aren't UTF-8", "JSON in UTF-8", "write it again"
            ) from None


def _scored(line: Mapping[str, Any]) -> list[str]:
    """Names of scores in files that don't list them."""
    return [key for key, value in line.items() if key != "doc_id" and score_of(value) is not None]


def _about(
    files: Sequence[ResultFile],
    items: Mapping[str, ItemOutcomes],
    where: Mapping[str, tuple[str, str]],
) -> LogFiles:
    versions = sorted({str(file.tree["lm_eval_version"]) for file in files
                       if file.tree.get("lm_eval_version")})  # fmt: skip
    times = sorted(time[1] for file in files if (time := TIME.fullmatch(file.path.name)))
    packages = {"lm_eval": ", ".join(versions)} if versions else {}
    tool = " ".join(("lm-evaluation-harness", *versions[:1]))
    return LogFiles(tool, times[0] if times else "", packages, items, where)
