"""The project that Zensical is given: the user's pages and ours, in a folder of the cache.

A page of the user's with a grid or a number in it doesn't change with the data, and Zensical keeps
pages until they change: its last line says which data it was made from. Nobody sees that line.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from gridatlas.assessment.assessment import Assessments
from gridatlas.build.comparison import Base, CannotCompare, load_base
from gridatlas.build.site import ProgressReporter, Site, build
from gridatlas.build.study_writer import ServeCache
from gridatlas.data.signatures import file_signatures
from gridatlas.files.atomic import write_atomic
from gridatlas.files.cache import cache_key
from gridatlas.hosts import fence_lines
from gridatlas.hosts.markdown import EXPRESSION
from gridatlas.hosts.reporting import not_written
from gridatlas.hosts.sites import HostError, Project
from gridatlas.model.limits import limited, limits_of
from gridatlas.pages.meta import with_dataset, with_tags
from gridatlas.pages.page import Page
from gridatlas_zensical.folders import Content, Mirror, in_memory, of_file
from gridatlas_zensical.into import (
    MANIFEST,
    FolderError,
    left_by_build,
    nav_files,
    page_with_figures,
)
from gridatlas_zensical.overlay import overlay
from gridatlas_zensical.settings import PAGES, PLACE, Options, Settings, settings_of
from gridatlas_zensical.standalone import data_line

CONFIG = ".gridatlas-zensical.yml"
"""The configuration that Zensical is given. It is beside the user's, for the paths in it."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What was given to Zensical.

    Attributes:
        changed: The paths of the pages and files that were written or removed.
        notes: What else is to be told.
    """

    site: Site
    settings: Settings
    changed: tuple[str, ...]
    notes: tuple[str, ...]


class Staging:
    """Gives Zensical what it needs, again and again; only what changed is written."""

    def __init__(self, project: Project, *, serving: bool = False) -> None:
        self.project = project
        self.folder = project.folder / PLACE
        self.config = project.folder / CONFIG
        self.folder.mkdir(exist_ok=True)
        (self.folder / ".gitignore").write_text("*\n", "utf-8")
        self._docs = Mirror(self.folder / "docs")
        self._theme = Mirror(self.folder / "theme")
        self._cache = ServeCache() if serving else None
        # Each session looks at all pages with grids once: a fault in one is told of again.
        self._session = secrets.token_hex(4)

    def bring(self, progress: ProgressReporter = lambda _: None) -> Staged:
        """Bring it up to date.

        Raises:
            HostError: For a fault of the configuration, or where something can't be written.
        """
        settings = settings_of(self.project)
        try:
            with limited(limits_of(settings.options.limits)):
                base, notes = self._base(settings.options)
                site = self._site(settings, base, progress)
            files = self._user_files(settings, site.assessments)
            # A page of the user's is kept, and ours is not added.
            ours = {
                path: content
                for path, content in _our_files(site, settings).items()
                if path not in files
            }
            self._theme.bring(theme_overrides(settings.custom))
            changed = self._docs.bring(files | ours)
            text = overlay(self.project, settings, [page.plan for page in site.pages], files)
            if not self.config.is_file() or self.config.read_text("utf-8") != text:
                write_atomic(self.config, text.encode())
        except OSError as error:
            state = "the site isn't built, and is as it was"
            raise HostError(not_written(error, self.folder, state)) from error
        except FolderError as error:
            raise HostError(str(error)) from error
        return Staged(site, settings, changed, notes)

    def _path(self, path: str) -> Path:
        return self.project.folder / path

    def _base(self, options: Options) -> tuple[Base | None, tuple[str, ...]]:
        """What to compare with, and why it can't be had."""
        if not options.compare_to:
            return None, ()
        root, cache = self.project.folder, self._path(options.cache)
        try:
            return load_base(options.compare_to, Path(options.data), root, cache=cache), ()
        except CannotCompare as error:
            left_out = "The page of changes is left out."
            return None, (f"gridatlas: the option compare_to: {error}\n{left_out}",)

    def _site(self, settings: Settings, base: Base | None, progress: ProgressReporter) -> Site:
        options = settings.options
        return build(
            self._path(options.data),
            name=options.data,
            into=options.into,
            templates=self._path(options.templates) if options.templates else None,
            cache=self._path(options.cache),
            progress=progress,
            address=f"{settings.site_url.rstrip('/')}/" if settings.site_url else "",
            ending=settings.ending,
            base=base,
            serve_cache=self._cache,
        )

    def _user_files(self, settings: Settings, assessments: Assessments) -> dict[str, Content]:
        templates = settings.options.templates
        signatures = file_signatures(self._path(templates)) if templates else {}
        made_with = self._session, repr(sorted(signatures.items()))
        # What `gridatlas build --into docs` wrote is ours, too.
        written = left_by_build(settings.docs)
        files = {}
        for path in sorted(settings.docs.rglob("*")):
            name = path.relative_to(settings.docs).as_posix()
            if path.is_file() and name not in written and name != MANIFEST:
                files[name] = of_file(path)
                if path.suffix in PAGES:
                    files[name] = _user_page(path, assessments, files[name], made_with)
        return files


