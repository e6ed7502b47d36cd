"""Draws the pictures of a build while it goes on, and keeps them in a cache by their inputs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from gridatlas.charts.heatmap import Heatmap
from gridatlas.charts.line import LineChart
from gridatlas.charts.render import Drawing, draw_one
from gridatlas.files import store

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

POOL_FROM = 40
"""Pictures to draw from which other processes pay (each costs about a second to start)."""
PROCESSES = 2
HELD_UP_TO = 64
"""Drawings out of the cache that are in memory at once."""

Drawn = TypeVar("Drawn", bound=Heatmap | LineChart)


def draw(
    pictures: Iterable[Drawn],
    cache_folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[Drawn, Drawing]:
    """Draw all pictures; those in the cache are taken from there.

    Args:
        cache_folder: Where drawings are kept; a damaged entry is drawn again. None keeps nothing.
        progress: Called with (drawn, to draw) after each picture that was not in the cache.
    """
    wanted = list(dict.fromkeys(pictures))
    with RenderPool[Drawn](cache_folder, progress) as drawers:
        drawers.ask(wanted)
        drawers.wait(wanted)
    return drawers.drawings


class RenderPool(Generic[Drawn]):
    """Draw what they are asked for while something else is done.

    From `POOL_FROM` pictures on, processes of their own draw; fewer are drawn by this one, when
    they are waited for.

    Args:
        folder: The cache; None keeps nothing.
        progress: Called with (drawn, to draw) after each picture that was not in the cache.
    """

    def __init__(
        self, folder: Path | None, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._folder, self._progress = folder, progress
        self._asked: dict[Drawn, None] = {}
        self._left: dict[Drawn, Future[Drawing | None] | None] = {}
        self._drawn: dict[Drawn, Drawing] = {}
        self._stored = None if folder is None else Stored(self._asked, folder)
        self._count = 0
        self._pool: ProcessPoolExecutor | None = None

    @property
    def drawings(self) -> Mapping[Drawn, Drawing]:
        """Those of all pictures that were asked for and waited for."""
        return self._drawn if self._stored is None else self._stored

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def ask(self, pictures: Iterable[Drawn]) -> None:
        """Have pictures drawn that the cache doesn't have, each once."""
        new = [picture for picture in dict.fromkeys(pictures) if picture not in self._asked]
        self._asked |= dict.fromkeys(new)
        self._left |= dict.fromkeys(
            one for one in new if self._stored is None or not self._stored.there(one)
        )
        if len(self._left) >= POOL_FROM and self._pool is None and (os.cpu_count() or 1) > 1:
            self._pool = _processes()
        if self._pool is not None:
            self._submit(self._pool)

    def _submit(self, pool: ProcessPoolExecutor) -> None:
        pictures = [one for one, future in self._left.items() if future is None]
        # A process is started when there is something to do for it.
        with _without_script(), contextlib.suppress(BrokenExecutor):  # This one draws them, then.
            for picture in pictures:
                self._left[picture] = pool.submit(_drawn, picture, self._folder)

    def wait(self, pictures: Iterable[Drawn]) -> None:
        """Until pictures are drawn that were asked for.

        Raises:
            DrawingError: Of `draw_one`.
            OSError: Where the cache can't be written to.
        """
        for picture in pictures:
            if picture not in self._left:
                continue
            drawing = self._done(picture)
            if drawing is not None:
                self._drawn[picture] = drawing
            del self._left[picture]
            self._count += 1
            if self._progress:
                self._progress(self._count, self._count + len(self._left))

    def _done(self, picture: Drawn) -> Drawing | None:
        future = self._left[picture]
        if future is not None:
            try:
                return future.result()
            except BrokenExecutor:  # One was killed: for its memory, say.
                pass
        return _drawn(picture, self._folder)


def _drawn(picture: Heatmap | LineChart, folder: Path | None) -> Drawing | None:
    """Draw one picture; None where it is in the cache by now."""
    drawing = draw_one(picture)
    if folder is None:
        return drawing
    _write(folder, picture, drawing)
    return None


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


class Stored(Mapping[Drawn, Drawing]):
    """Drawings in the cache; in memory are only those that were asked for last.

    Args:
        pictures: Those whose drawings can be asked for, each once; there may be more later.
        folder: The cache.
    """

    def __init__(self, pictures: Collection[Drawn], folder: Path) -> None:
        self._pictures, self._folder = pictures, folder
        self._held: dict[Drawn, Drawing] = {}

    def there(self, picture: Drawn) -> bool:
        """Whether the cache has the drawing, and it isn't damaged."""
        return self._stored(picture) is not None

    def __getitem__(self, picture: Drawn) -> Drawing:
        if picture not in self._pictures:
            raise KeyError(picture)
        # Where somebody has emptied the cache by now, it is drawn once more.
        return self._stored(picture) or self._hold(picture, draw_one(picture))

    def __iter__(self) -> Iterator[Drawn]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)

    def _stored(self, picture: Drawn) -> Drawing | None:
        if picture in self._held:
            return self._held[picture]
        found = _read(self._folder, picture)
        return found and self._hold(picture, found)

    def _hold(self, picture: Drawn, drawing: Drawing) -> Drawing:
        if len(self._held) >= HELD_UP_TO:
            del self._held[next(iter(self._held))]
        self._held[picture] = drawing
        return drawing


@cache
def _drawn_by() -> str:
    """What drawings depend on besides the picture: the libraries' versions and our own code."""
    parts = [f"{name} {version(name)}" for name in ("altair", "vl-convert-python")]
    here = Path(__file__)
    for source in ("render.py", "vegalite.py", "line.py", "templates.py", "compress.py"):
        parts.append(hashlib.sha256(here.with_name(source).read_bytes()).hexdigest())
    return "\n".join(parts)


def _key(picture: Heatmap | LineChart) -> str:
    return store.key_of(_drawn_by(), picture.to_json())


def _read(folder: Path, picture: Heatmap | LineChart) -> Drawing | None:
    """A stored drawing, or None where there is none or it is damaged."""
    body = store.read(folder, _key(picture))
    if body is None:
        return None
    sizes, _, rest = body.partition(b"\n")
    svg, png = (int(size) for size in sizes.split())
    return Drawing(rest[:svg].decode(), rest[svg : svg + png], rest[svg + png :].decode())


def _write(folder: Path, picture: Heatmap | LineChart, drawing: Drawing) -> None:
    svg = drawing.svg.encode()
    body = b"%d %d\n" % (len(svg), len(drawing.png)) + svg + drawing.png + drawing.spec.encode()
    store.write(folder, _key(picture), body)
