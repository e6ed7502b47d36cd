"""Looks at files and folders, and reads them by what they are."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.data.tables import read_table
from gridatlas.files.door import read_file, unpacked
from gridatlas.importing.harness import harness_table
from gridatlas.importing.logs.inspect_files import ENDING as EVAL
from gridatlas.importing.logs.inspect_files import is_inspect
from gridatlas.importing.logs.inspect_logs import inspect_table
from gridatlas.importing.logs.lm_eval_logs import SAMPLES
from gridatlas.importing.logs.sweeps import sweep_table
from gridatlas.importing.paths import matched, path_columns
from gridatlas.importing.readers import mteb
from gridatlas.importing.readers.delimited import decode, read_delimited
from gridatlas.importing.readers.excel import read_excel
from gridatlas.importing.readers.json_values import (
    is_rows_by_key,
    parse_json,
    read_json,
    read_lines,
    table_of,
)
from gridatlas.importing.readers.latex import read_latex
from gridatlas.importing.readers.markdown_tables import read_markdown
from gridatlas.importing.rows import CannotImport, RawTable, importable, unique_names
from gridatlas.importing.run_folders import RunFolder, lost_runs, run_folders, settings_of
from gridatlas.model.limits import check_json
from gridatlas.model.problems import join_names, nearest
from gridatlas.progress import tracked

EXCEL = ".xlsx"
ENDINGS = (
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".md", ".markdown", ".tex",
    EXCEL, EVAL,
)  # fmt: skip
GZIP = ".gz"


def detect(
    paths: Sequence[Path],
    *,
    encoding: str | None = None,
    table: int | None = None,
    pattern: str | None = None,
    metric: str | None = None,
) -> RawTable:
    """All rows of files, or of the files in folders.

    Args:
        encoding: Of text tables that aren't UTF-8.
        table: Which of several tables of a Markdown page, from 1.
        pattern: Names of the parts of the files' paths: `{model}/{seed}.json`.
        metric: The score that is asked for: logs have several.

    Raises:
        CannotImport: For what can't be read.
    """
    if len(paths) == 1 and paths[0].is_dir() and not pattern:
        trials = sweep_table(paths[0], _reading(encoding))
        if trials is not None:
            return trials
    runs = [run for path in paths if path.is_dir() for run in run_folders(path)]
    if runs and not pattern:
        return _of_runs(runs, encoding)
    files = [file for path in paths for file in _files(path)]
    if len({file.resolve() for file in files}) < len(files):
        raise CannotImport(
            "a file that is named twice", "each file once", "name it once", usage=True
        )
    names = _names(files)
    if any(ending_of(file) == EVAL for file in files):
        read = _reading(encoding)
        return inspect_table([*zip(files, names, strict=True)], read, metric)
    trees = {
        file: parse_json(_text(file, name, encoding)[0], name)
        for file, name in zip(files, names, strict=True)
        if ending_of(file) == ".json"
    }
    if trees and any(map(is_inspect, trees.values())):
        read = _reading(encoding)
        return inspect_table([*zip(files, names, strict=True)], read, metric)
    if trees and len(trees) == len(files):
        read = _reading(encoding)
        found = harness_table(trees, names, pattern, read)
        found = found or _cells(trees, names, pattern)
        if found:
            return found
    tables = []
    for file, name in tracked([*zip(files, names, strict=True)], "files read"):
        if ending_of(file) == ".json":
            tables.append(read_json(trees[file], name))
        else:
            tables.append(_table(file, name, encoding, table))
    if pattern:
        parts = [matched(name, pattern) for name in names]
        tables = [_named(*named) for named in zip(tables, parts, strict=True)]
    return _together(tables, names, by_path=not pattern)


def ending_of(file: Path) -> str:
    """The ending that says what a file is: of `a.csv.gz` that before `.gz`."""
    ending = file.suffix.lower()
    return Path(file.stem).suffix.lower() if ending == GZIP else ending


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(
            file
            for file in path.rglob("*")
            if ending_of(file) in ENDINGS
            and not file.is_dir()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
            and file.name != mteb.META
        )
        if any(ending_of(file) == ".json" for file in found):
            # Documents are read with the results that they lie beside.
            found = [file for file in found if not SAMPLES.fullmatch(file.name)]
        if any(ending_of(file) == EVAL for file in found):
            # Beside logs lie a list of them, and notes; logs in JSON are told by what they say.
            return [file for file in found if ending_of(file) in (EVAL, ".json")]
        endings = sorted({ending_of(file) for file in found})
        if not found:
            raise CannotImport(
                f"{path}, a folder without a file to import",
                f"files that end with {join_names(ENDINGS)}",
                "name a file, or another folder",
                usage=True,
            )
        if len(endings) > 1:
            raise CannotImport(
                f"{path}, a folder with files of several kinds: {join_names(endings)}",
                "a folder with one kind of file",
                f"name the files, such as {path}/*{endings[0]}",
                usage=True,
            )
        return found
    if not os.path.lexists(path):
        near = nearest(path.name, _names_beside(path))
        fix = f"name {path.with_name(near)}" if near else "correct the name"
        raise CannotImport(f"{path}: no such file", "a file or folder", fix, usage=True)
    return [path]


def _names_beside(path: Path) -> list[str]:
    try:
        return sorted(other.name for other in path.parent.iterdir())
    except OSError:
        return []


def _names(files: Sequence[Path]) -> list[str]:
    """Short names: below the folder that all have in common."""
    around = Path(os.path.commonpath([file.resolve().parent for file in files]))
    return [file.resolve().relative_to(around).as_posix() for file in files]


def _table(file: Path, name: str, encoding: str | None, number: int | None) -> RawTable:
    ending = ending_of(file)
    if ending == ".parquet":
        found, problems = read_table(file, name)
        if found is None:
            raise CannotImport(
                f"{name}: {problems[0].found}", problems[0].expected, problems[0].fix
            )
        columns, notes = unique_names([*found.columns])
        texts = dict(zip(columns, map(list, found.texts), strict=True))
        places = [f"{name}:{line}" for line in found.lines]
        return RawTable("Parquet", texts, places, notes=tuple(notes))
    if ending == EXCEL:
        return read_excel(_bytes(file, name), name, number)
    text, encoding_note = _text(file, name, encoding)
    if ending in (".md", ".markdown"):
        return read_markdown(text, name, number)
    with importable(name):
        if ending in (".jsonl", ".ndjson"):
            check_json(text)
            return read_lines(text, name)
        if ending == ".tex":
            return read_latex(text, name)
        return read_delimited(text, name, encoding_note)


def _reading(encoding: str | None) -> Callable[[Path, str], str]:
    return lambda file, name: _text(file, name, encoding)[0]


def _text(file: Path, name: str, encoding: str | None) -> tuple[str, str]:
    return decode(_bytes(file, name), name, encoding)


def _bytes(file: Path, name: str) -> bytes:
    with importable(name):
        data = read_file(file)
        if data[:2] != b"\x1f\x8b":
            return data
        try:
            with gzip.open(io.BytesIO(data)) as packed:
                return unpacked(packed, len(data))
        except (EOFError, zlib.error) as error:
            raise CannotImport(
                f"{name}: {error}", "a whole gzip file", "compress it again"
            ) from None


def _named(table: RawTable, parts: Mapping[str, str]) -> RawTable:
    """A table with a column for each part of its file's path that `--path` names."""
    twice = [name for name in parts if name in table.columns]
    if twice:
        raise CannotImport(
            f"--path with {{{twice[0]}}}, and a column {twice[0]}",
            "names that the table doesn't have",
            f"rename the part, for example to {{{twice[0]}_path}}",
            usage=True,
        )
    named = {name: [text] * len(table.places) for name, text in parts.items()}
    return replace(table, columns={**named, **table.columns})


