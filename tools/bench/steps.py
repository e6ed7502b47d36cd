"""Runs `mkdocs build` in this process, and prints as JSON how long each step of it took.

Run by builds.py, in the folder of a project, with the time at which it was started.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from mkdocs.commands import build as host
from mkdocs.config import load_config

from gridatlas.assessment import assessment, pipeline
from gridatlas.build import page_cache, site, study_writer
from gridatlas.charts.pool import RenderPool
from gridatlas.pages.render import Writer

STEPS: tuple[tuple[str, Any, str], ...] = (
    ("load", pipeline, "read_study"),
    ("validate", pipeline, "validate"),
    ("analyse", pipeline, "check_study"),
    ("analyse", pipeline, "analyse"),
    ("analyse", pipeline, "judge"),
    ("analyse", assessment, "assess"),
    ("analyse", assessment, "with_verdicts"),
    ("analyse", assessment, "compare"),
    ("analyse", assessment, "reproduction"),
    ("plan", site, "_plans"),
    ("plan", site, "plan_study"),
    ("plan", site, "plan_embeds"),
    ("chart", RenderPool, "request"),
    ("chart", RenderPool, "wait"),
    ("chart", site, "assets"),
    ("page", Writer, "page"),
    ("page", Writer, "frame"),
    ("page", study_writer, "_downloads"),
    ("keep", pipeline, "file_signatures"),
    ("keep", pipeline, "files_digest"),
    ("keep", page_cache.PageCache, "get"),
    ("keep", page_cache.PageCache, "put"),
    ("build", site, "_data_files"),
)
"""The steps, and the functions that each of them consists of."""


class Clock:
    """Seconds in each step; of steps within one another, the inner one counts."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._within: list[float] = []

    def watch(self, step: str, owner: Any, name: str) -> None:
        """Count the time in a function of a module or class."""
        function: Callable[..., Any] = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            self._within.append(0.0)
            try:
                return function(*given, **named)
            finally:
                took = time.perf_counter() - begin
                self.spent[step] = self.spent.get(step, 0) + took - self._within.pop()
                if self._within:
                    self._within[-1] += took

        setattr(owner, name, watched)


def main() -> None:
    """Build, and print the seconds of each step."""
    started = time.time() - float(sys.argv[1])
    begun = time.perf_counter()
    clock = Clock()
    for step, owner, name in STEPS:
        clock.watch(step, owner, name)
    config = load_config()
    config.plugins.on_startup(command="build", dirty=False)
    host.build(config)
    clock.spent["host"] = time.perf_counter() - begun - sum(clock.spent.values())
    clock.spent["start"] = started
    json.dump(clock.spent, sys.stdout)


if __name__ == "__main__":
    main()
