"""Imports of mutated files end in a study, a question or a refusal, and lose no row."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools/fuzz_import.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_import", TOOL)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_files_are_imported_or_refused(fuzz):
    counted = Counter()
    assert [*fuzz.findings(250, 7, fuzz.samples(), counted)] == []
    succeeded = {ending for ending in counted if ending.endswith("imported")}
    assert {".csv imported", ".html imported", ".md imported", ".tex imported"} <= succeeded


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.md", "| P b | a || c |\n|-|-|-|-|\n| one | 1.5 ms | 2 s | 3 s |\n|| - | 1 s | 4 s |\n"),
        ("t.json", '{"a/x": {"p": {"e": 1.5, "h": 2.5}}, "b/y": {"p": {"e": 3.5, "h": 4.5}}}'),
        ("t.html", "<table><tr><td colspan=99999>a<td rowspan=-1>b</table><table><tr></table>"),
        ("t.tex", r"\begin{tabular}{ll} \multirow{9999}{*}{a} & b \\ \multicolumn{9999}{c}{1}"),
    ],
)
def test_what_ended_in_an_exception_once_doesnt(fuzz, tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf-8")
    assert fuzz.outcome(tmp_path / name) in ("imported", "asked", "refused")
