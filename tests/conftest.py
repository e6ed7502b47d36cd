"""The browser of all tests: a process can have one; and what is on the path of all of them.

What is started in the background of a shell ignores Ctrl-C, and so does all that it starts. Tests
that send it to a build mean one that somebody has before them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from amount import amount
from costs import Costs
from drawn import KEPT, kept_drawings
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_HERE = Path(__file__).parent
# Sites are made, and looked at in a browser, for tests of several folders.
sys.path[:0] = [str(_HERE / name) for name in ("browser", "sites", "golden", "../tools")]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example takes as long as the machine lets it, whichever tests run.
settings.register_profile(
    "gridatlas",
    deadline=None,
    max_examples=amount(100, 10_000),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gridatlas")

# Parsed pages are a million objects in circles: by default a third of the time goes into looking
# which of them are rubbish, again and again.
gc.set_threshold(50_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", metavar="FILE", help="write what each test costs as CSV")
    parser.addoption("--update", action="store_true", help="record golden sites anew")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") and KEPT not in os.environ:  # Processes of one run share it.
        drawings = tempfile.TemporaryDirectory(prefix="drawings-", ignore_cleanup_errors=True)
        config.add_cleanup(drawings.cleanup)
        os.environ[KEPT] = drawings.name
    if config.getoption("--costs") or os.environ.get("CI"):
        config.pluginmanager.register(Costs(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if item.path.parent.name in ("charts", "faults"):  # Drawing is what they test.
        return (yield)
    with kept_drawings():
        return (yield)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of everything that lives as long as the test run."""
    return tmp_path_factory.getbasetemp()


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
