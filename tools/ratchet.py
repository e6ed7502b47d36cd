#!/usr/bin/env python3
"""Hold the size of the code: what each room has of it only falls.

  python tools/ratchet.py                        compare with tools/ratchet.toml
  python tools/ratchet.py --show                 what there is, beside the budgets
  python tools/ratchet.py --lower                write what fell into the budgets
  python tools/ratchet.py --against origin/main  and no budget rose without a new decision

A room is a folder. Four things of it are counted: `code` (lines of Python with anything but a
comment or a docstring), `modules`, `records` (dataclasses, named tuples, typed dicts, models, and
classes that inherit from one) and `markup` (lines of templates, scripts and stylesheets, without
comments). Explanations are free. No function and no module is longer than `[longest]` says.

A budget rises by hand alone, and its line names a decision that is new:

  code = 2450  # decision 51: waterfall charts

A room without a past has no slack, and all rooms together no more than before. The exit status is
1 where something is too large, and 2 where the comparison can't be made.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

COUNTS = ("code", "modules", "records", "markup")
MARKUP = (".jinja", ".html", ".js", ".css")
RECORDS = {"dataclass", "NamedTuple", "TypedDict", "BaseModel"}
QUIET = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
COMMENTS = re.compile(r"\{#.*?#\}|<!--.*?-->|/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r'\["?([^\]"]+)"?\]\s*(?:#.*)?')
ENTRY = re.compile(r"(\w+) = (\d+)\s*(.*)")
DECISION = re.compile(r"\bdecision (\d+)\b")

Sizes = dict[str, Counter[str]]
"""The counts of each room."""


# --- counting -------------------------------------------------------------------------------------


def docstrings(tree: ast.AST) -> Iterator[int]:
    """The lines of statements that are a text alone: docstrings, of attributes too."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(ast.Constant(str())):
                    yield from range(statement.lineno, (statement.end_lineno or 0) + 1)


def lines_of_code(source: str, tree: ast.AST) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in QUIET:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines.difference(docstrings(tree)))


def lines_of_markup(source: str) -> int:
    return sum(bool(line.strip()) for line in COMMENTS.sub("", source).splitlines())


