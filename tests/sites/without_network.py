"""Runs a command on a machine of its own that has no network: `python without_network.py COMMAND`.

Linux only: in a network namespace, where nothing is but the machine itself (127.0.0.1), as the
kernels of notebooks need it.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

_NAMESPACE = ("unshare", "--map-root-user", "--net", "--")
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


@functools.cache
def without_network() -> tuple[str, ...]:
    """What to put before a command; nothing where the system doesn't let us make a namespace."""
    if not shutil.which("unshare"):
        return ()
    may = subprocess.run([*_NAMESPACE, "true"], capture_output=True, check=False)
    return (*_NAMESPACE, sys.executable, str(Path(__file__))) if may.returncode == 0 else ()


def main(command: list[str]) -> None:
    """Switch the machine's own address on, say what else there is, and become the command."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:

        def flags(name: str) -> int:
            asked = struct.pack("16sh14x", name.encode(), 0)
            _, found = struct.unpack("16sh14x", fcntl.ioctl(anything, _SIOCGIFFLAGS, asked))
            return int(found)

        on = struct.pack("16sh14x", b"lo", flags("lo") | _IFF_UP)
        fcntl.ioctl(anything, _SIOCSIFFLAGS, on)
        # The kernel may give tunnels to a namespace, which are off.
        up = [name for _, name in socket.if_nameindex() if flags(name) & _IFF_UP]
    print(f"without a network: {', '.join(up)}", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
