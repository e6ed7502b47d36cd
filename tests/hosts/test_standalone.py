"""The extension without a plugin reads data again when it changed, whatever the clock says."""

import os
from pathlib import Path

import site_builds
from markdown import markdown
from site_builds import TINY_CELLS, Project


def test_a_file_that_was_saved_with_the_clock_set_back_is_read_again(tmp_path: Path) -> None:
    site_builds.add_tiny_study(Project(tmp_path))
    cells = tmp_path / "data/tiny/cells.csv"

    def best() -> str:
        configs = {"gridatlas": {"data": str(tmp_path / "data")}}
        text = '{{ grid(study="tiny", model="small").best.value }}'
        return markdown(text, extensions=["gridatlas"], extension_configs=configs)

    os.utime(cells, (1, 1))
    assert "14.5" in best()
    # As many bytes, and the time of before.
    cells.write_text(TINY_CELLS.replace("14.5", "15.5"), "utf-8")
    os.utime(cells, (1, 1))
    assert "15.5" in best()
