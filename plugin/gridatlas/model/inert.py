"""Texts from data where other programs look for commands: templates of plugins, logs on GitHub."""

from __future__ import annotations

import logging
import re

_TEMPLATE = re.compile(r"\{(?=[{%#])")
# GitHub's runner takes `##[command]` anywhere in a line, and `::command::` after spaces. Beside a
# terminal, colours are taken out of what is printed.
_COLOUR = r"\x1b\[[;?\d]*[a-zA-Z]"
_COMMAND = re.compile(
    rf"((?:\A|[\n\r])(?:[^\S\n\r]|{_COLOUR})*):(?=(?:{_COLOUR})*:)"
    rf"|#(?=(?:{_COLOUR})*#(?:{_COLOUR})*\[)"
)

AS_TEXT, AS_JSON, AS_HTML = "\\x{:02x}", "\\u{:04x}", "&#{};"
"""How a character is written in a message, in JSON, and in HTML or Markdown."""


def inert(html: str) -> str:
    """The same HTML or Markdown without `{{`, `{%` and `{#`, which plugins take for a template."""
    return _TEMPLATE.sub(AS_HTML.format(ord("{")), html)


def without_commands(text: str, form: str = AS_TEXT) -> str:
    """A text in which GitHub's runner finds no command when it is printed in a workflow.

    Args:
        form: How the first character of what would begin one is written.
    """

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1] or ''}{form.format(ord(found[0][-1]))}"

    return _COMMAND.sub(replaced, text)


def get_logger(name: str) -> logging.Logger:
    """A logger whose messages hold no command, whatever data they quote."""
    logger = logging.getLogger(name)  # noqa: TID251
    logger.addFilter(_without_commands)
    return logger


def _without_commands(record: logging.LogRecord) -> bool:
    record.msg, record.args = without_commands(record.getMessage()), ()
    return True
