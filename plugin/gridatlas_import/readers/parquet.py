"""Tables of Parquet."""

from __future__ import annotations

from gridatlas.data.tables import read_table
from gridatlas_import.files import File
from gridatlas_import.rows import CannotImport, RawTable, unique_names

ENDINGS = (".parquet",)


def read(file: File) -> RawTable:
    """The table of a file.

    Raises:
        CannotImport: For a file that can't be read.
    """
    found, problems = read_table(file.path, file.name)
    if found is None:
        problem = problems[0]
        raise CannotImport(f"{file.name}: {problem.found}", problem.expected, problem.fix)
    columns, notes = unique_names([*found.columns])
    texts = dict(zip(columns, map(list, found.texts), strict=True))
    places = [f"{file.name}:{line}" for line in found.lines]
    return RawTable("Parquet", texts, places, notes=tuple(notes))
