"""A site that uses what Material and mkdocs-jupyter can do, with heatmaps in tabs and notes.

Its theme is as it comes, but for the fonts.
"""

import json
import struct
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import site_builds
from once import once
from site_builds import Build, Project

THEME = {
    "name": "material",
    "font": False,
    "features": [
        "navigation.instant",
        "navigation.indexes",
        "content.code.copy",
        "content.code.annotate",
        "content.tabs.link",
    ],
    "palette": [
        {
            "media": f"(prefers-color-scheme: {name})",
            "scheme": scheme,
            "toggle": {"icon": "material/brightness-6", "name": f"Not {name}"},
        }
        for name, scheme in (("light", "default"), ("dark", "slate"))
    ],
}
EXTENSIONS = [
    "admonition",
    "attr_list",
    "md_in_html",
    "pymdownx.details",
    {"pymdownx.highlight": {"anchor_linenums": True}},
    "pymdownx.superfences",
    {"pymdownx.tabbed": {"alternate_style": True}},
]

NOTES = """\
# Notes

=== "One"

    ``` yaml
    key: value # (1)!
    ```

    1.  An annotation of code

=== "Two"

    The second tab.

<script>document.documentElement.dataset.notes = "ran";</script>

[The other page](other.md)
"""

OTHER = """\
# Other

<script type="module">document.documentElement.dataset.other = "ran";</script>

[The notes](notes.md)
"""

STUDY = """\
# {{ study.title }}

{% for row in (sections | map(attribute="rows") | sum(start=()))[:2] %}
=== "Heatmaps {{ loop.index }}"

    {{ figure(row.key) }}

{% endfor %}
=== "Words"

    No heatmap in this tab.
"""

LEVEL = """\
# {{ name }}

{% for section in sections %}
{% for row in section.rows %}
!!! note "A heatmap in a note"

    {{ figure(row.key) }}

{% endfor %}
{% endfor %}

A sentence with an annotation. (1)
{ .annotate }

1.  What the annotation says.
"""

SCRIPT = """\
# %% [markdown]
# # A notebook as a script
#
# ```python
# def doubled(value):
#     return 2 * value
# ```
# %%
rates = [0.1, 0.2]
print(rates, "a < b")  # what is copied
"""


def features_project(folder: Path, cache: Path, **options: Any) -> Project:
    """The project before it is built, with these options of ours."""
    project = site_builds.make_project(
        folder,
        cache,
        {"templates": "templates", **options},
        theme=THEME,
        site_url=site_builds.SITE_URL,
        markdown_extensions=EXTENSIONS,
    )
    plugins = ["search", "mkdocs-jupyter", {"gridatlas": {"templates": "templates", **options}}]
    project.configure(plugins=plugins)
    site_builds.add_tiny_study(project)
    site_builds.add_tiny_study(project, "flawed")
    for path, text in {
        "data/flawed/cells.csv": site_builds.TINY_CELLS.replace("24.5", "245"),
        "data/unreadable/study.yml": "format: 1\ntitle: Nothing more\n",
        "docs/notes.md": NOTES,
        "docs/other.md": OTHER,
        "docs/script.py": SCRIPT,
        "docs/outputs.ipynb": notebook(),
        "templates/study.md.jinja": STUDY,
        "templates/level.md.jinja": LEVEL,
    }.items():
        project.write(path, text)
    return project


@once
def features(base: Path) -> Build:
    """The site, built once per test run, with the policy; two of its studies have problems."""
    project = features_project(base / "features", site_builds.shared_cache(base), csp=True)
    return project.built()


# --- a notebook with outputs --------------------------------------------------------------------

TABLE = """\
<div>
<style scoped>.dataframe tbody tr th { vertical-align: top; }</style>
<table border="1" class="dataframe">
<thead><tr style="text-align: right;"><th></th><th>rate</th></tr></thead>
<tbody><tr><th>0</th><td>0.25</td></tr></tbody>
</table>
</div>"""


def notebook() -> str:
    """A notebook that was run: a table, a picture, what was printed, an error, and a script."""
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# A notebook\n\nText with `code`."},
        _code("table", _shown("text/html", TABLE)),
        _code("picture", _shown("image/png", b64encode(_png(24, 12)).decode())),
        _code("print('done')", {"output_type": "stream", "name": "stdout", "text": "done\n"}),
        _code(
            "1 / 0",
            {
                "output_type": "error",
                "ename": "ZeroDivisionError",
                "evalue": "division by zero",
                "traceback": ["\x1b[31mZeroDivisionError\x1b[39m: division by zero"],
            },
        ),
        _code(
            "chart",
            _shown(
                "text/html",
                '<p id="chart"></p><script>document.getElementById("chart").textContent = "drawn";'
                "</script>",
            ),
        ),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps(whole)


def _code(source: str, output: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "source": source,
        "outputs": [output],
    }


def _shown(kind: str, data: str) -> dict[str, Any]:
    return {"output_type": "display_data", "metadata": {}, "data": {kind: data}}


def _png(width: int, height: int) -> bytes:
    """A picture of colours that go over into one another."""

    def part(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    rows = (
        b"\0" + bytes(channel for x in range(width) for channel in (10 * x, 20 * y, 160))
        for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"".join(rows))) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
