"""The command `gridatlas`: exit 0 fine, 1 problems in the data (or changes), 2 wrong usage."""

from __future__ import annotations

import ast
import os
from importlib.abc import InspectLoader
from importlib.metadata import EntryPoint
from importlib.util import find_spec

import click

from gridatlas import __version__, registry
from gridatlas.cli.progress import progress_at_terminal


class Commands(click.Group):
    """The commands that packages bring: each is imported when it runs, and none to list them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [*registry.found(registry.COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, imported; None where no package brings it."""
        if cmd_name not in registry.found(registry.COMMANDS):
            return None
        try:
            command: click.Command = registry.load(registry.COMMANDS, cmd_name)
        except registry.Unusable as error:
            raise click.UsageError(str(error)) from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, but for those whose package isn't there."""
        points = registry.found(registry.COMMANDS)
        helps = {name: text for name, point in points.items() if (text := _help(point))}
        limit = formatter.width - 6 - max(map(len, helps))
        commands = [click.Command(name, help=text) for name, text in helps.items()]
        rows = [(str(command.name), command.get_short_help_str(limit)) for command in commands]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _help(point: EntryPoint) -> str:
    """The docstring of a command, read from its source; empty where its package isn't there."""
    try:
        spec = find_spec(point.module)
    except ModuleNotFoundError:
        return ""
    if spec is None:
        return ""
    loader = spec.loader
    source = loader.get_source(point.module) if isinstance(loader, InspectLoader) else None
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == point.attr:
            return ast.get_docstring(node) or ""
    return str(point.load().help or "")


@click.group(cls=Commands, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, prog_name="gridatlas")
@click.pass_context
def main(context: click.Context) -> None:
    """Build, check and compare websites of experiment results.

    \b
    Examples:
      gridatlas new my-results     start a website with an example
      gridatlas import results.csv create a study from a table
      gridatlas check              check all studies in data/
      gridatlas serve              show the site, and reload it on changes
      gridatlas build --site       build the site
      gridatlas diff main HEAD     show what changed in the results
    """  # noqa: D301 (click reads the \\b)
    # NumPy isn't imported yet. Threads for its matrices, which are small, wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context.with_resource(progress_at_terminal())
