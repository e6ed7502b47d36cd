"""Why a file can't be written, with the disk that is full."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def why_not_written(error: OSError, folder: Path) -> str:
    """The file that can't be written and why; for a full disk which one, and what is free there.

    Args:
        folder: What was written to, for where the error doesn't say.
    """
    full = error.errno in FULL
    # Of a copy that doesn't fit, the first is the source.
    name = (full and error.filename2) or error.filename
    place = folder if name is None else Path(os.fsdecode(name))
    return f"{place}: {error.strerror or error}" + (f" ({free_space(place)})" if full else "")


def free_space(place: Path) -> str:
    """How much is free where a file or folder is, or would be."""
    place = place.absolute()
    folder = next(path for path in (place, *place.parents) if path.is_dir()).resolve()
    disk = next(path for path in (folder, *folder.parents) if os.path.ismount(path))
    return f"{shutil.disk_usage(folder).free / 2**20:.1f} MiB free on the disk at {disk}"
