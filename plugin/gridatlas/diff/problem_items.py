"""Problems of the data, as a reviewer is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from gridatlas.diff.changes import Changes
from gridatlas.diff.report import Item, item
from gridatlas.diff.wording import (
    count,
)
from gridatlas.model.problems import Problem


def problems(changes: Changes) -> Iterator[Item]:
    """Studies that can't be read, and problems that are new."""
    for one in changes.unreadable:
        text = {
            "head": "can't be read any more, so that nothing of it can be compared"
            if one.there
            else "is new, and can't be read",
            "base": "couldn't be read before, so that it can't be compared; now it can"
            if one.there
            else "couldn't be read before, and was removed",
            "both": "can't be read, neither before nor now, so that it can't be compared",
        }[one.where]
        found = [detail for problem in one.problems[:5] for detail in _told(problem)]
        more = len(one.problems) - 5
        if more > 0:
            found.append(f"and {count(more, 'more problem')}")
        yield item(one.study, f"The study {text}", tuple(found))
    for study in changes.studies:
        for problem in study.problems:
            yield item(study.head.study.id, f"New: {problem.place}: {problem.found}", _fix(problem))
    for known in changes.added:
        for problem in changes.head.problems.get(known.study.id, ()):
            if problem.severity == "problem":
                text = f"In a new study: {problem.place}: {problem.found}"
                yield item(known.study.id, text, _fix(problem))


def _told(problem: Problem) -> tuple[str, ...]:
    return (f"{problem.place}: {problem.found}", *_fix(problem))


def _fix(problem: Problem) -> tuple[str, ...]:
    return f"Expected: {problem.expected}", f"To fix it: {problem.fix}"
