"""Who publishes a data folder, and when: the last commit of each study, and `CITATION.cff`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gridatlas.data.git import RevisionError, git
from gridatlas.data.yaml import parse_yaml
from gridatlas.files.door import read_file
from gridatlas.model.limits import NotRead
from gridatlas.model.study import Study

CITATION = "CITATION.cff"


@dataclass(frozen=True, slots=True)
class Published:
    """What is known of who publishes a study; empty where nothing is.

    Attributes:
        date: Of the commit, ISO 8601.
        commit: The last one that touched the study's folder, as a whole hash.
        changed: Whether the folder has changes that no commit has.
        authors: As the study names them, else as `CITATION.cff` does.
        repository: Its address, by `CITATION.cff`.
        license: Of the pages, by `CITATION.cff`: an SPDX identifier.
    """

    date: str = ""
    commit: str = ""
    changed: bool = False
    authors: tuple[str, ...] = ()
    repository: str = ""
    license: str = ""


def published(data: Path, studies: Iterable[Study]) -> dict[str, Published]:
    """What is known of each study, by its id.

    Without git, or where history is cut off before the commit, none is named.
    """
    data = data.resolve()
    top = _git(data, "rev-parse", "--show-toplevel")
    root = Path(top).resolve() if top else data.parent
    about = _citation(root)
    # A commit at which a shallow clone ends seems to have touched every file.
    ends = _git(data, "rev-list", "--max-parents=0", "HEAD").split() if top else []
    shallow = _git(data, "rev-parse", "--is-shallow-repository") == "true"
    found = {}
    for study in studies:
        folder = str(data / study.id)
        commit, _, date = _git(data, "log", "-1", "--format=%H %cs", "--", folder).partition(" ")
        if shallow and commit in ends:
            commit = date = ""
        changed = bool(commit and _git(data, "status", "--porcelain", "--", folder))
        own = replace(about, authors=study.authors or about.authors)
        found[study.id] = replace(own, date=date, commit=commit, changed=changed)
    return found


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; nothing where it can't."""
    try:
        # A repository may name a program that watches its files: it isn't started.
        found = git(folder, "-c", "core.fsmonitor=false", *arguments)
    except RevisionError:
        return ""
    return (found or b"").decode("utf-8", "replace").strip()


def _citation(root: Path) -> Published:
    """What the file says that a repository is cited by; nothing where there is none."""
    try:
        text = read_file(root / CITATION, root).decode("utf-8")
    except (OSError, NotRead, UnicodeDecodeError):
        return Published()
    tree = parse_yaml(text, CITATION)[0]
    if not isinstance(tree, dict):
        return Published()
    authors = tree.get("authors")
    people = authors if isinstance(authors, list) else []
    address = _text(tree, "repository-code") or _text(tree, "repository")
    return Published(
        authors=tuple(name for person in people if (name := _person(person))),
        repository=address.rstrip("/") if address.startswith("https://") else "",
        license=_text(tree, "license"),
    )


def _person(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    names = (_text(entry, "given-names"), _text(entry, "name-particle"))
    return _text(entry, "name") or " ".join(filter(None, (*names, _text(entry, "family-names"))))


def _text(entry: Mapping[str, Any], key: str) -> str:
    found = entry.get(key)
    return " ".join(found.split()) if isinstance(found, str) else ""
