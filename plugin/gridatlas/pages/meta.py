"""What a page tells programs of itself: the card of a link to it, schema.org, Croissant 1.0.

The latter two name only what the study itself says: without a licence or authors, none are named.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlsplit

from gridatlas.analysis.said import Answer, Grade
from gridatlas.charts.card import HEIGHT, WIDTH, SocialCard
from gridatlas.charts.kinds import Picture
from gridatlas.charts.kinds.sweep import Sweep
from gridatlas.charts.views import as_thumbnail
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.format import name_with_unit
from gridatlas.model.schema import Source
from gridatlas.model.study import Factor, Study
from gridatlas.pages.embeds import bibtex
from gridatlas.pages.exports import grid_path, without_empty
from gridatlas.pages.figure import Figure
from gridatlas.pages.plan import PagePlan
from gridatlas.table.grids import Results

Tag = tuple[str, str]
"""Name of a property and its content."""

_PRESENT = re.compile(r"""<meta\s[^>]*?\b(?:property|name)=["']?((?:og|twitter):[\w:]+)""", re.I)
_HEAD_ENDS = re.compile(r"</head\s*>", re.IGNORECASE)


def tags(plan: PagePlan, site: SiteAddress) -> tuple[Tag, ...]:
    """The tags of one page; its picture and address only where the site's address is known."""
    found = [("og:type", "website"), ("og:title", plan.title), ("og:description", plan.description)]
    if site.root and not site.served:
        image = card_path(plan)
        found += [
            ("og:url", site.of(plan.path, plan.path)),
            ("og:image", site.of(image, plan.path)),
            ("og:image:type", "image/png"),
            ("og:image:width", str(WIDTH)),
            ("og:image:height", str(HEIGHT)),
            ("og:image:alt", _texts(plan, site).description),
            ("twitter:card", "summary_large_image"),
        ]
    else:
        found.append(("twitter:card", "summary"))
    return tuple((name, " ".join(content.split())) for name, content in found)


CERTAINTY: Mapping[Grade, str] = {
    "clear": "Clear",
    "likely": "Likely",
    "not-shown": "No difference shown",
    "untestable": "Not tested",
    "reading-dependent": "Depends on the reading",
}
"""How surely an answer holds, in the words of a card."""


def card_path(plan: PagePlan) -> str:
    """Path of a page's picture: beside it."""
    return f"{plan.path.rpartition('/')[0]}/card.png"


def social_card(plan: PagePlan, site: SiteAddress) -> SocialCard:
    """The picture of a page: what it leads with, and what shows it in small."""
    return replace(_texts(plan, site), thumbnail=_thumbnail(plan, plan.context.get("answer")))


def _texts(plan: PagePlan, site: SiteAddress) -> SocialCard:
    """A page's picture with its texts alone."""
    answer: Answer | None = plan.context.get("answer")
    line = plan.context.get("verdict") or plan.context.get("line")
    study = plan.context.get("study")
    address = urlsplit(site.root)
    return SocialCard(
        headline=answer.headline if answer else line or plan.title,
        study=study.title if study else plan.nav_title,
        certainty=CERTAINTY[answer.grade] if answer else "",
        site=f"{address.netloc}{address.path}".strip("/"),
        thumbnail=None,
    )


def _thumbnail(plan: PagePlan, answer: Answer | None) -> Picture | None:
    """The page's line, or the heatmap with an outline, else the one most about its answer."""
    lines = (figure.chart for row in plan.rows for figure in row.figures)
    line = next((chart for chart in lines if isinstance(chart, Sweep)), None)
    if line:
        return line.small()
    named = {label for of in answer.assertions for label in of.levels} if answer else set()
    figures = [
        figure
        for row in plan.rows
        for figure in row.figures
        if not figure.plot and not figure.is_line
    ]

    def rank(figure: Figure) -> tuple[bool, int]:
        labels = [level.label for level in figure.grid.names] if figure.grid else []
        return bool(figure.heatmap.outlined), len(named.intersection(labels))

    return as_thumbnail(max(figures, key=rank).heatmap) if figures else None


def with_tags(html: str, found: Iterable[Tag]) -> str:
    """A page with these tags at the end of its head, but for those that it has already.

    A page that has a picture of its own, from the theme or another plugin, keeps its card whole.
    """
    ends = _HEAD_ENDS.search(html)
    if ends is None:
        return html
    present = {name.lower() for name in _PRESENT.findall(html, 0, ends.start())}
    if "og:image" in present:
        return html
    lines = "".join(
        f'<meta {"name" if name.startswith("twitter") else "property"}="{name}" '
        f'content="{escape(content)}">\n'
        for name, content in found
        if name not in present
    )
    return html[: ends.start()] + lines + html[ends.start() :]


def with_dataset(html: str, dataset: str) -> str:
    """A page with what it is about, as JSON, at the end of its head; no script that runs."""
    ends = _HEAD_ENDS.search(html)
    if ends is None or not dataset:
        return html
    block = f'<script type="application/ld+json">{dataset}</script>\n'
    return html[: ends.start()] + block + html[ends.start() :]


# --- a study as a data set ----------------------------------------------------------------------


