"""A connection with Ray: on this machine, or with a cluster that runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gridatlas_reproduce.runner.errors import CannotRun

_ANSWERS_WITHIN = 10.0
"""Seconds within which a cluster answers."""


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected; a Ray that was connected before is left so."""
    if address is not None:
        _look_for(address)
    # It would send figures about its use to its makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Else workers without a GPU would not see one that PyTorch asks for.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise CannotRun(
            "Ray isn't installed",
            "the extra reproduce",
            'pip install "/path/to/grid-atlas[reproduce]", or --engine local',
        ) from error
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(
            # Without an address Ray would join a cluster that somebody else runs on this machine.
            address=address or "local",
            include_dashboard=None if address else False,
            configure_logging=True,
            logging_level="error",
        )
    except Exception as error:  # Ray raises bare ones, too
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        if address is not None:
            raise _no_cluster(address, why) from error
        raise CannotRun(
            f"Ray doesn't start: {why}", "Ray on this machine", "try it with --engine local"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _look_for(address: str) -> None:
    """Raise CannotRun where nothing answers at HOST:PORT; Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return  # `auto`, or one that Ray judges
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str, why: str) -> CannotRun:
    return CannotRun(
        f"no Ray cluster answers at {address}: {why}",
        "a running cluster",
        "start it with ray start --head, and give its address, or leave --address out",
    )
