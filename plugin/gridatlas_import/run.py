"""An import from the files to the study: look, propose, ask, check, write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gridatlas.assessment.pipeline import gc_disabled
from gridatlas.data.reader import STUDY_FILE
from gridatlas.data.yaml import parse_yaml
from gridatlas.files.atomic import write_atomic
from gridatlas.files.door import read_file
from gridatlas.model.format import many
from gridatlas.model.problems import join_names, printable, truncate_list
from gridatlas_import.cells import Imported, identifier, make_cells, with_labels
from gridatlas_import.choose import choose
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
from gridatlas_import.rows import CannotImport, SeveralProblems, WrongUsage
from gridatlas_import.study_text import MEASURED, study_text, text_scalar
from gridatlas_import.write import check_place, check_staged, put, put_back, staged

MOST_WRONG = 0.2
"""Share of rows up to which wrong ones are left out, and reported."""
_EXPORTED_AT = re.compile(
    r"[ _-]*\d{4}-\d\d-\d\dT\d\d[_:.-]?\d\d[_:.-]?\d\d([.,]\d+)?(Z|[+_-]\d\d[_:.-]?\d\d)?$"
)
"""When a tracker wrote a file, at the end of its name: `export_2026-05-03T14_22_10.123+02_00`."""


Ask = Callable[[str, Sequence[str], str], str | None]
"""Asks a person, with the answers that there are (none for any text) and what Enter means; None
where nobody is there."""


def run_import(
    files: Sequence[Path], data: Path, asked: ImportOptions, echo: Callable[[str], None], ask: Ask
) -> int | None:
    """Import files as one study, and say all that is to be said.

    Returns:
        The exit status; None where a proposal was only shown, and nothing written.

    Raises:
        CannotImport: Where it can't go on; nothing was written.
    """
    study = asked.study or _study_id(files)
    if asked.as_json:
        with gc_disabled():
            return _answer(files, asked, echo)
    taken: CannotImport | None = None
    if not asked.dry:
        put_back(data)
        try:
            check_place(data, study, replace=asked.replace)
        except CannotImport as error:
            taken = error
    with gc_disabled():
        try:
            choice = choose(detect(files, asked), asked)
        except CannotImport as error:
            if taken is not None:
                raise SeveralProblems((taken, *error.problems)) from None
            raise
        proposal = choice.proposal
        if taken is not None:
            if proposal is not None and proposal.collisions:
                raise SeveralProblems((taken, collision(proposal)))
            raise taken
        title = asked.title or _title(study)
        given = _given(files, data, asked, choice.wide)
        commands = [
            accepting_command(given, candidate, asked, study, title)
            for candidate in choice.candidates
        ]
        by = ""
        if proposal is None:
            for line in candidate_lines(choice, commands, sources(files)):
                echo(line)
            numbers = [*map(str, range(len(commands) + 1))]
            if not (asked.dry or asked.yes):
                by = ask(f"\nWhich one? (1 to {len(commands)}, 0 for none)", numbers, "") or "0"
            if by in ("", "0"):
                echo("\nNothing was written.")
                return 2 if asked.yes and not asked.dry else None
            proposal = choice.candidates[int(by) - 1]
        command = commands[int(by or 1) - 1]
        return _import(
            proposal, command, files, data, replace(asked, title=title), study, echo, ask
        )


def study_per_metric(
    files: Sequence[Path], asked: ImportOptions, metrics: Sequence[str]
) -> list[ImportOptions]:
    """The options of an import of each metric: a study and a title of its own.

    Raises:
        CannotImport: Where two would have the same name.
    """
    first = asked.study or _study_id(files)
    title = asked.title or _title(first)
    ids = [f"{first}-{identifier(metric).replace('_', '-')}" for metric in metrics]
    if len(set(ids)) < len(ids):
        raise WrongUsage(
            f"metrics with one name: {join_names(metrics)}",
            "metrics that differ in letters or digits",
            "import them one by one, each with a --study",
        )
    return [
        replace(asked, metric=metric, study=study, title=f"{title}: {metric}")
        for metric, study in zip(metrics, ids, strict=True)
    ]


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


def _answer(files: Sequence[Path], asked: ImportOptions, echo: Callable[[str], None]) -> int:
    """The proposal as JSON; nothing is written."""
    try:
        choice = choose(detect(files, asked), asked)
    except CannotImport as error:
        echo(refusal_json(error))
        return 1
    echo(choice_json(choice))
    return 0


def _import(
    proposal: Proposal,
    command: str,
    files: Sequence[Path],
    data: Path,
    asked: ImportOptions,
    study: str,
    echo: Callable[[str], None],
    ask: Ask,
) -> int | None:
    """Say what a proposal gives, have it accepted, and write it.

    Args:
        command: What accepts it without a question.
    """
    asks = not (asked.dry or asked.yes or asked.complete)
    if asks and proposal.about.better is None:
        name = printable(proposal.about.name)
        question = f"\n{name}: which is better? (higher, lower; Enter for neither)"
        better = ask(question, ("higher", "lower", ""), "")
        about = replace(proposal.about, better=better or None)  # type: ignore[arg-type]
        proposal = replace(proposal, about=about)
    for line in proposal_lines(proposal, sources(files)):
        echo(line)
    for line in proposal.points if asked.why else ():
        echo(f"points: {printable(line)}")
    imported = make_cells(proposal, asked.fill)
    echo("")
    for line in accounting_lines(imported):
        echo(line)
    _stop_at_wrong_rows(imported, proposal, skip=asked.skip)
    labels = dict(asked.labels)
    if asks:
        answer = ask(f"\nImport this as {data.as_posix()}/{study}?", ("y", "n"), "y")
        if answer is None:
            echo(f"\nNothing was written. To accept this proposal, run:\n\n  {command}\n")
        elif answer == "n":
            echo("Nothing was written. To name the roles yourself, see gridatlas import --help.")
        if answer != "y":
            return None
        shown = {factor.source: factor.shown for factor in imported.factors}
        shown |= {proposal.metric: proposal.about.name}
        names = printable(", ".join(f"{column}={name}" for column, name in shown.items()))
        given = ask(
            f"\nNames on pages: {names}. Others, written alike? (Enter keeps these)", (), ""
        )
        pairs = (pair.partition("=") for pair in (given or "").split(","))
        labels |= {column.strip(): name.strip() for column, _, name in pairs if name.strip()}
    imported, proposal = with_labels(imported, proposal, labels)
    measured = with_run(imported, proposal.table.logs, study)
    imported = measured.imported
    text = study_text(imported, proposal, asked, sources(files))
    texts = {STUDY_FILE: text, **imported.tables(), **measured.texts}
    _write(texts, data, study, dry=asked.dry, echo=echo)
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
                shown = _beginning(text) if isinstance(text, str) and "/" not in name else ""
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


def _given(files: Sequence[Path], data: Path, asked: ImportOptions, wide: bool) -> list[str]:
    """Files, and the options that say how they are read and where they go."""
    words = [str(file) for file in files]
    if data != Path("data"):
        words += ["--data", str(data)]
    for value, option in ((asked.encoding, "--encoding"), (asked.table, "--table"),
                          (asked.pattern, "--path"), (asked.fill, "--fill"), (asked.url, "--url"),
                          (asked.link, "--link")):  # fmt: skip
        if value not in (None, ""):
            words += [option, str(value)]
    words += ["--skip"] * asked.skip + ["--replace"] * asked.replace
    if asked.site is not None:
        words.append("--site" if asked.site else "--no-site")
    return words + (["--wide"] if wide else ["--long"] if asked.wide is False else [])
