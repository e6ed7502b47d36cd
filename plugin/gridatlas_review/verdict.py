"""The verdict: each change as a row, the worst first, and what a gate stops on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from gridatlas.model.format import many
from gridatlas.model.schema import CHANGES
from gridatlas_review.answers import answer_rows
from gridatlas_review.changes import Changes, StudyChanges
from gridatlas_review.checks import check_rows, problem_rows, unreadable_rows
from gridatlas_review.claims import claim_rows
from gridatlas_review.readings import reading_rows
from gridatlas_review.report import BAD, GOOD, LOOK, Row, grids_text, plural, row
from gridatlas_review.structure import renamed_row, structure_rows
from gridatlas_review.values import significance_counts, value_rows

SAME = "every answer is the same"


def verdict(changes: Changes) -> tuple[Row, ...]:
    """What happened, the worst first; nothing where a page shows nothing else."""
    rows = [*unreadable_rows(changes.unreadable), *_studies(changes)]
    for study in changes.studies:
        rows += _explained(study, _study(study))
    facts = [*_facts(changes, rows)]
    if facts:
        same = any(changes.studies) and not any(row.kind == "answers" for row in rows)
        text = "; ".join([*facts, *([SAME] if same else [])])
        rows.append(row("summary", GOOD, "", f"{text[0].upper()}{text[1:]}", ""))
    return tuple(sorted(rows, key=_rank))


def _rank(row: Row) -> tuple[int, float]:
    """The worst first, causes before the answers that changed for them."""
    kinds = ["summary", *CHANGES, ""]
    after = {"cause": "checks", "page": "removed"}.get(row.order)
    kind = kinds.index(row.kind) if after is None else kinds.index(after) + 0.5
    return [BAD, LOOK, GOOD].index(row.mark), kind


def stops(rows: Iterable[Row], kinds: Collection[str]) -> list[Row]:
    """The rows that `--fail-on` stops on.

    Args:
        kinds: Those of `CHANGES`.
    """
    return [row for row in rows if row.gates & set(kinds)]


def _study(study: StudyChanges) -> Iterator[Row]:
    """What happened in a study, causes first where they are of one kind."""
    yield from problem_rows(study.id, study.problems)
    for problem in study.fixed:
        text = f"Fixed: {problem.place}: {problem.found}"
        yield row("", GOOD, study.id, text, "fixed problem")
    yield from check_rows(study)
    yield from structure_rows(study)
    yield from reading_rows(study)
    yield from value_rows(study)
    yield from answer_rows(study)
    yield from claim_rows(study)


def _explained(study: StudyChanges, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, with what new entries of the history say of them: they stop nothing then."""
    by_kind = {kind: of.text for of in reversed(study.new_entries) for kind in of.covers}
    for found in rows:
        if found.kind in by_kind and found.gates:
            mark = LOOK if found.mark == BAD else found.mark
            yield replace(found, mark=mark, gates=frozenset(), explained=by_kind[found.kind])
        else:
            yield found


def _studies(changes: Changes) -> Iterator[Row]:
    """Studies that come and go, or have another name."""
    for assessment in changes.removed:
        study, values = assessment.study, grids_text(assessment.results.grids.values())
        text = f"The study “{study.title}” was removed, with {values}"
        text += f" and {many(len(study.claims), 'statement')}" if study.claims else ""
        others = "checks", "claims", "answers"
        yield row("removed", BAD, study.id, text, "removed study", *others)
    for assessment in changes.added:
        study, values = assessment.study, grids_text(assessment.results.grids.values())
        yield from problem_rows(study.id, changes.head.problems.get(study.id, ()))
        text = f"The study “{study.title}” is new, with {values}: {assessment.answers[''].headline}"
        yield row("", LOOK, study.id, text, "new study")
    for rename in changes.renamed:
        yield renamed_row(rename, rename.new.partition(" ")[0])


def _facts(changes: Changes, rows: Iterable[Row]) -> Iterator[str]:
    """What is fine, counted."""
    if changes.base.empty:
        yield f"{changes.base.empty}, so all results are new"
    cells = [cell for study in changes.studies for _, cell in study.cells(computed=False)]
    changed = [cell for cell in cells if cell.kind == "value"]
    if not all(cell.is_significant for cell in changed):
        yield f"{many(len(changed), 'value')} changed{significance_counts(changed)}"
    if new := sum(cell.kind == "new" for cell in cells):
        yield f"{many(new, 'value')} added"
    texts = {row.explained for row in rows}
    fine = [row for row in rows if row.mark == GOOD and not any(t and t in row.text for t in texts)]
    counts = Counter(row.noun for row in fine)
    for found in fine:
        if number := counts.pop(found.noun, 0):
            short = number == 1 and len(found.text) < 60
            yield found.text if short else plural(number, found.noun)
