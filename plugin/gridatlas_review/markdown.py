"""The report as Markdown for a comment, in which texts from data do nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from gridatlas.model.inert import inert
from gridatlas_review.formats import truncate_sections
from gridatlas_review.report import Entry, Lead, Report, Section, Table

MARKDOWN_LIMIT = 63_000
"""Bytes of Markdown; GitHub takes comments of up to 65,536 characters, and some are added to it."""
ZERO_WIDTH_SPACE = "\u200b"
"""Parts `@` from a name and `#` from a number: escapes don't keep GitHub from linking them."""


def to_markdown(report: Report, url: str = "", limit: int = MARKDOWN_LIMIT) -> str:
    """Write a report as Markdown, in which texts from data are shown as they are and do nothing.

    What is read first takes at most `lead.MAX_LINES` lines; all else is folded.

    Args:
        url: Address of the built site, to link to; empty for none.
        limit: Bytes of the whole text; sections say how many entries are left out.
    """
    base = url if not url or url.endswith("/") else f"{url}/"
    parts = [f"## {escaped(report.headline)}\n"]
    site = f" · [the built site]({_address(url)})" if url else ""
    parts.append(f"{_begun(escaped(report.compared))}{site}\n")
    if report.points:
        parts.append("".join(f"- {mark} {escaped(text)}\n" for mark, text in report.points))
    parts += [part for lead in report.leads for part in _lead(lead, base)]
    if report.more:
        parts.append(f"{_begun(escaped(report.more))}\n")
    names = report.titles if report.several else {}
    written = [_entries(section, names) for section in report.sections]
    folds = [_summary(section) for section in report.sections]
    # Each section may need its line "and N more", and its end.
    room = limit - len("\n".join([*parts, *folds]).encode()) - 200 * len(folds)
    numbers = truncate_sections(
        [[len(entry.encode()) for entry in entries] for entries in written], room
    )
    for fold, entries, number in zip(folds, written, numbers, strict=True):
        text = "".join(entries[:number])
        if number < len(entries):
            more = len(entries) - number
            text += f"- and {more:,} more, left out here for their length\n"
        parts.append(f"<details><summary>{fold}</summary>\n\n{text}\n</details>\n")
    return "\n".join(parts)


# --- what is read first -------------------------------------------------------------------------


def _lead(lead: Lead, base: str) -> Iterator[str]:
    """A study: its answer, its changed values, and what else is short."""
    title = escaped(lead.title)
    yield f"### {f'[{title}]({_address(base + lead.page)})' if base and lead.page else title}\n"
    if lead.text:
        yield f"{_begun(escaped(lead.text))}\n"
    if lead.table:
        yield _table(lead.table, base)
    if lead.remarks:
        yield f"{_begun(escaped(' '.join(lead.remarks)))}\n"
    for table in lead.grids:
        yield _table(table)


# --- folds --------------------------------------------------------------------------------------


def _summary(section: Section) -> str:
    """What stands on a fold; HTML, in which Markdown means nothing."""
    return f"<b>{in_html(section.title)}</b> ({len(section.entries):,})"


def _entries(section: Section, names: Mapping[str, str]) -> list[str]:
    """The entries of a section; the first of a study with its name.

    Args:
        names: Titles of studies; empty where all entries are of one.
    """
    written: list[str] = []
    for study, entries in groupby(section.entries, key=lambda entry: entry.study):
        name = f"**{escaped(names.get(study, study))}**\n\n" if names else ""
        for index, found in enumerate(entries):
            before = name if not index else ""
            written.append((f"\n{before}" if before and written else before) + _entry(found))
    return written


def _entry(entry: Entry) -> str:
    lines = [f"- {_begun(escaped(entry.text))}\n"]
    lines += [f"    - {_begun(escaped(detail))}\n" for detail in entry.details]
    if entry.table:
        lines.append("\n" + re.sub("(?m)^", "    ", _table(entry.table)).rstrip() + "\n\n")
    return "".join(lines)


def _table(table: Table, base: str = "") -> str:
    """A table; numbers, which all but the first column may have, at the right.

    Args:
        base: Address that links are below; empty for no link.
    """
    rows = [list(map(escaped, row)) for row in table.rows]
    for row, link in zip(rows, table.links if base else (), strict=False):
        if link:
            row[table.linked] = f"[{row[table.linked]}]({_address(base + link)})"
    lines = [list(map(escaped, table.columns)), ["---"] * len(table.columns), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# --- texts --------------------------------------------------------------------------------------


def in_html(text: str) -> str:
    """A text within HTML in Markdown: neither of the two reads anything in it."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"[\\`*_\[\]|~$^!]", lambda found: f"&#{ord(found[0])};", safe)
    return _apart(safe, number="#")


def _begun(text: str) -> str:
    """A text at the beginning of a line, where a number or dash would begin a list."""
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", re.sub(r"^([-+=])", r"\\\1", text))


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, that names nobody and refers to no issue."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"([\\`*_\[\]|~$^!])", r"\\\1", safe)
    return _apart(safe, number="\\#")


def _apart(safe: str, number: str) -> str:
    """A text with what GitHub makes links, names and pictures of taken apart, and no template.

    Args:
        number: How `#` is written.
    """
    safe = safe.replace("@", f"@{ZERO_WIDTH_SPACE}")
    safe = re.sub("(?<!&)#", f"{number}{ZERO_WIDTH_SPACE}".replace("\\", "\\\\"), safe)
    safe = re.sub(r"(?i)\b(gh)-(?=\d)", rf"\1{ZERO_WIDTH_SPACE}-", safe)
    safe = re.sub(r"(?i)\b(https?|ftp|mailto|xmpp):", rf"\1{ZERO_WIDTH_SPACE}:", safe)
    safe = re.sub(r"(?i)\bwww\.", f"www{ZERO_WIDTH_SPACE}.", safe)
    return inert(re.sub(r":(?=[\w+\\-]+:)", f":{ZERO_WIDTH_SPACE}", safe))


def _address(url: str) -> str:
    """An address that nothing in it ends."""
    return re.sub(
        r"[^\w:/?#\[\]@!$&'*+,;=.~%-]|[\[\]]",
        lambda c: "".join(f"%{b:02X}" for b in c[0].encode()),
        url,
    )
