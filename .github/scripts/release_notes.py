"""Compares a tag with the version and the changelog, and writes what the changelog says.

`python release_notes.py v0.2.0 --out notes.md`, in the repository's root. Exit status: 0 fine,
1 if they don't fit, with what to do.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path


def notes(tag: str, root: Path) -> str:
    """The changelog's text of a version.

    Args:
        tag: `v` and a version.
        root: Folder of pyproject.toml and CHANGELOG.md.

    Raises:
        ValueError: If version, changelog and tag don't fit.
    """
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise ValueError(
            f"the tag is {tag}, and pyproject.toml has version {version}: "
            f"delete the tag, and tag the commit that has its version"
        )
    package = (root / "plugin/gridatlas/__init__.py").read_text("utf-8")
    if f'__version__ = "{version}"' not in package:
        raise ValueError(f"plugin/gridatlas/__init__.py has another __version__ than {version}")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    head = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{head}\n(.*?)(?=^## |^\[[^\]]+\]: |\Z)", changelog, re.M | re.S)
    if not found or not found[1].strip():
        raise ValueError(
            f"CHANGELOG.md says nothing under ## [{version}] - YYYY-MM-DD: "
            "give what is under [Unreleased] this heading"
        )
    return f"{found[1].strip()}\n"


def main() -> int:
    """Write the notes; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tag")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    try:
        text = notes(given.tag, Path())
    except ValueError as error:
        print(f"::error::{error}")
        return 1
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
