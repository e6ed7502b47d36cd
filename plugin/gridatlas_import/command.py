"""The command `gridatlas import`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gridatlas.cli.shared import data_option, echo, echo_error, format_option, limit_option
from gridatlas.model.inert import AS_JSON

if TYPE_CHECKING:
    from gridatlas_import.options import ImportOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _number(_: click.Context, __: click.Parameter, value: Any) -> Any:
    if value is None:
        return None
    try:
        low, high = (Decimal(text) for text in value)
    except InvalidOperation:
        raise click.BadParameter("two numbers, such as 0 100") from None
    if not (low.is_finite() and high.is_finite() and low < high):
        raise click.BadParameter("the lowest possible value, then the highest")
    return low, high


def _level(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> Any:
    pairs = []
    for pair in value:
        name, equals, level = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair}: a column and a text, such as split=test")
        pairs.append((name.strip(), level.strip()))
    return tuple(pairs)


def _id(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    from gridatlas.data.text import NAMEABLE, unnameable

    if value is not None and not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,99}", value):
        raise click.BadParameter(
            "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
        )
    if value is not None and unnameable(value):
        raise click.BadParameter(NAMEABLE)
    return value


def _link(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https?://[^\s{}]*\{file\}[^\s{}]*", value):
        raise click.BadParameter(
            "an address with {file} in the place of the log's path, such as "
            "https://example.org/logs/{file}"
        )
    return value


def _option(
    names: str, what: str, metavar: str | None = None, **given: Any
) -> Callable[[_Command], _Command]:
    return click.option(*names.split(), help=what, metavar=metavar, **given)


@click.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@data_option
@_option("--study", "Folder name of the study. Default: from the file.", "ID", callback=_id)
@_option("--title", "Title of the study.", "TEXT")
@_option("--url", "Address of the source.", "URL", default="")
@_option(
    "--link",
    "Address of each cell's log: 'https://example.org/logs/{file}'. {file} is its path in "
    "the imported folder.",
    "URL",
    default="",
    callback=_link,
)
@_option("--x", "Horizontal axis.", "COLUMN")
@_option("--y", "Vertical axis; '' for none.", "COLUMN")
@_option(
    "--metric metrics",
    "Values; of a wide table, their name. Repeat the option for linked studies, one per metric.",
    "COLUMN",
    multiple=True,
)
@_option("--facet facets", "Another varied quantity. Repeatable.", "COLUMN", multiple=True)
@_option(
    "--repeats",
    "Column that numbers the repeats of a cell, such as seed; or rows, for none.",
    "COLUMN|rows",
    multiple=True,
)
@_option(
    "--only keep",
    "Import only rows with this level, and report the others.",
    "COLUMN=LEVEL",
    multiple=True,
    callback=_level,
)
@_option("--ignore", "Ignore this column.", "COLUMN", multiple=True)
@_option(
    "--columns",
    "The headings that are levels, in a wide table such as a leaderboard.",
    "COLUMN,...",
    default="",
)
@_option("--n", "Trials behind a value; '' for none.", "COLUMN")
@_option("--successes", "Trials that succeeded; '' for none.", "COLUMN")
@_option("--stderr", "Standard errors; '' for none.", "COLUMN")
@_option("--spread", "Spread of the values (after ±); '' for none.", "COLUMN")
@_option(
    "--spread-kind",
    "Kind of the spread: standard deviation, standard error, or half of a 95 % interval.",
    type=click.Choice(["sd", "se", "ci95"]),
)
@_option("--spread-n", "Repeats behind each value.", type=click.IntRange(2))
@_option("--unit", "Unit of the values, such as % or ms; '' for none.", "TEXT")
@_option("--range", "Lowest and highest possible value.", "LOW HIGH", nargs=2, callback=_number)
@_option("--better", "Which values are better.", type=click.Choice(["higher", "lower"]))
@_option("--decimals", "Decimals in pictures.", type=click.IntRange(0, 12))
@_option(
    "--label labels",
    "What pages call a factor or the metric.",
    "COLUMN=TEXT",
    multiple=True,
    callback=_level,
)
@_option("--wide/--long wide", "Each column is a level of x, or each row a cell.", default=None)
@_option(
    "--decimal-mark mark",
    "For numbers that can be read in two ways.",
    type=click.Choice(["point", "comma"]),
)
@_option("--encoding", "Encoding of the text, such as cp1252.", "NAME")
@_option(
    "--table", "Number of the table in a Markdown page or workbook, from 1.", type=click.IntRange(1)
)
@_option(
    "--path pattern",
    "Take columns from file paths: '{model}/{seed}.json'. Every file must match. {model} "
    "replaces the model in results of harnesses.",
    "PATTERN",
)
@_option("--fill", "Level for rows without one.", "TEXT")
@_option("--skip", "Leave out wrong rows, and report them.", is_flag=True)
@_option("--replace", "Replace an existing study, if its folder has no other files.", is_flag=True)
@_option("--why", "Show the points for the proposal, and for the next best.", is_flag=True)
@_option("--dry-run dry", "Only show what the import would write.", is_flag=True)
@format_option(["text", "json"], "json shows the proposal for programs, and writes nothing.")
@limit_option
@_option("--yes -y", "Accept the proposal without asking.", is_flag=True)
@_option(
    "--site/--no-site", "Start a website as gridatlas new does, or don't offer it.", default=None
)
def import_(files: tuple[Path, ...], data: Path, **options: Any) -> None:
    """Create a study from tables or result files.

    FILE is a CSV, TSV, JSON, JSON lines, Parquet, Excel, Markdown, HTML or LaTeX table, a log of
    Inspect, a result file of lm-evaluation-harness, MTEB or Every Eval Ever, or a folder of such
    files, of a sweep, or of JSON files with one cell each. With --x, --y and --metric, the import
    asks nothing.

    \b
    Exit status: 0 written, with findings too, or a proposal only shown, 1 the data can't be
    imported, 2 wrong usage.

    \b
    Examples:
      gridatlas import results.csv               propose and ask
      gridatlas import results.csv --yes --site  accept, and start a website
      gridatlas import results.csv --x lr --y batch_size --metric acc --facet model --repeats seed
      gridatlas import ablation.md --wide --x heads --y layers --metric value
      gridatlas import logs/ --link 'https://example.org/logs/{file}'
      gridatlas import runs/ --path '{model}/lr{lr}.json'
      gridatlas import lm-eval/*/results_*.json --metric value --only metric=acc_norm
    """  # noqa: D301
    from gridatlas_import.rows import CannotImport

    options["as_json"] = options.pop("form") == "json"
    if options["as_json"] and not options["dry"]:
        if options["yes"]:
            raise click.UsageError("--json only shows the proposal: leave out --yes, or --json")
        options["dry"] = True
    metrics = [*dict.fromkeys(options.pop("metrics"))]
    if options["as_json"] and len(metrics) > 1:
        raise click.UsageError("--format json takes one --metric")
    asked = _asked(options)
    try:
        status = _import_each(files, data, asked, metrics)
    except CannotImport as error:
        echo_error(f"nothing was imported\n{error}")
        sys.exit(2 if error.usage else 1)
    if not asked.dry and status not in (None, 2) and data == Path("data"):
        from gridatlas.cli.new import offer_site

        offer_site(Path(), asked.site)
    sys.exit(status or 0)


def _import_each(
    files: tuple[Path, ...], data: Path, asked: ImportOptions, metrics: list[str]
) -> int | None:
    """Import files as a study per metric, all of which have to be possible.

    Returns:
        The exit status; None where a proposal was only shown.
    """
    from gridatlas_import.run import run_import, study_per_metric, with_links
    from gridatlas_import.write import check_place

    if len(metrics) < 2:
        asked = replace(asked, metric=next(iter(metrics), None))
        say = partial(echo, form=AS_JSON) if asked.as_json else echo
        return run_import(files, data, asked, say, _ask)
    each = study_per_metric(files, asked, metrics)
    for given in each:
        if not asked.dry:
            check_place(data, given.study or "", replace=asked.replace)
        run_import(files, data, replace(given, dry=True), lambda _: None, _ask)
    statuses = [run_import(files, data, given, echo, _ask) for given in each]
    written = [status for status in statuses if status is not None]
    if not asked.dry and len(written) == len(each) and 2 not in written:
        with_links(data, [given.study or "" for given in each])
    return max(written, default=None)


def _asked(options: Mapping[str, Any]) -> ImportOptions:
    """The options as the importer takes them."""
    from gridatlas_import.options import ImportOptions

    given = dict(options)
    counts = {kind: given.pop(kind) for kind in ("n", "successes", "stderr")}
    given["counts"] = {kind: name for kind, name in counts.items() if name is not None}
    given["columns"] = tuple(filter(None, map(str.strip, options["columns"].split(","))))
    return ImportOptions(**given)


def _ask(question: str, answers: Sequence[str], default: str) -> str | None:
    """The answer of a person at a terminal; None without one.

    Args:
        answers: Those that there are; none for any text.
        default: What Enter means; empty for nothing, where that isn't an answer.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    if tuple(answers) == ("y", "n"):
        return "y" if click.confirm(question, default=default == "y") else "n"
    given = default if default or not answers or default in answers else None
    kind = click.Choice(tuple(answers)) if answers else click.STRING
    answer: str = click.prompt(
        question, type=kind, default=given, show_choices=False, show_default=False
    )
    return answer
