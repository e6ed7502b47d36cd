"""Sentences of documents: how long they are, and which words the project doesn't use.

Run as a script, it prints what each page has: `python tests/repository/prose.py docs/*.md`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST = 25
"""Words of a sentence."""

TERMS = {
    r"mend(s|ed|ing)?": "fix",
    r"tells|told": "report, log, show or print",
    r"(is|are|stays?|was|were) kept|keeps (drawn|written)": "is cached",
    r"(staged )?aside": "staging",
    r"(gone|goes|go) on with": "resume, continue",
    r"stands? (in|on|at|below|above|behind|there)": "is, appears",
    r"besides?": "next to; also",
    r"leads? to": "links to",
    r"the least that works": "minimal example",
    r"apart from noise": "statistically significant",
    r"on the counts alone": "by an unpaired test of the counts",
    r"as recorded|recorded otherwise": "expected, unexpected",
    r"pages? for frames": "embeddable page",
    r"own colours?( scale)?": "colour scale of this heatmap only",
    r"its noise": "95 % range",
    r"right answers|rightly": "accuracy, correctly",
    r"when something is wrong": "Troubleshooting",
    r"how sure the numbers are": "Uncertainty and checks",
    r"how quick": "Build performance",
    r"start here": "Get started",
    r"grids in any page": "Embed a heatmap in your docs",
    r"anew": "again",
    r"without a word": "without a warning",
    r"nobody is there": "without a terminal",
    r"can't be had": "can't be read",
}
"""Words that aren't used, and those that are used for them."""

_PARTICIPLE = (
    r"\w+ed|made|built|read|written|shown|known|given|taken|kept|told|found|put|set|left|drawn|done|"
    r"said|seen|run|held|chosen|hidden|lost|sent|split|begun|brought|caught|cut|meant|paid|thrown"
)
PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being|isn't|aren't|wasn't|weren't|gets?)"
    rf"(?: (?:not|also|then|only|never|still|always|\w+ly))? (?:{_PARTICIPLE})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Finding:
    """Something of a page that isn't written as the project writes.

    Attributes:
        line: From 1.
        text: What is there, and what to write.
    """

    line: int
    text: str


def prose(text: str) -> Iterator[tuple[int, str]]:
    """(line, paragraph) of a Markdown page, without front matter, code, tables, quotes and HTML."""
    text = re.sub(r"\A---\n.*?\n---\n", lambda part: "\n" * part[0].count("\n"), text, flags=re.S)
    paragraph: list[str] = []
    start, fence = 0, ""
    for number, raw in enumerate([*text.splitlines(), ""], 1):
        line = raw.strip()
        mark = re.match(r"`{3,}|~{3,}", line)
        if fence:
            fence = "" if mark and line.startswith(fence) and line == mark[0] else fence
            line = ""
        elif mark:
            fence, line = mark[0], ""
        item = re.match(r"([-*+]|\d+\.) |#+ |!!! |=== ", line)
        if not line or item or re.match(r"[|>]|<|!\[", line):
            if paragraph:
                yield start, " ".join(paragraph)
            paragraph = []
            line = line[len(item[0]) :] if item else ""
        if line:
            start = start if paragraph else number
            paragraph.append(line)
            if item and item[0].startswith("#"):
                yield start, " ".join(paragraph)
                paragraph = []


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph; code in backticks and what is in braces count as a word."""
    text = re.sub(r"\{\{.*?\}\}|\{[:#][^}]*\}", "CODE", paragraph)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"https?://\S+", "CODE", text)
    text = text.replace("**", "").replace("e.g.", "eg").replace("i.e.", "ie").replace(" vs.", " vs")
    return [part for part in re.split(r"(?<=[.!?])[\"”)*]*\s+(?=\S)", text) if part.strip()]


def words(sentence: str) -> int:
    """How many words a sentence has: what has a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def findings(text: str) -> Iterator[Finding]:
    """Sentences of a page that are too long, and words in it that aren't used."""
    for line, paragraph in prose(text):
        for sentence in sentences(paragraph):
            if words(sentence) > LONGEST:
                yield Finding(line, f"{words(sentence)} words, at most {LONGEST}: {sentence[:60]}…")
            for pattern, instead in TERMS.items():
                for found in re.finditer(rf"\b(?:{pattern})\b", sentence, re.IGNORECASE):
                    yield Finding(line, f'"{found[0]}": write {instead}')


def counts(text: str) -> tuple[int, int, int, int]:
    """Sentences of a page, those that are too long, passives, and words that aren't used."""
    every = [sentence for _, paragraph in prose(text) for sentence in sentences(paragraph)]
    long = sum(words(sentence) > LONGEST for sentence in every)
    passives = sum(len(PASSIVE.findall(sentence)) for sentence in every)
    return len(every), long, passives, sum(1 for _ in findings(text)) - long


if __name__ == "__main__":
    print("page: sentences, long, passives, terms")
    total = [0, 0, 0, 0]
    for name in sys.argv[1:]:
        page = counts(Path(name).read_text("utf-8"))
        total = [a + b for a, b in zip(total, page, strict=True)]
        print(f"{name}: {page}")
    print(f"all: {tuple(total)}")
