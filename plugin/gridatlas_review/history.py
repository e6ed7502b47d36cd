"""The page History of a study: its answer before and after each entry, and at each tag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from pydantic import ValidationError

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_data
from gridatlas.data.git import Revision, RevisionError, find_revision, git, write_data
from gridatlas.data.reader import STUDY_FILE
from gridatlas.data.yaml import parse_yaml
from gridatlas.files.cache import cache_key, code_digest, open_cache
from gridatlas.files.staging import StagingDir
from gridatlas.model.schema import HistoryEntry
from gridatlas.pages.context import page_context
from gridatlas.pages.plan import PagePlan

MOST_COMMITS = 300
"""Commits of `study.yml` that are looked through for its entries."""
MOST_TAGS = 20
"""Tags, the newest first, whose answers are given."""

Entries = tuple[HistoryEntry, ...]


def history(assessment: Assessment, data: Path, into: str, cache: Path | None) -> PagePlan:
    """The page of a study that has a history.

    What git doesn't have (no repository, a shallow clone) isn't there: then entries stand alone.

    Args:
        data: The folder of all studies.
        into: Folder of the pages.
        cache: Folder where answers are cached by the hash of a study's files.
    """
    study = assessment.study
    states = _States(assessment, data, cache)
    entries = [
        {"date": entry.date, "text": entry.text, "covers": entry.covers} | states.around(entry)
        for entry in study.history
    ]
    content = {"format": 1, "entries": entries, "tags": [*states.tags()]}
    return PagePlan(
        path=f"{into}/{study.id}/history/index.md",
        template="history.md.jinja",
        trail=("Studies", study.title),
        nav_title="History",
        title=f"History of {study.title}",
        description=f"{study.title}: how its answer changed.",
        context=page_context(assessment, into) | {"history": content, "problems": ()},
        edit=f"{study.id}/{STUDY_FILE}",
        is_index=False,
    )


class _States:
    """The states of a study that git has."""

    def __init__(self, assessment: Assessment, data: Path, cache: Path | None) -> None:
        self._study, self._cache = assessment, open_cache(cache)
        self._folder = cache
        try:
            self._head: Revision | None = find_revision("HEAD", Path(data.name), data.parent)
        except RevisionError:
            self._head = None
        self._commits = [*self._read_commits()]

    def _git(self, *arguments: str) -> list[str]:
        """Lines that git prints; none without a repository, or where it fails."""
        found = self._head and git(self._head.repository, *arguments)
        return found.decode(errors="replace").splitlines() if found else []

    @property
    def _path(self) -> str:
        top = self._head.path if self._head else ""
        return f"{top}/{self._study.study.id}".lstrip("/")

    def _read_commits(self) -> Iterator[tuple[str, Entries]]:
        """Commits that changed `study.yml`, the newest first, each with the history that it has."""
        file = f"{self._path}/{STUDY_FILE}"
        for commit in self._git("log", f"-{MOST_COMMITS}", "--format=%H", "HEAD", "--", file):
            yield commit, _entries("\n".join(self._git("show", f"{commit}:{file}")))

    def around(self, entry: HistoryEntry) -> dict[str, Any]:
        """The answers before and after an entry, as far as git has them."""
        having = [commit for commit, entries in self._commits if entry in entries]
        if not having:
            # It isn't committed yet.
            before = self._answer("HEAD") if self._commits else None
            now = self._study.answers[""]
            return {"before": before, "after": {"answer": now.headline, "grade": now.grade}}
        return {"before": self._answer(f"{having[-1]}^"), "after": self._answer(having[-1])}

    def tags(self) -> Iterator[dict[str, Any]]:
        """The answers at tags, the newest first."""
        form = "%(refname:short)%09%(creatordate:short)"
        order = "--sort=-creatordate", f"--count={MOST_TAGS}", f"--format={form}"
        for line in self._git("for-each-ref", "--merged=HEAD", *order, "refs/tags"):
            name, _, date = line.partition("\t")
            answer = self._answer(f"refs/tags/{name}")
            if answer is not None:
                yield {"tag": name, "date": date, **answer}

    def _answer(self, name: str) -> dict[str, str] | None:
        """What the study's page led with at a revision; None where that can't be had."""
        tree = self._git("rev-parse", "--verify", "--quiet", f"{name}:{self._path}")
        if not tree or self._head is None:
            return None
        key = cache_key("history", code_digest("gridatlas"), self._study.study.id, tree[0])
        cached = self._cache.get(key)
        if cached is None:
            cached = {"answer": json.dumps(self._compute(tree[0]))}
            self._cache.put(key, cached)
        found: dict[str, str] | None = json.loads(cached["answer"])
        return found

    def _compute(self, tree: str) -> dict[str, str] | None:
        assert self._head is not None
        study = self._study.study.id
        with StagingDir(Path(gettempdir())) as staging:
            folder = staging / "data" / study
            folder.mkdir(parents=True)
            try:
                write_data(Revision(tree, tree, "", self._head.repository), folder)
            except RevisionError:
                return None
            found = load_data(folder.parent, "data", cache=self._folder).get(study)
        if found is None:
            return None
        answer = found.answers[""]
        return {"answer": answer.headline, "grade": answer.grade}


def _entries(text: str) -> Entries:
    """The history that a `study.yml` has; none for one that can't be read."""
    content, _, problems = parse_yaml(text, STUDY_FILE)
    given = content.get("history") if isinstance(content, dict) and not problems else None
    try:
        return tuple(HistoryEntry.model_validate(entry) for entry in given or ())
    except (ValidationError, TypeError):
        return ()
