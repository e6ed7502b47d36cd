"""An import from the files to the study: look, propose, ask, check, write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridatlas.assessment.pipeline import gc_disabled
from gridatlas.data.reader import STUDY_FILE
from gridatlas.data.yaml import parse_yaml
from gridatlas.files.atomic import write_atomic
from gridatlas.files.door import read_file
from gridatlas.model.directions import Better
from gridatlas.model.format import many
from gridatlas.model.problems import join_names, truncate_list
from gridatlas_import.cells import Imported, identifier, make_cells
from gridatlas_import.choose import Choice, choose
from gridatlas_import.detect import detect, sources
from gridatlas_import.logs.run_files import with_run
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import Proposal, collision
from gridatlas_import.report import (
    accepting_command,
    accounting_lines,
    candidate_lines,
    choice_json,
    proposal_lines,
    refusal_json,
)
from gridatlas_import.rows import CannotImport, SeveralProblems
from gridatlas_import.study_text import MEASURED, About, study_text, text_scalar
from gridatlas_import.write import FILES, check_place, check_staged, put, put_back, staged

MOST_WRONG = 0.2
"""Share of rows up to which wrong ones are left out, and reported."""
_EXPORTED_AT = re.compile(
    r"[ _-]*\d{4}-\d\d-\d\dT\d\d[_:.-]?\d\d[_:.-]?\d\d([.,]\d+)?(Z|[+_-]\d\d[_:.-]?\d\d)?$"
)
"""When a tracker wrote a file, at the end of its name: `export_2026-05-03T14_22_10.123+02_00`."""


def run_import(
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    options: Mapping[str, Any],
    *,
    echo: Callable[[str], None],
    confirm: Callable[[str], bool | None],
    which: Callable[[int], int | None],
    better: Callable[[str], Better | None],
) -> int | None:
    """Import files as one study, and say all that is to be said.

    Args:
        options: Those of the command.
        confirm: Asks; None where nobody is there to answer.
        which: Asks which of some candidates is meant, from 1; None where nobody is there, or none
            of them is.
        better: Asks which values of a metric are better; None where nobody is there, or for none.

    Returns:
        The exit status; None where a proposal was only shown, and nothing written.

    Raises:
        CannotImport: Where it can't go on; nothing was written.
    """
    study = options["study"] or _study_id(files)
    title = options["title"] or _title(study)
    if options.get("form") == "json":
        with gc_disabled():
            return _answer(files, asked, options, echo)
    taken: CannotImport | None = None
    if not options["dry"]:
        put_back(data)
        try:
            check_place(data, study, replace=options["replace"])
        except CannotImport as error:
            taken = error
    with gc_disabled():
        try:
            choice = _choice(files, asked, options)
        except CannotImport as error:
            if taken is not None:
                raise SeveralProblems((taken, *_every(error))) from None
            raise
        proposal = choice.proposal
        if taken is not None:
            if proposal is not None and proposal.collisions:
                raise SeveralProblems((taken, collision(proposal)))
            raise taken
        if proposal is None:
            number = _ask_which(choice, files, data, asked, options, (study, title), echo, which)
            if number is None:
                echo("\nNothing was written.")
                return 2 if options["yes"] and not options["dry"] else None
            proposal = choice.candidates[number - 1]
        silent = proposal.about.better is None
        if silent and not (options["dry"] or options["yes"] or asked.complete):
            about = replace(proposal.about, better=better(proposal.about.name))
            proposal = replace(proposal, about=about)
        return _import(proposal, choice.wide, files, data, asked, options, (study, title), echo,
                       confirm)  # fmt: skip


def study_per_metric(
    files: Sequence[Path], options: Mapping[str, Any], metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """The options of an import of each metric: a study and a title of its own.

    Raises:
        CannotImport: Where two would have the same name.
    """
    first = options["study"] or _study_id(files)
    each = [
        {
            **options,
            "metric": metric,
            "study": f"{first}-{identifier(metric).replace('_', '-')}",
            "title": f"{options['title'] or _title(first)}: {metric}",
        }
        for metric in metrics
    ]
    ids = [given["study"] for given in each]
    if len(set(ids)) < len(ids):
        raise CannotImport(
            f"metrics with one name: {join_names(metrics)}",
            "metrics that differ in letters or digits",
            "import them one by one, each with a --study",
            usage=True,
        )
    return each


def with_links(data: Path, studies: Sequence[str]) -> None:
    """Have studies of one table link to one another, as a switch on their pages.

    Args:
        studies: The ids of studies that were just written.
    """
    files = {study: data / study / STUDY_FILE for study in studies}
    texts = {study: read_file(file, data).decode() for study, file in files.items()}
    metrics = {study: parse_yaml(text, study)[0]["metric"]["name"] for study, text in texts.items()}
    for study, text in texts.items():
        lines = [
            f"  - {{study: {other}, text: {text_scalar(metric)}, same_runs: true}}"
            for other, metric in metrics.items()
            if other != study
        ]
        head = "# The same runs by another metric.\nsee_also:\n" + "\n".join(lines) + "\n\n"
        write_atomic(files[study], text.replace(f"\n{MEASURED}", f"\n{head}{MEASURED}", 1).encode())


def _every(error: CannotImport) -> tuple[CannotImport, ...]:
    return error.problems if isinstance(error, SeveralProblems) else (error,)


def _choice(
    files: Sequence[Path],
    asked: ImportOptions,
    options: Mapping[str, Any],
) -> Choice:
    """What is proposed for files."""
    table = detect(
        files,
        encoding=options["encoding"],
        table=options["table"],
        pattern=options["pattern"],
        metric=asked.metric,
    )
    return choose(table, asked, options["wide"])


def _answer(
    files: Sequence[Path],
    asked: ImportOptions,
    options: Mapping[str, Any],
    echo: Callable[[str], None],
) -> int:
    """The proposal as JSON; nothing is written."""
    try:
        choice = _choice(files, asked, options)
    except CannotImport as error:
        echo(refusal_json(error))
        return 1
    echo(choice_json(choice))
    return 0


def _ask_which(
    choice: Choice,
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    options: Mapping[str, Any],
    names: tuple[str, str],
    echo: Callable[[str], None],
    which: Callable[[int], int | None],
) -> int | None:
    """Say what may be meant and how to say which, and ask; the candidate's number, from 1."""
    given = _given(files, data, options, choice.wide)
    commands = [
        accepting_command(given, candidate, asked, *names) for candidate in choice.candidates
    ]
    for line in candidate_lines(choice, commands, sources(files)):
        echo(line)
    return None if options["dry"] or options["yes"] else which(len(commands))


