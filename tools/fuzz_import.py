#!/usr/bin/env python3
"""Import mutated tables: each is imported, asked about or refused, and no row is lost.

  python tools/fuzz_import.py --number 3000 --seed 1
  python tools/fuzz_import.py --number 200 --folder my/tables

A mutation cuts, repeats, swaps or replaces a part of a file that is read as it is. What is looked
for: exceptions that are no refusal, imports that don't end, and rows that aren't accounted for.
The exit status is 1 where something is found; the input is printed.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import signal
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from gridatlas_import.cells import make_cells
from gridatlas_import.choose import choose
from gridatlas_import.detect import detect
from gridatlas_import.options import ImportOptions
from gridatlas_import.report import choice_json
from gridatlas_import.rows import CannotImport

LIMIT = 20
"""Seconds after which an import counts as hanging."""
PARTS = (
    b"", b",", b";", b"|", b"&", b"\\\\", b"\n", b'"', b"<td>", b"</tr>", b'colspan="9"', b"-",
    b"NaN", b"1e999", b"-1", b"12k", b"3 ms", b"2m23s", b"< 5%", b"\xff", b"\x00", b"}", b"[",
    b"\\multirow{9}{*}{", b"]", b"{", b"null", b"Average", b"...", "±".encode(), b" " * 50,
    b"9" * 40,
)  # fmt: skip
ROWS = [("small", "arith", 1, "0.51"), ("small", "logic", 1, "0.52"), ("large", "arith", 1, "0.61"),
        ("large", "logic", 1, "0.72"), ("small", "arith", 2, "0.55"), ("small", "logic", 2, "0.57"),
        ("large", "arith", 2, "0.66"), ("large", "logic", 2, "0.77")]  # fmt: skip


def samples() -> dict[str, bytes]:
    """Small files of each form, by name."""
    names = ("model", "task", "seed", "acc")
    lines = [",".join(names), *(",".join(map(str, row)) for row in ROWS)]
    cells = [["<th>" + "</th><th>".join(names) + "</th>"]]
    cells += [["<td>" + "</td><td>".join(map(str, row)) + "</td>"] for row in ROWS]
    html = "<h1>Acc</h1><table>" + "".join(f"<tr>{row[0]}</tr>\n" for row in cells) + "</table>"
    tex = " & ".join(names) + r" \\ \midrule" + "\n"
    tex += "".join(" & ".join(map(str, row)) + " \\\\\n" for row in ROWS)
    md = f"| {' | '.join(names)} |\n|-|-|-|-|\n"
    md += "".join(f"| {' | '.join(map(str, row))} |\n" for row in ROWS)
    wide = "| Program | a | b | c |\n|-|-|-|-|\n"
    wide += "| one | 1.5 ms | 2 s | 3 s |\n| two | - | 1 s | 4 s |\n"
    objects = [dict(zip(names, row, strict=True)) for row in ROWS]
    records = str(objects).replace("'", '"')
    keyed = '{"a/x": {"p": {"e": 1.5, "h": 2.5}}, "b/y": {"p": {"e": 3.5, "h": 4.5}}}'
    return {
        "t.csv": "\n".join(lines).encode(),
        "t.html": html.encode(),
        "t.tex": (r"\begin{tabular}{llrr}" + tex + r"\end{tabular}").encode(),
        "t.md": md.encode(),
        "wide.md": wide.encode(),
        "t.json": records.encode(),
        "keyed.json": keyed.encode(),
        "t.jsonl": "\n".join(str(row).replace("'", '"') for row in objects).encode(),
        "t.xlsx": workbook([list(names), *map(list, ROWS)]),
    }


def workbook(rows: list[list[object]]) -> bytes:
    """An Excel workbook with one sheet of texts."""
    cells = (
        "".join(f'<c t="inlineStr"><is><t>{value}</t></is></c>' for value in row) for row in rows
    )
    sheet = "".join(f"<row>{row}</row>" for row in cells)
    space = "http://schemas.openxmlformats.org"
    main, rels = f"{space}/spreadsheetml/2006/main", f"{space}/officeDocument/2006/relationships"
    package = f"{space}/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
        f'Type="{rels}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{rels}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="s" Type="{rels}/worksheet" Target="worksheets/s.xml"/></Relationships>',
        "xl/worksheets/s.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return packed.getvalue()


def repacked(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A ZIP file in which the largest member changed, so that most of them can still be opened."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    largest = max(members, key=lambda name: len(members[name]))
    members[largest] = change(members[largest])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return packed.getvalue()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A file with a few changes."""
    if data[:2] == b"PK" and chance.random() < 0.9:
        return repacked(data, lambda member: mutated(member, chance))
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + int(chance.expovariate(0.15)))
        part = data[start:end]
        instead = chance.choice([b"", part * 2, part[::-1], chance.choice(PARTS),
                                 chance.choice(PARTS) + part])  # fmt: skip
        data = data[:start] + instead + data[end:]
    return data


def outcome(path: Path) -> str:
    """What becomes of a file: imported, asked or refused.

    Raises:
        AssertionError: For rows that aren't accounted for.
    """
    try:
        table = detect([path])
        choice = choose(table, ImportOptions())
        choice_json(choice)
        if choice.proposal is None:
            return "asked"
        proposal = choice.proposal
        imported = make_cells(proposal, None)
    except CannotImport:
        return "refused"
    given = len(table.places) + len(table.reported)
    rows = given if not proposal.table.wide else imported.read
    if imported.read < rows:
        raise AssertionError(f"{imported.read} rows of {rows}")
    if imported.read != imported.cells + imported.repeats + len(imported.reported):
        raise AssertionError(f"{imported.read} rows read: {imported.cells} cells, …")
    return "imported"


def findings(
    number: int, seed: int, seeds: dict[str, bytes], counted: Counter[str]
) -> Iterator[tuple[str, bytes, str]]:
    """Inputs with what was found of them; what becomes of the others is counted."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"more than {LIMIT} s")

    chance = random.Random(seed)
    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            name = chance.choice([*seeds])
            data = mutated(seeds[name], chance)
            path = Path(folder, name)
            path.write_bytes(data)
            signal.alarm(LIMIT)
            try:
                counted[f"{path.suffix} {outcome(path)}"] += 1
            except Exception as error:  # any is a finding
                yield name, data, f"{type(error).__name__}: {error}"
            finally:
                signal.alarm(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="more files to begin with")
    given = parser.parse_args()
    seeds = samples()
    if given.folder:
        seeds |= {path.name: path.read_bytes() for path in given.folder.iterdir() if path.is_file()}
    counted: Counter[str] = Counter()
    found = [*findings(given.number, given.seed, seeds, counted)]
    for name, data, what in found:
        print(f"{name}: {what}\n  {data[:600]!r}")
    print(f"{given.number} inputs: {len(found)} findings; {dict(sorted(counted.items()))}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
