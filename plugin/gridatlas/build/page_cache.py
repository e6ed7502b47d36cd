"""What was written of a study, kept between builds by all that it is made from.

The pages and files of a study whose files didn't change are those of the last build: nothing of it
is drawn, laid out or written anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from gridatlas.assessment.assessment import Assessment
from gridatlas.data.reader import STUDY_FILE
from gridatlas.data.runs import FOLDER as RUNS
from gridatlas.files import store
from gridatlas.files.packed import Block, Content, Packed, Spool, pack
from gridatlas.model.study import Study
from gridatlas.pages.plan import PagePlan
from gridatlas.pages.render import Page

_LIBRARIES = ("altair", "jinja2", "markupsafe", "numpy", "pydantic", "scipy", "vl-convert-python")


class Figures(Mapping[str, str]):
    """The figures of a page by their keys, each unpacked when it is put in.

    Args:
        names: Of the figures among the texts, by their keys.
        texts: The texts of all pages of a study.
    """

    def __init__(self, names: Mapping[str, str], texts: Packed) -> None:
        self._names, self._texts = names, texts

    def __getitem__(self, key: str) -> str:
        return str(self._texts[self._names[key]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class Written:
    """The pages of a study by their paths, as (Markdown, figures, anchors), and its files."""

    pages: Mapping[str, tuple[str, Figures, frozenset[str]]]
    files: Packed

    def page(self, plan: PagePlan) -> Page:
        """The page that a plan has become."""
        markdown, figures, anchors = self.pages[plan.path]
        return Page(plan, markdown, figures, anchors)


def packed(pages: Iterable[Page], files: Mapping[str, Content]) -> bytes:
    """What is kept of a study."""
    about: list[tuple[str, str, dict[str, str], list[str]]] = []
    texts: dict[str, str] = {}
    for at, page in enumerate(pages):
        names = {key: f"{at}/{number}" for number, key in enumerate(page.figures)}
        texts |= {name: str(page.figures[key]) for key, name in names.items()}
        about.append((page.plan.path, page.markdown, names, sorted(page.anchors)))
    return pack({"pages": json.dumps(about), "texts": pack(texts), "files": pack(files)})


def unpacked(block: Block) -> Written:
    """What was kept of a study."""
    parts = Packed(block)
    texts = parts.packed("texts")
    pages = {
        path: (markdown, Figures(names, texts), frozenset(anchors))
        for path, markdown, names, anchors in json.loads(parts["pages"])
    }
    return Written(pages, parts.packed("files"))


# --- what it is made from -----------------------------------------------------------------------

Stamps = Mapping[Path, tuple[int, ...]]
"""What tells that a file was written to: of each file, its inode, its size and its times."""

_FROM_OUTSIDE = ("script_page", "changes_page", "changed", "since", "see_also")
"""What the plan of a page knows that stands in no file of its study."""


def stamps(data: Path) -> Stamps:
    """The files of a data folder as they are before they are read."""
    return {path: stamp for path in data.rglob("*") if (stamp := _stamp(path))}


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def files_digest(folder: Path, study: Study, before: Stamps) -> str | None:
    """A hash of the files that a study was read from.

    None where one was written to since, or can't be read: what was made of it may be of either
    content.

    Args:
        folder: The study's.
        before: Of the time before the study was read.
    """
    paths = {folder / STUDY_FILE, *(folder / reading.entry.file for reading in study.readings)}
    paths |= {folder / reading.entry.text for reading in study.readings if reading.entry.text}
    digest = hashlib.sha256()
    for path in sorted(paths | set((folder / RUNS).glob("*.json"))):
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _stamp(path) != before.get(path):
            return None
        name = os.fsencode(path.relative_to(folder))
        digest.update(b"%d:%s%d:" % (len(name), name, len(content)) + content)
    return digest.hexdigest()


@cache
def _written_by() -> str:
    """What all pages depend on besides the data: our code, our templates, the libraries."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted([*package.rglob("*.py"), *package.rglob("templates/*")]):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    versions = [f"{name} {version(name)}" for name in _LIBRARIES]
    return "\n".join([sys.version, *versions, digest.hexdigest()])


def _templates(folder: Path | None) -> str:
    """A hash of the user's own templates."""
    digest = hashlib.sha256()
    if folder is not None:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            head = f"{path.relative_to(folder).as_posix()}:{len(content)}:"
            digest.update(head.encode() + content)
    return digest.hexdigest()


# --- the shelf ----------------------------------------------------------------------------------


class PageCache:
    """What is kept of what is written with the same options: one place for each study.

    Args:
        folder: The cache; None keeps nothing.
        options: Of the build: studies are kept beside those with others.
        templates: The user's own.
        digests: The hashes of each study's files, by its id; None where it can't be kept.
    """

    def __init__(
        self,
        folder: Path | None,
        options: tuple[str, ...],
        templates: Path | None,
        digests: Mapping[str, str | None],
    ) -> None:
        self._folder, self._options, self._digests = folder, options, digests
        self._by = (_written_by(), _templates(templates)) if folder else ()
        self._spool = Spool(folder)

    def get(self, name: str, made: bytes | None) -> Written | None:
        """What is kept under a name, where it was made from the same."""
        if self._folder is None or made is None:
            return None
        body = store.read(self._folder, self._place(name))
        if not body or not body.startswith(made):
            return None
        return unpacked(self._spool.add(body[len(made) :]))

    def put(self, name: str, made: bytes | None, content: bytes) -> Written:
        """Keep what was packed, in the place of what was kept under this name, and unpack it.

        Args:
            made: What it was made from; None where it can't be kept.
        """
        if self._folder is not None and made is not None:
            store.write(self._folder, self._place(name), made + content)
        return unpacked(self._spool.add(content))

    def _place(self, name: str) -> str:
        return store.key_of("pages", name, *self._options)

    def of_study(self, known: Assessment, plans: Iterable[PagePlan]) -> bytes | None:
        """A hash of all that the pages of a study depend on besides the options."""
        # The checks of claims alone look into other studies, and name them with `study=`.
        others = any("study" in (claim.entry.check or "") for claim in known.judged)
        files = dict(self._digests) if others else {known.study.id: self._digests[known.study.id]}
        return self._hash(files, plans, known.results.problems)

    def of_overview(self, known: Iterable[Assessment], plan: PagePlan) -> bytes | None:
        """The same of the page that leads to all studies."""
        problems = [one.results.problems for one in known]
        return self._hash(self._digests, [plan], [problems, dict(plan.context["unreadable"])])

    def _hash(
        self, files: Mapping[str, str | None], plans: Iterable[PagePlan], more: object
    ) -> bytes | None:
        if None in files.values():
            return None
        said = [[plan.context.get(key) for key in _FROM_OUTSIDE] for plan in plans]
        return store.key_of(*self._by, json.dumps(files), repr(said), repr(more)).encode()
