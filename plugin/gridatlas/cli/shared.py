"""What commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from gridatlas.model.inert import AS_TEXT, without_commands
from gridatlas.model.limits import limited, limits_of

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Folder of the studies.",
)


def _limits(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    numbers: dict[str, object] = {}
    for pair in given:
        name, _equals, number = pair.partition("=")
        numbers[name.strip()] = int(number) if number.strip().isdecimal() else number
    try:
        context.with_resource(limited(limits_of(numbers)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


limit_option = click.option(
    "--limit",
    metavar="NAME=NUMBER",
    multiple=True,
    expose_value=False,
    callback=_limits,
    help="Limit of input, such as levels=100000. Repeatable.",
)
"""Holds until the command ends."""

Command = TypeVar("Command", bound=Callable[..., Any])
_JSON = "gridatlas.json"


def _json_asked(context: click.Context, _: click.Parameter, given: bool) -> None:
    context.meta[_JSON] = given


def _form(context: click.Context, parameter: click.Parameter, form: str) -> str:
    if not context.meta.get(_JSON):
        return form
    source = context.get_parameter_source(str(parameter.name))
    if form != "json" and source is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError(f"--json and --format {form} exclude each other")
    return "json"


def format_option(forms: Sequence[str], text: str) -> Callable[[Command], Command]:
    """The options `--format`, whose first form is the default, and `--json` as its short form."""

    def add(command: Command) -> Command:
        command = click.option(
            "--json",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_json_asked,
            help="Short for --format json.",
        )(command)
        return click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            default=forms[0],
            show_default=True,
            callback=_form,
            help=text,
        )(command)

    return add


def coloured(text: str, colour: str) -> str:
    """A text in a colour, unless the environment has NO_COLOR; terminals alone are sent it."""
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour)


def echo(message: object, form: str = AS_TEXT, *, err: bool = False, nl: bool = True) -> None:
    """Print, without what GitHub's runner would take for a command.

    Args:
        form: Of the text, which says how it is kept from being one: `AS_JSON`, or `AS_HTML`.
    """
    text = without_commands(str(message), form)
    # For programs: in UTF-8 wherever it runs. JSON writes half characters as escapes.
    sent = text if form == AS_TEXT else text.encode("utf-8", "backslashreplace")
    click.echo(sent, err=err, nl=nl)  # noqa: TID251 (without commands)


def echo_error(text: str) -> None:
    """Print an error on stderr."""
    echo(f"{coloured('Error:', 'red')} {text}", err=True)


class NothingWritten(click.ClickException):
    """Why nothing was written: exit 2, which neither a problem nor a change has."""

    exit_code = 2

    def show(self, file: IO[str] | None = None) -> None:
        """Print the reason."""
        echo_error(self.format_message())