# --- the theme's templates with one more: what our pages say in their heads ----------------------

MAIN, THEIRS = "main.html", "gridatlas-main.html"
"""The template of pages, and the user's own, which ours extends."""
KEY = "gridatlas_head"
"""What the front matter of our pages has for their heads."""

# A page that has a picture of its own, from the user's template, keeps its card whole.
_TEMPLATE = """\
{% extends "PARENT" %}
{% block extrahead %}
{% set own = super() %}
{{ own }}
{% if page and page.meta and page.meta.KEY and "og:image" not in own %}
{{ page.meta.KEY | safe }}
{% endif %}
{% endblock %}
"""


def theme_overrides(custom: Path | None) -> dict[str, Content]:
    """The files of the theme's `custom_dir`: the user's, and the template with ours.

    Raises:
        OSError: Where the user's can't be read.
    """
    files = {}
    for path in sorted(custom.rglob("*")) if custom else []:
        if path.is_file():
            files[path.relative_to(custom or path).as_posix()] = of_file(path)
    theirs = files.pop(MAIN, None)
    parent = "base.html"
    if theirs is not None:
        files[THEIRS], parent = theirs, THEIRS
    template = _TEMPLATE.replace("PARENT", parent).replace("KEY", KEY)
    return files | {MAIN: in_memory(template.encode())}


def _with_head(markdown: str, page: Page) -> str:
    """A page's Markdown, whose front matter has what its head says."""
    end = "</head>"
    head = with_dataset(with_tags(end, page.head), page.dataset).removesuffix(end)
    if not head:
        return markdown
    before, mark, rest = markdown.partition("\n---\n")
    assert mark  # All pages of ours have front matter.
    return f"{before}\n{KEY}: {json.dumps(head, ensure_ascii=False)}{mark}{rest}"


# --- pages and files -----------------------------------------------------------------------------


def _user_page(
    path: Path, assessments: Assessments, content: Content, made_with: tuple[str, ...]
) -> Content:
    """A page of the user's; one with grids or numbers says what it was made from."""
    text = path.read_bytes()
    found = _asked(text.decode("utf-8", "replace"))
    if found is None:
        return content
    named = [id for id in assessments if id in found] or list(assessments)
    digests = [f"{id} {assessments[id].digest}" for id in named]
    # A grid of a study that can't be shown is a fault, until it can.
    digest = cache_key(*made_with, *digests, *sorted(assessments.unreadable))
    return in_memory(text + data_line(digest[:16]).encode())


def _asked(text: str) -> str | None:
    """What the grids and numbers of a page say; None for a page without any."""
    parts = [f"{fence.header}\n{fence.body}" for fence in fence_lines.fences(text.splitlines())]
    parts += re.findall(EXPRESSION, text)
    return "\n".join(parts) if parts else None


def _our_files(site: Site, settings: Settings) -> dict[str, Content]:
    files = {path: in_memory(content) for path, content in site.files.contents()}
    for page in site.pages:
        text = _with_head(page_with_figures(page, settings.ending), page)
        files[page.plan.path] = in_memory(text.encode())
    if settings.has_own_nav:
        files |= {path: in_memory(text.encode()) for path, text in nav_files(site).items()}
    return files
