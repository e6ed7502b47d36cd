"""The text of `study.yml`, with comments that teach the format."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gridatlas.analysis.roles import NUMBER, TRAINING, Guess, guess_roles, is_named
from gridatlas.data.roles import MOST_COMPARED, role_of
from gridatlas.model.directions import words
from gridatlas.model.schema import REPEATING, Role, level_number
from gridatlas.model.study import keyword
from gridatlas_import.cells import FactorColumn, Imported, identifier
from gridatlas_import.headings import HEADING
from gridatlas_import.numerals import looks_like_number
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import Proposal
from gridatlas_import.search import JOINED
from gridatlas_import.unpivot import COLUMN
from gridatlas_import.vocabulary import COMPARED

MAX_LISTED = 60
"""Levels of a factor up to which they are listed."""
MEASURED = (
    "# What was measured. A value outside of range is a problem; better: higher or lower. Without\n"
    "# better, pages mark no best."
)
"""The line above the metric."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*( [A-Za-z0-9_.-]+)*")
_WORDS = re.compile("true|false|null|yes|no|on|off|y|n", re.IGNORECASE)

FEW = 3
"""Headings up to which they tell little of each row."""


def scalar(text: str) -> str:
    """A text or a number as a value of YAML."""
    if level_number(text) is not None or (_PLAIN.fullmatch(text) and not _WORDS.fullmatch(text)):
        return text
    return json.dumps(text, ensure_ascii=False)


def text_scalar(text: str) -> str:
    """A text as a value of YAML, quoted where it would be a number."""
    return json.dumps(text) if level_number(text) is not None else scalar(text)


def study_text(imported: Imported, proposal: Proposal, asked: ImportOptions, source: str) -> str:
    """The text of `study.yml`.

    Args:
        source: What pages call the source.
    """
    number = len(proposal.facets)
    facets, (*y, x) = imported.factors[:number], imported.factors[number:]
    metric = proposal.about
    parts = [f"name: {text_scalar(metric.name)}"]
    if imported.metric != "value":
        parts.append(f"column: {text_scalar(imported.metric)}")
    if metric.unit:
        parts.append(f"unit: {text_scalar(metric.unit)}")
    if metric.range:
        parts.append(f"range: [{metric.range[0]:f}, {metric.range[1]:f}]")
    if metric.better:
        parts.append(f"better: {metric.better}")
    if metric.decimals is not None:
        parts.append(f"decimals: {metric.decimals}")
    lines = [
        "# Written by gridatlas import; it is yours now. `gridatlas check` says what is wrong; the",
        "# documentation, page Data format, lists every key.",
        "format: 1",
        f"title: {text_scalar(asked.title or source)}",
        "# A sentence or two for the top of the page: what was varied, what was measured.",
        "# summary: …",
        "# Where it was published; pages then say how to cite it.",
        '# source: {title: …, url: "https://…", authors: [A. Author], year: 2026}',
        "",
        MEASURED,
        f"metric: {{{', '.join(parts)}}}",
        *_spread(imported, proposal, asked.spread_n),
        "# The axes, and what else was varied: columns of cells.csv.",
        f"x: {scalar(x.id)}",
        *(f"y: {scalar(axis.id)}" for axis in y),
    ]
    if facets:
        lines.append(f"facets: [{', '.join(scalar(facet.id) for facet in facets)}]")
    lines += _roles(imported)
    lines += _runs(imported, proposal)
    lines += _baseline(imported, facets)
    lines += [
        "",
        "# How pages call the axes and facets; with levels listed, a typing error is found.",
    ]
    lines.append("factors:")
    for factor in imported.factors:
        lines += _factor(factor.id, factor.label, factor.unit, imported.levels(factor))
    if not proposal.counts:
        lines += [
            "# With the number of trials known, cells get intervals: a column n in cells.csv, or",
            f"# trials: {{items: {facets[0].id if facets else '…'}}} with `items` per level there.",
        ]
    lines += [
        "",
        "# Who says so. Another table of the same cells is another reading: the two are compared.",
        "readings:",
    ]
    for number, (reading, file) in enumerate(imported.files.items()):
        lines += [
            f"  - id: {scalar(identifier(reading, 'reading') if reading else 'imported')}",
            f"    file: {file}",
            f"    label: {text_scalar(reading or source)}",
        ]
        lines += [f"    url: {text_scalar(asked.url)}"] if asked.url and not number else []
        lines += [f"    link: {text_scalar(asked.link)}"] if asked.link else []
    lines += [
        "",
        "# Sentences about the results, judged at every build. An example to adapt:",
        *_claim(imported, facets, x, y, metric.better),
    ]
    return "\n".join(lines) + "\n"


