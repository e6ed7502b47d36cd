"""An import from the files to the study: detect, propose, ask, check, write, and say so."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gridatlas.assessment.pipeline import gc_disabled
from gridatlas.importing.cells import Imported, identifier, make_cells
from gridatlas.importing.detect import detect, sources
from gridatlas.importing.options import ImportOptions
from gridatlas.importing.propose import Proposal, propose
from gridatlas.importing.rows import CannotImport, Reported
from gridatlas.importing.study_text import About, study_text
from gridatlas.importing.unpivot import is_wide, long
from gridatlas.importing.write import FILES, check_place, check_staged, put, put_back, staged
from gridatlas.model.format import many
from gridatlas.model.problems import join_names, printable, truncate_list

_SHOWN = 10
"""Places that are told one by one; with more rows, how many there are."""


def proposal_lines(proposal: Proposal, sources: str) -> Iterator[str]:
    """The proposal as a small table, with its reasons."""
    table = proposal.table
    yield f"{sources}: {many(len(table.places), 'row')}; {table.form}"
    if proposal.mark == "comma":
        yield "Numbers have decimal commas; they are written with points."
    yield ""
    head = ("role", "column", "what is in it", "why")
    roles = ((role.role, role.column, role.seen, role.why) for role in proposal.roles)
    lines = [tuple(map(printable, line)) for line in (head, *roles)]
    widths = [min(48, max(len(line[at]) for line in lines)) for at in range(3)]
    for line in lines:
        yield "  ".join((*(line[at].ljust(widths[at]) for at in range(3)), line[3])).rstrip()
    about = proposal.about
    yield ""
    yield f"{about.name}: {'; '.join(about.reasons)}."
    for note in proposal.notes:
        yield f"note: {printable(note)}"


def accounting_lines(imported: Imported) -> Iterator[str]:
    """Each row that was read, as a cell, a repeat or reported."""
    good = [row for row in imported.reported if not row.bad]
    bad = [row for row in imported.reported if row.bad]
    without = len(imported.absent)
    yield f"{many(imported.read, 'row')} read"
    yield f"  = {many(imported.cells, 'cell')}"
    yield f"  + {many(imported.repeats, 'repeat')} of these cells"
    yield f"  + {len(imported.reported):,} reported"
    if without:
        texts = dict.fromkeys(cell.text or "nothing" for cell in imported.absent)
        places = join_names((cell.place for cell in imported.absent), _SHOWN)
        yield (f"{many(without, 'row')} without a value ({join_names(texts, 5)}): {places}")
    yield from _reported("left out", good)
    yield from _reported("wrong", bad)


def _reported(what: str, rows: Sequence[Reported]) -> Iterator[str]:
    by_why: dict[str, list[str]] = {}
    for row in rows:
        by_why.setdefault(row.why, []).append(row.place)
    for number, (why, places) in enumerate(by_why.items()):
        if number == 2 * _SHOWN:
            rest = sum(len(places) for places in list(by_why.values())[number:])
            yield f"  {what}: {many(rest, 'more row')}, for {len(by_why) - number} other reasons"
            return
        yield f"  {what}: {printable(why)}: {join_names(places, _SHOWN)}"


def accepting_command(
    given: Sequence[str], proposal: Proposal, asked: ImportOptions, study: str, title: str
) -> str:
    """The command line that accepts a proposal.

    Args:
        given: Files and options that say how they are read.
    """
    about = proposal.about
    words = ["gridatlas", "import", *given, "--study", study, "--title", title]
    words += ["--x", proposal.x, "--y", proposal.y, "--metric", proposal.metric]
    for facet in proposal.facets:
        words += ["--facet", facet]
    for name in proposal.repeats:
        words += ["--repeats", name]
    for name, level in proposal.keep:
        words += ["--only", f"{name}={level}"]
    for kind, name in proposal.counts.items():
        words += [f"--{kind}", name]
    for kind, name in asked.counts.items():
        words += [] if name else [f"--{kind}", ""]
    for name in asked.ignore:
        words += ["--ignore", name]
    words += ["--unit", about.unit]
    if about.range:
        words += ["--range", f"{about.range[0]:f}", f"{about.range[1]:f}"]
    words += ["--better", about.better]
    if about.decimals is not None:
        words += ["--decimals", str(about.decimals)]
    if asked.mark:
        words += ["--decimal-mark", asked.mark]
    return shlex.join([*words, "--yes"])


MANY_ROWS = 10_000
"""Rows above which an import says what it is doing: it takes seconds."""


def run_import(
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    options: Mapping[str, Any],
    *,
    echo: Callable[[str], None],
    confirm: Callable[[str], bool | None],
    progress: Callable[[str], None],
) -> int:
    """Import files as one study, and say all that is to be said.

    Args:
        options: Those of the command.
        confirm: Asks; None where nobody is there to answer.
        progress: Says what is being done, where that takes a while.

    Returns:
        The exit status.

    Raises:
        CannotImport: Where it can't go on; nothing was written.
    """
    study = options["study"] or _study_id(files)
    title = options["title"] or _title(study)
    if not options["dry"]:
        put_back(data)
        check_place(data, study, replace=options["replace"])
    with gc_disabled():
        return _import(files, data, asked, options, (study, title), echo, confirm, progress)


def _import(
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    options: Mapping[str, Any],
    names: tuple[str, str],
    echo: Callable[[str], None],
    confirm: Callable[[str], bool | None],
    progress: Callable[[str], None],
) -> int:
    study, title = names
    table = detect(
        files, encoding=options["encoding"], table=options["table"], pattern=options["pattern"]
    )
    wide = is_wide(table) if options["wide"] is None else options["wide"]
    headings = ""
    if wide:
        own = [facet for facet in (asked.y, *asked.facets) if facet and facet in table.columns]
        table, headings = long(table, asked.x, own)
    busy = progress if len(table.places) > MANY_ROWS else _say_nothing
    busy(f"looking at {len(table.places):,} rows")
    proposal = propose(table, asked, headings)
    for line in proposal_lines(proposal, sources(files)):
        echo(line)
    imported = make_cells(proposal, options["fill"])
    echo("")
    for line in accounting_lines(imported):
        echo(line)
    _stop_at_wrong_rows(imported, skip=options["skip"])
    target = f"{data.as_posix()}/{study}"
    if not (options["dry"] or options["yes"] or asked.complete):
        answer = confirm(f"\nImport this as {target}?")
        if answer is None:
            given = _given(files, data, options, wide)
            command = accepting_command(given, proposal, asked, study, title)
            echo(f"\nNothing was imported. To accept this:\n\n  {command}\n")
        elif not answer:
            echo("Nothing was imported. gridatlas import --help tells how to say it otherwise.")
        if not answer:
            return 2
    about = About(title, sources(files), options["url"])
    texts = dict(zip(FILES, (study_text(imported, proposal, about), imported.csv()), strict=True))
    busy("checking the study, as gridatlas check does")
    return _write(texts, data, study, dry=options["dry"], echo=echo)


def _say_nothing(_: str) -> None:
    """Where it is quick."""


def _stop_at_wrong_rows(imported: Imported, *, skip: bool) -> None:
    bad = [row for row in imported.reported if row.bad]
    if bad and not skip:
        fix = "correct them, or leave them out with --skip"
        if any("already" in row.why for row in bad):
            fix += (
                "; if they are repeats of a measurement, add --repeats rows, or --repeats with the "
                "column that numbers them; if something else was varied, name it with --facet"
            )
        raise CannotImport(
            f"{many(len(bad), 'wrong row')}, listed above", "rows that are cells", fix
        )
    if not imported.cells:
        raise CannotImport("no row that is a cell", "at least one", "name other columns")


def _write(
    texts: Mapping[str, str], data: Path, study: str, *, dry: bool, echo: Callable[[str], None]
) -> int:
    """Check the study, write it if it can be shown, and say both."""
    target = f"{data.as_posix()}/{study}"
    with staged(data, study, texts, dry=dry) as stage:
        checked = check_staged(stage, data)
        if dry:
            for name, text in texts.items():
                echo(f"\n--- {target}/{name}\n{_beginning(text)}")
        elif checked.usable:
            put(stage, data, study)
            echo("")
            for name in texts:
                echo(f"written: {target}/{name}")
    echo("\ngridatlas check says of it:")
    for line in (*truncate_list(checked.loaded.problems), *checked.loaded.summary()):
        echo(str(line))
    echo(many(len(checked.problems), "problem"))
    if not checked.usable:
        raise CannotImport(
            "problems, listed above",
            "a study that can be shown",
            "correct the source, or name columns and levels otherwise",
        )
    if checked.problems:
        echo(
            "The study is as its source is; these are findings about it. Fix the source, or "
            "accept what is known."
        )
    return 1 if checked.problems else 0


def _beginning(text: str, lines: int = 60) -> str:
    every = text.splitlines()
    more = len(every) - lines
    return "\n".join(every[:lines]) + (f"\n… and {more} more lines" if more > 0 else "")


def _study_id(files: Sequence[Path]) -> str:
    first = files[0].resolve()
    name = first.stem if len(files) == 1 else first.parent.name
    return identifier(name).replace("_", "-").strip("-.") or "study"


def _title(study: str) -> str:
    text = study.replace("-", " ").replace("_", " ")
    return text[0].upper() + text[1:]


def _given(files: Sequence[Path], data: Path, options: Mapping[str, Any], wide: bool) -> list[str]:
    """Files, and the options that say how they are read and where they go."""
    words = [str(file) for file in files]
    if data != Path("data"):
        words += ["--data", str(data)]
    for name, option in (("encoding", "--encoding"), ("table", "--table"), ("pattern", "--path"),
                         ("fill", "--fill"), ("url", "--url")):  # fmt: skip
        if options[name] not in (None, ""):
            words += [option, str(options[name])]
    words += [f"--{name}" for name in ("skip", "replace") if options[name]]
    return words + (["--wide"] if wide else ["--long"] if options["wide"] is False else [])
