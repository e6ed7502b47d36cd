"""Looks at files and folders, and reads them by what they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.data.tables import read_table
from gridatlas.importing.readers import lm_eval, mteb
from gridatlas.importing.readers.delimited import decode, read_delimited
from gridatlas.importing.readers.json_values import parse_json, read_json, read_lines, table_of
from gridatlas.importing.readers.markdown_tables import read_markdown
from gridatlas.importing.rows import CannotImport, RawTable, Reported, unique_names
from gridatlas.model.problems import join_names

ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".md", ".markdown")
_PART = re.compile(r"([A-Za-z][A-Za-z_]*?)[=]?[_=-]?([+-]?\d+(?:\.\d+)?(?:e-?\d+)?)")


def detect(
    paths: Sequence[Path],
    *,
    encoding: str | None = None,
    table: int | None = None,
    pattern: str | None = None,
) -> RawTable:
    """All rows of files, or of the files in folders.

    Args:
        encoding: Of text tables that aren't UTF-8.
        table: Which of several tables of a Markdown page, from 1.
        pattern: Names of the parts of the files' paths: `{model}/{seed}.json`.

    Raises:
        CannotImport: For what can't be read.
    """
    files = [file for path in paths for file in _files(path)]
    if len({file.resolve() for file in files}) < len(files):
        raise CannotImport(
            "a file that is named twice", "each file once", "name it once", usage=True
        )
    names = _names(files)
    trees = {
        file: parse_json(_text(file, name, encoding)[0], name)
        for file, name in zip(files, names, strict=True)
        if file.suffix.lower() == ".json"
    }
    if trees and len(trees) == len(files):
        found = _harness(trees, names, pattern) or _cells(trees, names, pattern)
        if found:
            return found
    tables = []
    for file, name in zip(files, names, strict=True):
        if file.suffix.lower() == ".json":
            tables.append(read_json(trees[file], name))
        else:
            tables.append(_table(file, name, encoding, table))
    if pattern:
        tables = [_named(*named) for named in zip(tables, _path_parts(names, pattern), strict=True)]
    return tables[0] if len(tables) == 1 else _together(tables, names)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in ENDINGS
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
            and file.name != mteb.META
        )
        endings = sorted({file.suffix.lower() for file in found})
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
    if not path.is_file():
        raise CannotImport(
            f"{path}: no such file", "a file or folder", "correct the name", usage=True
        )
    return [path]


def _names(files: Sequence[Path]) -> list[str]:
    """Short names: below the folder that all have in common."""
    around = Path(os.path.commonpath([file.resolve().parent for file in files]))
    return [file.resolve().relative_to(around).as_posix() for file in files]


def _table(file: Path, name: str, encoding: str | None, number: int | None) -> RawTable:
    ending = file.suffix.lower()
    if ending == ".parquet":
        found, problems = read_table(file, name)
        if found is None:
            raise CannotImport(
                f"{name}: {problems[0].found}", problems[0].expected, problems[0].fix
            )
        columns, notes = unique_names([*found.columns])
        texts = dict(zip(columns, found.texts, strict=True))
        places = [f"{name}:{line}" for line in found.lines]
        return RawTable("Parquet", texts, places, notes=tuple(notes))
    text, encoding_note = _text(file, name, encoding)
    if ending in (".md", ".markdown"):
        return read_markdown(text, name, number)
    if ending in (".jsonl", ".ndjson"):
        return read_lines(text, name)
    return read_delimited(text, name, encoding_note)


def _text(file: Path, name: str, encoding: str | None) -> tuple[str, str]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CannotImport(
            f"{name}: {error.strerror}", "a file that can be read", "check its permissions"
        ) from None
    return decode(data, name, encoding)


def _named(table: RawTable, parts: Mapping[str, str]) -> RawTable:
    """A table with a column for each part of its file's path that `--path` names."""
    twice = [name for name in parts if name in table.columns]
    if twice:
        raise CannotImport(
            f"--path with {{{twice[0]}}}, and a column {twice[0]}",
            "names that the table doesn't have",
            f"name the part otherwise, such as {{{twice[0]}_path}}",
            usage=True,
        )
    named = {name: [text] * len(table.places) for name, text in parts.items()}
    return replace(table, columns={**named, **table.columns})


def _together(tables: Sequence[RawTable], names: Sequence[str]) -> RawTable:
    """The rows of several tables, with a column that names the file of each."""
    columns: dict[str, list[str]] = {name: [] for table in tables for name in table.columns}
    notes = [note for table in tables for note in table.notes]
    for table, name in zip(tables, names, strict=True):
        absent = [column for column in columns if column not in table.columns]
        if absent:
            notes.append(f"{name} has no column {join_names(absent)}; it is empty there")
    own = "file" if "file" not in columns else "file_name"
    for table in tables:
        absent = [""] * len(table.places)
        for column, texts in columns.items():
            texts.extend(table.columns.get(column, absent))
    columns[own] = [
        name.rpartition(".")[0]
        for table, name in zip(tables, names, strict=True)
        for _ in table.places
    ]
    forms = dict.fromkeys(table.form for table in tables)
    return RawTable(
        f"{len(tables)} files, {'; '.join(forms)}",
        columns,
        [place for table in tables for place in table.places],
        tuple(row for table in tables for row in table.reported),
        tuple(dict.fromkeys(notes)),
        semicolons=any(table.semicolons for table in tables),
        origins=(own,),
    )


