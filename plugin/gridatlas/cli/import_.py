"""The command `gridatlas import`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridatlas.cli.shared import data_option, format_option

if TYPE_CHECKING:
    from gridatlas.importing.options import ImportOptions


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
            raise click.BadParameter(f"{pair}: a column and a level, such as split=test")
        pairs.append((name.strip(), level.strip()))
    return tuple(pairs)


def _id(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,99}", value):
        raise click.BadParameter(
            "lower-case letters, digits, '_', '.', '-', beginning with a letter or digit"
        )
    return value


def _link(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https?://[^\s{}]*\{file\}[^\s{}]*", value):
        raise click.BadParameter(
            "an address with {file} in the place of the log's path, such as "
            "https://example.org/logs/{file}"
        )
    return value


@click.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@data_option
@click.option("--study", metavar="ID", callback=_id, help="Name of the study's folder.")
@click.option("--title", metavar="TEXT", help="Name of the study on the pages.")
@click.option("--url", metavar="URL", default="", help="Where the source can be looked at.")
@click.option(
    "--link",
    metavar="URL",
    default="",
    callback=_link,
    help="Where each cell's log can be looked at: 'https://example.org/logs/{file}'.",
)
@click.option("--x", metavar="COLUMN", help="The horizontal axis.")
@click.option("--y", metavar="COLUMN", help="The vertical axis; '' for none.")
@click.option(
    "--metric",
    "metrics",
    metavar="COLUMN",
    multiple=True,
    help="The values; given several times, each is a study, and these link to one another.",
)
@click.option(
    "--facet",
    "facets",
    metavar="COLUMN",
    multiple=True,
    help="What else was varied; may be given several times.",
)
@click.option(
    "--repeats",
    metavar="COLUMN|rows",
    multiple=True,
    help="What numbers the repeats of a cell, such as seed; rows where nothing does.",
)
@click.option(
    "--only",
    metavar="COLUMN=LEVEL",
    multiple=True,
    callback=_level,
    help="Take the rows with this level; the others are reported.",
)
@click.option("--ignore", metavar="COLUMN", multiple=True, help="Don't read this column.")
@click.option("--n", metavar="COLUMN", help="Trials behind a value; '' for none.")
@click.option("--successes", metavar="COLUMN", help="Trials that succeeded; '' for none.")
@click.option("--stderr", metavar="COLUMN", help="Standard errors; '' for none.")
@click.option("--spread", metavar="COLUMN", help="What stands beside the values; '' for none.")
@click.option(
    "--spread-kind",
    type=click.Choice(["sd", "se", "ci95"]),
    help="What it is, or what stands after a ±: standard deviation, standard error, or half of a "
    "95 % interval.",
)
@click.option("--spread-n", type=click.IntRange(2), help="Repeats that each value is the mean of.")
@click.option("--unit", metavar="TEXT", help="Unit of the values, such as % or ms; '' for none.")
@click.option(
    "--range",
    "ends",
    nargs=2,
    metavar="LOW HIGH",
    callback=_number,
    help="Lowest and highest possible value.",
)
@click.option("--better", type=click.Choice(["higher", "lower"]), help="Which values are better.")
@click.option("--decimals", type=click.IntRange(0, 12), help="Decimals in the pictures.")
@click.option(
    "--wide/--long",
    "wide",
    default=None,
    help="Each column is a level of x, or each row is a cell.",
)
@click.option(
    "--decimal-mark",
    "mark",
    type=click.Choice(["point", "comma"]),
    help="How numbers are written, where they don't tell.",
)
@click.option("--encoding", metavar="NAME", help="Encoding of the text, such as cp1252.")
@click.option("--table", type=click.IntRange(1), help="Which table of a Markdown page, from 1.")
@click.option(
    "--path",
    "pattern",
    metavar="PATTERN",
    help="Take columns from the files' paths: '{model}/{seed}.json'.",
)
@click.option("--fill", metavar="TEXT", help="Level to write where a factor's is empty.")
@click.option("--skip", is_flag=True, help="Leave out rows that are wrong, and report them.")
@click.option("--replace", is_flag=True, help="Replace a study that is there.")
@click.option("--dry-run", "dry", is_flag=True, help="Show what would be written; write nothing.")
@format_option(["text", "json"], "With --dry-run: the proposal for people, or as JSON.")
@click.option("--yes", "-y", is_flag=True, help="Don't ask; take what is proposed.")
@click.option(
    "--site/--no-site",
    default=None,
    help="Make a website here as gridatlas new does, where there is none; or don't offer it.",
)
def import_(files: tuple[Path, ...], data: Path, **options: Any) -> None:
    """Make a study of tables or result files.

    FILE is a CSV, TSV, JSON, JSON lines, Parquet, Excel or Markdown table, a log of Inspect, a
    result file of lm-evaluation-harness or MTEB, or a folder of such files, of a sweep, or of JSON
    files with one cell each.
    What its columns are is proposed, with reasons, and asked; each option that you give settles
    its part. With --x, --y and --metric nothing is asked.

    Values are kept as printed. Each row becomes a cell or a repeat of one, or is reported.

    \b
    Exit status: 0 fine (also for a proposal that is only shown), 1 problems in the data, 2 wrong
    usage.

    \b
    Examples:
      gridatlas import results.csv                 look at it, propose, ask
      gridatlas import results.csv --yes           take what is proposed
      gridatlas import results.csv --yes --site    … and make a website of an empty folder
      gridatlas import results.csv --dry-run       show what would be written
      gridatlas import results.csv --x lr --y batch_size --metric acc --facet model --repeats seed
      gridatlas import ablation.md --wide --x heads --y layers --metric value
      gridatlas import logs/ --link 'https://example.org/logs/{file}'
      gridatlas import runs/ --path '{model}/lr{lr}.json'
      gridatlas import lm-eval/*/results_*.json --metric value --only metric=acc_norm
    """  # noqa: D301
    from gridatlas.importing.rows import CannotImport

    if options["form"] == "json" and not options["dry"]:
        raise click.UsageError("--format json is for --dry-run: it writes nothing")
    try:
        status = _import_each(files, data, options)
    except CannotImport as error:
        click.echo(f"Error: nothing was imported\n{error}", err=True)
        sys.exit(2 if error.usage else 1)
    if not options["dry"] and status not in (None, 2) and data == Path("data"):
        from gridatlas.cli.new import offer_site

        offer_site(Path(), options["site"])
    sys.exit(status or 0)


def _import_each(files: tuple[Path, ...], data: Path, options: dict[str, Any]) -> int | None:
    """Import files as a study per metric, all of which have to be possible.

    Returns:
        The exit status; None where a proposal was only shown.
    """
    from gridatlas.importing.run import run_import, study_per_metric, with_links
    from gridatlas.importing.write import check_place

    metrics = dict.fromkeys(options.pop("metrics"))
    if options["form"] == "json" and len(metrics) > 1:
        raise click.UsageError("--format json takes one --metric")

    def run(given: dict[str, Any], echo: Callable[[str], None]) -> int | None:
        return run_import(
            files,
            data,
            import_options(given),
            given,
            echo=echo,
            confirm=_confirm,
            which=_which,
            progress=lambda text: click.echo(f"{text} …", err=True),
        )

    if len(metrics) < 2:
        return run({**options, "metric": next(iter(metrics), None)}, click.echo)
    each = study_per_metric(files, options, list(metrics))
    for given in each:
        if not options["dry"]:
            check_place(data, given["study"], replace=options["replace"])
        run({**given, "dry": True}, lambda _: None)
    statuses = [run(given, click.echo) for given in each]
    written = [status for status in statuses if status is not None]
    if not options["dry"] and len(written) == len(each) and 2 not in written:
        with_links(data, [given["study"] for given in each])
    return max(written, default=None)


def import_options(options: Mapping[str, Any]) -> ImportOptions:
    """The options as the importer takes them."""
    from gridatlas.importing.metric import MetricAsked
    from gridatlas.importing.options import ImportOptions, SpreadAsked

    return ImportOptions(
        options["x"],
        options["y"],
        options["metric"],
        options["facets"],
        options["repeats"],
        options["ignore"],
        options["only"],
        {kind: options[kind] for kind in ("n", "successes", "stderr") if options[kind] is not None},
        options["mark"],
        options["fill"],
        MetricAsked(options["unit"], options["ends"], options["better"], options["decimals"]),
        SpreadAsked(options["spread"], options["spread_kind"], options["spread_n"]),
    )


def _which(number: int) -> int | None:
    """Which of some candidates a person at a terminal takes; None without one, and for none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    question = f"\nWhich one? (1 to {number}, 0 for none)" if number > 1 else "\nTake it? (1, or 0)"
    return click.prompt(question, type=click.IntRange(0, number)) or None


def _confirm(question: str) -> bool | None:
    """The answer of a person at a terminal; None without one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    return click.confirm(question, default=True)
