"""A comparison as Markdown: texts from data are shown as they are, and do nothing."""

from __future__ import annotations

import re

from gridatlas.diff.cap import allot
from gridatlas.diff.report import Item, Report, Section, Table

LIMIT = 65_000
"""Bytes; GitHub takes comments of up to 65,536 characters."""

NO_WIDTH = "\u200b"
"""Parts `@` from a name and `#` from a number: escapes don't keep GitHub from linking them."""


def to_markdown(report: Report, url: str = "", limit: int = LIMIT) -> str:
    """Write a comparison as Markdown.

    Args:
        url: Address of the built site, to link to; empty for none.
        limit: Bytes of the whole text.
    """
    head = [f"# Changes in the results: {escaped(report.base)} → {escaped(report.head)}\n"]
    commits = [one for one in (report.base_commit, report.head_commit) if one]
    if commits:
        sides = ((report.base, report.base_commit), (report.head, report.head_commit))
        named = [f"{escaped(name)} is `{commit}`" for name, commit in sides if commit]
        head.append(f"{', '.join(named)}.\n")
    head.append(f"{_begun(escaped(report.summary))}\n")
    if url:
        head.append(f"[The built site]({_address(url)})\n")
    written = [[_item(item) for item in section.items] for section in report.sections]
    titles = [_title(section) for section in report.sections]
    fixed = "\n".join([*head, *titles])
    # Each section may need its line "and N more".
    room = limit - len(fixed.encode()) - 120 * len(titles)
    kept = allot([[len(item.encode()) for item in items] for items in written], room)
    parts = list(head)
    for title, items, number in zip(titles, written, kept, strict=True):
        parts.append(title)
        text = "".join(items[:number])
        more = len(items) - number
        if more:
            text += f"- and {more:,} more, left out here for their length\n"
        parts.append(text)
    return "\n".join(parts)


def _title(section: Section) -> str:
    return f"## {section.title} ({len(section.items):,})\n"


def _item(item: Item) -> str:
    lines = [f"- **{escaped(item.study)}**: {escaped(item.text)}"]
    lines += [f"    - {_begun(escaped(detail))}" for detail in item.details]
    text = "\n".join(lines) + "\n"
    if item.table:
        text += "\n" + _table(item.table) + "\n"
    return text


def _table(table: Table) -> str:
    rows = [table.columns, ("---",) * len(table.columns)]
    written = [[escaped(one) for one in row] for row in (rows[0], *table.rows)]
    written.insert(1, list(rows[1]))
    return "".join(f"    | {' | '.join(row)} |\n" for row in written)


def _begun(text: str) -> str:
    """A text at the beginning of a line, where a number or dash would begin a list."""
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", re.sub(r"^([-+=])", r"\\\1", text))


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, that names nobody and refers to no issue."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"([\\`*_\[\]|~$^!])", r"\\\1", safe)
    # What GitHub makes of texts after Markdown: mentions, references, addresses, emoji.
    safe = safe.replace("@", f"@{NO_WIDTH}").replace("#", f"\\#{NO_WIDTH}")
    safe = re.sub(r"(?i)\b(gh)-(?=\d)", rf"\1{NO_WIDTH}-", safe)
    safe = re.sub(r"(?i)\b(https?|ftp|mailto|xmpp):", rf"\1{NO_WIDTH}:", safe)
    safe = re.sub(r"(?i)\bwww\.", f"www{NO_WIDTH}.", safe)
    return re.sub(r":(?=[\w+\\-]+:)", f":{NO_WIDTH}", safe)


def _address(url: str) -> str:
    """An address that nothing in it ends."""
    return re.sub(
        r"[^\w:/?#\[\]@!$&'*+,;=.~%-]|[\[\]]",
        lambda c: "".join(f"%{b:02X}" for b in c[0].encode()),
        url,
    )
