"""Draws the charts of a build in other processes, and caches them by their inputs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gridatlas.charts.render import Drawable, Drawing, draw_one
from gridatlas.files.cache import cache_key, code_digest, open_cache

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

POOL_FROM = 120
"""Pictures to draw from which other processes pay: each takes as long to start as 40 to draw."""
PROCESSES = 2
MAX_DRAWINGS_IN_MEMORY = 128
"""Drawings from the cache that are in memory at once."""

Drawn = TypeVar("Drawn", bound=Drawable)


def draw(
    pictures: Iterable[Drawn],
    cache_folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[Drawn, Drawing]:
    """Draw all pictures; those in the cache are taken from there.

    Args:
        cache_folder: Where drawings are cached between builds; None for nowhere.
        progress: Called with (drawn, to draw) after each picture that was not in the cache.
    """
    wanted = list(dict.fromkeys(pictures))
    with RenderPool[Drawn](cache_folder, progress) as pool:
        pool.request(wanted)
        pool.wait(wanted)
    return pool.drawings


class RenderPool(Generic[Drawn]):
    """Draws pictures while something else is done.

    From `POOL_FROM` pictures on, processes of their own draw; fewer are drawn by this one, when
    they are waited for.

    Args:
        folder: The cache; None for none.
        progress: Called with (drawn, to draw) after each picture that was not in the cache.
    """

    def __init__(
        self, folder: Path | None, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._folder, self._progress = folder, progress
        self._requested: dict[Drawn, str] = {}
        self._pending: dict[Drawn, Future[Drawing | None] | None] = {}
        self._drawn: dict[Drawn, Drawing] = {}
        self._cached = CachedDrawings(lambda: self._requested, folder, self._drawn)
        self._count = 0
        self._pool: ProcessPoolExecutor | None = None

    @property
    def drawings(self) -> Mapping[Drawn, Drawing]:
        """Those of all pictures that were requested and waited for."""
        return self._drawn if self._folder is None else self._cached

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def request(self, pictures: Iterable[Drawn]) -> None:
        """Have pictures drawn that the cache doesn't have, each once."""
        new = [picture for picture in dict.fromkeys(pictures) if picture not in self._requested]
        self._requested |= {picture: _key(picture) for picture in new}
        self._pending |= dict.fromkeys(
            picture for picture in new if not self._cached.exists(picture)
        )
        if len(self._pending) >= POOL_FROM and self._pool is None and (os.cpu_count() or 1) > 1:
            self._pool = _processes()
        if self._pool is not None:
            self._submit(self._pool)

    def _submit(self, pool: ProcessPoolExecutor) -> None:
        pictures = [picture for picture, future in self._pending.items() if future is None]
        # A process is started when there is something to do for it.
        with _without_script(), contextlib.suppress(BrokenExecutor):  # This one draws them, then.
            for picture in pictures:
                self._pending[picture] = pool.submit(_draw_into, self._writable(), picture)

    def wait(self, pictures: Iterable[Drawn]) -> None:
        """Return once pictures are drawn that were requested.

        Raises:
            DrawingError: Of `draw_one`.
        """
        for picture in pictures:
            if picture not in self._pending:
                continue
            drawing = self._result(picture)
            if drawing is not None:
                self._drawn[picture] = drawing
            del self._pending[picture]
            self._count += 1
            if self._progress:
                self._progress(self._count, self._count + len(self._pending))

    def _result(self, picture: Drawn) -> Drawing | None:
        future = self._pending[picture]
        if future is not None:
            try:
                return future.result()
            except BrokenExecutor:  # One was killed: for its memory, say.
                pass
        return _draw_into(self._writable(), picture)

    def _writable(self) -> Path | None:
        """The cache, where it can be written to."""
        return self._folder if open_cache(self._folder).is_writable else None


def _draw_into(folder: Path | None, picture: Drawable) -> Drawing | None:
    """Draw one picture; None where it is in the cache by then."""
    drawing = draw_one(picture)
    cache = open_cache(folder)
    cache.put(_key(picture), {"svg": drawing.svg, "png": drawing.png, "spec": drawing.spec})
    return None if cache.is_writable else drawing


def _processes() -> ProcessPoolExecutor:
    # Most builds start none.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawn: a fork after any use of vl-convert deadlocks.
    return ProcessPoolExecutor(PROCESSES, get_context("spawn"), _end_with_build)


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    """Have processes start without the script that builds; what they draw with isn't in it.

    They would run it once more: all of it, where it has no `if __name__ == "__main__"`.
    """
    script = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    before = {name: getattr(script, name) for name in names if hasattr(script, name)}
    for name in before:
        setattr(script, name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(script, name, value)


def _end_with_build() -> None:
    """Have a process that draws end when the build is killed; by itself it would wait for ever."""
    from multiprocessing import parent_process

    def end() -> None:
        build = parent_process()
        if build is not None:
            build.join()
            os._exit(1)

    Thread(target=end, daemon=True).start()


# --- cache --------------------------------------------------------------------------------------


class CachedDrawings(Mapping[Drawn, Drawing]):
    """Drawings in the cache; those that were read last are in memory.

    Args:
        pictures: Gives those whose drawings can be read, with their keys in the cache; there may be
            more later.
        folder: The cache.
        uncached: Drawings that couldn't be cached; there may be more later.
    """

    def __init__(
        self,
        pictures: Callable[[], Mapping[Drawn, str]],
        folder: Path | None,
        uncached: Mapping[Drawn, Drawing] = MappingProxyType({}),
    ) -> None:
        self._pictures, self._folder, self._uncached = pictures, folder, uncached
        self._in_memory: dict[Drawn, Drawing] = {}

    def exists(self, picture: Drawn) -> bool:
        """Whether the cache has the drawing, undamaged."""
        return self._read(picture) is not None

    def __getitem__(self, picture: Drawn) -> Drawing:
        if picture not in self._pictures():
            raise KeyError(picture)
        # Where the cache was emptied meanwhile, it is drawn once more.
        return self._read(picture) or self._remember(picture, draw_one(picture))

    def __iter__(self) -> Iterator[Drawn]:
        return iter(self._pictures())

    def __len__(self) -> int:
        return len(self._pictures())

    def _read(self, picture: Drawn) -> Drawing | None:
        drawing = self._uncached.get(picture) or self._in_memory.get(picture)
        if drawing is not None:
            return drawing
        parts: Mapping[str, Any] | None = open_cache(self._folder).get(self._pictures()[picture])
        return None if parts is None else self._remember(picture, Drawing(**parts))

    def _remember(self, picture: Drawn, drawing: Drawing) -> Drawing:
        if len(self._in_memory) >= MAX_DRAWINGS_IN_MEMORY:
            del self._in_memory[next(iter(self._in_memory))]
        self._in_memory[picture] = drawing
        return drawing


@cache
def _drawn_by() -> str:
    """What drawings depend on besides the picture: the library's version and our own code."""
    digest = code_digest("gridatlas/charts/templates.json", "gridatlas/charts")
    return f"vl-convert-python {version('vl-convert-python')}\n{digest}"


def _key(picture: Drawable) -> str:
    return cache_key("drawing", _drawn_by(), picture.to_json())
