"""Studies whose every string tries to be more than text, and one of the same form that doesn't."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import site_builds
from builders import write_study
from once import once
from site_builds import Build

STRINGS = {
    "benign": "plain words",
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "end-of-title": "</title></script><!-- ]]>",
    "emphasis": "**x** _y_ `c` <b>b</b> \\ \\*",
    "links": "[a](javascript:alert(1)) ![i](x)",
    "autolinks": "www.x.example #12 me@x.example",
    "templates": "{{ x }} {% x %} | $& \\1 \\g<0>",
    "blocks": "1. - # > [^1] [[w]] *[A]: b",
    "attributes": "{: onclick=alert(1) } { .c x=y }",
    "extensions": ":smile: H~2~O ==m== ++ctrl+a++",
    "typography": "(c) 1/2 -- ... 'q' \"q\" $x$ \\(x\\)",
    "entities": "&amp; &lt;b&gt; &#60;i&#62; &copy; &#123;",
    "placeholder": '<div data-gridatlas="lead"></div>',
    "two-benign": "plain words",
    "two-script": "</svg><script>alert(1)</script>",
}
"""By the study's id; each string is text, and has to come out as it is.

Short ones: what is longer than Vega lets a label be takes it half a second to cut. Two studies
have two levels, and so differences.
"""
TWINS = {study: "two-benign" if study.startswith("two-") else "benign" for study in STRINGS}
"""The study of the same form with plain words."""

EXTENSIONS = [
    "abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "smarty", "wikilinks",
    "pymdownx.arithmatex", "pymdownx.betterem", "pymdownx.caret", "pymdownx.critic",
    "pymdownx.details", "pymdownx.emoji", "pymdownx.inlinehilite", "pymdownx.keys",
    "pymdownx.magiclink", "pymdownx.mark", "pymdownx.smartsymbols", "pymdownx.snippets",
    "pymdownx.superfences", "pymdownx.tabbed", "pymdownx.tasklist", "pymdownx.tilde",
    "legacy_attrs", "sane_lists", "tables", "pymdownx.blocks.admonition", "pymdownx.blocks.details",
    "pymdownx.blocks.html", "pymdownx.blocks.tab", "pymdownx.escapeall", "pymdownx.fancylists",
    "pymdownx.progressbar", "pymdownx.quotes", "pymdownx.saneheaders",
]  # fmt: skip
"""What sites with Material switch on; each of them gives some characters a meaning."""
FEATURES = [
    "navigation.footer", "navigation.indexes", "navigation.path", "navigation.tabs",
    "search.highlight", "search.suggest",
]  # fmt: skip


@dataclass(frozen=True)
class Texts:
    """The texts of one study; each field is the string and a word of its own."""

    study: str

    def __getitem__(self, field: str) -> str:
        return f"{STRINGS[self.study]} {field}"

    @property
    def levels(self) -> list[str]:
        """The fields that name the facet's levels."""
        return ["facet one", "facet two"] if self.study.startswith("two-") else ["facet one"]

    def on_checks_page(self) -> list[str]:
        """What the study's page of checks says."""
        two = ["second reading", "wrong"] if len(self.levels) == 2 else []
        return [self[field] for field in [*CHECK_FIELDS, *two]]

    def everywhere(self) -> list[str]:
        """What the study's own page says."""
        return [self[field] for field in [*FIELDS, *self.levels]]

    def study_file(self) -> dict[str, Any]:
        def levels(factor: str) -> list[dict[str, str]]:
            return [{"id": self[f"{factor} {word}"]} for word in ("one", "two")]

        return {
            "format": 1,
            "title": self["title"],
            "summary": self["summary"],
            "source": {
                "title": self["source"],
                "url": f"https://x.example/{self['url']}",
                "authors": [self["author"], "A. Nother"],
                "note": self["source note"],
            },
            "metric": {
                "name": self["metric"],
                "column": "value",
                "unit": self["unit"],
                "better": "higher",
            },
            "x": self["x id"],
            "y": "y",
            "facets": ["facet"],
            "compare": ["facet"],
            "factors": {
                self["x id"]: {"label": self["x"], "unit": "ms", "levels": levels("x")},
                "y": {"label": self["y"], "unit": self["y unit"], "levels": levels("y")},
                "facet": {
                    "label": self["facet"],
                    "levels": [
                        {"id": self["facet one"]}
                        if level == "facet one"
                        else {"id": "two", "label": self[level]}
                        for level in self.levels
                    ],
                },
            },
            "readings": [
                {
                    "id": "first",
                    "file": "cells.csv",
                    "label": self["reading"],
                    "url": f"https://x.example/{self['url']}",
                    "note": self["reading note"],
                    "stated_range": [{"range": [1, 3]}],
                },
                {"id": "second", "file": "second.csv", "label": self["second reading"]},
            ][: len(self.levels)],
            "claims": [
                {"text": self["claim"], "check": "1 < 2", "reads": self["claim's meaning"]},
                {"text": self["second claim"], "not_checkable": self["no check"]},
                {"text": self["wrong"], "check": '(grid(facet="two") < 2).all', "holds": False},
            ][: 1 + len(self.levels)],
            "accepted": [{"finding": "stated-range", "because": self["accepted"]}],
        }

    def cells(self, second: bool = False) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["facet", self["x id"], "y", "value", "note", "place"])
        value = 0
        for facet in (self["facet one"], "two")[: len(self.levels)]:
            for y in (self["y one"], self["y two"]):
                for x in (self["x one"], self["x two"]):
                    value += 1 + second
                    note = self["note"] if value == 1 else ""
                    writer.writerow([facet, x, y, value, note, self["place"]])
        return text.getvalue()


FIELDS = [
    "title", "summary", "source", "author", "source note", "metric", "unit", "x", "y", "y unit",
    "x one", "x two", "y one", "y two", "facet", "reading", "reading note",
]  # fmt: skip
"""The strings that a study's own page shows, besides the facet's levels."""
CHECK_FIELDS = [
    "title",
    "reading",
    "claim",
    "claim's meaning",
    "second claim",
    "no check",
    "accepted",
]


@once
def hostile(base: Path) -> Build:
    """The site of all these studies; built once per test run.

    It costs as much as 16 studies with drawings of their own: no string may hide another's fault.
    """
    project = site_builds.make_project(
        base / "hostile",
        site_builds.shared_cache(base),
        theme={"name": "material", "font": False, "features": FEATURES},
        markdown_extensions=[*EXTENSIONS, {"toc": {"permalink": True}}],
    )
    for study in STRINGS:
        texts = Texts(study)
        second = {"second.csv": texts.cells(second=True)} if len(texts.levels) == 2 else {}
        text = json.dumps(texts.study_file(), indent=1)
        write_study(project.folder / "data" / study, text, texts.cells(), second)
    return project.built("--strict")