# --- JSON files that are no tables ----------------------------------------------------------------


def _harness(
    trees: Mapping[Path, Any], names: Sequence[str], pattern: str | None
) -> RawTable | None:
    """A table of results of lm-evaluation-harness or MTEB; None where no file is one.

    What `--path` names is a column, and counts for more than what the files say: they call a model
    by the folder that it was read from.
    """
    for form, mine in ((lm_eval.FORM, lm_eval.is_lm_eval), (mteb.FORM, mteb.is_mteb)):
        if not any(map(mine, trees.values())):
            continue
        records: list[tuple[str, Any]] = []
        others = []
        instead: dict[str, None] = {}
        for (file, tree), name in zip(trees.items(), names, strict=True):
            if not mine(tree):
                others.append(Reported(name, f"a file that isn't {form}"))
                continue
            found = (
                lm_eval.records(tree, name)
                if form == lm_eval.FORM
                else mteb.records(tree, name, file.resolve(), _meta(file))
            )
            parts = _matched(name, pattern) if pattern else {}
            for place, record in found:
                instead |= {key: None for key in parts if key in record}
                records.append((place, {**record, **parts}))
        if not records:
            raise CannotImport(f"{form} without a score", "at least one", "run it again")
        table = table_of(records, form)
        keep = lm_eval.KEEP if form == lm_eval.FORM else {}
        reported = (*table.reported, *others)
        replaced = (
            [f"{join_names(instead)}: as --path says, not as the files do"] if instead else []
        )
        notes = (*replaced, *table.notes)
        return replace(table, reported=reported, notes=notes, keep=keep)
    return None


def _meta(file: Path) -> str:
    """The model's name as the file beside MTEB's results says it; empty where there is none."""
    path = file.parent / mteb.META
    if not path.is_file():
        return ""
    tree = parse_json(_text(path, path.name, None)[0], path.name)
    return str(tree.get("name") or "") if isinstance(tree, Mapping) else ""


def _cells(trees: Mapping[Path, Any], names: Sequence[str], pattern: str | None) -> RawTable | None:
    """A table of files with one object each; None where a file is no such object."""
    if len(trees) < 2 and not pattern:
        return None
    one_cell = [
        isinstance(tree, Mapping)
        and bool(tree)
        and not any(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in tree.values())
        for tree in trees.values()
    ]
    if not any(one_cell):
        return None
    parts = _path_parts(names, pattern)
    records = []
    for tree, name, part, fits in zip(trees.values(), names, parts, one_cell, strict=True):
        taken = {key: value for key, value in part.items() if not fits or key not in tree}
        records.append((name, {**taken, **tree} if fits else tree))
    keys = {key for part in parts for key in part}
    table = table_of(records, f"{len(trees)} JSON files with one cell each")
    unnamed = tuple(key for key in table.columns if key in keys and re.match("folder_|file_", key))
    return replace(table, origins=unnamed)


def _path_parts(names: Sequence[str], pattern: str | None) -> list[dict[str, str]]:
    """What the paths of files say: by a pattern, or by parts such as `lr=0.1` and `layer-3`."""
    if pattern:
        return [_matched(name, pattern) for name in names]
    split = [
        Path(name).with_suffix("").parts if "/" in name else (Path(name).stem,) for name in names
    ]
    same_depth = len({len(parts) for parts in split}) == 1
    found = []
    for parts in split:
        parts_named: dict[str, str] = {}
        for depth, part in enumerate(parts, 1):
            named = _PART.fullmatch(part) or re.fullmatch(r"([A-Za-z]\w*?)=(.+)", part)
            if named:
                parts_named[named[1]] = named[2]
            elif same_depth:
                parts_named[f"folder_{depth}" if depth < len(parts) else "file_name"] = part
        found.append(parts_named)
    return found


def _matched(name: str, pattern: str) -> dict[str, str]:
    pieces = re.split(r"\{(\w+)\}", pattern)
    expression = "".join(
        f"(?P<{piece}>[^/]+?)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces)
    )
    try:
        found = re.fullmatch(f"(?:.*/)?{expression}", name)
    except re.error:
        raise CannotImport(
            f"--path {pattern}", "each name once", "name each part once", usage=True
        ) from None
    if not found:
        raise CannotImport(
            f"{name}, which isn't like --path {pattern}",
            "a path of that form",
            "correct the pattern; it begins below the folder that all files have in common",
            usage=True,
        )
    return found.groupdict()


def sources(paths: Iterable[Path]) -> str:
    """How pages shall call what was imported: names of files, without their folders."""
    return join_names((path.resolve().name for path in paths), 4)
