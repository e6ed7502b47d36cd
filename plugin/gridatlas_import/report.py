"""What an import says of the proposal and of each row, as text and JSON; the accepting command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from gridatlas.model.format import format_value, many
from gridatlas.model.problems import join_names, printable
from gridatlas_import.cells import Imported, make_cells
from gridatlas_import.choose import Choice
from gridatlas_import.factors import ONE_LEVEL
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import Proposal
from gridatlas_import.rows import CannotImport, Reported
from gridatlas_import.study_text import roles_of

MANY_LEFT = 6
"""Columns with one level from which on they are one line."""
_SHOWN = 10
"""Places that are told one by one; with more rows, how many there are."""


def proposal_lines(proposal: Proposal, sources: str) -> Iterator[str]:
    """The proposal as a small table, with its reasons."""
    table = proposal.table
    yield f"{sources}: {many(len(table.places), 'row')}; {table.form}"
    if proposal.mark == "comma":
        yield "Numbers have decimal commas; they are written with points."
    yield ""
    head = ("role", "column", "what is in it", "why")
    constant = [role.column for role in proposal.roles if role.why == ONE_LEVEL]
    left = constant if len(constant) > MANY_LEFT else []
    roles = (
        (role.role, role.column, role.seen, role.why)
        for role in proposal.roles
        if role.column not in left
    )
    lines = [tuple(map(printable, line)) for line in (head, *roles)]
    widths = [min(48, max(len(line[at]) for line in lines)) for at in range(3)]
    for line in lines:
        yield "  ".join((*(line[at].ljust(widths[at]) for at in range(3)), line[3])).rstrip()
    if left:
        yield printable(f"not read, as nothing varies in it: {join_names(left, 5)}")
    about = proposal.about
    yield ""
    yield f"{about.name}: {'; '.join(about.reasons)}."
    for note in proposal.notes:
        yield f"note: {printable(note)}"


def candidate_lines(choice: Choice, commands: Sequence[str], sources: str) -> Iterator[str]:
    """What may be meant, each with how full its cells are and the command that accepts it."""
    table = choice.candidates[0].table
    yield f"{sources}: {many(len(table.places), 'row')}; {table.form}"
    yield ""
    yield f"This can be meant in several ways: {choice.question}."
    each = zip(choice.candidates, commands, strict=True)
    for number, (candidate, command) in enumerate(each, 1):
        facets = f"; facets {join_names(candidate.facets)}" if candidate.facets else ""
        share = format_value(100 * candidate.density, 0)
        cells = f"{candidate.cells:,} of {candidate.possible:,} cells ({share}%)"
        yield ""
        yield printable(
            f"{number}. x {candidate.x}, y {candidate.y or 'none'}, metric {candidate.metric}"
            f"{facets}: {cells}"
        )
        yield f"  {command}"


def accounting_lines(imported: Imported) -> Iterator[str]:
    """Each row that was read, as a cell, a repeat or reported."""
    good = [row for row in imported.reported if not row.bad]
    bad = [row for row in imported.reported if row.bad]
    without = len(imported.absent)
    yield f"{many(imported.read, 'row')} read"
    yield f"  = {many(imported.cells, 'cell')}"
    yield f"  + {many(imported.repeats, 'repeat')} of these cells"
    yield f"  + {len(imported.reported):,} reported"
    if without:
        texts = dict.fromkeys(cell.text or "nothing" for cell in imported.absent)
        places = join_names((cell.place for cell in imported.absent), _SHOWN)
        yield (f"{many(without, 'row')} without a value ({join_names(texts, 5)}): {places}")
    yield from _reported("left out", good)
    yield from _reported("wrong", bad)


def _reported(what: str, rows: Sequence[Reported]) -> Iterator[str]:
    by_why: dict[str, list[str]] = {}
    for row in rows:
        by_why.setdefault(row.why, []).append(row.place)
    for number, (why, places) in enumerate(by_why.items()):
        if number == 2 * _SHOWN:
            rest = sum(len(places) for places in list(by_why.values())[number:])
            yield f"  {what}: {many(rest, 'more row')}, for {len(by_why) - number} other reasons"
            return
        yield f"  {what}: {printable(why)}: {join_names(places, _SHOWN)}"


def spread_options(proposal: Proposal, asked: ImportOptions) -> list[str]:
    """The options that say what stands beside values."""
    if asked.spread == "":
        return ["--spread", ""]
    column, kind = proposal.spread
    words = ["--spread", column] if column and column != proposal.metric else []
    words += ["--spread-kind", kind] if kind else []
    return words + (["--spread-n", str(asked.spread_n)] if column and asked.spread_n else [])


def accepting_command(
    given: Sequence[str], proposal: Proposal, asked: ImportOptions, study: str, title: str
) -> str:
    """The command line that accepts a proposal.

    Args:
        given: Files and options that say how they are read.
    """
    about, axes = proposal.about, (("--x", proposal.x), ("--y", proposal.y))
    metric = asked.metric if asked.metric and proposal.table.wide else proposal.metric
    pairs = [("--study", study), ("--title", title), *axes, ("--metric", metric)]
    pairs += [("--facet", name) for name in proposal.facets]
    pairs += [("--repeats", name) for name in proposal.repeats]
    pairs += [("--only", f"{name}={level}") for name, level in proposal.keep]
    pairs += [(f"--{kind}", name) for kind, name in proposal.counts.items()]
    pairs += [(f"--{kind}", "") for kind, name in asked.counts.items() if not name]
    words = [*chain.from_iterable(pairs), *spread_options(proposal, asked)]
    pairs = [("--ignore", name) for name in asked.ignore]
    pairs += [("--columns", ",".join(asked.columns))] * bool(asked.columns)
    words += [*chain.from_iterable(pairs), "--unit", about.unit]
    if about.range:
        words += ["--range", *(f"{end:f}" for end in about.range)]
    last = {"--better": about.better, "--decimals": about.decimals, "--decimal-mark": asked.mark}
    words += chain.from_iterable((name, str(v)) for name, v in last.items() if v is not None)
    words = ["gridatlas", "import", *given, *words]
    return shlex.join([*words, "--yes"])


# --- the same as JSON: for scripts, and for tests of what is proposed ----------------------------


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """The roles of columns, and what becomes of the rows."""
    beside = "±" if proposal.spread[0] == proposal.metric else proposal.spread[0]
    spread = [name for name in (proposal.counts.get("stderr"), beside) if name]
    # Whatever headings that became levels are called on the pages.
    is_single = proposal.table.wide and len(proposal.headings) == 1
    called = {proposal.headings[0]: "columns"} if is_single else {}
    imported = make_cells(proposal, None)
    sources = {found.id: found.source for found in imported.factors}
    sources |= {name: source for source, name in imported.replicates.items()}
    roles = {sources[name]: role for name, role in roles_of(imported).items()}
    return {
        "x": called.get(proposal.x, proposal.x),
        "y": proposal.y or None,
        "metric": proposal.metric,
        "better": proposal.about.better,
        "facets": [called.get(facet, facet) for facet in proposal.facets],
        "repeats": [*proposal.repeats],
        "only": dict(proposal.keep),
        "columns": [*proposal.table.wide] or None,
        "state": proposal.state or None,
        "spread": spread,
        "ignored": [role.column for role in proposal.roles if role.role == "not read"],
        "rows": len(proposal.table.places) + len(proposal.table.reported) + len(proposal.left),
        "cells": proposal.cells,
        "collisions": proposal.collisions,
        "density": round(proposal.density, 3),
        "reasons": {role.column: role.why for role in proposal.roles},
        "roles": {called.get(name, name): role for name, role in roles.items()},
        "why": [*proposal.points],
        "unit": proposal.about.unit,
        "name": proposal.about.name,
        "labels": {found.source: found.label for found in imported.factors if found.label},
    }


def choice_json(choice: Choice) -> str:
    """A proposal, or candidates without one."""
    if choice.proposal is not None:
        return _text({**proposal_json(choice.proposal), "candidates": []})
    empty = dict.fromkeys(("x", "y", "metric", "better"))
    candidates = [proposal_json(candidate) for candidate in choice.candidates]
    return _text({**empty, "question": choice.question, "candidates": candidates})


def refusal_json(error: CannotImport) -> str:
    """Why nothing is proposed, and what to do."""
    reasons = (
        f"{problem.found}; expected: {problem.expected}; fix: {problem.fix}"
        for problem in error.problems
    )
    return _text({"refused": " ".join(reasons)})


def _text(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, indent=2)
