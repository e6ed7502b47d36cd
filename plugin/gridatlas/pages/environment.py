"""The Jinja environments: our templates, a user's before them, and how texts are escaped."""

from __future__ import annotations

import re
import traceback
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from gridatlas.model.problems import Problem, join_names, nearest
from gridatlas.pages.figure import Figure
from gridatlas.pages.filters import FILTERS, GLOBALS

_MARKDOWN_SPECIAL = re.compile(
    r"""[!"#$&'()*+/:<=>?@\[\\\]^_`{|}~]|(?<![0-9])\.|\.(?![0-9])|(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])"""
)
"""All that Markdown may take for its own; not the point in a number, nor the hyphen in a word."""


@cache
def own_environments() -> tuple[Environment, Environment]:
    """Our templates, which need no sandbox; compiled once, however often a site is built."""
    return _environments(Environment, PackageLoader("gridatlas.pages", "templates"))


@cache
def document_environment() -> Environment:
    """The templates of documents that are no pages of a site, with those of HTML."""
    loaders = [PackageLoader("gridatlas.pages", folder) for folder in ("documents", "templates")]
    return _environments(Environment, ChoiceLoader(loaders))[1]


def user_environments(folder: Path, without: frozenset[str]) -> tuple[Environment, Environment]:
    """A user's templates, and ours where there is none of theirs."""
    ours = PackageLoader("gridatlas.pages", "templates")
    loader = ChoiceLoader([_Overrides(folder, without), ours])
    return _environments(ImmutableSandboxedEnvironment, loader)


def _environments(kind: type[Environment], loader: BaseLoader) -> tuple[Environment, Environment]:
    """The templates of Markdown, and those of HTML."""
    options: dict[str, Any] = {
        "loader": loader,
        "undefined": StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": True,
        "autoescape": True,
    }
    found = kind(finalize=escape_markdown, **options), kind(**options)
    for environment in found:
        environment.filters |= FILTERS
        environment.globals |= GLOBALS
    return found


def caption(figure: Figure) -> str:
    """What stands below a figure, as plain text; of a user's own template, ours."""
    module: Any = own_environments()[1].get_template("_captions.html.jinja").module
    return Markup(module.caption(figure)).unescape()


class _Overrides(FileSystemLoader):
    """A user's templates, but for those that are broken: ours are used in their place."""

    def __init__(self, folder: Path, without: frozenset[str]) -> None:
        super().__init__(folder)
        self.without = without

    def get_source(self, environment: Environment, template: str) -> Any:
        """The template's text, unless it can't be used."""
        if template in self.without:
            raise TemplateNotFound(template)
        return super().get_source(environment, template)


IN_TEMPLATES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a template can raise: Jinja's own errors, and those of the expressions in it."""


def template_problem(error: Exception, folder: Path, name: str) -> Problem:
    """Where in a user's templates an error comes from, by the last of their lines on its way."""
    message, line = str(getattr(error, "message", None) or error), getattr(error, "lineno", None)
    if isinstance(error, TemplateNotFound):
        message = f"no template {error.name}"
    elif isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        message = "text that is not UTF-8"
    elif isinstance(error, KeyError):
        message = f"no {error}"
    elif isinstance(error, RecursionError):
        message = "a template or macro that goes on calling itself"
    named = getattr(error, "name", None)
    if isinstance(error, TemplateSyntaxError) and named:
        name = named
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(folder):
            name, line = Path(frame.filename).relative_to(folder).as_posix(), frame.lineno
    return Problem(
        "broken-template",
        f"{folder.name}/{name}",
        message,
        "a Jinja template, in UTF-8, that uses what the page gives it",
        "correct it; until then its pages are written with the template of gridatlas",
        line,
    )


def check_templates(folder: Path) -> tuple[frozenset[str], list[Problem]]:
    """The names of a user's templates that can't be used, and what is wrong with each."""
    ours = set(PackageLoader("gridatlas.pages", "templates").list_templates())
    environment = ImmutableSandboxedEnvironment(loader=FileSystemLoader(folder))
    environment.filters |= FILTERS
    broken: set[str] = set()
    problems = []
    for name in environment.list_templates():
        if name in ours:
            try:
                environment.get_template(name)
            except IN_TEMPLATES as error:
                broken.add(name)
                problems.append(template_problem(error, folder, name))
        elif name.endswith(".jinja"):
            near = nearest(name, ours)
            problems.append(
                Problem(
                    "unknown-template",
                    f"{folder.name}/{name}",
                    "a template that overrides none",
                    f"the name of one of ours: {join_names(sorted(ours), 20)}",
                    f"rename it to {near}" if near else "rename it, or remove it",
                    severity="note",
                )
            )
    return frozenset(broken), problems


def escape_markdown(value: object) -> object:
    """A text as Markdown that shows it unchanged: every special character as an entity."""
    if value is None or hasattr(value, "__html__"):
        return value
    text = re.sub(r"\s+", " ", str(value))
    return Markup(_MARKDOWN_SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text))
