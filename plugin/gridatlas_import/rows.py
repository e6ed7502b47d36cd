"""What was read of files before anything is decided: columns of texts, and each row's place."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from gridatlas.model.limits import NotRead
from gridatlas.model.problems import join_names, nearest


class CannotImport(Exception):
    """The import can't go on; nothing was written.

    Attributes:
        usage: Whether options would help (exit 2), instead of other data (exit 1).
        problems: Itself, or several reasons.
    """

    usage = False

    def __init__(self, found: str, expected: str, fix: str) -> None:
        super().__init__(found)
        self.found, self.expected, self.fix = found, expected, fix
        self.problems: tuple[CannotImport, ...] = (self,)

    def __str__(self) -> str:
        return f"  found:    {self.found}\n  expected: {self.expected}\n  fix:      {self.fix}"


class WrongUsage(CannotImport):
    """The import can't go on, and options would help."""

    usage = True


class SeveralProblems(CannotImport):
    """Several reasons at once, so that one run tells all of them."""

    def __init__(self, problems: Sequence[CannotImport]) -> None:
        first = problems[0]
        super().__init__(first.found, first.expected, first.fix)
        self.usage = all(problem.usage for problem in problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def unknown(
    option: str, name: str, among: Iterable[str], what: str, before: str = ""
) -> CannotImport:
    """What is said of a name that an option gives and nothing has: what there is, and the nearest.

    Args:
        before: What stands before the name in the option: `--only split=test`.
    """
    able = [*among]
    near = nearest(name, able)
    fix = f"write {option} {before}{near}" if near else "correct the name"
    listed = join_names(able, 30)
    return WrongUsage(f"{option} {before}{name}", f"{what} {listed}", fix)


def in_range(number: int | None, count: int, what: str, name: str) -> None:
    """See that there is a table of the number that somebody asks for.

    Raises:
        CannotImport: Where there is none.
    """
    if number is not None and not 1 <= number <= count:
        expected = f"1 to {count}, the {what}s of {name}"
        expected = expected if count else f"a {what}, but {name} has none"
        raise WrongUsage(f"--table {number}", expected, "correct the number")


@contextmanager
def importable(name: str) -> Iterator[None]:
    """Say of a file that can't be opened, or is beyond a limit, that it can't be imported.

    Args:
        name: Its name in messages.

    Raises:
        CannotImport: In the place of what was raised.
    """
    try:
        yield
    except NotRead as error:
        raise CannotImport(f"{name}: {error.found}", error.expected, error.fix) from None
    except OSError as error:
        raise CannotImport(
            f"{name}: {error.strerror or error}", "a file that can be read", "check its permissions"
        ) from None


@dataclass(frozen=True, slots=True)
class Reported:
    """A row that gives no cell: where it stands, and why.

    Attributes:
        bad: Whether it is wrong, so that the import stops unless it may be skipped.
    """

    place: str
    why: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class ItemOutcomes:
    """What a log says of each item of a cell.

    Attributes:
        ids: What the items are called.
        checks: Digests of what was asked, so that equal ids are known to be equal items.
        samples: Graded samples of each item.
        correct: Those that are right.
    """

    ids: tuple[str, ...]
    checks: tuple[str, ...]
    samples: tuple[int, ...]
    correct: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogFiles:
    """What logs say besides the rows of their table.

    Attributes:
        tool: Which program wrote them, with its version where they say it.
        started: When the first began, as it says; empty where none does.
        packages: Versions of packages that they name.
        outcomes: By the place of a row.
        files: By the place of a row, the log's path and that of its samples.
    """

    tool: str
    started: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, ItemOutcomes] = field(default_factory=dict)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawTable:
    """All rows of all files, by columns.

    Attributes:
        form: What kind of file it is, for people: `CSV with semicolons, UTF-16`.
        columns: By name, the text of each row.
        places: Of each row, where it stands in a file.
        reported: Rows that can't be read, or are none.
        notes: What was noticed while reading.
        keep: Levels that rows must have to be taken, where nobody says otherwise.
        semicolons: Whether semicolons separate values, as where commas are decimal marks.
        origins: Columns that only say where a row comes from; factors only where they are needed.
        headings: Columns whose names are levels of several factors, with these levels.
        heading_names: Names of these factors.
        wide: Headings that became levels, where the table was wide.
        metric: What all its headings say was measured.
        titles: What names the table, the nearest first: a caption or heading, its file.
        left_out: Columns that were left out when it became long, each with the reason.
        settings: Columns that are known to be settings, whatever they are called.
        logs: What the logs say besides, where the rows are from logs.
        reading: Column that says whose account a row is; empty where all are of one.
        units: Units of columns that cells, or the program that wrote them, tell.
        looked: What was found of columns, which their texts know; see `columns.column_of`.
    """

    form: str
    columns: Mapping[str, Sequence[str]]
    places: Sequence[str]
    reported: tuple[Reported, ...] = ()
    notes: tuple[str, ...] = ()
    keep: Mapping[str, str] = field(default_factory=dict)
    semicolons: bool = False
    origins: tuple[str, ...] = ()
    headings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    heading_names: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    metric: str = ""
    titles: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    settings: tuple[str, ...] = ()
    logs: LogFiles | None = None
    reading: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    looked: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def with_rows(self, rows: Sequence[int]) -> RawTable:
        """The table with some of its rows."""
        columns = {name: [texts[row] for row in rows] for name, texts in self.columns.items()}
        return replace(self, columns=columns, places=[self.places[row] for row in rows])


def by_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """The columns of rows that all have a text for each."""
    texts = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(names, texts, strict=True))


def unused(name: str, taken: Container[str]) -> str:
    """The name, or the first of `name_2`, `name_3` and so on that isn't taken."""
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name not in taken else next(n for n in numbered if n not in taken)


def unique_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names of columns, none empty and none twice, with a note for each that was changed."""
    taken: list[str] = []
    notes = []
    for place, name in enumerate(names, 1):
        given = " ".join(name.split()) or f"column_{place}"
        new, number = given, 1
        while new in taken or (new != given and new in names):
            number += 1
            new = f"{given}_{number}"
        if not name.strip():
            notes.append(f"column {place} has no name; it is called {new} here")
        elif new != given:
            notes.append(f"column {place} is a second {given}; it is called {new} here")
        taken.append(new)
    return tuple(taken), notes
