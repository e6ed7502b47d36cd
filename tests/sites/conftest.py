"""Sites that several tests look at: each is built once per test run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import site_builds
from site_builds import Build, Project


@pytest.fixture(scope="session")
def cache(base: Path) -> Path:
    """Drawings that all tests share, which don't look at drawing itself."""
    return site_builds.shared_cache(base)


@pytest.fixture(scope="session")
def atlas(base: Path) -> Build:
    """The site of this repository."""
    return site_builds.atlas(base)


@pytest.fixture
def tiny(tmp_path: Path, cache: Path) -> Callable[..., Project]:
    """Makes a project with one small study: `tiny(options={...}, nav=[...])`."""

    def make(options: dict[str, Any] | None = None, **config: Any) -> Project:
        project = site_builds.make_project(tmp_path / "tiny", cache, options, **config)
        site_builds.add_tiny_study(project)
        return project

    return make
