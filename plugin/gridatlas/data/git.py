"""The data folder of a git revision, read from the repository's objects; nothing is checked out."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gridatlas.model.limits import NotRead, check_limit
from gridatlas.model.problems import quote


class RevisionError(Exception):
    """A revision or its data folder can't be had; the message says why, and what to do."""


class NoFolderError(RevisionError):
    """A revision that has nothing where the data folder would be."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository around a folder.

    Attributes:
        name: As it was asked for.
        commit: Its full hash.
        path: The data folder within the repository; empty for the whole.
    """

    name: str
    commit: str
    path: str
    repository: Path


def find_revision(name: str, data: Path, around: Path) -> Revision:
    """The commit that a name means.

    Args:
        name: A branch, tag, hash, or whatever else git takes for a commit.
        data: The data folder, from `around`.
        around: A folder of the repository.

    Raises:
        RevisionError: Without git or a repository, for an unknown commit, or a data folder that
            isn't in the repository.
    """
    top = git(around, "rev-parse", "--show-toplevel")
    if top is None:
        raise RevisionError(
            f"there is no folder {quote(name)}, and {around} isn't in a git repository that git "
            "can read, so it isn't a revision either; name a folder with studies"
        )
    repository = Path(top.decode().rstrip("\n")).resolve()
    folder = (around.resolve() / data).resolve()
    if not folder.is_relative_to(repository):
        raise RevisionError(f"the data folder {data} isn't in the repository {repository}")
    path = folder.relative_to(repository).as_posix()
    commit = _commit(repository, name)
    if commit is None:
        shallow = git(repository, "rev-parse", "--is-shallow-repository") == b"true\n"
        raise RevisionError(_unknown(name, shallow))
    return Revision(name, commit, "" if path == "." else path, repository)


def _commit(repository: Path, name: str) -> str | None:
    if name.startswith("-") or not name or not name.isprintable():
        return None
    found = git(
        repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    if found is None:
        return None
    commit = found.decode("ascii").strip()
    # A hash of full length is taken for known without a look at the objects.
    return commit if git(repository, "cat-file", "-e", commit) is not None else None


def _unknown(name: str, shallow: bool) -> str:
    text = f"there is no folder and no revision {quote(name)} in this repository"
    if not shallow:
        return f"{text}; `git branch --all` and `git tag` list those that it has"
    branch = name.removeprefix("origin/")
    plain = branch.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    fetch = "git fetch --unshallow origin"
    if plain and name.startswith("origin/"):
        fetch = f"git fetch --depth=1 origin +refs/heads/{branch}:refs/remotes/{name}"
    elif plain:
        fetch = f"git fetch --depth=1 origin {branch}` (then name FETCH_HEAD), or all with `{fetch}"
    return (
        f"{text}, which is a shallow clone: it has the newest commits only. Fetch it with `{fetch}`"
        "; with actions/checkout, set `fetch-depth: 0`"
    )


def write_data(revision: Revision, folder: Path) -> None:
    """Write the data folder of a revision as files below an empty folder.

    Files come as they are stored: no filter, attribute or hook of the repository is heeded. Links
    are kept where they stay within the data folder.

    Raises:
        NoFolderError: Where the revision has no such folder.
        RevisionError: Where it can't be written.
    """
    if revision.path and git(revision.repository, *_AT, revision.commit, revision.path) == b"":
        raise NoFolderError(_no_folder(revision))
    tree = f"{revision.commit}:{revision.path}"
    listing = git(revision.repository, "ls-tree", "-r", "-l", "-z", tree)
    if listing is None:
        raise RevisionError(_no_folder(revision))
    entries = [_entry(line, revision) for line in listing.split(b"\0") if line]
    try:
        check_limit("revision_bytes", sum(size for _, _, size, _ in entries), "bytes")
    except NotRead as error:
        raise RevisionError(
            f"the data folder of {quote(revision.name)} has {error.found}, and may have "
            f"{error.expected}; {error.fix}"
        ) from None
    links = []
    blobs = _blobs(revision, [(name, size) for _, name, size, _ in entries])
    for (mode, _, _, path), content in zip(entries, blobs, strict=True):
        target = folder / path
        if mode == b"120000":
            links.append((target, content, path))
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    # Last, so that no file is written through one.
    for target, content, path in links:
        to = os.fsdecode(content)
        inside = (target.parent / to).resolve().is_relative_to(folder.resolve())
        if not inside or os.path.isabs(to):
            raise RevisionError(
                f"{quote(revision.name)} has a link out of the data folder: {quote(path)} points "
                f"to {quote(to)}; put the file itself there"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(to)


_AT = ("ls-tree", "--full-tree", "-z")


def _no_folder(revision: Revision) -> str:
    return (
        f"the revision {quote(revision.name)} has no folder {quote(revision.path or '.')}; name "
        "the data folder with --data"
    )


def folders_above(revision: Revision, file: str) -> list[str]:
    """The folders of a revision in which a folder has a file of this name, in their order."""
    listing = git(revision.repository, *_AT, "-r", "--name-only", revision.commit) or b""
    paths = (PurePosixPath(os.fsdecode(line)) for line in listing.split(b"\0") if line)
    found = (path.parent.parent.as_posix() for path in paths if path.name == file)
    return list(dict.fromkeys(found))


def _entry(line: bytes, revision: Revision) -> tuple[bytes, str, int, str]:
    """Mode, object, size and path of an entry of a tree."""
    about, _, raw = line.partition(b"\t")
    mode, kind, name, size = about.split()
    path = os.fsdecode(raw)
    parts = PurePosixPath(path).parts
    odd = any(part in ("..", ".") or part.lower() == ".git" for part in parts)
    if odd or path.startswith("/") or "\\" in path:
        raise RevisionError(f"{quote(revision.name)} has a file with a path {quote(path)}")
    if kind != b"blob":
        raise RevisionError(
            f"{quote(path)} of {quote(revision.name)} is another repository (a submodule), "
            "whose files aren't in this one"
        )
    return mode, name.decode("ascii"), int(size), path


def _blobs(revision: Revision, names: list[tuple[str, int]]) -> list[bytes]:
    asked = "".join(f"{name}\n" for name, _ in names).encode("ascii")
    given = git(revision.repository, "cat-file", "--batch", stdin=asked)
    content, at = [], 0
    for _, size in names:
        end = -1 if given is None else given.find(b"\n", at)
        if given is None or given[at:end].split()[1:2] != [b"blob"]:
            raise RevisionError(
                f"files of {quote(revision.name)} can't be read: the clone lacks them, and "
                f"`git fetch --refetch origin {revision.commit}` fetches them"
            )
        content.append(given[end + 1 : end + 1 + size])
        at = end + size + 2
    return content


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes | None:
    """What git prints; None where it fails.

    Raises:
        RevisionError: Where there is no git.
    """
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "--no-replace-objects", "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **quiet},
        )
    except FileNotFoundError:
        raise RevisionError(
            "git isn't installed, so only folders can be compared; name a folder with studies"
        ) from None
    return done.stdout if done.returncode == 0 else None
