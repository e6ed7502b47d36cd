"""Prints what the package needs, and what extras of it add, a requirement per line.

    python .github/scripts/dependencies.py mkdocs parquet

pip installs these by their hashes first: the package itself, from its folder, has none.
"""

import sys
import tomllib
from pathlib import Path


def dependencies(extras: list[str]) -> list[str]:
    """The requirements of pyproject.toml."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    added = project["optional-dependencies"]
    unknown = [extra for extra in extras if extra not in added]
    if unknown:
        sys.exit(f"no extra {', '.join(unknown)} (there are {', '.join(added)})")
    return [*project["dependencies"], *(one for extra in extras for one in added[extra])]


if __name__ == "__main__":
    print("\n".join(dependencies(sys.argv[1:])))
