"""A site's pages and files in a folder, for hosts that run no plugin; others' files stay.

A manifest in the folder lists what was written, by hash: only files that are still as they were
written are changed or removed later.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gridatlas.build.site import Site
from gridatlas.files.staging import FileTransaction, StagingDir, parents, remove_abandoned
from gridatlas.hosts.reporting import not_written
from gridatlas.model.addresses import is_below
from gridatlas.model.format import many
from gridatlas.model.inert import inert
from gridatlas.model.problems import join_names
from gridatlas.pages.page import Page, fill, page_links

MANIFEST = ".gridatlas.json"
"""The manifest; hosts leave out what begins with a dot."""
NAV = ".nav.yml"
"""File with the navigation of a folder, as awesome-nav and Zensical read it."""


class FolderError(Exception):
    """Why nothing was written."""


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """What a build did to a folder; paths below it.

    Attributes:
        left: Files of an earlier build that aren't needed any more, and were changed since.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    same: int
    left: tuple[str, ...] = ()


# --- what is written ----------------------------------------------------------------------------


def pages_with_figures(site: Site, ending: str) -> dict[str, bytes]:
    """Pages that need no plugin, with the figures in place, all files, and the navigation.

    Args:
        ending: What the address of a page has in the place of `index.md`.
    """
    files = dict(site.files.contents())
    for page in site.pages:
        files[page.plan.path] = page_with_figures(page, ending).encode()
    return files | {path: text.encode() for path, text in nav_files(site).items()}


def page_with_figures(page: Page, ending: str) -> str:
    """The Markdown of a page that needs no plugin."""
    figures = {key: inert(page_links(html, ending)) for key, html in page.figures.items()}
    return fill(page.markdown, figures)


def nav_files(site: Site) -> dict[str, str]:
    """A file with titles and order for each folder of pages."""
    plans = {page.plan.path: page.plan for page in site.pages}
    entries: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for path, plan in plans.items():
        folder = path.rpartition("/")[0]
        if plan.is_index and plan.trail:
            titles[folder] = plan.trail[-1]
            entries.setdefault(folder, []).insert(0, "index.md")
            above = folder.rpartition("/")[0]
            if f"{above}/index.md" in plans:
                entries.setdefault(above, []).append(folder.rpartition("/")[2])
        else:
            *outer, inner, file = path.split("/")
            entry = f"{_quoted(plan.nav_title)}: {inner}/{file}"
            entries.setdefault("/".join(outer), []).append(entry)
    return {
        f"{folder}/{NAV}": "".join(
            [f"title: {_quoted(titles[folder])}\nnav:\n"]
            + [f"  - {entry}\n" for entry in entries[folder]]
        )
        for folder in sorted(titles)
    }


def _quoted(title: str) -> str:
    # Hosts put it into pages as HTML.
    return json.dumps(inert(escape(title)), ensure_ascii=False)


# --- writing ------------------------------------------------------------------------------------


def write(files: Mapping[str, bytes], folder: Path) -> FolderChanges:
    """Bring a folder to hold these files, or leave it as it was.

    Files that are the same aren't touched. What an earlier build wrote and this one doesn't is
    removed, with folders that are empty then.

    Raises:
        FolderError: Where a file stands in the way that isn't as it was written, or the folder
            can't be written to.
    """
    remove_abandoned(folder)
    before = _manifest(folder)
    new = {path: _digest(content) for path, content in files.items()}
    current = {path: _digest_of(folder / path) for path in {*new, *before}}
    _refuse_others(folder, new, before, current)
    added = tuple(sorted(path for path in new if current[path] is None))
    changed = tuple(sorted(path for path in new if current[path] not in (None, new[path])))
    stale = sorted(path for path in before if path not in new and current[path] is not None)
    removed = tuple(path for path in stale if current[path] in before[path])
    left = tuple(path for path in stale if path not in removed)
    after = _manifest_of({path: (digest,) for path, digest in new.items()})
    if added or changed or removed or after != _bytes_of(folder / MANIFEST):
        both = {path: (*before.get(path, ()), *_listed(new.get(path))) for path in {*new, *before}}
        todo = {path: files[path] for path in (*added, *changed)}
        try:
            # Also what a killed build had removed: it may have left empty folders.
            gone = [path for path in before if path not in new and current[path] is None]
            _replace(folder, todo, [*removed, *gone], _manifest_of(both), after)
        except OSError as error:
            state = f"nothing was written; {folder} is as it was"
            raise FolderError(not_written(error, folder, state)) from error
    return FolderChanges(added, changed, removed, len(new) - len(added) - len(changed), left)