def _import(
    proposal: Proposal,
    wide: bool,
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    options: Mapping[str, Any],
    names: tuple[str, str],
    echo: Callable[[str], None],
    confirm: Callable[[str], bool | None],
) -> int | None:
    study, title = names
    for line in proposal_lines(proposal, sources(files)):
        echo(line)
    imported = make_cells(proposal, options["fill"])
    echo("")
    for line in accounting_lines(imported):
        echo(line)
    _stop_at_wrong_rows(imported, proposal, skip=options["skip"])
    target = f"{data.as_posix()}/{study}"
    if not (options["dry"] or options["yes"] or asked.complete):
        answer = confirm(f"\nImport this as {target}?")
        if answer is None:
            given = _given(files, data, options, wide)
            command = accepting_command(given, proposal, asked, study, title)
            echo(f"\nNothing was written. To accept this proposal, run:\n\n  {command}\n")
        elif not answer:
            echo("Nothing was written. To name the roles yourself, see gridatlas import --help.")
        if not answer:
            return None
    about = About(title, sources(files), options["url"], options["link"])
    measured = with_run(imported, proposal.table.logs, study)
    imported = measured.imported
    written = study_text(imported, proposal, about), imported.csv()
    texts: dict[str, str | bytes] = dict(zip(FILES, written, strict=True))
    texts |= measured.texts
    _write(texts, data, study, dry=options["dry"], echo=echo)
    return 0


def _stop_at_wrong_rows(imported: Imported, proposal: Proposal, *, skip: bool) -> None:
    bad = [row for row in imported.reported if row.bad]
    twice = any("already" in row.why for row in bad)
    if not skip and (twice or len(bad) > MOST_WRONG * imported.read):
        fix = "correct them, or leave them out with --skip"
        if twice:
            if proposal.collisions and (differing := collision(proposal)).fix.startswith("add "):
                fix += f"; {differing.found}: {differing.fix}"
            fix += (
                "; if they are repeats of a measurement, add --repeats rows, or --repeats with the "
                "column that numbers them; if something else was varied, name it with --facet"
            )
        raise CannotImport(
            f"{many(len(bad), 'wrong row')}, listed above", "rows that are cells", fix
        )
    if not imported.cells:
        raise CannotImport("no row that gives a cell", "at least one", "name other columns")


def _write(
    texts: Mapping[str, str | bytes],
    data: Path,
    study: str,
    *,
    dry: bool,
    echo: Callable[[str], None],
) -> None:
    """Check the study, write it if it can be shown, and say both."""
    target = f"{data.as_posix()}/{study}"
    with staged(data, study, texts, dry=dry) as stage:
        checked = check_staged(stage, data)
        if dry:
            for name, text in texts.items():
                shown = _beginning(text) if isinstance(text, str) and name in FILES else ""
                echo(f"\n--- {target}/{name}" + (f"\n{shown}" if shown else ""))
        elif checked.usable:
            put(stage, data, study)
            echo("")
            for name in texts:
                echo(f"written: {target}/{name}")
    echo("\ngridatlas check:")
    for line in (*truncate_list(checked.loaded.problems), *checked.loaded.summary()):
        echo(str(line))
    echo(many(len(checked.problems), "problem"))
    if not checked.usable:
        raise CannotImport(
            "problems, listed above",
            "a study that can be shown",
            "correct the source, or choose other columns",
        )
    if checked.problems and not dry:
        echo(
            "The study was written with the values of its source. Correct these there, or list "
            "known findings under accepted in study.yml."
        )


def _beginning(text: str, lines: int = 60) -> str:
    every = text.splitlines()
    more = len(every) - lines
    return "\n".join(every[:lines]) + (f"\n… and {more} more lines" if more > 0 else "")


def _study_id(files: Sequence[Path]) -> str:
    first = files[0].resolve()
    name = first.stem if len(files) == 1 else first.parent.name
    name = _EXPORTED_AT.sub("", name) or name
    return identifier(name, "study").replace("_", "-")


def _title(study: str) -> str:
    text = study.replace("-", " ").replace("_", " ")
    return text[0].upper() + text[1:]


def _given(files: Sequence[Path], data: Path, options: Mapping[str, Any], wide: bool) -> list[str]:
    """Files, and the options that say how they are read and where they go."""
    words = [str(file) for file in files]
    if data != Path("data"):
        words += ["--data", str(data)]
    for name, option in (("encoding", "--encoding"), ("table", "--table"), ("pattern", "--path"),
                         ("fill", "--fill"), ("url", "--url"), ("link", "--link")):  # fmt: skip
        if options[name] not in (None, ""):
            words += [option, str(options[name])]
    words += [f"--{name}" for name in ("skip", "replace") if options[name]]
    if options["site"] is not None:
        words.append("--site" if options["site"] else "--no-site")
    return words + (["--wide"] if wide else ["--long"] if options["wide"] is False else [])
