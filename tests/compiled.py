"""Templates are compiled, and a theme's files and emoji listed, once for many builds.

They are two thirds of what a small site with Material costs. A template is compiled again where a
byte of it, or anything of its environment that the result depends on, is another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2

_SETTINGS = (
    "block_start_string", "block_end_string", "variable_start_string", "variable_end_string",
    "comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix",
    "trim_blocks", "lstrip_blocks", "newline_sequence", "keep_trailing_newline", "optimized",
)  # fmt: skip


class Compiled(jinja2.FileSystemBytecodeCache):
    """Jinja's own cache, whose keys leave out what the environment is like."""

    def get_bucket(
        self, environment: jinja2.Environment, name: str, filename: str | None, source: str
    ) -> Any:
        """What is known of a template: its code, if it was compiled."""
        bucket = super().get_bucket(environment, name, filename, source)
        about = [bucket.key, *_about(environment, name)]
        bucket.reset()
        bucket.key = hashlib.sha256("\0".join(about).encode()).hexdigest()
        self.load_bytecode(bucket)
        return bucket


def _about(environment: jinja2.Environment, name: str) -> list[str]:
    """All of an environment that decides what a template becomes."""
    escaped = environment.autoescape
    tables = (environment.filters, environment.tests, environment.extensions)
    return [
        _named(type(environment)),
        _named(environment.finalize),
        str(escaped(name) if callable(escaped) else escaped),
        *(repr(getattr(environment, setting)) for setting in _SETTINGS),
        # Filters and tests of what is constant are computed by the compiler.
        *(f"{key} {_named(table[key])}" for table in tables for key in sorted(table)),
    ]


def _named(value: object) -> str:
    code = getattr(value, "__code__", None)
    made_by = (getattr(value, part, "") for part in ("__module__", "__qualname__"))
    line = f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    return " ".join([*map(str, made_by), line])


def compile_once(folder: Path) -> None:
    """From here on, environments of this process, and of its copies, keep code in a folder."""
    begin: Callable[..., None] = jinja2.Environment.__init__

    def begin_with_cache(self: jinja2.Environment, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        self.bytecode_cache = self.bytecode_cache or Compiled(str(folder))

    jinja2.Environment.__init__ = begin_with_cache  # type: ignore[method-assign]


def list_once(theme: Path) -> None:
    """Keep the list of a theme's files, without the hidden ones, which MkDocs leaves out of sites.

    Material has 14,000 of them: its icons.
    """
    found = [
        name
        for name in jinja2.FileSystemLoader(theme).list_templates()
        if not name.startswith(".") and "/." not in name
    ]
    listed = jinja2.FileSystemLoader.list_templates

    def list_templates(self: jinja2.FileSystemLoader) -> list[str]:
        if str(theme) not in self.searchpath:
            return listed(self)
        others = [folder for folder in self.searchpath if folder != str(theme)]
        return sorted(
            {*found, *listed(jinja2.FileSystemLoader(others, followlinks=self.followlinks))}
        )

    jinja2.FileSystemLoader.list_templates = list_templates  # type: ignore[method-assign]


def look_up_once() -> None:
    """Have all pages look up emoji in one table, not in copies of it: nobody writes into them."""
    from pymdownx import emoji

    emoji.copy = SimpleNamespace(deepcopy=lambda table: table)
