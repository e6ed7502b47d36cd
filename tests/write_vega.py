"""Writes the libraries for a browser that come with the package, by vl-convert: `make vega`.

After an update of it in the lock; a test compares what is there with what it makes.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

from gridatlas.charts.render import make_bundle, shipped_bundle

if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit("python tests/write_vega.py: takes no arguments; it writes into the package")
    new = shipped_bundle(version("vl-convert-python"))
    for file in new.parent.glob("*.js"):
        file.unlink()
    new.write_bytes(make_bundle())
    print(new.name)
