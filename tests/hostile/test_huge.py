"""What is long, deep or many is told or read, in bounded time and memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from huge import INPUT
from once import once

from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.marks import CellMark
from gridatlas.charts.palette import ColourScale
from gridatlas.charts.render import draw_one
from gridatlas.charts.vegalite import specification


@once
def huge_faults(_: Path) -> dict[str, str]:
    """What went wrong with each input, by its name; what is slow if large has to be large."""
    program = Path(__file__).with_name("huge.py")
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, encoding="utf-8", check=True
    )
    return {name: fault for name, fault, _ in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def faults(base: Path) -> dict[str, str]:
    return huge_faults(base)


@pytest.mark.parametrize("name", INPUT)
def test_it_is_read_or_told(faults: dict[str, str], name: str) -> None:
    assert faults[name] == ""


LONG = "a long name with emoji 👩‍👩‍👧‍👦 and more of them 😀😀😀😀😀😀😀😀 " * 2


def _picture(x_labels: tuple[str, ...]) -> Heatmap:
    marks = tuple(
        CellMark(f"{at},1", x, "y", float(at), str(at), x) for at, x in enumerate(x_labels)
    )
    scale, words = ColourScale("values", 0, 1), (LONG, LONG)
    return Heatmap(LONG, LONG, LONG, words, scale, LONG, LONG, x_labels, ("y",), marks)


def test_a_text_that_is_cut_has_no_half_of_a_character() -> None:
    """Vega cuts within an emoji, and what draws for us takes no half of one."""
    labels = (f"{LONG}😀", f"{LONG}😁", "😀 short")
    for shift in range(2):
        assert "<svg" in draw_one(_picture(tuple("i" * shift + label for label in labels))).svg
    rows = specification(_picture(labels))["data"]["values"]
    assert len({row["x"] for row in rows}) == 3
    assert [row["x"] for row in rows][2] == "😀 short"
    assert [row["label"] for row in rows] == list(labels)
