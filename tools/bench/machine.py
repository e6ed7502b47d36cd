"""On what it is measured: machine, day and versions."""

import os
import platform
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from figures import Setting


def measured_on(packages: Iterable[str], others: Mapping[str, str]) -> Setting:
    """This machine, today, and the versions of Python packages and other programs."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return Setting(day, machine(), {**others, **{name: version(name) for name in packages}})


def machine() -> str:
    """Processor, cores, memory and system of this machine, and how busy it is."""
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor()}, {cores} {'core' if cores == 1 else 'cores'}, {memory:.0f} GiB, "
        f"{platform.system()}, load {os.getloadavg()[0]:.1f} at the start"
    )


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text("utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