def classes(tree: ast.AST) -> list[tuple[str, set[str]]]:
    """Each class, with the names in its decorators and bases."""
    return [
        (
            node.name,
            {
                name.id if isinstance(name, ast.Name) else name.attr
                for part in (*node.decorator_list, *node.bases)
                for name in ast.walk(part)
                if isinstance(name, ast.Name | ast.Attribute)
            },
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]


def records(found: Iterable[tuple[str, set[str]]]) -> set[str]:
    """Names of records: what makes one, and what inherits from a record, wherever that stands."""
    found, names = [*found], set(RECORDS)
    while new := {name for name, parts in found if parts & names} - names:
        names |= new
    return names


def measure(root: Path, rooms: Iterable[str]) -> Sizes:
    """The counts of each room; a file belongs to the longest room that holds it."""
    rooms = sorted(rooms, key=len)
    sizes: Sizes = {room: Counter() for room in rooms}
    declared: list[tuple[str, str, set[str]]] = []
    for room, path in in_rooms(root, rooms):
        source = path.read_text("utf-8")
        if path.suffix != ".py":
            sizes[room]["markup"] += lines_of_markup(source)
            continue
        tree = ast.parse(source)
        sizes[room].update(code=lines_of_code(source, tree), modules=1)
        declared += [(room, *about) for about in classes(tree)]
    names = records((name, parts) for _, name, parts in declared)
    for room, _, parts in declared:
        sizes[room]["records"] += bool(parts & names)
    return sizes


def in_rooms(root: Path, rooms: list[str]) -> Iterator[tuple[str, Path]]:
    """Each file that counts, with its room."""
    tops = [room for room in rooms if not any(room.startswith(f"{other}/") for other in rooms)]
    for path in sorted(path for top in tops for path in (root / top).rglob("*")):
        if path.suffix in (".py", *MARKUP) and path.is_file():
            yield [room for room in rooms if path.is_relative_to(root / room)][-1], path


# --- judging --------------------------------------------------------------------------------------


def above(sizes: Sizes, budgets: Mapping[str, Mapping[str, int]], totals: Mapping) -> list[str]:
    """What is larger than its budget, rooms and sums of rooms alike."""
    sums = {label: add(sizes[room] for room in total["rooms"]) for label, total in totals.items()}
    wrong = []
    for label, budget in {**budgets, **totals}.items():
        counts = (sizes | sums)[label]
        wrong += [
            f"{label}: {counts[name]:,} {name}, {counts[name] - budget[name]:,} above its budget "
            f"of {budget[name]:,}"
            for name in COUNTS
            if name in budget and counts[name] > budget[name]
        ]
    return wrong


def add(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def unbudgeted(root: Path, folders: Iterable[str], rooms: Iterable[str]) -> list[str]:
    """Modules in no room: a new package has a budget from its first day."""
    inside = [root / room for room in rooms]
    return [
        f"{path.relative_to(root)} is in no room of the budget"
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
        if not any(path.is_relative_to(room) for room in inside)
    ]


def too_long(root: Path, folders: Iterable[str], longest: Mapping[str, int]) -> list[str]:
    """Modules and functions of more lines than one reads at once, docstrings included."""
    wrong = []
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        source = path.read_text("utf-8")
        lines = {"": len(source.splitlines())} | {
            node.name: (node.end_lineno or node.lineno) - node.lineno + 1
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        wrong += [
            f"{path.relative_to(root)} {name}: {number} lines, more than {limit}"
            for name, number in lines.items()
            if number > (limit := longest["function" if name else "module"])
        ]
    return wrong


def entries(text: str) -> dict[tuple[str, str], tuple[int, str]]:
    """Each number of a file of budgets, by room and name, with the remark behind it."""
    found, room = {}, ""
    for line in text.splitlines():
        if heading := HEADING.fullmatch(line):
            room = heading[1]
        elif entry := ENTRY.match(line):
            found[room, entry[1]] = int(entry[2]), entry[3]
    return found


def risen(old: str, new: str, sizes: Sizes, decisions: set[int]) -> list[str]:
    """Budgets that rose without a decision that is new.

    Args:
        old: The text of the budgets before.
        new: Their text now.
        sizes: What the rooms hold now.
        decisions: Numbers of the decisions that there are.
    """
    before, after = entries(old), entries(new)
    wrong, rooms = [], Counter[str]()
    for (room, name), (number, remark) in after.items():
        past, remark_then = before.get((room, name), (None, ""))
        numbers = {int(found) for found in DECISION.findall(remark)} & decisions
        if numbers - {int(found) for found in DECISION.findall(remark_then)}:
            continue
        if past is not None and number > past:
            wrong.append(f"{room}: the budget of {name} rose from {past:,} to {number:,}")
        elif past is None and room in sizes and number > sizes[room][name]:
            wrong.append(
                f"{room}: new, with a budget of {number:,} {name} for {sizes[room][name]:,}"
            )
        rooms[name] += number if room in sizes else 0
    for name in COUNTS:
        past = sum(number for (room, of), (number, _) in before.items()
                   if of == name and not room.startswith(("total.", "longest")))  # fmt: skip
        if rooms[name] > past:
            wrong.append(f"all rooms: budgets of {name} rose from {past:,} to {rooms[name]:,}")
    return wrong


def earlier(root: Path, budget: Path, revision: str) -> str | None:
    """The budgets of another revision; None where it has none.

    Raises:
        ValueError: There is no such revision here.
    """
    git = ["git", "-C", str(root)]
    known = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if known.returncode:
        raise ValueError(
            f"{revision} can't be read here, so budgets can't be compared with it: fetch it "
            "(git fetch origin main)"
        )
    name = budget.resolve().relative_to(root.resolve()).as_posix()
    shown = subprocess.run(
        [*git, "show", f"{known.stdout.strip()}:{name}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return None if shown.returncode else shown.stdout


# --- writing --------------------------------------------------------------------------------------


def lowered(text: str, sizes: Sizes, totals: Mapping) -> str:
    """The budgets with what has fallen, of sums too; a remark behind a number that falls goes."""
    now = sizes | {
        f"total.{label}": add(sizes[room] for room in total["rooms"])
        for label, total in totals.items()
    }
    lines, room = [], ""
    for line in text.splitlines():
        if heading := HEADING.fullmatch(line):
            room = heading[1]
        entry = ENTRY.match(line)
        fell = entry and room in now and now[room][entry[1]] < int(entry[2])
        lines.append(f"{entry[1]} = {now[room][entry[1]]}" if entry and fell else line)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Compare, or write; return the exit status."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=here.parent, help="the repository")
    parser.add_argument("--budget", type=Path, default=here / "ratchet.toml", help="the budgets")
    parser.add_argument("--show", action="store_true", help="print every count")
    parser.add_argument("--lower", action="store_true", help="write what fell")
    parser.add_argument("--against", metavar="REVISION", help="budgets rose only by decisions")
    given = parser.parse_args()
    text = given.budget.read_text("utf-8")
    budgets = tomllib.loads(text)
    totals, longest = budgets.pop("total", {}), budgets.pop("longest")
    folders = budgets.pop("folders")
    if gone := [room for room in budgets if not (given.root / room).is_dir()]:
        print(f"{given.budget.name} names {gone[0]}, which isn't there", file=sys.stderr)
        return 2
    sizes = measure(given.root, budgets)
    if given.show:
        for room, counts in sizes.items():
            print(f"{room:42}", *(f"{name} {counts[name]:6,} of {budgets[room].get(name, '-'):>6}"
                                  for name in COUNTS), sep="  ")  # fmt: skip
    wrong = above(sizes, budgets, totals) + unbudgeted(given.root, folders, budgets)
    wrong += too_long(given.root, ["plugin"], longest)
    if given.against:
        try:
            before = earlier(given.root, given.budget, given.against)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        decided = {int(path.name[:4]) for path in (given.root / "decisions").glob("[0-9]*.md")}
        wrong += risen(before, text, sizes, decided) if before is not None else []
    if given.lower:
        given.budget.write_text(lowered(text, sizes, totals), "utf-8")
    if wrong:
        print("Too large:", *wrong, "Make it smaller, or raise the budget by a decision.",
              sep="\n  ", file=sys.stderr)  # fmt: skip
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
