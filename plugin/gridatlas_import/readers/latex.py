r"""Tables of LaTeX: rows that end with `\\`, cells between ampersands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gridatlas_import.files import File
from gridatlas_import.headings import PrintedTable, Spans, chosen_table
from gridatlas_import.markup import without_latex
from gridatlas_import.rows import RawTable

ENDINGS = (".tex",)
_CAPTION = re.compile(r"\\caption\*?(?:\[[^\]]*\])?\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_DOWN = re.compile(r"\\multirow\*?(?:\[[^\]]*\])?\{(-?\d{1,4})\}")
_WIDEST = 1000
_SPAN = re.compile(r"\\multicolumn\{(\d{1,4})\}")
_AMPERSAND = re.compile(r"(?<!\\)&")
_RULES = re.compile(
    r"\\(?:[a-z]+rule|[hc]line|addlinespace)(?:\[[^\]]*\]|\([^)]*\)|\{[^}]*\})*"
    r"|\\(?:rowcolor|arrayrulecolor)(?:\[[^\]]*\])?\{[^}]*\}"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\tabularnewline")
_BEGIN = re.compile(r"\\begin\{(tabular\w*|array|longtable)\*?\}")
_END = re.compile(r"\\end\{(tabular\w*|array|longtable)\*?\}")
_COLUMNS = re.compile(r"^\s*(\[[^\]]*\])?(\{(?:[^{}]|\{[^{}]*\})*\}\s*)+")
_COMMENT = re.compile(r"(?<!\\)%.*")


def is_latex(text: str) -> bool:
    r"""Whether most lines are rows of a LaTeX table: they end with `\\` and have ampersands."""
    lines = [line.strip() for line in text.splitlines()[:200] if line.strip()]
    rows = [line for line in lines if "&" in line and re.search(r"\\\\(\[.*\])?\s*(%.*)?$", line)]
    return len(rows) >= 2 and len(rows) >= 0.4 * len(lines)


def read(file: File) -> RawTable:
    """The table of a LaTeX file, or the one that is asked for.

    Raises:
        CannotImport: For a file without one, or with several of which none is named.
    """
    text = "\n".join(_COMMENT.sub("", line) for line in file.text.splitlines())
    begins = [*_BEGIN.finditer(text)]
    tables, before = [], 0
    for at, begin in enumerate(begins):
        rest = text[begin.end() : begins[at + 1].start() if at + 1 < len(begins) else len(text)]
        end = _END.search(rest)
        body = _COLUMNS.sub("", rest[: end.start()] if end else rest)
        skipped = text[: begin.end()].count("\n") + rest.count("\n") - body.count("\n")
        skipped -= rest[end.start() :].count("\n") if end else 0
        # A caption stands above the table, or between it and the end of its float.
        after = (rest[end.end() :] if end else "").partition("\\end{table")[0]
        captions = _CAPTION.findall(text[before : begin.start()]) or _CAPTION.findall(after)
        titles = [without_latex(caption) for caption in captions[-1:]]
        tables.append(_table(body, skipped + 1, titles))
        before = begin.end() + (end.end() if end else 0)
    if not begins:
        tables = [_table(text, 1, ())]
    return chosen_table("LaTeX table", [table for table in tables if len(table.rows) > 1], file)


def _table(text: str, line: int, titles: Sequence[str]) -> PrintedTable:
    spans = Spans()
    for part in _ROW_END.split(_RULES.sub("", text)):
        blank = len(part) - len(part.lstrip())
        first = line + part[:blank].count("\n")
        line += part.count("\n")
        cells = _AMPERSAND.split(part)
        if len(cells) < 2 and not _SPAN.search(part):
            continue
        spans.begin_row(first)
        place = 0
        for cell in cells:
            across, down = _SPAN.search(cell), _DOWN.search(cell)
            columns = min(int(across[1]), _WIDEST) if across else 1
            rows = min(int(down[1]), _WIDEST) if down else 1
            spans.put_at(place, without_latex(cell).strip(), columns, rows)
            place += columns
    return spans.table(titles)
