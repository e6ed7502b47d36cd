"""Looks at files and folders, and reads them by what they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from gridatlas.model.format import many
from gridatlas.model.problems import join_names, nearest
from gridatlas.progress import tracked
from gridatlas_import.columns import column_of
from gridatlas_import.files import GZIP, File, ending_of, names_of
from gridatlas_import.importers import having, importer_of, importers
from gridatlas_import.json_values import is_rows_by_key, table_of
from gridatlas_import.options import NOTHING, ImportOptions
from gridatlas_import.paths import matched, path_columns
from gridatlas_import.readers import json_files
from gridatlas_import.rows import CannotImport, RawTable, WrongUsage, importable
from gridatlas_import.run_folders import RunFolder, lost_runs, run_folders, settings_of


def detect(paths: Sequence[Path], given: ImportOptions = NOTHING) -> RawTable:
    """All rows of files, or of the files in folders.

    Raises:
        CannotImport: For what can't be read.
    """
    pattern = given.pattern
    asked = File(Path(), "", given)
    if len(paths) == 1 and paths[0].is_dir() and not pattern:
        folder = replace(asked, path=paths[0], name=paths[0].name)
        for read_folder in having("read_folder"):
            table: RawTable | None = read_folder(folder)
            if table is not None:
                return table
    runs = [run for path in paths if path.is_dir() for run in run_folders(path)]
    if runs and not pattern:
        return _of_runs(runs, asked)
    below = {path: _files(path) for path in paths}
    listed = [file for path in paths for file in below[path]]
    mixed = [path for path, found in below.items() if len({*map(ending_of, found)}) > 1]
    if mixed:
        return _of_one_kind(mixed[0], listed, given)
    if len({file.resolve() for file in listed}) < len(listed):
        raise WrongUsage("a file that is named twice", "each file once", "name it once")
    names = names_of(listed)
    files = [replace(asked, path=path, name=name) for path, name in zip(listed, names, strict=True)]
    kinds = [importer_of(file) for file in files]
    for kind in importers():
        if kind in kinds and hasattr(kind, "read_all"):
            if all(file.ending in kind.ENDINGS for file in files):
                table = kind.read_all(files)
                if table is not None:
                    return table
            elif not hasattr(kind, "read"):
                raise _mixed(files, kinds, kind)
    tables = [
        _table(file, kind)
        for file, kind in tracked([*zip(files, kinds, strict=True)], "files read")
    ]
    if pattern:
        parts = [matched(name, pattern) for name in names]
        tables = [_named(*named) for named in zip(tables, parts, strict=True)]
    return _together(tables, names, by_path=not pattern)


def _of_one_kind(folder: Path, files: Sequence[Path], given: ImportOptions) -> RawTable:
    """The table of the files of one ending, where those of all others have none.

    Raises:
        CannotImport: Where several kinds of files have tables, or none has: with what each is.
    """
    groups: dict[str, list[Path]] = {}
    for file in files:
        groups.setdefault(ending_of(file), []).append(file)
    tables: dict[str, RawTable] = {}
    sentences: list[str] = []
    for ending, group in groups.items():
        try:
            table = detect(group, given)
            what = f"{many(len(table.places), 'row')} of {table.form}"
            if any(column_of(table, name).is_metric_like for name in table.columns):
                tables[ending] = table
            else:
                what += ", without numbers"
        except CannotImport as error:
            what = f"no table of results ({error.found})"
        sentences.append(f"{join_names((file.name for file in group), 3)}: {what}")
    if len(tables) == 1:
        [(ending, table)] = tables.items()
        others = (text for end, text in zip(groups, sentences, strict=True) if end != ending)
        return replace(table, notes=(*table.notes, *(f"not read: {text}" for text in others)))
    raise WrongUsage(
        f"{folder}, a folder with files of several kinds: {'; '.join(sentences)}",
        "a folder in which files of one kind have tables of results",
        f"name the files, such as {folder}/*{next(iter(tables or groups))}",
    )


def _mixed(files: Sequence[File], kinds: Sequence[ModuleType], kind: ModuleType) -> CannotImport:
    """The refusal of files that are read together, beside one that is read by itself."""
    own = files[kinds.index(kind)].name
    other = next(file.name for file in files if file.ending not in kind.ENDINGS)
    return WrongUsage(
        f"{own}, a log, and {other}, which is none",
        f"logs alone: files that end with {join_names(kind.ENDINGS)}",
        "import one after the other",
    )


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        all_endings = {ending for kind in importers() for ending in kind.ENDINGS}
        found = sorted(
            file
            for file in path.rglob("*")
            if ending_of(file) in all_endings
            and not file.is_dir()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
        for kind in importers():
            found = _of_kind(found, kind)
        if not found:
            raise WrongUsage(
                f"{path}, a folder without a file to import",
                f"files that end with {join_names(sorted(all_endings))}",
                "name a file, or another folder",
            )
        return found
    if not os.path.lexists(path):
        near = nearest(path.name, _names_beside(path))
        fix = f"name {path.with_name(near)}" if near else "correct the name"
        raise WrongUsage(f"{path}: no such file", "a file or folder", fix)
    return [path]


def _of_kind(files: list[Path], kind: ModuleType) -> list[Path]:
    """Files of a folder without what an importer knows to lie beside its own."""
    others = {end for other in importers() if other is not kind for end in other.ENDINGS}
    if not hasattr(kind, "read") and any(
        ending_of(file) in set(kind.ENDINGS) - others for file in files
    ):
        # Beside logs lie a list of them, and notes.
        files = [file for file in files if ending_of(file) in kind.ENDINGS]
    beside = {
        file for file in files if hasattr(kind, "BESIDE") and kind.BESIDE.fullmatch(file.name)
    }
    own = any(ending_of(file) in kind.ENDINGS and file not in beside for file in files)
    return [file for file in files if file not in beside] if own else files


def _names_beside(path: Path) -> list[str]:
    try:
        return sorted(other.name for other in path.parent.iterdir())
    except OSError:
        return []


def _table(file: File, kind: ModuleType) -> RawTable:
    with importable(file.name):
        table: RawTable = kind.read(file)
        return table


def _named(table: RawTable, parts: Mapping[str, str]) -> RawTable:
    """A table with a column for each part of its file's path that `--path` names."""
    twice = [name for name in parts if name in table.columns]
    if twice:
        raise WrongUsage(
            f"--path with {{{twice[0]}}}, and a column {twice[0]}",
            "names that the table doesn't have",
            f"rename the part, for example to {{{twice[0]}_path}}",
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


def _of_runs(runs: Sequence[RunFolder], asked: File) -> RawTable:
    """The results of runs, with their settings and what their folders are called."""
    names = names_of([run.results for run in runs])
    tables: list[RawTable] = []
    for run, name in zip(runs, names, strict=True):
        where = f"{run.config.parent.name}/{run.config.name}"
        settings = settings_of(run, asked.text_of(run.config, where), where)
        file = File(run.results, name, replace(asked.asked, table=None))
        if file.ending == ".json":
            is_row = isinstance(file.tree, Mapping) and not is_rows_by_key(file.tree)
            table = table_of([(name, file.tree)], "JSON") if is_row else json_files.read(file)
        else:
            table = _table(file, importer_of(file))
        added = {
            key if key not in table.columns else f"config.{key}": [text] * len(table.places)
            for key, text in settings.items()
            if table.columns.get(key) != [text] * len(table.places)
        }
        tables.append(replace(table, columns={**table.columns, **added}))
    lost = lost_runs(runs)
    if lost:
        tables = [_finished(table) for table in tables]
        tables += [_lost(run, tables[0], asked) for run in lost]
        runs = [*runs, *lost]
    found = _together(tables, [f"{run.folder.as_posix()}.run" for run in runs], by_path=False)
    own = path_columns([f"{name}.run" for name in names_of([run.folder / "run" for run in runs])])
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


def _lost(run: RunFolder, others: RawTable, asked: File) -> RawTable:
    """A row for a run that left settings and no results."""
    where = f"{run.folder.name}/{run.config.parent.name}/{run.config.name}"
    settings = settings_of(run, asked.text_of(run.config, where), where)
    columns = {name: [""] for name in others.columns}
    columns |= {name: [text] for name, text in settings.items()}
    columns |= {"status": ["failed"], "note": ["no results beside its settings"]}
    return RawTable(others.form, columns, [where])


def sources(paths: Iterable[Path]) -> str:
    """How pages shall call what was imported: names of files, without their folders."""
    return join_names((path.resolve().name for path in paths), 4)
