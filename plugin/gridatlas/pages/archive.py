"""Everything of a study in one archive: its cells, runs, answers, checks, and how to cite it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.checks.findings import CheckResult
from gridatlas.data.published import Published
from gridatlas.data.tables import guarded
from gridatlas.model.study import Reading, Study
from gridatlas.pages.exports import answers_json, without_empty
from gridatlas.pages.meta import CELLS, COLUMNS, study_csv

_DATE = (1980, 1, 1, 0, 0, 0)
"""Of each file in it: the same data give the same bytes."""


def archive(
    assessment: Assessment,
    into: str,
    address: str,
    published: Published,
    files: Mapping[str, str | bytes],
    study_file: str,
) -> bytes:
    """The archive.

    Args:
        into: Folder of all pages.
        address: URL of the study's page; empty where it isn't known.
        files: The site's files by their paths, with the table of each grid.
        study_file: The text of `study.yml`.
    """
    study = assessment.measured.study
    contents = {
        "README.txt": readme(study),
        CELLS: study_csv(assessment.measured, files),
        "runs.csv": "".join(_runs(study)),
        "study.yml": study_file,
        "answers.json": answers_json(assessment, into),
        "checks.json": checks_json(assessment.checks.results),
        "CITATION.cff": citation(study, published, address),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into_file:
        for name, text in contents.items():
            entry = zipfile.ZipInfo(f"{study.id}/{name}", _DATE)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            into_file.writestr(entry, text)
    return packed.getvalue()


def _runs(study: Study) -> Iterator[str]:
    """A row per value that a reading gives: of means of several rows, each of these."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    facets = [facet.id for facet in study.facets]
    axes = [axis.id for axis in study.varied]
    repeated = dict.fromkeys(
        name for reading in study.readings if reading.repeats for name in reading.repeats.levels
    )
    about = ["state", "n", "successes", "stderr", "place", "run", "note"]
    writer.writerow(["reading", *facets, *axes, *repeated, study.metric.column, *about])
    for reading in study.readings:
        for row in _rows(reading, len(axes), [*repeated]):
            writer.writerow([guarded(str(each)) for each in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _rows(reading: Reading, axes: int, repeated: Iterable[str]) -> Iterator[list[object]]:
    """The rows of a reading, in the columns of `_runs`; what isn't known is empty."""
    repeats = reading.repeats
    at = repeats.at if repeats else reading.table.present
    columns = repeats.columns if repeats else reading.table.columns[at]
    levels = [
        [*repeats.levels[name]] if repeats and name in repeats.levels else [""] * len(at)
        for name in repeated
    ]
    places = reading.table.places(at)
    for (grid, point), cell, *of in zip(places, columns, *levels, strict=True):
        value, stderr = (
            "" if number is None else f"{number:f}" for number in (cell.value, cell.stderr)
        )
        counts = ["" if number is None else number for number in (cell.n, cell.successes)]
        yield [
            *(reading.id, *grid, *point[:axes], *of, value, cell.state),
            *(*counts, stderr, cell.place, cell.run, cell.note),
        ]


def checks_json(results: Iterable[CheckResult]) -> str:
    """What each check says of each reading, with its findings."""

    def entry(result: CheckResult) -> dict[str, Any]:
        return {
            "check": result.kind,
            "reading": result.reading,
            "outcome": result.outcome,
            "statement": result.statement,
            "strength": result.strength,
            "findings": [
                without_empty(
                    {
                        "grid": finding.levels,
                        "cells": finding.cells,
                        "severity": finding.severity,
                        "found": finding.found,
                        "means": finding.means,
                        "sure": finding.sure,
                        "accepted": finding.accepted.because if finding.accepted else "",
                    }
                )
                for finding in result.findings
            ],
        }

    return json.dumps([entry(result) for result in results], ensure_ascii=False, indent=1) + "\n"


_README = """\
{title}
{line}
{summary}
cells.csv     all cells that the pages show, a row each
runs.csv      all values that readings give, before one is chosen or repeats are averaged
study.yml     what the study is: axes, readings, statements
answers.json  what each page leads with, its evidence and its tests
checks.json   what each check says of each reading
CITATION.cff  how to cite the study

Columns of cells.csv
{columns}

Readings, from which the values come
{readings}

Source: {source}
Licence of the values: {license}
"""


def readme(study: Study) -> str:
    """What is in the archive, the columns of its table, and where the values come from."""
    metric = study.metric
    columns = [(factor.id, factor.title) for factor in (*study.facets, *study.varied)]
    unit = f" ({metric.unit})" if metric.unit else ""
    better = f", {metric.better} is better" if metric.better else ""
    columns.append((metric.column, f"{metric.name}{unit}{better}"))
    columns += [(name, text) for name, (_, text) in COLUMNS.items()]
    source = study.source
    where = [source.title, str(source.year or ""), source.url or ""] if source else []
    return _README.format(
        title=study.title,
        line="=" * len(study.title),
        summary=f"\n{' '.join(study.summary.split())}\n" if study.summary else "",
        columns="\n".join(f"  {name}: {text}" for name, text in columns),
        readings="\n".join(
            f"  {reading.id}: {': '.join(filter(None, [reading.label, reading.entry.url]))}"
            for reading in study.readings
        ),
        source=", ".join(filter(None, where)) or NOT_STATED,
        license=study.license or NOT_STATED,
    )


NOT_STATED = "not stated"


def citation(study: Study, published: Published, address: str) -> str:
    """The study's own `CITATION.cff`, with what is known of it."""
    fields = {
        "cff-version": "1.2.0",
        "message": "Please cite this study as below, and its source.",
        "type": "dataset",
        "title": study.title,
        "date-released": published.date,
        "commit": published.commit,
        "url": address,
        "repository": published.repository,
        "license": study.license if "/" not in study.license else "",
        "license-url": study.license if "/" in study.license else "",
    }
    lines = [f"{key}: {_quoted(text)}" for key, text in fields.items() if text]
    authors = published.authors or (NOT_STATED,)
    lines += ["authors:", *(f"  - name: {_quoted(name)}" for name in authors)]
    if study.source:
        lines += ["references:", "  - type: generic", f"    title: {_quoted(study.source.title)}"]
        people = study.source.authors or (NOT_STATED,)
        lines += ["    authors:", *(f"      - name: {_quoted(name)}" for name in people)]
        lines += [f"    year: {study.source.year}"] if study.source.year else []
        lines += [f"    url: {_quoted(study.source.url)}"] if study.source.url else []
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """A text in quotes; those of JSON are YAML's too."""
    return json.dumps(text, ensure_ascii=False)
