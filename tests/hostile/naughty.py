"""Studies whose strings are naughty, a different one in each place, and the site of them all.

`blns.json` is the Big List of Naughty Strings (npm package big-list-of-naughty-strings 1.0.0, MIT,
by Max Woolf; its licence is beside it). The others are ours: what means something where our
strings land.
"""

import csv
import io
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import site_builds
from amount import amount
from builders import write_study
from hostile import EXTENSIONS, FEATURES, Texts
from once import once
from site_builds import Build

from gridatlas.data.tables import guarded
from gridatlas.data.text import unprintable

OURS = [
    "<script>window.ran=1;alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror="window.ran=1;alert(1)">',
    "'><svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg/onload=alert`1`>",
    "</svg></figure></article></main><script>alert(1)</script>",
    "</title></style></textarea></noscript><img src=x onerror=alert(1)>",
    "<style>*{display:none}</style>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<base href=//x.example/><meta http-equiv=refresh content=0;url=//x.example>",
    "<a href=javascript:alert(1)>x</a>",
    "[x](javascript:alert(1)) ![y](x) <javascript:alert(1)>",
    "[x]: javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<!-- never closed",
    "--> ]]> ?> %> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; &#x3c; &#0; &notit; &bogus;",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e \\x3c \\074 \\",
    "{{ 7 * 7 }} {{ config }} {{ grid().best.value }}",
    "{{ grid(model=\"x\").max }} {{ '{{' }}",
    "{% raw %}{% include 'x' %}{% endraw %} {# c #}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "${7*7} #{7*7} <%= 7*7 %> $(id) `id` %(x)s {0} {x!r}",
    "`code` ``two` ` ~~x~~ **b** __b__ *i* _i_ \\* \\_",
    "``` grid ``` ~~~ grid ~~~",
    "# h ## h - l + l 1. l > q | t | --- *** ===",
    "| a | b | c |",
    "a\\|b || \\\\|",
    "--- title: x ---",
    "!!python/object/apply:os.system [id] *a &a ? : - , [ ] { } @ %",
    ': x #y \'z" "',
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "'=1+1",
    '=HYPERLINK("http://x.example","y")',
    "%00 %0a %2e%2e%2f %3Cscript%3E %",
    "../../../etc/passwd",
    "..\\..\\x",
    "/etc/passwd",
    "CON",
    "nul",
    "aux.svg",
    "index.html",
    "a.best",
    "x. ",
    "constructor",
    "__proto__",
    "toString",
    "undefined",
    "null",
    "NaN",
    "true",
    "no",
    "\u202eright to left\u202c \u2066x\u2069",
    "שלום مرحبا",
    "zero\u200bwidth\u200d\u2060\ufeff",
    "e\u0301 \u00e9 Z\u0351\u036b\u0343\u036a",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪",
    "ﷺ ﷽ ｆｕｌｌ　ｗｉｄｔｈ İ ß ſ K",
    "line\u2028paragraph\u2029next\u0085tab\tend",
    "c1 \u0080\u0091\u009b\u009f del \x7f nbsp\xa0shy\xad",
    "tag\U000e0041\U000e007f private \ue000 last \U0010fffd",
    "W" * 900,
    "very " * 190,
    "i" * 300 + " " + "<b>" * 100,
    "javascript:alert(1)",
    "vbscript:x data:x //x.example",
    "' onmouseover='alert(1)' x='",
    "x onclick=alert(1) autofocus onfocus=alert(1)",
    "{: onclick=alert(1) } {#id .c} [^1] [TOC] *[W]: x",
    ":smile: ==m== ++ctrl++ H~2~O ^s^ $x$ \\(x\\) :material-home:",
    '--8<-- "../mkdocs.yml"',
    '!!! note "x"',
    "[[wiki]] @user #1 www.x.example me@x.example http://x.example/?a=b&c",
    "::error file=x::y %0A::set-output name=a::b",
    "\x1b"[:0] + "1;31m",
    '<div data-gridatlas="lead"></div>',
    "<!-- gridatlas-preview -->",
    "\\g<0> $& $1 \\1 \\n \\r",
]
FOREIGN = [
    load.strip()
    for load in json.loads((Path(__file__).parent / "blns.json").read_text("utf-8"))
    # YAML's keys have 1,024 characters, escapes counted.
    if load.strip() and not unprintable(load) and len(json.dumps(load)) <= 900
]

FIELDS = [
    "title", "summary", "source", "url", "author", "source note", "metric", "unit", "x id", "x",
    "y", "y unit", "x one", "x two", "y one", "y two", "facet", "facet one", "facet two", "reading",
    "reading note", "second reading", "claim", "claim's meaning", "second claim", "no check",
    "wrong", "accepted", "note", "place", "region", "fence title", "fence caption", "bibtex",
    "second file", "run", "script", "started", "argument", "commit", "package", "version", "gpu",
    "driver", "model", "data", "seeds", "setting", "set", "python", "platform", "resumed",
    "measured",
]  # fmt: skip
"""Every place of a study, and of a fence, that takes any text."""


RUN_FIELDS = [
    "script", "started", "commit", "package", "version", "gpu", "driver", "model", "data",
    "seeds", "setting", "set", "python", "platform", "resumed",
]  # fmt: skip
"""Places of a run's record that its page shows as they are; an argument is quoted for a shell."""


