"""`--update` writes what is recorded of sites anew; `site_builds` is on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sites"))
