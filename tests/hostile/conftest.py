"""The projects that take hostile input are made as in tests/sites, and seen as in tests/browser."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("browser", "sites")]


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of everything that lives as long as the test run."""
    return tmp_path_factory.getbasetemp()
