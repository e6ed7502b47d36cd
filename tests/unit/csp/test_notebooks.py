"""Notebooks without JupyterLab's styles and scripts; tests/sites does it with mkdocs-jupyter."""

import pytest

from gridatlas.csp.notebooks import without_jupyterlab

WRAPPER = '<div class="jupyter-wrapper">'
END = "</div> <!-- jupyter-wrapper -->"
LINK = '<link rel="stylesheet" href="../notebook.css">\n'
CONFIGURATION = '<script type="text/x-mathjax-config">MathJax.Hub.Config({})</script>'


def slimmed(before, cells="", after=""):
    return without_jupyterlab(f"{before}{WRAPPER}{cells}{END}{after}", "../notebook.css")


def test_a_page_that_is_no_notebook_stays_as_it_is():
    html = "<style>.jupyter-wrapper {}</style><div class='highlight'><pre>code</pre></div>"
    assert without_jupyterlab(html, "../notebook.css") == html


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("<style>.jupyter-wrapper { --jp-x: 0 }</style>\n", ""),
        ('<style type="text/css">td { } .highlight-ipynb .k {}</style>', ""),
        ("<script>define('clipboard-copy')</script>", ""),
        ('<script type="module">import("https://cdn.example"); ".jp-Mermaid"</script>', ""),
        (f'<script src=""> </script>{CONFIGURATION}', ""),
        # What the user wants stays.
        ("<style>.mine { color: red }</style>", "<style>.mine { color: red }</style>"),
        (
            f'<script src="/js/mathjax.js"></script>{CONFIGURATION}',
            f'<script src="/js/mathjax.js"></script>{CONFIGURATION}',
        ),
        (
            '<script src="https://cdn.example/require.js"></script>',
            '<script src="https://cdn.example/require.js"></script>',
        ),
    ],
)
def test_known_blocks_around_the_cells_are_taken_out(before, expected):
    assert slimmed(before) == f"{expected}{LINK}{WRAPPER}{END}"


def test_styles_behind_the_cells_are_taken_out():
    after = "<style>['td { } .highlight-ipynb .k {}']</style>"
    assert slimmed("", after=f"{after}<p>mine</p>") == f"{LINK}{WRAPPER}{END}<p>mine</p>"


def test_blocks_in_the_cells_stay():
    cells = "<style>.jupyter-wrapper p {}</style><script>draw('.jp-Mermaid')</script>"
    assert slimmed("", cells) == f"{LINK}{WRAPPER}{cells}{END}"


def test_code_is_written_as_the_theme_does():
    cells = (
        '<div class="zeroclipboard-container"><clipboard-copy for="cell-1"><div>x</div>'
        "</clipboard-copy></div>"
        '<div class="highlight-ipynb hl-python more"><pre><span></span>a &lt; b\n</pre></div>'
        '<div id="cell-1" class="clipboard-copy-txt">a &lt; b</div>'
        '<div class="highlight"><pre>c\n</pre></div>'
    )
    assert slimmed("", cells) == (
        f"{LINK}{WRAPPER}"
        '<div class="language-python highlight more"><pre id="cell-1"><span></span>'
        "<code>a &lt; b\n</code></pre></div>"
        '<div class="highlight"><pre id="cell-2"><span></span><code>c\n</code></pre></div>'
        f"{END}"
    )


def test_cells_have_the_same_ids_in_each_build():
    found = [
        slimmed("", f'<div id="cell-id={name}"></div><div id="cell-id=x"></div>') for name in "ab"
    ]
    assert found[0] == found[1]
    assert 'id="cell-id=1"' in found[0]
    assert 'id="cell-id=2"' in found[0]
