"""Options that several of the KV scripts have, so that one name means one thing."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import get_args

import click

from gridatlas_reproduce.kv.models import WIDTHS
from gridatlas_reproduce.kv.questions import Profile
from gridatlas_reproduce.kv.selection import Protect


def exact_ratios(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[Decimal, ...]:
    """Ratios as exact decimal numbers, without the zeros at their ends."""
    try:
        return tuple(Decimal(value).normalize() for value in values)
    except InvalidOperation as error:
        raise click.BadParameter("write it as 0.1") from error


model_option = click.option(
    "--model",
    required=True,
    help="r1-qwen, r1-llama, an id on the hub, or a folder; r1-qwen=FOLDER for a copy of a level.",
)
model_revision_option = click.option(
    "--model-revision", metavar="COMMIT", help="On the hub; else its present one."
)
profile_option = click.option(
    "--profile",
    type=click.Choice(get_args(Profile)),
    default="official",
    show_default=True,
    help="How questions are asked. official: the bare question. boxed: asks for a boxed answer.",
)
trigger_option = click.option(
    "--trigger",
    type=click.IntRange(min=1),
    default=5001,
    show_default=True,
    help="Tokens in the cache at which it is pruned.",
)
protect_option = click.option(
    "--protect-question",
    "protect",
    type=click.Choice(get_args(Protect)),
    default="tie",
    show_default=True,
    help="Whether the prompt competes for the places that a prune leaves (tie, as published).",
)
dtype_option = click.option(
    "--dtype",
    type=click.Choice(list(WIDTHS)),
    default="float16",
    show_default=True,
    help="What the model computes with (float16, as published).",
)
