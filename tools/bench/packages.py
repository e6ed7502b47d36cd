"""Packages from npm, in the versions that package.json names, in build/bench/npm/."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINNED = Path(__file__).with_name("package.json")
FOLDER = ROOT / "build" / "bench" / "npm"


def install() -> Path:
    """Install the packages where they aren't yet; return the folder they are in.

    Raises:
        SystemExit: npm failed; it has said why.
    """
    done = FOLDER / "installed.json"
    wanted = PINNED.read_text(encoding="utf-8")
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        shutil.copy(PINNED, FOLDER / "package.json")
        print(f"Installing the packages of {PINNED.relative_to(ROOT)} with npm", flush=True)
        # The aliases (vega-5, vega-6) are not what other packages know as their peers.
        options = ["--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        if subprocess.run(
            [program("npm"), "install", *options], cwd=FOLDER, check=False
        ).returncode:
            raise SystemExit("npm could not install them (see above)")
        done.write_text(wanted, encoding="utf-8")
    return FOLDER / "node_modules"


def program(name: str) -> str:
    """The path of node's program `name`, which the group `bench` installs beside this Python.

    Raises:
        SystemExit: it isn't there.
    """
    path = shutil.which(name, path=str(Path(sys.executable).parent))
    if path is None:
        raise SystemExit(f"there is no {name}; the Makefile installs it: make bench")
    return path


def about(name: str) -> dict[str, str]:
    """What an installed package says of itself in its package.json."""
    text = (FOLDER / "node_modules" / name / "package.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def version(name: str) -> str:
    """The version of an installed package."""
    return about(name)["version"]


def script(name: str) -> Path:
    """The file that the CDN jsDelivr gives for a package where no file is named."""
    package = about(name)
    return FOLDER / "node_modules" / name / package["jsdelivr"]