@dataclass(frozen=True)
class Naughty(Texts):
    """The texts of one study: each field has a string of its own, and its name behind."""

    strings: tuple[str, ...] = ()
    shift: int = 0

    def __getitem__(self, field: str) -> str:
        at = FIELDS.index(field) if field in FIELDS else len(FIELDS)
        return f"{self.strings[(at + self.shift) % len(self.strings)]} {field}"

    @property
    def levels(self) -> list[str]:
        return ["facet one", "facet two"]

    @property
    def second_file(self) -> str:
        """The name of the second reading's table: what no name of a file can have is left out."""
        return f"{self._file_name('second file')}.csv"

    @property
    def run(self) -> str:
        """The id of a run: its file has this name."""
        return self._file_name("run")

    def _file_name(self, field: str) -> str:
        name = re.sub(r"[/\\]|\.\.", "", self[field]).strip()
        return name.encode()[:200].decode(errors="ignore").strip()

    def on_reproduction_page(self) -> list[str]:
        """What the page Reproduction says of the run."""
        return [self.run, *(self[field] for field in RUN_FIELDS)]

    def run_file(self) -> dict[str, Any]:
        """The record of a run with one cell that is done, and one that is begun."""
        at = {"facet": "two", self["x id"]: self["x one"]}
        return {
            "format": 1, "run": self.run, "study": self.study, "script": self["script"],
            "started": self["started"], "arguments": [self["argument"]], "commit": self["commit"],
            "dirty": True, "packages": {self["package"]: self["version"]},
            "gpu": {"name": self["gpu"], "memory": 2**40, "driver": self["driver"]},
            "model": {"id": self["model"]}, "data": [self["data"]], "seeds": self["seeds"],
            "settings": {self["setting"]: {"to": self["set"]}}, "python": self["python"],
            "platform": self["platform"], "resumed": [{"at": self["resumed"]}],
            "cells": [
                {"levels": at | {"y": self["y one"]}, "done": 2, "of": 2},
                {"levels": at | {"y": self["y two"]}, "done": 1, "of": 2},
            ],
        }  # fmt: skip

    def write(self, folder: Path) -> None:
        """Write the study's files into its folder."""
        files = {
            self.second_file: self.cells(second=True),
            "again.csv": self.measured(),
            f"runs/{self.run}.json": json.dumps(self.run_file()),
        }
        write_study(folder, json.dumps(self.study_file(), indent=1), self.cells(), files)

    def measured(self) -> str:
        """The table of what the run measured."""
        text = io.StringIO(newline="")
        row = ["two", self["x one"], self["y one"], "50", "100", "50", self.run]
        csv.writer(text, lineterminator="\n").writerows(
            [
                ["facet", guarded(self["x id"]), "y", "value", "n", "successes", "run"],
                list(map(guarded, row)),
            ]
        )
        return text.getvalue()

    def study_file(self) -> dict[str, Any]:
        file = super().study_file()
        file["readings"][1]["file"] = self.second_file
        file["readings"].append({"id": "again", "file": "again.csv", "label": self["measured"]})
        file["source"]["bibtex"] = self["bibtex"]
        file["regions"] = [
            {
                "label": self["region"],
                "boxes": [{self["x id"]: [self["x one"]], "y": [self["y one"]]}],
            }
        ]
        return file

    def cells(self, second: bool = False) -> str:
        """As Grid Atlas writes tables: no text is a formula."""
        text = io.StringIO(newline="")
        rows = csv.reader(io.StringIO(super().cells(second), newline=""))
        csv.writer(text, lineterminator="\n").writerows(list(map(guarded, row)) for row in rows)
        return text.getvalue()

    def fence(self) -> str:
        """A fence on a page of its own, with the address of the second level's grid."""
        one_line = {
            place: " ".join(self[place].split()) for place in ("fence title", "fence caption")
        }
        title, caption = one_line.values()
        return f"# Fence\n\n````grid\n{self.study}/two\ntitle: {title}\ncaption: {caption}\n````\n"


def _chosen() -> dict[str, Naughty]:
    """Studies by their ids: plain words, ours in every place, theirs in some place."""
    plain = ("plain words",)
    found = {"plain": Naughty("plain", plain)}
    # In the second share, levels of an axis are long and have emoji, which no drawing can cut.
    for shift in range(0, len(OURS), amount(48, 4)):
        found[f"ours-{shift}"] = Naughty(f"ours-{shift}", tuple(OURS), shift)
    theirs = range(0, len(FOREIGN), len(FIELDS))
    for shift in list(theirs)[: amount(1, len(theirs))]:
        found[f"theirs-{shift}"] = Naughty(f"theirs-{shift}", tuple(FOREIGN), shift)
    return found


STUDIES = _chosen()


@once
def naughty(base: Path) -> Build:
    """The site of all these studies, with a strict policy; built once per test run.

    It costs 80 drawings, of which no two have a text in common.
    """
    project = site_builds.make_project(
        base / "naughty",
        site_builds.shared_cache(base),
        options={"csp": True},
        theme={"name": "material", "font": False, "features": FEATURES},
        markdown_extensions=[*EXTENSIONS, {"toc": {"permalink": True}}],
        site_url="https://atlas.example/project/sub/",
    )
    for study, texts in STUDIES.items():
        texts.write(project.folder / "data" / study)
        project.write(f"docs/fence-{study}.md", texts.fence())
    return project.built("--strict")


def plain(text: str) -> str:
    """A text as a page shows it: white space of any kind is one space."""
    return " ".join(text.split())


def alike(text: str) -> str:
    """A text without what is not seen, and in one Unicode form."""
    return unicodedata.normalize("NFC", plain(text))
