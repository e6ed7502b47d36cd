"""How large input may be: what is beyond a limit isn't read, and is told with the limit's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields

from gridatlas.model.problems import Problem, join_names, nearest, quote


class NotRead(Exception):
    """What isn't read, and why; whoever asked knows how the file is called."""

    def __init__(
        self, kind: str, found: str, expected: str, fix: str, line: int | None = None
    ) -> None:
        super().__init__(found)
        self.kind, self.found, self.expected, self.fix = kind, found, expected, fix
        self.line = line

    def problem(self, name: str, line: int | None = None, column: str | None = None) -> Problem:
        """The problem of a file.

        Args:
            name: Its path in messages.
        """
        return Problem(
            self.kind, name, self.found, self.expected, self.fix, line or self.line, column
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What input may be at most."""

    file_bytes: int = 2**30
    """Bytes of a file."""

    unpacked_bytes: int = 2**30
    """Bytes of what is packed in a file: `.gz`, `.xlsx`, `.parquet`, `.eval`."""

    unpacked_times: int = 100
    """The same, in sizes of the packed file; 64 MiB are always fine."""

    revision_bytes: int = 2**31
    """Bytes of the data folder of a git revision."""

    readings: int = 1_000
    """Readings of a study."""

    runs: int = 2_000
    """Files in a study's folder `runs`."""

    rows: int = 10_000_000
    """Rows of a table."""

    columns: int = 10_000
    """Columns of a table."""

    problems: int = 100_000
    """Rows of a table that have a problem."""

    levels: int = 100_000
    """Levels of a factor."""

    cells: int = 1_000_000
    """Cells of all grids of a study, if there are more than 100 for each row."""

    values: int = 20_000_000
    """Values in a file in JSON."""

    study_values: int = 200_000
    """Values in a file in YAML, such as `study.yml`."""

    study_characters: int = 2_000_000
    """Characters of such a file."""

    text_characters: int = 20_000
    """Characters of a value in it."""

    cell_characters: int = 131_072
    """Characters of a cell of a CSV table."""

    line_characters: int = 10_000_000
    """Characters of a line of a CSV table."""

    document_characters: int = 10_000_000
    """Characters of a `text` that a reading is checked against."""


_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 (it is frozen)


def limits() -> Limits:
    """What holds here."""
    return _limits.get()


@contextmanager
def limited(to: Limits) -> Iterator[None]:
    """Have other limits hold within."""
    token = _limits.set(to)
    try:
        yield
    finally:
        _limits.reset(token)


def limits_of(given: Mapping[str, object]) -> Limits:
    """The limits with some changed, by their names.

    Raises:
        ValueError: For a name that no limit has, or what is no whole number above 0; says which.
    """
    names = [field.name for field in fields(Limits)]
    for name, value in given.items():
        if name not in names:
            near = nearest(str(name), names)
            right = f"did you mean {near}?" if near else f"the limits are {join_names(names, 30)}"
            raise ValueError(f"no limit {quote(name)}; {right}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} is {quote(value)}; write a whole number from 1, such as 5000")
    return Limits(**{**asdict(Limits()), **given})


def beyond(limit: str, found: str, what: str, fix: str = "", line: int | None = None) -> NotRead:
    """The refusal of what is larger than a limit.

    Args:
        limit: The limit's name.
        found: How large it is, in words.
        what: What is counted, such as `columns`.
        fix: What else may help than a higher limit.
    """
    most = getattr(limits(), limit)
    fix = f"{fix}, or {allow(limit)}" if fix else allow(limit)
    return NotRead("too-large", found, f"at most {most:,} {what}", fix, line)


def allow(limit: str) -> str:
    """How to set a limit higher, as a message says it."""
    return f"allow more: --limit {limit}=NUMBER, or the option limits of the site"


def check_limit(limit: str, number: int, what: str, fix: str = "") -> None:
    """Refuse a number that is above a limit.

    Raises:
        NotRead: It is.
    """
    if number > getattr(limits(), limit):
        raise beyond(limit, f"{number:,} {what}", what, fix)


def excess(
    limit: str,
    number: int,
    what: str,
    name: str,
    line: int | None = None,
    column: str | None = None,
    fix: str = "",
) -> Problem | None:
    """The problem of a number that is above a limit, in a file; None where it isn't above."""
    try:
        check_limit(limit, number, what, fix)
    except NotRead as refused:
        return refused.problem(name, line, column)
    return None


def check_json(text: str) -> None:
    """Refuse JSON of too many values, by what stands between them.

    Raises:
        NotRead: For more than the limits allow.
    """
    if len(text) > limits().values:
        check_limit("values", sum(map(text.count, ",[{")), "values")


FINE_UNPACKED = 64 * 2**20
"""Bytes that may come out of a packed file of any size."""


def check_unpacked(unpacked: int, packed: int) -> None:
    """Refuse what a packed file holds, or would.

    Args:
        unpacked: Bytes that are known of, so far.
        packed: Bytes of the file.

    Raises:
        NotRead: They are too many.
    """
    found = f"{unpacked:,} bytes or more unpacked, of {packed:,}"
    if unpacked > limits().unpacked_bytes:
        raise beyond("unpacked_bytes", found, "bytes unpacked")
    if unpacked > max(FINE_UNPACKED, limits().unpacked_times * packed):
        raise beyond("unpacked_times", found, "times the bytes of the packed file")
