"""What is wrong with the data, where, and how to fix it.

Validators return problems; nothing is raised before all of them are known. One place at the edge
(the command line, a host) prints them or raises `DataProblems`.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gridatlas.model.inert import without_commands
from gridatlas.model.kinds import KINDS

Severity = Literal["problem", "note"]
LONGEST = 4000
"""Characters of each part of a message, more than any expression with its caret; names are data,
and may be of any length."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or note, at one place of the input. `str` gives the whole message.

    Attributes:
        kind: The stable name of its kind, such as `out-of-range`.
        file: The path of the file, as you would type it.
        found: What is there.
        expected: What would be correct.
        fix: What to do.
        line: The line of the file, from 1; `None` for the whole file.
        column: The column of the table, or the path of the key in `study.yml`.
        severity: A `problem` is an error, a `note` isn't.
    """

    kind: str
    file: str
    found: str
    expected: str
    fix: str
    line: int | None = None
    column: str | None = None
    severity: Severity = "problem"

    @classmethod
    def of(
        cls,
        kind: str,
        file: str,
        found: str,
        line: int | None = None,
        column: str | None = None,
        *,
        expected: str | None = None,
        fix: str | None = None,
        severity: Severity = "problem",
        values: Mapping[str, object] | None = None,
    ) -> Problem:
        """A problem with the texts of its kind.

        Args:
            expected: In the place of the kind's own text, as is `fix`.
            values: What stands in braces in the kind's texts.
        """
        texts = KINDS[kind]
        expected = texts.expected.format(**values or {}) if expected is None else expected
        fix = texts.fix.format(**values or {}) if fix is None else fix
        return cls(kind, file, found, expected, fix, line, column, severity)

    def __post_init__(self) -> None:
        for name in ("found", "expected", "fix", "column"):
            text = getattr(self, name)
            if text and len(text) > LONGEST:
                text = f"{text[: LONGEST - 1]}…"
            if text:
                object.__setattr__(self, name, visible(text))

    @property
    def place(self) -> str:
        """File, line and column as one text: `data/s/cells.csv:12, column "ratio"`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        place = f'{place}, "{self.column}"' if self.column else place
        return printable(place)

    def __str__(self) -> str:
        # Only what was found may go over several lines: an expression with a caret below.
        found = "\n".join(map(printable, self.found.split("\n")))
        return (
            f"{self.place}: {self.severity} [{self.kind}]\n"
            f"  found:    {found}\n"
            f"  expected: {printable(self.expected)}\n"
            f"  fix:      {printable(self.fix)}"
        )


ALIKE = 100
"""Problems of one kind in one file that are told one by one where people read."""


@dataclass(frozen=True, slots=True)
class More:
    """How many more problems of a kind a file has than are told one by one."""

    kind: str
    file: str
    severity: Severity
    number: int
    line: None = None

    @property
    def place(self) -> str:
        """The file, as a terminal and a page show it."""
        return printable(self.file)

    def __str__(self) -> str:
        what = self.severity if self.number == 1 else f"{self.severity}s"
        return (
            f"{self.place}: {self.number:,} more {what} like these [{self.kind}]; "
            "gridatlas check --all lists each"
        )


def truncate_list(found: Iterable[Problem], most: int = ALIKE) -> list[Problem | More]:
    """The first problems of each kind in each file, in their order, and how many more there are."""
    counts: dict[tuple[str, str, Severity], int] = {}
    shown: list[Problem | More] = []
    for problem in found:
        key = problem.kind, problem.file, problem.severity
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= most:
            shown.append(problem)
    shown += [More(*key, number - most) for key, number in counts.items() if number > most]
    return shown


class DataProblems(Exception):
    """The data has problems.

    Attributes:
        problems: Every problem, not only the first.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(without_commands("\n".join(map(str, truncate_list(self.problems)))))


def only_problems(found: Iterable[Problem]) -> tuple[Problem, ...]:
    """The entries that make data unfit, without the notes."""
    return tuple(problem for problem in found if problem.severity == "problem")


UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML can hold; half characters, as in names of files, no UTF-8 either."""


def visible(text: str) -> str:
    """Text that any page can hold: names of files, and JSON, may have what no page can."""
    return UNSEEN.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def printable(text: str) -> str:
    """Text on one line that a terminal shows as it is: names are data too.

    Accents that stand apart from their letters are escaped, too: `café` may be two texts.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    apart = not unicodedata.is_normalized("NFC", text)
    return "".join(
        c if c.isprintable() and not (apart and unicodedata.combining(c)) else f"\\x{ord(c):02x}"
        for c in text
    )


def quote(value: object, limit: int = 80) -> str:
    """A value as it is quoted in a message: in double quotes, on one line, cut at `limit`."""
    text = printable(str(value)[: limit + 1].replace("\\", "\\\\"))
    return f'"{text if len(text) <= limit else text[: limit - 1] + "…"}"'


def join_names(names: Iterable[object], limit: int = 12) -> str:
    """Names as a list for a message: `a, b, c`, and how many more there are."""
    texts = [printable(str(name)) for name in names]
    more = len(texts) - limit
    return ", ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that is most like `name`, or alone begins with it; None for no such."""
    by_lower = {_simple(name): name for name in names}
    near = difflib.get_close_matches(_simple(name), by_lower, n=1, cutoff=0.6)
    if near:
        return by_lower[near[0]]
    begun = [full for full in by_lower if len(name) >= 3 and full.startswith(_simple(name))]
    return by_lower[begun[0]] if len(begun) == 1 else None


def _simple(name: str) -> str:
    return unicodedata.normalize("NFKC", name).lower()
