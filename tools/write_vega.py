"""Writes what comes with the package of Vega, by vl-convert and Altair: `make vega`.

The libraries for a browser, and the layers of charts without data. After an update of either in the
lock, or a change to a chart; tests compare what is there with what they make.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

from gridatlas.charts.plotting import FILE
from gridatlas.charts.render import make_bundle, shipped_bundle
from layers import written

if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit("python tools/write_vega.py: takes no arguments; it writes into the package")
    new = shipped_bundle(version("vl-convert-python"))
    for file in new.parent.glob("*.js"):
        file.unlink()
    new.write_bytes(make_bundle())
    FILE.write_text(written(), encoding="utf-8")
    print(f"{new.name}, {FILE.name}")
