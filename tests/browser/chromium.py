"""Finds and starts the Chromium in which the built website is tested."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A test run talks to its own server and to nobody else.
ARGUMENTS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwright: Playwright | None = None) -> Path | None:
    """Return the Chromium to use: $CHROMIUM, the system's, or the one Playwright downloaded.

    Give `playwright` where one is running already: a thread can't start a second.

    Raises:
        FileNotFoundError: $CHROMIUM names no program.
    """
    if wanted := os.environ.get("CHROMIUM"):
        if program := shutil.which(wanted):
            return Path(program)
        raise FileNotFoundError(f"CHROMIUM is {wanted!r}, which is no program")
    for name in PROGRAMS:
        if program := shutil.which(name):
            return Path(program)
    if playwright is None:
        with sync_playwright() as started:
            return _downloaded(started)
    return _downloaded(playwright)


def _downloaded(playwright: Playwright) -> Path | None:
    # The path is where Playwright would put its browser, whether or not it is there.
    path = Path(playwright.chromium.executable_path)
    return path if path.is_file() else None


def launch(playwright: Playwright) -> Browser:
    """Start a headless Chromium, in its sandbox where the system allows one.

    Raises:
        FileNotFoundError: there is no Chromium.
    """
    path = find_chromium(playwright)
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
