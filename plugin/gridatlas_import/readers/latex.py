r"""Tables of LaTeX: rows that end with `\\`, cells between ampersands."""

from __future__ import annotations

import re

from gridatlas.model.problems import quote
from gridatlas_import.files import File
from gridatlas_import.headings import table_of_rows
from gridatlas_import.markup import is_rule, without_latex
from gridatlas_import.rows import CannotImport, RawTable, Reported

ENDINGS = (".tex",)
_SPAN = re.compile(r"\\multicolumn\{(\d+)\}")
_AMPERSAND = re.compile(r"(?<!\\)&")
_RULES = re.compile(
    r"^(\s*\\[a-z]+rule(\[[^\]]*\]|\([^)]*\)|\{[^}]*\})*|\s*\\[hc]line(\{[^}]*\})?|\s*\\addlinespace(\[[^\]]*\])?)+"
)
_COMMENT = re.compile(r"(?<!\\)%.*")


def is_latex(text: str) -> bool:
    r"""Whether most lines are rows of a LaTeX table: they end with `\\` and have ampersands."""
    lines = [line.strip() for line in text.splitlines()[:200] if line.strip()]
    rows = [line for line in lines if "&" in line and re.search(r"\\\\(\[.*\])?\s*(%.*)?$", line)]
    return len(rows) >= 2 and len(rows) >= 0.4 * len(lines)


def read(file: File) -> RawTable:
    """The first table of a LaTeX file."""
    return read_latex(file.text, file.name)


def read_latex(text: str, name: str) -> RawTable:
    """The first table of a LaTeX file.

    Raises:
        CannotImport: For a text without one.
    """
    begin = re.search(r"\\begin\{(tabular\w*|array|longtable)\*?\}", text)
    before = 0
    if begin:
        end = re.search(r"\\end\{(tabular\w*|array|longtable)\*?\}", text[begin.end() :])
        before = text[: begin.end()].count("\n")
        text = text[begin.end() : begin.end() + end.start() if end else len(text)]
        text = re.sub(r"^\s*(\[[^\]]*\])?(\{(?:[^{}]|\{[^{}]*\})*\}\s*)+", "", text)
    rows: list[list[str]] = []
    lines: list[int] = []
    pending, first = "", 0
    for number, source in enumerate(text.splitlines(), before + 1):
        line = _COMMENT.sub("", source)
        line = _RULES.sub("", line) if is_rule(line) else line
        first = first if pending.strip() else number
        pending += f" {line}"
        if re.search(r"\\\\(\[.*?\])?\s*$", line):
            cells = _cells(re.sub(r"\\\\(\[.*?\])?\s*$", "", pending))
            if any(cells) and not (len(cells) > 2 and len(set(cells)) == 1):  # no section's title
                rows.append(cells)
                lines.append(first)
            pending = ""
    if len(rows) < 2:
        raise CannotImport(
            f"{name}, which has no table",
            r"rows that end with \\, and cells between ampersands",
            "name another file",
        )
    rows = _below_multirow(rows, text)
    width = len(rows[0])
    good = [at for at, row in enumerate(rows) if len(row) == width]
    reported = [
        Reported(f"{name}:{lines[at]}", f"{len(rows[at])} cells in {width} columns: "
                 f"{quote(' & '.join(rows[at]))}", bad=sum(map(bool, rows[at])) > 1)
        for at in range(len(rows)) if at not in good
    ]  # fmt: skip
    places = [f"{name}:{lines[at]}" for at in good]
    return table_of_rows("LaTeX table", [rows[at] for at in good], places, tuple(reported))


def _cells(row: str) -> list[str]:
    cells: list[str] = []
    for cell in _AMPERSAND.split(row):
        span = _SPAN.search(cell)
        text = without_latex(cell).strip()
        cells += [text] * (int(span[1]) if span else 1)
    return cells


def _below_multirow(rows: list[list[str]], text: str) -> list[list[str]]:
    """Rows whose first cells stand for those below them, where a cell spans several rows."""
    if "\\multirow" not in text:
        return rows
    found = [rows[0]]
    for row in rows[1:]:
        above = found[-1]
        first = next((at for at, cell in enumerate(row) if cell), 0)
        filled = len(found) > 1 and len(row) == len(above) and first <= 1
        found.append([*above[:first], *row[first:]] if filled else row)
    return found
