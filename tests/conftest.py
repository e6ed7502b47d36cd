"""The browser of all tests: a process can have one. This folder is on the path, for `amount`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parent / "browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Tests of the evaluation scripts do without it.
    from playwright.sync_api import sync_playwright

    from chromium import launch

    with sync_playwright() as playwright:
        try:
            started = launch(playwright)
        except FileNotFoundError as error:
            pytest.fail(f"{error} (tests in a browser are never skipped)", pytrace=False)
        yield started
        started.close()
