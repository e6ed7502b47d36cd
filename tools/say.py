#!/usr/bin/env python3
"""Find where a sentence of a page is written: in a template, or as a text in the code.

  python tools/say.py "No effect of ratio shown"

Prints file and line of the patterns that the sentence fits best. What a pattern fills in may be
anything; what is around it has to be in the sentence, in its order.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PLUGIN = Path(__file__).parents[1] / "plugin"
FILLED = re.compile(r"\{\{.*?\}\}|<[^>]*>|\{[^{}]*\}")
SHOWN, LEAST = 5, 8


def patterns() -> Iterator[tuple[Path, int, str]]:
    """Each line of a template, and each text in templates and code; what is filled in is ⟨⟩."""
    for path in sorted(PLUGIN.rglob("*.jinja")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for text in (*re.split(r"\{%.*?%\}", line), *re.findall(r'"([^"]{8,})"', line)):
                yield path, number, FILLED.sub("⟨⟩", text)
    for path in sorted(PLUGIN.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.lineno, FILLED.sub("⟨⟩", node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (of.value if isinstance(of, ast.Constant) else "⟨⟩" for of in node.values)
                yield path, node.lineno, "".join(map(str, parts))


def score(sentence: str, pattern: str) -> int:
    """How many letters of a pattern are in the sentence, in their order."""
    at = found = 0
    for part in pattern.split("⟨⟩"):
        text = " ".join(part.split()).casefold().strip(" .:;,")
        place = sentence.find(text, at) if len(text) > 2 else -1
        if place >= 0:
            at, found = place + len(text), found + len(text)
    return found


def main() -> int:
    """Print the best patterns; the exit status is 1 where none fits."""
    sentence = " ".join(" ".join(sys.argv[1:]).split()).casefold()
    rated = sorted(
        ((score(sentence, text), path, line, text) for path, line, text in patterns()),
        key=lambda entry: (-entry[0], len(entry[3])),
    )
    best = [entry for entry in rated[:SHOWN] if entry[0] >= LEAST]
    for found, path, line, text in best:
        place = f"{path.relative_to(PLUGIN.parent)}:{line}"
        print(f"{place} ({found} of {len(sentence)} letters): {' '.join(text.split())[:100]}")
    return 0 if best else 1


if __name__ == "__main__":
    sys.exit(main())