def _together(
    tables: Sequence[RawTable], names: Sequence[str], *, by_path: bool = True
) -> RawTable:
    """The rows of several tables, with columns for what tells their paths apart.

    A single table stays as it is, with the name of its file as its last title.
    """
    if len(tables) == 1:
        [table], [name] = tables, names
        return replace(table, titles=(*table.titles, Path(_without_gz(name)).stem))
    found: dict[str, list[str]] = {name: [] for table in tables for name in table.columns}
    notes = [note for table in tables for note in table.notes]
    for table, name in zip(tables, names, strict=True):
        absent = [column for column in found if column not in table.columns]
        if absent:
            notes.append(f"{name} has no column {join_names(absent)}; it is empty there")
    for table in tables:
        gaps = [""] * len(table.places)
        for column, texts in found.items():
            texts.extend(table.columns.get(column, gaps))
    columns: dict[str, Sequence[str]] = dict(found)
    own: dict[str, Sequence[str]] = {}
    if by_path:
        own = dict(path_columns([_without_gz(name) for name in names]).columns)
    if len(set(zip(*own.values(), strict=True))) < len(names) and "file" not in own:
        own["file"] = [_without_gz(name).rpartition(".")[0] for name in names]
    for name, levels in own.items():
        columns[name if name not in columns else f"{name}_name"] = [
            text for table, text in zip(tables, levels, strict=True) for _ in table.places
        ]
    first = tables[0]
    same_headings = all(table.headings == first.headings for table in tables)
    forms = dict.fromkeys(table.form for table in tables)
    return RawTable(
        f"{len(tables)} files, {'; '.join(forms)}",
        columns,
        [place for table in tables for place in table.places],
        tuple(row for table in tables for row in table.reported),
        tuple(dict.fromkeys(notes)),
        semicolons=any(table.semicolons for table in tables),
        origins=(*first.origins, *[*columns][-len(own) :]),
        headings=first.headings if same_headings else {},
        heading_names=first.heading_names,
    )


