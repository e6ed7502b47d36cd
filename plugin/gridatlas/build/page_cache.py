"""The pages and files of each study, cached by all that they are made from.

Where no file of a study changed, they are those of an earlier build: nothing of it is drawn, laid
out or written again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import cast

from gridatlas import registry
from gridatlas.assessment.assessment import Assessment
from gridatlas.files.cache import Cache, Content, cache_key, code_digest
from gridatlas.pages.page import Page
from gridatlas.pages.plan import PagePlan

_LIBRARIES = ("altair", "jinja2", "markupsafe", "numpy", "pydantic", "vl-convert-python")
_INDEX = "index"
"""The part of an entry that says what the others are: all else has a number for a name."""


def content_digest(content: Content) -> str:
    """A SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


class SiteFiles(Mapping[str, Content]):
    """The files of a site by their paths, each read from the cache when it is asked for."""

    def __init__(self) -> None:
        self._sources: dict[str, Mapping[str, Content]] = {}

    def add(self, files: Mapping[str, Content]) -> None:
        """Add files; of two at the same path, the later one counts."""
        self._sources |= dict.fromkeys(files, files)

    def __getitem__(self, path: str) -> Content:
        return self._sources[path][path]

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Each path with what is written there."""
        for path, content in self.items():
            yield path, content.encode() if isinstance(content, str) else content

    def digest(self, path: str) -> str:
        """The `content_digest` of a file; one in the cache isn't read for it."""
        source = self._sources[path]
        return source.digests[path] if isinstance(source, _Named) else content_digest(source[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, path: object) -> bool:
        return path in self._sources


class _Named(Mapping[str, Content]):
    """Parts of an entry under other names; files have digests."""

    def __init__(
        self,
        names: Mapping[str, str],
        parts: Mapping[str, Content],
        digests: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._names, self._parts, self.digests = names, parts, digests

    def __getitem__(self, key: str) -> Content:
        return self._parts[self._names[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class CachedStudy:
    """The pages and files of a study.

    Args:
        parts: What `_parts` gave, as it is in the cache.
    """

    def __init__(self, parts: Mapping[str, Content]) -> None:
        index = json.loads(parts[_INDEX])
        self._parts = parts
        self._pages = {path: page for path, *page in index["pages"]}
        self.files: Mapping[str, Content] = _Named(index["files"], parts, index["digests"])

    def page(self, plan: PagePlan) -> Page:
        """The page that a plan has become."""
        markdown, figures, anchors, dataset = self._pages[plan.path]
        texts = cast(Mapping[str, str], _Named(figures, self._parts))
        return Page(plan, markdown, texts, frozenset(anchors), dataset=dataset)


def _parts(pages: Iterable[Page], files: Mapping[str, Content]) -> dict[str, Content]:
    """The parts of an entry."""
    parts: dict[str, Content] = {}

    def numbered(contents: Mapping[str, Content]) -> dict[str, str]:
        names = {name: str(number) for number, name in enumerate(contents, len(parts))}
        parts.update((names[name], content) for name, content in contents.items())
        return names

    index = {
        "pages": [
            (
                page.plan.path,
                page.markdown,
                numbered({key: str(figure) for key, figure in page.figures.items()}),
                sorted(page.anchors),
                page.dataset,
            )
            for page in pages
        ],
        "files": numbered(files),
        "digests": {path: content_digest(content) for path, content in files.items()},
    }
    return parts | {_INDEX: json.dumps(index)}


# --- what it is made from -----------------------------------------------------------------------

_FROM_OUTSIDE = (
    *("script_page", "changes_page", "changed", "since", "see_also", "metrics"),
    *("published", "local", "history", "history_page"),
)
"""Keys of a page's context that no file of its study decides."""


@cache
def _code_digest() -> str:
    """What all pages depend on besides the data: our code, our templates, the libraries."""
    versions = [f"{name} {version(name)}" for name in _LIBRARIES]
    return "\n".join([sys.version, *versions, code_digest(*_writers())])


def _writers() -> list[str]:
    """The packages that write pages: the core, and what compares and writes the pages of a host."""
    points = [
        point
        for group in (registry.COMPARE, registry.EXPORTS, registry.HOSTS)
        for point in registry.found(group).values()
    ]
    return sorted({"gridatlas", *(point.module.partition(".")[0] for point in points)})


def _templates_digest(folder: Path | None) -> str:
    """A hash of the user's own templates."""
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder else []
    names = [path.relative_to(folder or path).as_posix() for path in files]
    contents = [path.read_bytes() for path in files]
    return cache_key(*names, *contents)


# --- the cache ----------------------------------------------------------------------------------


class PageCache:
    """The pages and files of the studies of one build.

    Args:
        cache: Where they are stored.
        options: Those of the build that pages depend on.
        templates: The user's own.
        digests: By the ids of the studies, `files_digest` of each.
    """

    def __init__(
        self,
        cache: Cache,
        options: tuple[str, ...],
        templates: Path | None,
        digests: Mapping[str, str | None],
    ) -> None:
        self._cache, self._digests = cache, digests
        self._inputs = ("pages", *options, _code_digest(), _templates_digest(templates))

    def get(self, key: str | None) -> CachedStudy | None:
        """What is cached under a key; None where nothing is."""
        parts = None if key is None else self._cache.get(key)
        return None if parts is None else CachedStudy(parts)

    def put(
        self, key: str | None, pages: Iterable[Page], files: Mapping[str, Content]
    ) -> CachedStudy:
        """Cache what was written, and give it back.

        Args:
            key: None where it can't be cached, since files change while they are read.
        """
        parts = _parts(pages, files)
        return CachedStudy(parts if key is None else self._cache.put(key, parts))

    def study_key(self, assessment: Assessment, plans: Iterable[PagePlan]) -> str | None:
        """The key of a study's pages and files: a hash of all that they depend on."""
        # The checks of claims alone look into other studies, and name them with `study=`.
        others = any("study" in (claim.entry.check or "") for claim in assessment.judged)
        id = assessment.study.id
        digests = self._digests if others else {id: self._digests[id]}
        return self._key(id, digests, plans, assessment.results.problems)

    def overview_key(self, studies: Iterable[Assessment], plan: PagePlan) -> str | None:
        """The key of the page that links to all studies."""
        problems = [assessment.results.problems for assessment in studies]
        return self._key("", self._digests, [plan], [problems, dict(plan.context["unreadable"])])

    def _key(
        self,
        name: str,
        digests: Mapping[str, str | None],
        plans: Iterable[PagePlan],
        problems: object,
    ) -> str | None:
        if None in digests.values():
            return None
        context = [[plan.context.get(key) for key in _FROM_OUTSIDE] for plan in plans]
        files = json.dumps(dict(digests))
        return cache_key(*self._inputs, name, files, repr(context), repr(problems))
