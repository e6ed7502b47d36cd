"""Finds and starts the Chromium in which the built website is tested."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
"""Chromium's engine alone: a page costs a third of what it does with windows and a profile."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A test run talks to its own server and to nobody else.
ARGUMENTS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwright: Playwright | None = None, *, whole: bool = False) -> Path | None:
    """Return the Chromium to use: $CHROMIUM, the system's, or the one Playwright downloaded.

    Give `playwright` where one is running already: a thread can't start a second. Where the
    browser must be the `whole` one that readers have, no headless shell will do.

    Raises:
        FileNotFoundError: $CHROMIUM names no program.
    """
    if wanted := os.environ.get("CHROMIUM"):
        if program := shutil.which(wanted):
            return Path(program)
        raise FileNotFoundError(f"CHROMIUM is {wanted!r}, which is no program")
    if playwright is None:
        with sync_playwright() as started:
            return find_chromium(started, whole=whole)
    # The path is where Playwright would put its browser, whether or not it is there.
    downloaded = Path(playwright.chromium.executable_path)
    shells = () if whole else (*_programs(SHELLS), *_downloaded_shells(downloaded))
    for path in (*shells, *_programs(PROGRAMS), downloaded):
        if path.is_file():
            return path
    return None


def _programs(names: Iterable[str]) -> Iterator[Path]:
    return (Path(program) for name in names if (program := shutil.which(name)))


def _downloaded_shells(chromium: Path) -> Iterator[Path]:
    """Those beside Playwright's Chromium: `chromium_headless_shell-7/…` beside `chromium-7/…`."""
    for folder in chromium.parents:
        if folder.name.startswith("chromium-"):
            shell = folder.with_name(folder.name.replace("chromium", "chromium_headless_shell", 1))
            return (
                path for name in (*SHELLS, "headless_shell") for path in shell.glob(f"*/{name}")
            )
    return iter(())


def launch(playwright: Playwright, *, whole: bool = False) -> Browser:
    """Start a headless Chromium, in its sandbox where the system allows one.

    What is measured for readers is measured in the `whole` browser, as they have it.

    Raises:
        FileNotFoundError: there is no Chromium.
    """
    path = find_chromium(playwright, whole=whole)
    if path is None:
        raise FileNotFoundError("no Chromium; tests/browser/install.py installs one")

    def start(*, sandbox: bool) -> Browser:
        return playwright.chromium.launch(
            executable_path=path,
            headless=True,
            args=ARGUMENTS,
            chromium_sandbox=sandbox,  # false: Playwright adds --no-sandbox
        )

    if os.geteuid() == 0:  # Chromium refuses to be sandboxed as root.
        return start(sandbox=False)
    try:
        return start(sandbox=True)
    except Error as error:
        # Containers, and Ubuntu since 23.10, deny it the namespaces that a sandbox is made of.
        if "No usable sandbox" not in error.message:
            raise
        return start(sandbox=False)
