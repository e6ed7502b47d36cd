"""What tests of several workflows share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that keeps drawn charts, so that each is drawn once."""
    return tmp_path_factory.mktemp("drawings")
