"""A table of results of lm-evaluation-harness or MTEB, each with what its logs say besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.model.problems import join_names
from gridatlas_import.files import File
from gridatlas_import.json_values import table_of
from gridatlas_import.logs.lm_eval_logs import TIME
from gridatlas_import.paths import matched, path_columns
from gridatlas_import.rows import CannotImport, RawTable, Reported

Record = tuple[str, Any]


def harness_table(
    form: str,
    files: Sequence[File],
    recognise: Callable[[File], bool],
    given: Sequence[Record],
    parts: RawTable,
) -> RawTable:
    """The table of the results in files.

    What `--path` names is a column, and counts for more than what the files say: they call a model
    by the folder that it was read from.

    Args:
        recognise: Whether a file has such results; the others are reported.
        given: The results of those that have.
        parts: What else the table has.

    Raises:
        CannotImport: For files without a score.
    """
    others = [
        Reported(file.name, f"a file that isn't {form}") for file in files if not recognise(file)
    ]
    if not given:
        raise CannotImport(f"{form} without a score", "at least one", "run it again")
    names, pattern = [file.name for file in files], files[0].asked.pattern
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
        reported=(*table.reported, *parts.reported, *others),
        notes=(*replaced, *parts.notes, *table.notes),
        keep=parts.keep,
        origins=(*table.origins, *parts.origins),
        settings=parts.settings,
        logs=parts.logs,
    )


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
