"""The projects that are built and broken are made as in tests/sites."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sites"))
