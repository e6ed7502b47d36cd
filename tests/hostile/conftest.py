"""The projects that take hostile input are made as in tests/sites, and seen as in tests/browser."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("browser", "sites")]

from chromium import launch  # noqa: E402


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of everything that lives as long as the test run."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = launch(playwright)
        except FileNotFoundError as error:
            pytest.fail(f"{error} (tests in a browser are never skipped)", pytrace=False)
        yield started
        started.close()
