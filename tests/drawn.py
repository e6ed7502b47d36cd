"""Charts are drawn once for many builds, by a process that has Vega already.

To start Vega, or more processes that draw, takes longer than all that a small site draws. What is
drawn is known by the key that it has in the cache of a build, of which our code that draws is a
part, and kept in such a cache: from one run to the next, with `CI=true` as long as this one. What
fails is drawn again, and fails, in the build.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gridatlas.charts import pool, render
from gridatlas.files.cache import open_cache

KEPT = "KEPT_DRAWINGS"
"""The variable that names the folder of what is drawn."""
PLACE = Path(__file__).parents[1] / ".cache/kept-drawings"
_MOST = 100 * 2**20


def draw_once(folder: Path) -> subprocess.Popen[bytes]:
    """From here on, builds of this process, and of its copies, have one other process draw.

    Args:
        folder: Where its socket is put.

    Returns:
        The process, which ends by itself where this one is killed.
    """
    address = str(folder / "drawings")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        number = listening.fileno()
        command = [sys.executable, __file__, str(number)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])

    def draw(picture: render.Drawable) -> render.Drawing:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(address)
            asked.sendall(pickle.dumps(picture))
            asked.shutdown(socket.SHUT_WR)
            answer = asked.makefile("rb").read()
        drawing: render.Drawing = pickle.loads(answer) if answer else draw_here(picture)
        return drawing

    draw_here, render.draw_one, pool.draw_one = render.draw_one, draw, draw
    pool.POOL_FROM = sys.maxsize
    return process


@contextmanager
def kept_drawings() -> Iterator[None]:
    """What builds of this very process draw, is kept, too, and taken from what is kept."""
    before = pool.draw_one, pool.POOL_FROM
    pool.draw_one, pool.POOL_FROM = _drawn, sys.maxsize
    try:
        yield
    finally:
        pool.draw_one, pool.POOL_FROM = before


def _drawn(picture: render.Drawable) -> render.Drawing:
    cache, key = open_cache(Path(os.environ.get(KEPT, PLACE))), pool._key(picture)
    found: Any = cache.get(key) or cache.put(key, asdict(render.draw_one(picture)))
    return render.Drawing(**found)


def _serve(listening: socket.socket) -> None:
    open_cache(Path(os.environ.get(KEPT, PLACE))).evict(_MOST)
    while True:
        asked, _ = listening.accept()
        # Who asks may be killed meanwhile; where drawing fails, it draws, and meets the same error.
        with asked, suppress(Exception):
            asked.sendall(pickle.dumps(_drawn(pickle.loads(asked.makefile("rb").read()))))


def _end_with_copies() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_copies, daemon=True).start()
    _serve(socket.socket(fileno=int(sys.argv[1])))
