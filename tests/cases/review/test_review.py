"""What `gridatlas diff` says first of each change, and which kinds of `--fail-on` stop it.

`changes.yml` has studies of several designs, and changes of them: each with the line that a
reviewer reads first, and the kinds that stop it. A change edits files: `[old, new]` replaces a
text that is there, `{drop: …}` leaves out lines with a text, `{times: …, of: …}` multiplies the
values of such lines, `{add: …}` puts lines at the end, null removes the file.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
import yaml
from bs4 import BeautifulSoup
from builders import write_files
from cmarkgfm.cmark import Options

from gridatlas.model.schema import CHANGES
from gridatlas_review.compare import compare_snapshots, make_report
from gridatlas_review.markdown import to_markdown
from gridatlas_review.report import Report
from gridatlas_review.snapshot import load_base, load_snapshot
from gridatlas_review.verdict import stops

TABLE = yaml.safe_load(Path(__file__).with_name("changes.yml").read_text("utf-8"))
STUDIES: dict[str, dict[str, str]] = TABLE["studies"]
CASES: dict[str, dict[str, Any]] = TABLE["changes"]


def edited(text: str, edit: Any) -> str:
    """A file's text after one edit, which changes it."""
    match edit:
        case [old, new]:
            after = text.replace(old, new)
        case {"add": more}:
            after = text + more
        case {"drop": part}:
            after = "".join(row for row in text.splitlines(keepends=True) if part not in row)
        case {"times": factor, "of": part}:
            after = "".join(_times(row, part, factor) for row in text.splitlines(keepends=True))
        case _:
            raise ValueError(edit)
    assert after != text, edit
    return after


def _times(row: str, part: str, factor: float) -> str:
    """A row with another value, and with the successes that go with it."""
    if part not in row:
        return row
    cells = next(csv.reader([row]))
    at = next(i for i in reversed(range(len(cells))) if re.fullmatch(r"\d+\.\d+", cells[i]))
    value = (Decimal(cells[at]) * Decimal(str(factor))).quantize(Decimal(cells[at]))
    if len(cells) > at + 2:  # successes, n
        n = int(cells[at + 2])
        cells[at + 1] = str(round(value * n / 100))
        value = (Decimal(cells[at + 1]) * 100 / n).quantize(value)
    cells[at] = str(value)
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def reviewed(case: dict[str, Any], folder: Path) -> Report:
    """The report on a change of one study, or of the studies that it names.

    What studies of other cases have the same of, is in a cache beside the folder.
    """
    for side in ("base", "head"):
        for study in case.get("studies", [case.get("study")]):
            files = dict(STUDIES[study])
            for state in ("base", *(["head"] if side == "head" else [])):
                edits = case.get(state, {})
                for path, changes in edits.items():
                    name, _, file = path.rpartition("/")
                    if (name or case.get("study")) != study:
                        continue
                    if changes is None:
                        del files[file]
                        continue
                    for edit in changes:
                        files[file] = edited(files.get(file, ""), edit)
            if files:
                write_files(folder / side / study, files)
        if side == "head":
            for study, copy in case.get("copies", {}).items():
                write_files(folder / side / copy, STUDIES[study])
        (folder / side).mkdir(exist_ok=True)
        write_files(folder / side / "other", STUDIES["other"])
    cache = folder.parent / "cache"
    base = load_base("base", Path("data"), folder, cache=cache)
    return make_report(compare_snapshots(base, load_snapshot("head", Path("data"), folder, cache)))


@pytest.mark.parametrize("name", CASES)
def test_line_one_and_gate(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    report = reviewed(case, tmp_path)
    gate = [kind for kind in CHANGES if stops(report.rows, [kind])]
    found = {"says": report.headline, "gate": " ".join(gate)}
    found |= {"also": [f"{mark} {text}" for mark, text in report.points]} if "also" in case else {}
    assert found == {key: case.get(key, "") for key in found}
    first = to_markdown(report).partition("<details>")[0].rstrip().splitlines()
    assert len(first) <= 40
    shown = BeautifulSoup(cmarkgfm.github_flavored_markdown_to_html(
        to_markdown(report), options=Options.CMARK_OPT_UNSAFE
    ), "html.parser")  # fmt: skip
    assert shown.h2 is not None
    assert shown.h2.get_text().replace("\u200b", "") == report.headline