def roles_of(imported: Imported) -> dict[str, Role]:
    """What each column means for the answers."""
    names = [factor.id for factor in imported.factors] + [
        name for name in imported.replicates.values() if name in imported.columns
    ]
    levels = {name: [*dict.fromkeys(imported.columns[name])] for name in names}
    codes = {}
    for name, defined in levels.items():
        place = {level: at for at, level in enumerate(defined)}
        codes[name] = np.fromiter(map(place.__getitem__, imported.columns[name]), np.intp)
    value = np.array([float(text or "nan") for text in imported.columns[imported.metric]])
    guesses = guess_roles(levels, codes, value)
    for name in imported.replicates.values():
        if name not in guesses or guesses[name].role not in REPEATING:
            guesses[name] = Guess("replicate", "the rows of a cell are repeats")
    chosen = {name for name, guess in guesses.items() if guess.role == "choice"}
    given = COLUMN in guesses and guesses[COLUMN].role in ("choice", "condition")
    if given and any(COMPARED & {*words(name)} for name in chosen - {COLUMN}):
        # What nobody named is what those that somebody named were measured with; but two or three
        # tell little of many rows that only several columns together name.
        few = len(levels[COLUMN]) <= FEW and not all(map(looks_like_number, levels[COLUMN]))
        joined = {found.id for found in imported.factors if few and JOINED in found.source}
        guesses |= {name: replace(guesses[name], role="block") for name in chosen & joined}
        role: Role = "choice" if chosen & joined else "condition"
        guesses[COLUMN] = replace(guesses[COLUMN], role=role)
    named = any(not NUMBER.fullmatch(text) for n in chosen - {HEADING} for text in levels[n])
    if HEADING in chosen and named:
        guesses[HEADING] = replace(guesses[HEADING], role="block")
    return {name: role_of(guess) for name, guess in guesses.items()}


def _roles(imported: Imported) -> list[str]:
    roles = (f"{scalar(name)}: {role}" for name, role in roles_of(imported).items())
    lines = [
        "# What each means for answers: choice, condition, block (benchmarks), replicate (seeds),",
        "# item or progress. Of a column that is no axis or facet, pages show the mean.",
    ]
    line = f"roles: {{{', '.join(roles)}}}"
    if len(line) <= 100:
        return [*lines, line]
    return [*lines, "roles:", *(f"  {role}" for role in line[8:-1].split(", "))]


def _runs(imported: Imported, proposal: Proposal) -> list[str]:
    """Whether each cell is a training of its own: where a factor is a setting of the training.

    A batch whose speed or time was measured is none.
    """
    speed = proposal.kinds[proposal.metric].kind in ("performance", "cost")
    if speed or not any(is_named(factor.id, TRAINING) for factor in imported.factors):
        return []
    return [
        "# Each cell is a training of its own. Remove this line where one model has all settings.",
        "cells: runs",
    ]


def _spread(imported: Imported, proposal: Proposal, n: int | None) -> list[str]:
    """What stands beside values, or nothing."""
    if not imported.spread:
        return []
    kind = proposal.spread[1]
    parts = [f"column: {text_scalar(imported.spread)}"]
    parts += [f"kind: {kind}"] if kind else []
    parts += [f"n: {n}"] if n is not None else []
    more = "# The spread next to each value."
    if not kind:
        more += " With kind: sd (and n: repeats), se or ci95 values get intervals."
    elif kind == "sd" and n is None:
        more += " With n, the number of repeats, values get intervals."
    return [more, f"spread: {{{', '.join(parts)}}}"]


def _baseline(imported: Imported, facets: Sequence[FactorColumn]) -> list[str]:
    """How to name the level that others are compared with."""
    for factor in facets:
        levels = imported.levels(factor)
        if 2 <= len(levels) <= MOST_COMPARED:
            return [
                "# The level that the others are compared with:",
                f"# baseline: {{{scalar(factor.id)}: {scalar(levels[0])}}}",
            ]
    return []


def _factor(name: str, label: str, unit: str, levels: Sequence[str]) -> list[str]:
    parts = [f"label: {text_scalar(label)}"] if label else []
    parts += [f"unit: {text_scalar(unit)}"] if unit else []
    if len(levels) <= MAX_LISTED:
        parts.append(f"levels: [{', '.join(map(scalar, levels))}]")
    if not parts:
        return [f"  {scalar(name)}: {{direction: up}}"]
    line = f"  {scalar(name)}: {{{', '.join(parts)}}}"
    if len(line) <= 100:
        return [line]
    lines = [
        f"  {scalar(name)}:",
        *(f"    {part}" for part in parts if not part.startswith("levels")),
    ]
    if len(levels) <= MAX_LISTED:
        lines += ["    levels:", *(f"      - {scalar(level)}" for level in levels)]
    return lines


def _claim(
    imported: Imported,
    facets: Sequence[FactorColumn],
    x: FactorColumn,
    y: Sequence[FactorColumn],
    better: str | None,
) -> list[str]:
    best = "best.value" if better else "max"
    arguments = ", ".join(f"{facet.id}={json.dumps(imported.levels(facet)[0])}" for facet in facets)
    if any(not facet.id.isidentifier() for facet in facets):
        arguments = "…"
    level = imported.levels(x)[-1]
    level = level if level_number(level) is not None else json.dumps(level)
    grid = f"grid({arguments})"
    check = f"({grid}.column({level}) >= {grid}.{best}).any"
    extreme = "lowest" if better == "lower" else "highest"
    if not y:
        check = f"{grid}.at({keyword(x.id)}={level}) >= {grid}.{best}"
    return [
        "# claims:",
        f"#   - text: The {extreme} value lies at {x.id.replace('_', ' ')} {level}.",
        f"#     check: {check}",
    ]
