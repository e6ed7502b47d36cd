"""The projects that documents lead to share drawings with those of tests/sites."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sites"))
