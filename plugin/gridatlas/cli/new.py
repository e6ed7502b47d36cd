"""`gridatlas new`: a website to begin with, or the lines that an existing one needs."""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import click

from gridatlas.cli.github import NoSource, Source, github_files, installed_source, parse_source
from gridatlas.cli.shared import echo, echo_error
from gridatlas.files.atomic import write_atomic, write_new
from gridatlas.files.disks import why_not_written
from gridatlas.files.staging import StagingDir, remove_abandoned
from gridatlas.hosts.mkdocs_config import CannotAdd, with_plugin
from gridatlas.hosts.sites import HostError, host_named

STARTER = Path(__file__).with_name("starter")
CONFIG, ZENSICAL = "mkdocs.yml", "zensical.toml"
EXAMPLE = "example"


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done in a folder.

    Attributes:
        files: Files to write, by their paths in the folder; none of them is there.
        data: The folder of the studies, which is new where one of the files is in it.
        config: The site's configuration.
        left: Files that exist already and stay as they are.
        before: Text of the mkdocs.yml that is changed; empty where there is none.
        after: What it becomes.
        workflows: Those of the files that are shown before they are written: they run on GitHub.
    """

    files: Mapping[str, str]
    data: str = "data"
    config: str = CONFIG
    left: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    workflows: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to do."""
        return not self.files and self.before == self.after

    def diff(self) -> str:
        """The change to mkdocs.yml, and the workflows."""
        shown = [(CONFIG, self.before, self.after)] if self.before != self.after else []
        shown += [(path, "", self.files[path]) for path in self.workflows]
        return "".join(_diff(*change) for change in shown)

    def with_workflows(self, folder: Path, files: Mapping[str, str]) -> Plan:
        """The plan with workflows that are to be written, too."""
        left = tuple(path for path in files if (folder / path).exists())
        new = {path: text for path, text in files.items() if path not in left}
        return replace(
            self, files={**self.files, **new}, left=(*self.left, *left), workflows=tuple(new)
        )


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"{path} (now)",
        f"{path} (then)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan_new(folder: Path) -> Plan:
    """What a folder lacks to be a website with results.

    Raises:
        CannotAdd: For a mkdocs.yml that can't be changed by itself.
    """
    config = folder / CONFIG
    if not config.exists():
        return _whole(folder)
    before = _read(config)
    after = with_plugin(before)
    data = host_named("mkdocs").data_of(config)
    files = {} if (folder / data).exists() else _example(data)
    return Plan(files, data, CONFIG, (), before, after)


def plan_zensical(folder: Path) -> Plan:
    """What a folder lacks to be a website with results of Zensical, which reads a mkdocs.yml, too.

    Raises:
        HostError: For a configuration that can't be read.
    """
    config = next((name for name in (ZENSICAL, CONFIG) if (folder / name).exists()), None)
    if config is None:
        return _whole(folder, ZENSICAL)
    data = host_named("zensical").data_of(folder / config)
    return Plan({} if (folder / data).exists() else _example(data), data, config)


def _whole(folder: Path, config: str = CONFIG) -> Plan:
    index = _starter("index.md")
    files: dict[str, str] = {}
    example = _example("data")
    if not (folder / "data").exists():
        files |= example
    if files or _has(folder, example):
        index += _starter("index-example.md")
    # The configuration last: where it is, nothing of the rest is missing.
    files |= {".gitignore": _starter("gitignore"), "docs/index.md": index}
    files |= {f"docs/assets/{name}": _starter(name) for name in ("logo.svg", "site.css")}
    files[config] = _starter(config)
    left = tuple(path for path in files if (folder / path).exists())
    return Plan(
        {path: text for path, text in files.items() if path not in left}, "data", config, left
    )


