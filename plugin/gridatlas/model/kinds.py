"""The kinds of problems: what each is, what would have been right, and how to fix it.

Those that are findings stand with their checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem.

    Attributes:
        about: What was found, in a sentence for the documentation.
        expected: What would have been right, with the values of a place in braces; empty where
            each place says its own.
        fix: What to do about it, likewise.
    """

    about: str
    expected: str = ""
    fix: str = ""


KINDS: Mapping[str, Kind] = {
    "agreement-changed": Kind("Two readings whose agreement isn't the pinned one."),
    "bad-id": Kind(
        "A name that isn't an id, or can't be that of a page, or of a file on Windows.",
        fix="rename the folder; its name is the study's address",
    ),
    "broken-template": Kind("A template of yours that Jinja can't use."),
    "claim-not-as-recorded": Kind("A claim with an unexpected result."),
    "claim-undecidable": Kind("A claim that needs an absent cell."),
    "claim-without-check": Kind("A claim with neither `check` nor `not_checkable`, or with both."),
    "claim-without-question": Kind(
        "A claim that asserts more than its numbers, without `about` (a note).",
        expected="about, with the question of the site whose test the sentence obeys",
        fix="say about: axis NAME, setting, pair, interaction or level; without it the verdict is "
        "at most Holds as printed",
    ),
    "control-character": Kind(
        "A character that can't be shown.",
        expected="text without control characters",
        fix="remove the control character",
    ),
    "duplicate-cell": Kind(
        "Two rows of a reading for one cell.",
        expected="one row per cell",
        fix="remove one row; if they are repeats, write roles: {{repeat: replicate}} in study.yml",
    ),
    "duplicate-column": Kind(
        "Two columns of one name, or a metric with the name of another column.",
        expected="each column once",
        fix="rename or remove one",
    ),
    "empty-file": Kind("An empty file.", expected="content", fix="write it, or remove the file"),
    "empty-level": Kind(
        "A row without a level of a factor.",
        expected="a level of {factor}",
        fix="fill it in; each row names its cell",
    ),
    "empty-table": Kind(
        "A table without rows.", expected="at least one row", fix="add rows, or remove this reading"
    ),
    "file-outside": Kind(
        "A file outside the folder of the study, or a link out of the data folder.",
        expected="a file in the study's own folder",
        fix="copy the file into the folder of this study",
    ),
    "former-name-taken": Kind(
        "A former name that another study or level has, or that is listed twice."
    ),
    "long-level": Kind(
        "A level of more than 1,000 characters.",
        expected="a level of at most {most:,}",
        fix="shorten it; is a quote not closed?",
    ),
    "merge-conflict": Kind(
        "A file with the marks of an unfinished merge.",
        expected="a file without <<<<<<<, ======= and >>>>>>>",
        fix="keep the version that is right, and remove the lines with these marks",
    ),
    "missing-column": Kind(
        "A table without a column that `study.yml` names.",
        expected="a column {name}",
        fix="add the column {column}, or correct its name in study.yml",
    ),
    "missing-key": Kind(
        "A required key is missing.", expected="a value for {key}", fix="add the line {key}: …"
    ),
    "mixed-levels": Kind(
        "A text among levels that are numbers (a note).",
        expected="a number, as most levels of {factor} are: {numbers}",
        fix="correct it, or list the levels of {factor} under factors in study.yml",
    ),
    "mixed-runs": Kind(
        "A reading in which only some values name a run.",
        expected="a run for each value, or for none: a reading is measured by runs, or is "
        "published",
        fix="name the runs, or put the other rows into a reading of their own",
    ),
    "newer-format": Kind(
        "A format of a newer version.",
        expected="format: 1",
        fix="update gridatlas; this version reads format 1",
    ),
    "no-direction": Kind(
        "A metric such as a loss or a time, without `better`.",
        expected="better: lower, since its name says that less is better",
        fix="add better: lower to metric in study.yml; if more is better, better: higher",
    ),
    "no-format": Kind("No key `format`.", expected="format: 1", fix="add the line format: 1"),
    "no-parquet": Kind(
        "A Parquet file without the extra `parquet`.",
        expected="the extra parquet",
        fix='pip install "/path/to/grid-atlas[parquet]", or save the table as CSV',
    ),
    "no-study": Kind("A data folder without a study."),
    "no-such-file": Kind(
        "A missing file or folder.", expected="a file that can be read", fix="add the file"
    ),
    "no-value": Kind(
        "The state `ok` without a value.",
        expected="a value",
        fix="add the value, or set the state to missing, failed, oom or disputed",
    ),
    "not-a-number": Kind(
        "A text where a number should be.",
        expected="a number such as 47.3",
        fix="correct it, or leave it empty and say why in the columns state and note",
    ),
    "not-a-study": Kind(
        "A `study.yml` that has no keys.",
        expected="keys and values",
        fix="begin with the line format: 1",
    ),
    "not-csv": Kind(
        "A table whose quotes don't fit.",
        expected="comma-separated values",
        fix='double the quotes within a quoted value ("") and close each one',
    ),
    "not-json": Kind("A file of a run that isn't JSON."),
    "not-parquet": Kind(
        "A `.parquet` file that isn't Parquet.",
        expected="a Parquet file",
        fix="write the file again",
    ),
    "not-yaml": Kind("A `study.yml` that isn't YAML, or has a key twice.", expected="YAML"),
    "old-key": Kind(
        "A key that `roles` replaces (a note).",
        expected="the roles of factors, under roles",
    ),
    "out-of-range": Kind(
        "A value beyond the metric's `range`.",
        expected="{low} to {high}, the range of {metric} in study.yml",
        fix="correct the value, or the range",
    ),
    "ragged-row": Kind(
        "A row with too many or too few values.",
        expected="{number}, one per column: {columns}",
        fix="add the missing comma, or quote a value that has commas",
    ),
    "repeated-factor": Kind(
        "A factor that is listed twice.",
        expected="each factor once among x, y and facets",
        fix="name another factor",
    ),
    "repeated-level": Kind(
        "A level that is listed twice.",
        expected="each level once (numbers are compared by value)",
        fix="remove one of them",
    ),
    "repeated-reading": Kind(
        "Two readings with one id.",
        expected="an id of its own for each reading",
        fix="rename one of them",
    ),
    "reserved-column": Kind(
        "A factor with the name of another column.",
        expected="none of {names}, which mean something else here",
        fix="rename the factor and its column",
    ),
    "reserved-facet": Kind(
        "A facet with the name of a page.",
        expected="none of {names}, which are pages or files of each study",
        fix="rename the facet and its column, for example to {facet}_setting",
    ),
    "run-without-file": Kind("A run without its file."),
    "same-address": Kind(
        "Two levels with equal addresses, also of files: `a` and `a.best`.",
        expected="levels whose addresses differ",
        fix="rename one of them, in the tables too; letters or digits must differ",
    ),
    "same-label": Kind(
        "Two levels with equal labels.",
        expected="a label of its own for each level",
        fix="change one of them",
    ),
    "taken-address": Kind("A study with the name of a page of Grid Atlas."),
    "too-large": Kind("What is beyond one of the [limits](options.md#limits)."),
    "too-many-cells": Kind(
        "Axes with more than a million cells, and 100 per row.",
        expected="at most {most:,} cells, or {per_row} for each row",
        fix="name two factors as axes whose levels meet; {x} and {y} hardly do; or {allow}",
    ),
    "unknown-factor": Kind("A factor that the study doesn't have."),
    "unknown-format": Kind(
        "A `format` that never was.",
        expected="format: 1",
        fix="write format: 1; there is no older one",
    ),
    "unknown-key": Kind(
        "A key that the format doesn't have.", expected="one of {keys}", fix="remove {key}"
    ),
    "unknown-level": Kind("A level that the factor doesn't have."),
    "unknown-reading": Kind("A `derived_from`, or one of an `agreement`, that is no reading."),
    "unknown-state": Kind(
        "An unknown [state](tables.md#states).", expected="one of {states}", fix="use one of them"
    ),
    "unknown-study": Kind("A link to a missing study, or to the study itself."),
    "unknown-template": Kind("A template of yours that overrides none of ours (a note)."),
    "unreadable-file": Kind(
        "A file without permission to read, or no file, such as a named pipe.",
        expected="a file that can be read",
        fix="check its permissions, and that it is a file",
    ),
    "unused-acceptance": Kind("An accepted finding that the checks don't give."),
    "unused-column": Kind(
        "A column that isn't read (a note).",
        expected="one of {columns}",
        fix="remove the column, or name it in study.yml as a factor",
    ),
    "value-and-state": Kind(
        "A value, and a state that says there is none.",
        expected="a value, or a state that says why there is none",
        fix="remove the value, or set the state to ok or disputed",
    ),
    "wrong-count": Kind(
        "An `n`, `successes` or `stderr` that can't be.",
        expected="0 or more",
        fix="correct it, or leave it empty where it is unknown",
    ),
    "wrong-encoding": Kind(
        "A file that isn't UTF-8.", expected="text in UTF-8", fix="save the file as UTF-8"
    ),
    "wrong-expression": Kind("A claim with a wrong expression."),
    "wrong-outcomes": Kind("Outcomes of a run that can't be."),
    "wrong-run": Kind("A file of a run that contradicts its name, study or reading."),
    "wrong-separator": Kind(
        "A table with semicolons or tabs.",
        expected="commas",
        fix="save the table as comma-separated values",
    ),
    "wrong-value": Kind("A key with a wrong value."),
}
"""Kinds are stable: people search for them. The data format's page lists them from here."""
