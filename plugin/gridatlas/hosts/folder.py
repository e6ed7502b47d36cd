"""A site's pages and files in a folder, for hosts that run no plugin; others' files stay.

What was written is remembered in a file beside it, by hash: only files that are still as they were
written are changed or removed later.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gridatlas.build import Site
from gridatlas.page import fill, page_links
from gridatlas.plan import PagePlan
from gridatlas.problems import listed

MANIFEST = ".gridatlas.json"
"""File that remembers what was written; hosts leave out what begins with a dot."""
NAV = ".nav.yml"
"""File with the navigation of a folder, as awesome-nav and Zensical read it."""


class FolderError(Exception):
    """Why nothing was written."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a build did to a folder; paths below it.

    Attributes:
        kept: Files of an earlier build that aren't needed any more, and were changed since.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    same: int
    kept: tuple[str, ...] = ()


# --- what is written ----------------------------------------------------------------------------


def pages_with_figures(site: Site, ending: str) -> dict[str, bytes]:
    """Pages that need no plugin, with the figures in place, all files, and the navigation.

    Args:
        ending: What the address of a page has in the place of `index.md`.
    """
    files = {path: _bytes(content) for path, content in site.files.items()}
    for page in site.pages:
        figures = {key: page_links(html, ending) for key, html in page.figures.items()}
        files[page.plan.path] = fill(page.markdown, figures).encode()
    return files | {path: text.encode() for path, text in nav_files(site).items()}


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


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
            entries.setdefault(_above(plan), []).append(_titled(plan))
    return {
        f"{folder}/{NAV}": "".join(
            [f"title: {json.dumps(titles[folder], ensure_ascii=False)}\nnav:\n"]
            + [f"  - {one}\n" for one in entries[folder]]
        )
        for folder in sorted(titles)
    }


def _above(plan: PagePlan) -> str:
    return "/".join(plan.path.split("/")[:-2])


def _titled(plan: PagePlan) -> str:
    title = json.dumps(plan.nav_title, ensure_ascii=False)
    return f"{title}: {'/'.join(plan.path.split('/')[-2:])}"


# --- writing ------------------------------------------------------------------------------------


def write(files: Mapping[str, bytes], folder: Path) -> Written:
    """Bring a folder to hold these files, or leave it as it was.

    Files that are the same aren't touched. What an earlier build wrote and this one doesn't is
    removed, with folders that are empty then.

    Raises:
        FolderError: Where a file stands in the way that isn't as it was written, or the folder
            can't be written to.
    """
    before = _manifest(folder)
    new = {path: _digest(content) for path, content in files.items()}
    there = {path: _digest_of(folder / path) for path in {*new, *before}}
    _refuse_others(folder, new, before, there)
    added = tuple(sorted(path for path in new if there[path] is None))
    changed = tuple(sorted(path for path in new if there[path] not in (None, new[path])))
    stale = sorted(path for path in before if path not in new and there[path] is not None)
    removed = tuple(path for path in stale if there[path] == before[path])
    kept = tuple(path for path in stale if path not in removed)
    manifest = json.dumps({"format": 1, "files": dict(sorted(new.items()))}, indent=1) + "\n"
    todo = {path: files[path] for path in (*added, *changed)}
    if new != before or not (folder / MANIFEST).is_file():
        todo[MANIFEST] = manifest.encode()
    try:
        _replace(folder, todo, removed)
    except OSError as error:
        raise FolderError(f"{error.filename or folder}: {error.strerror}") from error
    return Written(added, changed, removed, len(new) - len(added) - len(changed), kept)


def _manifest(folder: Path) -> dict[str, str]:
    """What an earlier build wrote, with the hash of each file."""
    try:
        content = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = content["files"]
        if content["format"] != 1 or not all(map(_is_below, files)):
            raise ValueError
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FolderError(
            f"{folder / MANIFEST} isn't what a build wrote there, so it isn't known which files "
            "are its own; restore it, or remove it together with the files of the last build"
        ) from error
    return dict(files)


def _is_below(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and not any(part in ("", ".", "..") for part in parts) and "\\" not in path


def _refuse_others(
    folder: Path,
    new: Mapping[str, str],
    before: Mapping[str, str],
    there: Mapping[str, str | None],
) -> None:
    """Stop before a file is lost that isn't as a build wrote it."""
    others = [
        path
        for path in sorted(new)
        if there[path] not in (None, new[path]) and there[path] != before.get(path)
    ]
    if others:
        raise FolderError(
            f"nothing was written, since {len(others)} "
            f"{'file is' if len(others) == 1 else 'files are'} in the way that no build left so: "
            f"{listed(others, 5)}\nmove or remove what is yours in {folder}, and build again"
        )
    blocked = [
        path
        for path in sorted(new)
        if (folder / path).is_dir() or any(_is_file(folder, up) for up in _folders(path))
    ]
    if blocked:
        raise FolderError(
            f"nothing was written, since a folder stands where a file shall be, or a file where a "
            f"folder shall be: {listed(blocked, 5)}"
        )


def _folders(path: str) -> list[str]:
    """The folders that a file is in, the innermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _is_file(folder: Path, path: str) -> bool:
    return (folder / path).exists() and not (folder / path).is_dir()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str | None:
    """The hash of a file; None where there is none."""
    try:
        return _digest(path.read_bytes())
    except OSError:
        return None


def _replace(folder: Path, files: Mapping[str, bytes], removed: Iterable[str]) -> None:
    """Write and remove all, or put everything back."""
    if not files and not removed:
        return
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".gridatlas-", dir=folder))
    placed: list[Path] = []
    saved: list[tuple[Path, Path]] = []
    made: list[Path] = []
    try:
        for number, content in enumerate(files.values()):
            (aside / f"new-{number}").write_bytes(content)
        for number, path in enumerate((*files, *removed)):
            target = folder / path
            if target.exists():
                os.replace(target, aside / f"old-{number}")
                saved.append((aside / f"old-{number}", target))
            if path in files:
                made += _make_folders(target.parent)
                os.replace(aside / f"new-{number}", target)
                placed.append(target)
    except BaseException:
        _put_back(placed, saved, made)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    for path in removed:
        for up in _folders(path):
            if (folder / up).is_dir() and not any((folder / up).iterdir()):
                (folder / up).rmdir()


def _put_back(
    placed: Iterable[Path], saved: Iterable[tuple[Path, Path]], made: Iterable[Path]
) -> None:
    for target in placed:
        target.unlink(missing_ok=True)
    for backup, target in saved:
        os.replace(backup, target)
    for one in reversed(list(made)):
        one.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; gives those that weren't there, the outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir()
    return missing[::-1]
