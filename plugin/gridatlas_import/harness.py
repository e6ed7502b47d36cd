"""A table of results of lm-evaluation-harness or MTEB, each with what its logs say besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_import.logs.lm_eval_logs import TIME, ResultFile, from_logs
from gridatlas_import.paths import matched, path_columns
from gridatlas_import.readers import lm_eval, mteb
from gridatlas_import.readers.json_values import parse_json, table_of
from gridatlas_import.rows import CannotImport, RawTable, Reported

Record = tuple[str, Any]


def harness_table(
    trees: Mapping[Path, Any],
    names: Sequence[str],
    pattern: str | None,
    read: Callable[[Path, str], str],
) -> RawTable | None:
    """The table of the results in files; None where no file has any.

    What `--path` names is a column, and counts for more than what the files say: they call a model
    by the folder that it was read from.

    Args:
        read: Gives the text of a file.

    Raises:
        CannotImport: For files without a score, or that can't be read.
    """
    forms = ((lm_eval.FORM, lm_eval.is_lm_eval), (mteb.FORM, mteb.is_mteb))
    found = next(((form, mine) for form, mine in forms if any(map(mine, trees.values()))), None)
    if found is None:
        return None
    form, mine = found
    files = [
        ResultFile(file, name, tree)
        for (file, tree), name in zip(trees.items(), names, strict=True)
        if mine(tree)
    ]
    others = [
        Reported(name, f"a file that isn't {form}")
        for tree, name in zip(trees.values(), names, strict=True)
        if not mine(tree)
    ]
    if form == lm_eval.FORM:
        extra = from_logs(files, [[*lm_eval.records(f.tree, f.name)] for f in files])
        given = extra.records
        parts = RawTable(
            "", {}, (), extra.reported, extra.notes, lm_eval.KEEP, origins=extra.origins,
            settings=extra.settings, logs=extra.logs,
        )  # fmt: skip
    else:
        given = tuple(
            record
            for file in files
            for record in mteb.records(file.tree, file.name, file.path.resolve(), _meta(file, read))
        )
        parts = RawTable("", {}, ())
    if not given:
        raise CannotImport(f"{form} without a score", "at least one", "run it again")
    return _table(form, given, names, pattern, replace(parts, reported=(*parts.reported, *others)))


def _table(
    form: str,
    given: Sequence[Record],
    names: Sequence[str],
    pattern: str | None,
    parts: RawTable,
) -> RawTable:
    """The table of records.

    Args:
        parts: What else it has.
    """
    instead: dict[str, None] = {}
    records = []
    place_of = {name: at for at, name in enumerate(names)}
    for place, record in given:
        own = matched(_file_of(place, place_of), pattern) if pattern else {}
        instead |= {key: None for key in own if key in record}
        records.append((place, {**record, **own}))
    table = table_of(records, form)
    if not pattern:
        table = _with_paths(table, names)
    replaced = [f"{join_names(instead)}: as --path says, not as the files do"] if instead else []
    return replace(
        table,
        reported=(*table.reported, *parts.reported),
        notes=(*replaced, *parts.notes, *table.notes),
        keep=parts.keep,
        origins=(*table.origins, *parts.origins),
        settings=parts.settings,
        logs=parts.logs,
    )


def _meta(file: ResultFile, read: Callable[[Path, str], str]) -> str:
    """The model's name as the file beside MTEB's results says it; empty where there is none."""
    path = file.path.parent / mteb.META
    if not path.exists():
        return ""
    tree = parse_json(read(path, path.name), path.name)
    return str(tree.get("name") or "") if isinstance(tree, Mapping) else ""


def _with_paths(table: RawTable, names: Sequence[str]) -> RawTable:
    """A table of records with columns of their paths, which count where nothing else does."""
    place_of = {name: at for at, name in enumerate(names)}
    rows = [place_of.get(_file_of(place, place_of), 0) for place in table.places]
    own = {
        name: [texts[row] for row in rows] for name, texts in path_columns(names).columns.items()
    }
    models = table.columns.get("model", ())
    alone = len(set(models)) == 1 and len({*table.columns.get("task", ())}) == 1
    if alone and len(names) > 1 and not all(TIME.fullmatch(Path(name).name) for name in names):
        # The folder is the task's: the model stands in the name of the file.
        stems = [_model_of(names[row]) for row in rows]
        return replace(table, columns={**table.columns, "model": stems})
    own = {name: texts for name, texts in own.items() if name not in table.columns}
    return replace(table, columns={**table.columns, **own}, origins=tuple(own))


def _file_of(place: str, names: Mapping[str, int]) -> str:
    while place and place not in names:
        place = place.rpartition(":")[0]
    return place


def _model_of(name: str) -> str:
    """The model in a file's name: `org__model__revision.json` is `org/model`."""
    parts = Path(name).stem.split("__")
    named = [part for part in parts if not re.fullmatch(r"[0-9a-f]{7,40}|\d+|external|no_.*", part)]
    return "/".join(named or parts)