Digests = Mapping[str, tuple[str, ...]]
"""By paths, the hashes of what builds wrote there: several after one that was killed."""


def _listed(digest: str | None) -> tuple[str, ...]:
    return () if digest is None else (digest,)


def _manifest_of(files: Digests) -> bytes:
    """A manifest; where a path has one hash, that is a text and no list."""
    content = {
        path: digests[0] if len(set(digests)) == 1 else digests
        for path, digests in sorted(files.items())
    }
    return (json.dumps({"format": 1, "files": content}, indent=1) + "\n").encode()


def _manifest(folder: Path) -> Digests:
    """What earlier builds wrote, with the hashes of each file."""
    try:
        content = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = content["files"]
        if content["format"] != 1 or not all(map(is_below, files)):
            raise ValueError
        found = {
            path: (file,) if isinstance(file, str) else (*file,) for path, file in files.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FolderError(
            f"{folder / MANIFEST} isn't a list of files that a build wrote; restore it, or remove "
            "it together with the files of the last build"
        ) from error
    return found


def left_by_build(folder: Path) -> frozenset[str]:
    """The paths of what builds wrote into a folder, and is still as they wrote it.

    Raises:
        FolderError: Where the manifest isn't what a build wrote.
    """
    return frozenset(
        path for path, digests in _manifest(folder).items() if _digest_of(folder / path) in digests
    )


def _refuse_others(
    folder: Path,
    new: Mapping[str, str],
    before: Digests,
    current: Mapping[str, str | None],
) -> None:
    """Stop before a file is lost that isn't as a build wrote it."""
    others = [
        path
        for path in sorted(new)
        if current[path] not in (None, new[path], *before.get(path, ()))
    ]
    if others:
        raise FolderError(
            f"nothing was written, since it would overwrite {many(len(others), 'file')} that no "
            f"build wrote, or that changed since: {join_names(others, 5)}\n"
            f"move or remove your files in {folder}, and build again"
        )
    blocked = [
        path
        for path in sorted(new)
        if (folder / path).is_dir() or any(_is_file(folder, up) for up in parents(path))
    ]
    if blocked:
        raise FolderError(
            f"nothing was written, since folders and files there have the same names: "
            f"{join_names(blocked, 5)}"
        )


def _is_file(folder: Path, path: str) -> bool:
    return (folder / path).exists() and not (folder / path).is_dir()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str | None:
    """The hash of a file; None where there is none."""
    content = _bytes_of(path)
    return None if content is None else _digest(content)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _replace(
    folder: Path,
    files: Mapping[str, bytes],
    stale: Collection[str],
    meanwhile: bytes,
    after: bytes,
) -> None:
    """Write and remove all, or put everything back.

    Args:
        meanwhile: The manifest while files are replaced, which has their old and new hashes: after
            a kill the next build knows both for its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with StagingDir(folder) as staging:
        for path, content in {"new": meanwhile, f"files/{MANIFEST}": after}.items():
            _write(staging / path, content)
        for path, content in files.items():
            _write(staging / "files" / path, content)
        with FileTransaction(folder, staging) as transaction:
            transaction.put(staging / "new", MANIFEST)
            transaction.update(staging / "files", files, stale)
            transaction.put(staging / "files" / MANIFEST, MANIFEST)


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
