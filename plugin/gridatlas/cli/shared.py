"""What commands share."""

from __future__ import annotations

from pathlib import Path

import click

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="Folder with one folder per study.",
)


class NothingWritten(click.ClickException):
    """Why nothing was written: exit 2, which neither a problem nor a change has."""

    exit_code = 2
