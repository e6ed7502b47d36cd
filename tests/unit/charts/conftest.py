"""Tests that draw by vl-convert alone see the fonts that our drawings have."""

import pytest

from gridatlas.charts import render


@pytest.fixture(autouse=True, scope="session")
def fonts():
    """Whose fonts come first is decided by what a process draws first, whichever test that is."""
    render._vl_convert()
