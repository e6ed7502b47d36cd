"""Charts are drawn once for many builds, by a process that has Vega already.

To start Vega takes longer than all that a small site draws. What is drawn is known by the key that
it has in the cache of a build. What fails is drawn again, and fails, in the build.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from gridatlas.charts import pool, render


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
    return process


def _serve(listening: socket.socket) -> None:
    known: dict[str, bytes] = {}
    while True:
        asked, _ = listening.accept()
        # Who asks may be killed meanwhile.
        with suppress(OSError, EOFError, pickle.UnpicklingError), asked:
            picture: Any = pickle.loads(asked.makefile("rb").read())
            key = pool._key(picture)
            if key not in known:
                try:
                    known[key] = pickle.dumps(render.draw_one(picture))
                except Exception:  # Who asks draws it, and meets the same error.
                    known[key] = b""
            asked.sendall(known[key])


def _end_with_copies() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_copies, daemon=True).start()
    _serve(socket.socket(fileno=int(sys.argv[1])))
