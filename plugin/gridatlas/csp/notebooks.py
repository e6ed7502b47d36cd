"""Notebooks on pages, as mkdocs-jupyter writes them, without what the theme already has.

It puts the styles of all of JupyterLab into each page (600 kB), scripts that copy cells, and one
that imports Mermaid from another host. The theme highlights and copies code itself.
"""

from __future__ import annotations

import re
from itertools import count

_WRAPPER = '<div class="jupyter-wrapper">'
_BLOCK = re.compile(
    r"<(?P<tag>style|script)\b[^>]*>(?P<text>.*?)</(?P=tag)>\s*", re.DOTALL | re.IGNORECASE
)
_STYLES = (".jupyter-wrapper", ".highlight-ipynb", ".jp-Mermaid")
_SCRIPTS = (
    "clipboard-copy",  # an element of its own, and what it says when it was used
    ".jp-Mermaid",
    "MathJax.Hub.Config(",
)
_NO_MATHJAX = re.compile(r'<script src="">\s*</script>\s*')
_COPY = re.compile(
    r'<div class="zeroclipboard-container">.*?</clipboard-copy>\s*</div>\s*'
    r'|<div(?=[^>]* class="clipboard-copy-txt")[^>]*>[^<]*</div>\s*',
    re.DOTALL,
)
_CODE = re.compile(
    r'<div class="highlight(?:-ipynb)?(?: hl-(?P<language>[^" ]+))?(?P<more>[^"]*)">'
    r"<pre>(?:<span></span>)?(?P<code>.*?)</pre>",
    re.DOTALL,
)
_CELL_ID = re.compile(r'id="cell-id=[^"]*"')


def without_jupyterlab(html: str, stylesheet: str) -> str:
    """The content of a page without JupyterLab's styles and scripts, where it is a notebook.

    Scripts in the outputs of cells stay, and MathJax where the site says where to get it from.

    Args:
        html: A page's content.
        stylesheet: Address of our styles for cells, from the page.
    """
    head, wrapper, body = html.partition(_WRAPPER)
    if not wrapper:
        return html
    head = _NO_MATHJAX.sub("", head)
    mathjax = "<script src=" in head
    cells, end, tail = body.rpartition("<!-- jupyter-wrapper -->")
    number, place = count(1), count(1)
    # A script that is read as a notebook gets other ids in each build.
    cells = _CELL_ID.sub(lambda _: f'id="cell-id={next(place)}"', cells)
    cells = _CODE.sub(lambda found: _code(found, next(number)), _COPY.sub("", cells))
    cells = cells.replace(' class="anchor-link"', ' class="headerlink"')
    link = f'<link rel="stylesheet" href="{stylesheet}">\n'
    return _without(head, mathjax) + link + wrapper + cells + end + _without(tail, mathjax)


def _without(html: str, mathjax: bool) -> str:
    """The blocks around the cells, without JupyterLab's."""

    def replacement(block: re.Match[str]) -> str:
        theirs = _STYLES if block["tag"].lower() == "style" else _SCRIPTS[: 2 if mathjax else 3]
        return "" if any(part in block["text"] for part in theirs) else block[0]

    return _BLOCK.sub(replacement, html)


def _code(found: re.Match[str], number: int) -> str:
    """Code as the theme's own, which it colours and gives a button to copy it.

    The button finds the code by the next id around it; that of a cell is no CSS selector.
    """
    language = f"language-{found['language']} " if found["language"] else ""
    classes = f"{language}highlight{found['more'].rstrip()}"
    pre = f'<pre id="cell-{number}">'
    return f'<div class="{classes}">{pre}<span></span><code>{found["code"]}</code></pre>'
