"""A site is built without a network: notebooks, heatmaps, and the scripts that Explore loads."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from site_builds import Build, Project
from without_network import without_network

ASK = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"
"""An address for documentation, where nobody is: behind a network, the packet gets lost."""


@pytest.fixture(scope="module", autouse=True)
def _can_be_taken_away() -> None:
    if not without_network():
        assert "CI" not in os.environ, "CI must let us make network namespaces: see ci.yml"
        pytest.skip("this system doesn't let us make a network namespace")


def test_nothing_is_reached_there() -> None:
    done = site_builds.run([*without_network(), sys.executable, "-c", ASK], Path.cwd())
    assert done.stdout.startswith("without a network: lo\n")
    assert done.stdout.endswith("OSError: [Errno 101] Network is unreachable\n")


def test_this_site_is_built_there(atlas: Build) -> None:
    assert atlas.log.startswith("without a network: lo\n")
    assert "52.0" in atlas.page("notebooks/studies/").get_text()  # what a cell printed


def test_heatmaps_are_drawn_and_scripts_bundled_there(
    tmp_path: Path, tiny: Callable[..., Project]
) -> None:
    nothing_kept = {"cache": str(tmp_path / "cold")}
    build = tiny(options=nothing_kept).built("--strict", before=without_network())
    assert build.log.startswith("without a network: lo\n")
    assert (build.site / "grids/tiny/large.png").stat().st_size > 1000
    assert [path.name for path in (build.site / "assets/gridatlas").glob("vega-*.js")]
