"""BibTeX entries: a source's own, or one made of no more than what is known of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

from gridatlas.model.schema import Source
from gridatlas.model.study import Study

_SPECIAL = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces even behind a backslash.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "#$%&_"},
}
_SPECIALS = re.compile("|".join(map(re.escape, _SPECIAL)))


def bibtex(study: Study, title: str, url: str) -> str:
    """The entry to cite for one grid; empty where nothing is known to cite.

    Args:
        title: Of the grid's page, for a study without a source.
        url: The whole URL of the grid's page; empty where it isn't known.
    """
    if study.source:
        return _of_source(study.id, study.source)
    return _entry(study.id, [("title", _title(title)), ("url", _url(url))]) if url else ""


def _of_source(key: str, source: Source) -> str:
    if source.bibtex and source.bibtex.strip():
        return source.bibtex.strip()
    fields = [("title", _title(source.title))]
    if source.authors:
        fields.append(("author", " and ".join(map(_author, source.authors))))
    if source.year:
        fields.append(("year", str(source.year)))
    if source.url:
        fields.append(("url", _url(source.url)))
    return _entry(key, fields)


def _entry(key: str, fields: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _title(text: str) -> str:
    """In braces of its own, which keep capital letters as they are."""
    return f"{{{_escaped(text)}}}"


def _author(name: str) -> str:
    """One name; the word and in it would make it two."""
    escaped = _escaped(name)
    return f"{{{escaped}}}" if re.search(r"\band\b", name, re.IGNORECASE) else escaped


def _escaped(text: str) -> str:
    return _SPECIALS.sub(lambda match: _SPECIAL[match[0]], " ".join(text.split()))


def _url(url: str) -> str:
    return quote(url, safe=":/?#[]@!$&'()*+,;=%~-._")
