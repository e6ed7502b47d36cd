"""How much of a long test runs: a share with `make test`, all of it with `make soak`."""

import os

SOAK = os.environ.get("SOAK") == "1"


def amount(share: int, whole: int) -> int:
    """How many kills, examples, or seconds: `share` of them, or with `make soak` the `whole`."""
    return whole if SOAK else share
