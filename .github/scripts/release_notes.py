"""Compares a tag with the version, the changelog and CITATION.cff, and writes what a release needs.

`python release_notes.py v0.2.0 --out notes.md --repository https://github.com/OWNER/grid-atlas`, in
the root of the repository: notes of the release; addresses in pyproject.toml and CITATION.cff,
which are known only now. With `--check` it writes nothing, and says what a tag would do. Exit
status: 0 fine, 1 if they don't fit, with what to do.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

URLS = {
    "Homepage": "",
    "Source": "",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


def notes(tag: str, root: Path) -> str:
    """The changelog's text of a version.

    Args:
        tag: `v` and a version.
        root: Folder of pyproject.toml, CHANGELOG.md and CITATION.cff.

    Raises:
        ValueError: If version, changelog, citation and tag don't fit.
    """
    version = _version(root)
    if tag != f"v{version}":
        raise ValueError(
            f"the tag is {tag}, and pyproject.toml has version {version}: "
            f"delete the tag, and tag the commit that has its version"
        )
    package = (root / "plugin/gridatlas/__init__.py").read_text("utf-8")
    if f'__version__ = "{version}"' not in package:
        raise ValueError(f"plugin/gridatlas/__init__.py has another __version__ than {version}")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    head = rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$"
    found = re.search(rf"{head}\n(.*?)(?=^## |^\[[^\]]+\]: |\Z)", changelog, re.M | re.S)
    if not found or not found[2].strip():
        raise ValueError(
            f"CHANGELOG.md says nothing under ## [{version}] - YYYY-MM-DD: "
            "give what is under [Unreleased] this heading"
        )
    citation = (root / "CITATION.cff").read_text("utf-8")
    for line in (f"version: {version}", f"date-released: {found[1]}"):
        if line not in citation.splitlines():
            raise ValueError(f"CITATION.cff has no line {line}: write it")
    return f"{found[2].strip()}\n"


def _version(root: Path) -> str:
    found: str = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return found


def with_addresses(root: Path, repository: str) -> None:
    """Put a repository's addresses into pyproject.toml and CITATION.cff."""
    lines = [f'{name} = "{repository}{path}"\n' for name, path in URLS.items()]
    with (root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("".join(["\n[project.urls]\n", *lines]))
    with (root / "CITATION.cff").open("a", encoding="utf-8") as file:
        file.write(f"repository-code: {repository}\n")


def main() -> int:
    """Write what a release needs, or say what there would be; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tag", nargs="?", default=f"v{_version(Path())}")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--repository", default="")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    try:
        text = notes(given.tag, Path())
    except ValueError as error:
        print(
            f"The tag {given.tag} would publish nothing: {error}"
            if given.check
            else f"::error::{error}"
        )
        return 1
    if given.check:
        print(f"The tag {given.tag} would publish wheel, sdist and SBOM, with these notes:\n")
        print(text, end="")
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text, "utf-8")
    if given.repository:
        with_addresses(Path(), given.repository)
    return 0


if __name__ == "__main__":
    sys.exit(main())
