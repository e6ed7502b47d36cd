"""A comparison as a page of its own: no script, nothing loaded, texts from data as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from gridatlas.diff.report import Item, Report, Section, Table

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
li { margin-bottom: .6rem; overflow-wrap: anywhere; } code { overflow-wrap: anywhere; }
.ga-scroll { overflow-x: auto; } .ga-scroll:focus-visible { outline: 2px solid; }
table { border-collapse: collapse; margin: .4rem 0; overflow-wrap: normal;
  font-variant-numeric: tabular-nums; }
th, td { border: 1px solid color-mix(in srgb, currentColor 35%, transparent);
  padding: .2rem .6rem; text-align: left; }
.details { margin: .2rem 0; padding-left: 1.2rem; }
"""


def to_html(report: Report, url: str = "") -> str:
    """Write a comparison as a page.

    Args:
        url: Address of the built site, to link to; empty for none, or one that isn't of the web.
    """
    title = f"Changes in the results: {report.base} → {report.head}"
    body = [f"<h1>{_text(title)}</h1>"]
    sides = ((report.base, report.base_commit), (report.head, report.head_commit))
    named = [f"{_text(name)} is <code>{_text(one)}</code>" for name, one in sides if one]
    if named:
        body.append(f"<p>{', '.join(named)}.</p>")
    body.append(f"<p><strong>{_text(report.summary)}</strong></p>")
    if re.match(r"https?://", url):
        body.append(f'<p><a href="{escape(url)}">The built site</a></p>')
    if len(report.sections) > 1:
        links = "".join(
            f'<li><a href="#{section.id}">{_text(section.title)} ({len(section.items):,})</a></li>'
            for section in report.sections
        )
        body.append(f'<nav aria-label="Sections"><ul>{links}</ul></nav>')
    body += [_section(section) for section in report.sections]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    return (
        f'<section aria-labelledby="{section.id}">\n'
        f'<h2 id="{section.id}">{_text(section.title)} ({len(section.items):,})</h2>\n'
        f"{items_html(section, {})}\n</section>"
    )


def items_html(section: Section, links: Mapping[str, str]) -> str:
    """The items of a section as a list.

    Args:
        links: Addresses of the studies' pages, by their ids.
    """
    items = "\n".join(_item(item, links) for item in section.items)
    return f"<ul>\n{items}\n</ul>"


def _item(item: Item, links: Mapping[str, str]) -> str:
    name = f"<strong>{_text(item.study)}</strong>"
    if item.study in links:
        name = f'<a href="{escape(links[item.study])}">{name}</a>'
    parts = [f"{name}: {_text(item.text)}"]
    if item.details:
        lines = "".join(f"<li>{_text(detail)}</li>" for detail in item.details)
        parts.append(f'<ul class="details">{lines}</ul>')
    if item.table:
        parts.append(_table(item.table, f"{item.study}: {item.text}"))
    return f"<li>{''.join(parts)}</li>"


def _table(table: Table, name: str) -> str:
    head = "".join(f'<th scope="col">{_text(column)}</th>' for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_text(one)}</td>' for one in row)}</tr>" for row in table.rows
    )
    return (
        f'<div class="ga-scroll" tabindex="0" role="region" aria-label="{escape(name)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _text(text: str) -> str:
    return escape(text, quote=False)