def _without_gz(name: str) -> str:
    return name.removesuffix(GZIP)


def _of_runs(runs: Sequence[RunFolder], encoding: str | None) -> RawTable:
    """The results of runs, with their settings and what their folders are called."""
    names = _names([run.results for run in runs])
    tables: list[RawTable] = []
    for run, name in zip(runs, names, strict=True):
        where = f"{run.config.parent.name}/{run.config.name}"
        settings = settings_of(run, _text(run.config, where, encoding)[0], where)
        if ending_of(run.results) == ".json":
            tree = parse_json(_text(run.results, name, encoding)[0], name)
            is_row = isinstance(tree, Mapping) and not is_rows_by_key(tree)
            table = table_of([(name, tree)], "JSON") if is_row else read_json(tree, name)
        else:
            table = _table(run.results, name, encoding, None)
        added = {
            key if key not in table.columns else f"config.{key}": [text] * len(table.places)
            for key, text in settings.items()
            if table.columns.get(key) != [text] * len(table.places)
        }
        tables.append(replace(table, columns={**table.columns, **added}))
    lost = lost_runs(runs)
    if lost:
        tables = [_finished(table) for table in tables]
        tables += [_lost(run, tables[0], encoding) for run in lost]
        runs = [*runs, *lost]
    found = _together(tables, [f"{run.folder.as_posix()}.run" for run in runs], by_path=False)
    own = path_columns([f"{name}.run" for name in _names([run.folder / "run" for run in runs])])
    times = [len(table.places) for table in tables]
    columns = {name: texts for name, texts in found.columns.items() if name not in found.origins}
    origins = []
    for name, texts in own.columns.items():
        if name not in columns and name != "file":
            columns[name] = [
                text for text, many in zip(texts, times, strict=True) for _ in range(many)
            ]
            origins.append(name)
    form = f"{len(runs)} run folders: {runs[0].results.name} and {runs[0].config.name}"
    return replace(found, form=form, columns=columns, origins=tuple(origins))


def _finished(table: RawTable) -> RawTable:
    """A table that says that its run ended well, where it doesn't say how."""
    number = len(table.places)
    added = {"status": ["finished"] * number, "note": [""] * number}
    return replace(table, columns={**added, **table.columns})


def _lost(run: RunFolder, others: RawTable, encoding: str | None) -> RawTable:
    """A row for a run that left settings and no results."""
    where = f"{run.folder.name}/{run.config.parent.name}/{run.config.name}"
    settings = settings_of(run, _text(run.config, where, encoding)[0], where)
    columns = {name: [""] for name in others.columns}
    columns |= {name: [text] for name, text in settings.items()}
    columns |= {"status": ["failed"], "note": ["no results beside its settings"]}
    return RawTable(others.form, columns, [where])


# --- JSON files that are no tables ----------------------------------------------------------------


def _cells(trees: Mapping[Path, Any], names: Sequence[str], pattern: str | None) -> RawTable | None:
    """A table of files with one object each; None where a file is no such object."""
    if len(trees) < 2 and not pattern:
        return None
    one_cell = [
        isinstance(tree, Mapping)
        and bool(tree)
        and not is_rows_by_key(tree)
        and not any(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in tree.values())
        for tree in trees.values()
    ]
    if not any(one_cell):
        return None
    if pattern:
        parts = [matched(name, pattern) for name in names]
    else:
        found = path_columns(names)
        parts = [
            {name: texts[at] for name, texts in found.columns.items()} for at in range(len(names))
        ]
    records = []
    for tree, name, part, fits in zip(trees.values(), names, parts, one_cell, strict=True):
        taken = {key: value for key, value in part.items() if not fits or key not in tree}
        records.append((name, {**taken, **tree} if fits else tree))
    keys = set() if pattern else {key for part in parts for key in part}
    table = table_of(records, f"{len(trees)} JSON files with one cell each")
    return replace(table, origins=tuple(key for key in table.columns if key in keys))


def sources(paths: Iterable[Path]) -> str:
    """How pages shall call what was imported: names of files, without their folders."""
    return join_names((path.resolve().name for path in paths), 4)