CELLS, CROISSANT = "cells.csv", "croissant.json"
"""Files beside a study's page: all cells of all grids, and what they are."""

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""What the keys of Croissant 1.0 mean, as its specification has it."""
COLUMNS = {
    "state": ("sc:Text", "ok, missing, failed, oom or disputed"),
    "n": ("sc:Integer", "trials behind the value"),
    "successes": ("sc:Integer", "trials that succeeded"),
    "stderr": ("sc:Float", "standard error of the value"),
    "note": ("sc:Text", "note on the cell"),
    "place": ("sc:Text", "where in the reading's source the value is"),
    "run": ("sc:Text", "run that measured the value"),
    "reading": ("sc:Text", "reading that gives the value"),
}


def study_csv(results: Results, files: Mapping[str, str | bytes]) -> str:
    """All cells of all grids: one table in the columns of the data format.

    Args:
        files: The site's files by their paths, with the table of each grid.
    """
    tables = [str(files[f"{grid_path(grid)}.csv"]) for grid in results.grids.values()]
    return "".join([*tables[:1], *(table.partition("\n")[2] for table in tables[1:])])


def json_ld(study: Study, page: str, site: SiteAddress, csv: str) -> str:
    """A schema.org Dataset as text of a script element.

    Args:
        page: Path of the study's page.
        csv: The table of all its cells.
    """
    about = _about(study, page, site)
    entry: dict[str, Any] = {"@context": "https://schema.org", "@type": "Dataset"} | about
    entry["variableMeasured"] = [
        without_empty(
            {"@type": "PropertyValue", "name": study.metric.name, "unitText": study.metric.unit}
        ),
        *(_property(factor) for factor in (*study.varied, *study.facets)),
    ]
    at = f"{page.rpartition('/')[0]}/{CELLS}"
    entry["distribution"] = [
        {
            "@type": "DataDownload",
            "name": CELLS,
            "encodingFormat": "text/csv",
            "contentUrl": site.of(at, page),
            "sha256": _sha256(csv),
        }
    ]
    text = json.dumps(entry, ensure_ascii=False)
    # A script element ends at the first end tag, wherever it stands.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def croissant(
    results: Results, page: str, site: SiteAddress, files: Mapping[str, str | bytes]
) -> str:
    """The study's metadata in Croissant 1.0: its files with their hashes, its columns.

    Args:
        page: Path of the study's page, which the file lies beside.
        files: The site's files by their paths, with the downloads and the table of all cells.
    """
    study, folder = results.study, page.rpartition("/")[0]
    here = f"{folder}/{CROISSANT}"
    entry: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **_about(study, page, site),
    }
    if cite := bibtex(study, study.title, site.of(page, page) if site.root else ""):
        entry["citeAs"] = cite
    table = _file(CELLS, f"{folder}/{CELLS}", "text/csv", here, site, files)
    entry["distribution"] = [table]
    for grid in results.grids.values():
        for ending, kind in (("csv", "text/csv"), ("json", "application/json")):
            name = f"{grid.address}.{ending}"
            path = f"{grid_path(grid)}.{ending}"
            entry["distribution"].append(_file(name, path, kind, here, site, files))
    fields = [(factor.id, _type(factor), factor.title) for factor in (*study.facets, *study.varied)]
    metric = name_with_unit(study.metric.name, study.metric.unit)
    fields.append((study.metric.column, "sc:Float", metric))
    fields += [(name, kind, text) for name, (kind, text) in COLUMNS.items()]
    ids = [f"cells/{_id(name, place)}" for place, (name, _, _) in enumerate(fields)]
    entry["recordSet"] = [
        {
            "@type": "cr:RecordSet",
            "@id": "cells",
            "name": "cells",
            "description": "One record per cell, also of those without a value.",
            "key": [{"@id": field_id} for field_id in ids[: len(study.facets) + len(study.varied)]],
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": field_id,
                    "name": name,
                    "description": text,
                    "dataType": kind,
                    "source": {"fileObject": {"@id": CELLS}, "extract": {"column": name}},
                }
                for field_id, (name, kind, text) in zip(ids, fields, strict=True)
            ],
        }
    ]
    return json.dumps(entry, ensure_ascii=False, indent=1) + "\n"


def _id(column: str, place: int) -> str:
    """A column's name as part of an id, which has no spaces; else its place, in no name's form."""
    return column if re.fullmatch(r"[\w.-]+", column, re.ASCII) else f"~{place}"


def _about(study: Study, page: str, site: SiteAddress) -> dict[str, Any]:
    """What both forms say of the study itself."""
    measured = f"{study.metric.name} over {' and '.join(axis.label for axis in study.varied)}"
    return without_empty(
        {
            "name": study.title,
            "description": " ".join(study.summary.split()) or f"{study.title}: {measured}.",
            "url": site.of(page, page) if site.root else "",
            "license": _license(study.license),
            "creator": _people(study.source.authors) if study.source else [],
            "citation": _publication(study.source) if study.source else None,
        }
    )


def _publication(source: Source) -> dict[str, Any]:
    return without_empty(
        {
            "@type": "CreativeWork",
            "name": source.title,
            "url": source.url,
            "author": _people(source.authors),
            "datePublished": str(source.year) if source.year else "",
        }
    )


def _people(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"@type": "Person", "name": name} for name in names]


def _license(given: str) -> str:
    """The licence's address: of an SPDX identifier, where its list has it."""
    if not given or re.match(r"https?://", given):
        return given
    return f"https://spdx.org/licenses/{given}.html"


def _property(factor: Factor) -> dict[str, Any]:
    return without_empty({"@type": "PropertyValue", "name": factor.label, "unitText": factor.unit})


def _type(factor: Factor) -> str:
    numbers = [level.number for level in factor.levels]
    if any(number is None for number in numbers):
        return "sc:Text"
    whole = all(number == number.to_integral_value() for number in numbers if number is not None)
    return "sc:Integer" if whole else "sc:Float"


def _file(
    name: str,
    path: str,
    kind: str,
    beside: str,
    site: SiteAddress,
    files: Mapping[str, str | bytes],
) -> dict[str, str]:
    content = files[path]
    size = len(content.encode() if isinstance(content, str) else content)
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": site.of(path, beside),
        "contentSize": f"{size} B",
        "encodingFormat": kind,
        "sha256": _sha256(content),
    }


def _sha256(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