def _has(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether files are there as they would be written, as after a run that came to no end."""
    return all(
        (folder / path).is_file() and (folder / path).read_bytes() == text.encode()
        for path, text in files.items()
    )


def _example(data: str) -> dict[str, str]:
    names = ("study.yml", "cells.csv")
    return {f"{data}/{EXAMPLE}/{name}": _starter(name) for name in names}


def _starter(name: str) -> str:
    return (STARTER / name).read_text(encoding="utf-8")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise CannotAdd(f"{path}, which isn't UTF-8") from None


def carry_out(folder: Path, plan: Plan) -> None:
    """Write what is planned; no file that is there is written over, but for mkdocs.yml.

    Whenever the process is killed, each file is there whole or not at all, and the next run does
    what is missing.
    """
    data = {path: text for path, text in plan.files.items() if _below(path, plan.data)}
    target = folder / plan.data
    remove_abandoned(target.parent)
    if data:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Whole: half an example would be taken for somebody's data folder.
        with StagingDir(target.parent) as staging:
            for path, text in data.items():
                file = staging / "data" / Path(path).relative_to(plan.data)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
            (staging / "data").rename(target)
    for path, text in plan.files.items():
        if path not in data:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_new(folder / path, text.encode())
    if plan.before != plan.after:
        write_atomic(folder / CONFIG, plan.after.encode())


def _below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


OTHER_HOSTS = ("mkdocs.yaml", "properdocs.yml", "properdocs.yaml", "zensical.toml", "conf.py")
"""Files of websites that `gridatlas new` doesn't change."""


def offer_site(folder: Path, wanted: bool | None) -> None:
    """Make a website of a folder into which a study was imported, or say how to.

    Args:
        wanted: Whether to make it; None asks, and where nobody is there to answer only tells.
    """
    if wanted is False or any((folder / name).exists() for name in OTHER_HOSTS):
        return
    try:
        plan = plan_new(folder)
    except CannotAdd:
        return  # `gridatlas new` tells what is in the way
    if plan.before and plan.before == plan.after:
        return
    what = f"add Grid Atlas to {CONFIG}" if plan.before else "make a website to show it"
    if wanted is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            echo(f"\nNext: gridatlas new, to {what} (import --site does both)", err=True)
            return
        echo(f"\n{plan.diff()}", nl=False)
        if not click.confirm(f"Shall I {what}?", default=True):
            return
    carry_out(folder, plan)
    for path in plan.files:
        echo(f"written: {path}")
    if plan.before != plan.after and plan.before:
        echo(f"changed: {CONFIG}")
    echo("\nNext: mkdocs serve, then open http://127.0.0.1:8000/studies/")


def _source(_: click.Context, __: click.Parameter, value: str | None) -> Source | None:
    found = parse_source(value) if value else None
    if value and not found:
        raise click.BadParameter("name OWNER/REPOSITORY@COMMIT, with all 40 digits of the commit")
    return found


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--host",
    type=click.Choice(["mkdocs", "zensical"]),
    help="Site generator. Default: mkdocs, without a zensical.toml.",
)
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option(
    "--github",
    is_flag=True,
    help="Also write workflows that publish on GitHub.",
)
@click.option(
    "--vendored",
    is_flag=True,
    help="With --github: whole workflows, not calls to those of Grid Atlas.",
)
@click.option(
    "--source",
    metavar="OWNER/REPOSITORY@COMMIT",
    callback=_source,
    help="With --github: source of the workflows. Default: that of this installation.",
)
def new(
    folder: Path,
    host: str | None,
    yes: bool,
    github: bool,
    vendored: bool,
    source: Source | None,
) -> None:
    """Start a website of results in FOLDER (default: here), or add Grid Atlas to one.

    Writes a mkdocs.yml, or adds the plugin's lines to the one that exists, after showing them.
    Without a data folder, adds a commented example study. Overwrites no file.

    \b
    Exit status: 0 fine, also for a change that is only shown, 1 not possible, 2 wrong usage.

    \b
    Examples:
      gridatlas new my-results
      gridatlas new --yes
      gridatlas new my-results --host zensical
      gridatlas new --github
    """  # noqa: D301
    name = "" if folder == Path() else f"{folder.as_posix()}/"
    if (vendored or source) and not github:
        raise click.UsageError("--vendored and --source are for --github")
    zensical = _is_for_zensical(folder, host)
    try:
        plan = plan_zensical(folder) if zensical else plan_new(folder)
        if github:
            of = source or installed_source()
            files = github_files(of, plan.data, plan.config, vendored=vendored)
            plan = plan.with_workflows(folder, files)
        if plan.nothing:
            echo(_nothing(f"{name}{plan.config}", zensical, github))
            return
        if plan.before != plan.after or plan.workflows:
            echo(plan.diff(), nl=False)
            what = f"Change {name}{CONFIG} like this?" if not github else "Write this?"
            _ask(what, yes, _command(folder, host, github, vendored, source))
        carry_out(folder, plan)
    except NoSource as error:
        _stop(str(error), *NO_SOURCE)
    except CannotAdd as error:
        _stop(str(error), f"a list of plugins in {name}{CONFIG}", error.fix)
    except HostError as error:
        echo_error(str(error))
        sys.exit(1)
    except OSError as error:
        echo_error(why_not_written(error, folder))
        sys.exit(1)
    _report(name, plan, zensical)


NO_SOURCE = (
    "a commit, which the workflows name and install",
    "name it: gridatlas new --github --source OWNER/grid-atlas@COMMIT",
)


def _nothing(config: str, zensical: bool, github: bool) -> str:
    more = "the workflows are there, " if github else ""
    has = "is there" if zensical else "has the plugin"
    return f"Nothing to do: {more}{config} {has}, and there is a data folder."


def _stop(found: str, expected: str, fix: str) -> NoReturn:
    echo_error(f"nothing was changed\n  found:    {found}")
    echo(f"  expected: {expected}", err=True)
    echo(f"  fix:      {fix}", err=True)
    sys.exit(1)


def _report(name: str, plan: Plan, zensical: bool) -> None:
    for path in plan.left:
        echo(f"left as it is: {name}{path}")
    if plan.before != plan.after:
        echo(f"changed: {name}{CONFIG}")
    for path in plan.files:
        echo(f"written: {name}{path}")
    echo("\nNext:")
    if name:
        echo(f"  cd {name.rstrip('/')}")
    echo("  gridatlas check")
    serve = "gridatlas serve" if zensical else "mkdocs serve"
    echo(f"  {serve:<17} then open http://127.0.0.1:8000/studies/")
    if plan.workflows:
        echo("  On GitHub: Settings, Pages, Source: GitHub Actions. Then commit and push.")
    echo("Your own results: gridatlas import FILE")


def _is_for_zensical(folder: Path, host: str | None) -> bool:
    found = (folder / ZENSICAL).exists() and not (folder / CONFIG).exists()
    return host == "zensical" or (host is None and found)


def _command(
    folder: Path, host: str | None, github: bool, vendored: bool, source: Source | None
) -> str:
    """What accepts a change without a question."""
    words = ["gridatlas new", *([shlex.quote(str(folder))] if folder != Path() else [])]
    words += [f"--host {host}"] if host else []
    words += ["--github"] if github else []
    words += ["--vendored"] if vendored else []
    words += [f"--source {source.repository}@{source.commit}"] if source else []
    return " ".join([*words, "--yes"])


def _ask(what: str, yes: bool, command: str) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        echo(f"\nNothing was changed. To accept this, run: {command}")
        sys.exit(0)
    if not click.confirm(f"\n{what}", default=True):
        echo("Nothing was changed.")
        sys.exit(0)
