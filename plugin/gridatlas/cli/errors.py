"""How commands fail where it isn't for problems in the data."""

from __future__ import annotations

import click


class NothingWritten(click.ClickException):
    """Why nothing was written: exit 2, which neither a problem nor a change has."""

    exit_code = 2
