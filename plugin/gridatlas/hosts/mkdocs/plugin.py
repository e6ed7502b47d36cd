"""The MkDocs plugin. Hooks translate, functions decide."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkdocs.config import config_options as c
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page as HostPage
from mkdocs.utils import get_relative_url
from mkdocs.utils.templates import TemplateContext

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data, load_study
from gridatlas.build.comparison import Base, CannotCompare, load_base
from gridatlas.build.page_cache import SiteFiles
from gridatlas.build.site import Site, build
from gridatlas.build.study_writer import ServeCache
from gridatlas.claims import ClaimError
from gridatlas.csp import notebooks
from gridatlas.csp.policy import add_policy
from gridatlas.hosts.markdown import (
    FailedNumber,
    GridAtlasExtension,
    HiddenNumbers,
    PendingFence,
    PendingFences,
    figures_of,
    number,
    place,
    put_in,
    with_numbers,
)
from gridatlas.hosts.mkdocs.files import (
    Waiting,
    add_to_nav,
    has_fence,
    is_free,
    pruned,
    site_files,
    with_braces,
)
from gridatlas.hosts.mkdocs.options import GridAtlasConfig
from gridatlas.hosts.mkdocs.watching import Watching
from gridatlas.hosts.reporting import is_of_disk, not_written, throttled
from gridatlas.model.addresses import ASSETS, SCRIPT, STYLESHEET, SiteAddress
from gridatlas.model.format import many
from gridatlas.model.inert import get_logger, without_commands
from gridatlas.model.limits import limited, limits_of
from gridatlas.model.problems import Problem, only_problems, truncate_list
from gridatlas.pages.anatomy import PLOTS
from gridatlas.pages.exports import GRIDS
from gridatlas.pages.fence import FenceError, error_box
from gridatlas.pages.fences import Fences, StudyPages
from gridatlas.pages.meta import with_dataset, with_tags
from gridatlas.pages.page import Page, fill, page_links
from gridatlas.pages.search import INDEX, cell_entries, source_entries, with_entries

if TYPE_CHECKING:  # A build has no server, and takes 30 ms to import one.
    from mkdocs.livereload import LiveReloadServer

log = get_logger("mkdocs.plugins.gridatlas")

NOT_BUILT = "the site isn't built"
ESCAPING_THEMES = ("mkdocs", "readthedocs")
"""Themes that escape what they show of the search index; Material takes it for HTML."""


class GridAtlasPlugin(BasePlugin[GridAtlasConfig]):
    """Adds the pages and files of all studies to a MkDocs site."""

    def __init__(self) -> None:
        self.serving = False
        self.dirty = False
        self.waiting: Waiting | None = None
        self.config_of_build: MkDocsConfig | None = None
        self.assessments = Assessments()
        self.site = Site((), SiteFiles(), ())
        self.serve_cache = ServeCache()
        self.pages: dict[str, Page] = {}
        self.page = ""
        self.pending = PendingFences()
        self.fences = Fences({})
        self.hidden = HiddenNumbers()
        self.shown: dict[str, tuple[list[str], list[str]]] = {}
        self.extension = GridAtlasExtension(self._number)
        self.watching: Watching | None = None

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember the command; defining this hook keeps the plugin across rebuilds of `serve`."""
        self.serving = command == "serve"
        self.dirty = dirty

    def _configure(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add our stylesheet and script, and have `serve` watch what pages are made from."""
        self.config.take_environment(os.environ)
        if not config.site_url and (address := os.environ.get("GRIDATLAS_SITE_URL")):
            config.site_url = f"{address.rstrip('/')}/"
        config.extra_css.append(STYLESHEET)
        script = c.ExtraScriptValue(SCRIPT)
        script.defer = True
        config.extra_javascript.append(script)
        # The plugin knows the page; the name in `markdown_extensions` is for other hosts.
        names = [name for name in config.markdown_extensions if name != "gridatlas"]
        config.mdx_configs.pop("gridatlas", None)
        self.extension = GridAtlasExtension(self._number)
        config.markdown_extensions[:] = [*names, self.extension]  # type: ignore[list-item]
        for folder in (self._path(config, self.config.data_), self._templates(config)):
            # A watched folder that isn't there at the start is a traceback in MkDocs.
            if folder and folder.is_dir() and str(folder) not in config.watch:
                config.watch.append(str(folder))
        return config

    # As the last: a hook may make the data before.
    @event_priority(-200)
    def _read_data(self, config: MkDocsConfig) -> MkDocsConfig:
        """Read and check the data while the site of before is there: a strict build fails here."""
        with limited(limits_of(self.config.limits)):
            self._read(config)
        return config

    on_config = CombinedEvent(_configure, _read_data)

    def on_serve(
        self, server: LiveReloadServer, /, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> LiveReloadServer:
        """Have folders watched that go and come while the server runs."""
        templates = self.config.templates
        names = [self.config.data_, *([templates] if templates else [])]
        self.watching = Watching(server, [self._path(config, name) for name in names])
        return server

    @event_priority(200)
    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Have the site's files wait for those that are the same again."""
        # A plugin for several languages builds once more in the middle of a build, with its config.
        once_more, self.config_of_build = config is self.config_of_build, config
        if not self.dirty and not once_more:
            if self.waiting is None or self.waiting.site != Path(config.site_dir):
                cache = self._path(config, self.config.cache)
                self.waiting = Waiting(Path(config.site_dir), (GRIDS, PLOTS), cache)
            self.waiting.begin()

    # After mkdocs-static-i18n (-100), which takes no generated files: ours belong to no language.
    @event_priority(-200)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Make the site, and add what no file of the user's stands in the place of."""
        with limited(limits_of(self.config.limits)):
            self.site = self._build(config, files)
        self.pages = {}
        self.pending.clear()
        self.shown.clear()
        self.fences = Fences(
            self.site.assessments,
            self._path(config, self.config.cache),
            self._templates(config),
            self.site.broken,
            pages=StudyPages(self.config.into, _ending(config)),
        )
        # Superfences draws code in another way than Markdown's own extension: a site that has
        # neither it nor a fence of ours keeps its code blocks.
        superfences = {"pymdownx.superfences", "pymdownx.extra"}.intersection(
            name for name in config.markdown_extensions if isinstance(name, str)
        )
        if superfences or any(has_fence(file) for file in files.documentation_pages()):
            self.extension.pending = self.pending
        taken = {file.dest_uri: file.src_uri for file in files}
        generated = {
            page.plan.path: File.generated(config, page.plan.path, content="")
            for page in self.site.pages
        }
        moved = {
            path: taken[file.dest_uri] for path, file in generated.items() if file.dest_uri in taken
        }
        data = self._edit_uri(config)
        for page in self.site.pages:
            text = page.relinked(moved).markdown
            file = File.generated(config, page.plan.path, content=text)
            if is_free(file, taken):
                file.inclusion = InclusionLevel.NOT_IN_NAV
                # With a blog, mkdocs-static-i18n asks every page for those in other languages.
                file.alternates = {}  # type: ignore[attr-defined]
                if not page.plan.is_index:
                    # Themes take the first page called index for that of its section. The
                    # address is known by now and stays.
                    file.name = page.plan.path.split("/")[-2]
                file.edit_uri = f"{data}{page.plan.edit}" if data and page.plan.edit else None
                files.append(file)
                self.pages[page.plan.path] = page.written
        for site_file in site_files(self.site.files, config, taken):
            site_file.waiting = self.waiting
            files.append(site_file)
        if not self.serving:
            # What pages were planned from isn't needed any more: of many grids, it is a lot.
            self.site = replace(self.site, pages=())
        return files

    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Add our pages to the navigation, except those that the user has placed in it."""
        placed = {page.file.src_uri for page in nav.pages}
        ours = [page for path, page in self.pages.items() if path not in placed]
        add_to_nav(nav, ours, self.config.into, config, files)
        return nav

    @event_priority(200)
    def _hide_numbers(
        self, markdown: str, *, page: HostPage, config: MkDocsConfig, files: Files
    ) -> str:
        """Hide numbers from other plugins, which may render all braces."""
        self.page = page.file.src_uri  # For messages about the numbers in it.
        # MkDocs takes the title from the page's text, where it stands in no other place.
        page.markdown = self.hidden.hide(markdown)
        return page.markdown

    @event_priority(-200)
    def _show_numbers(
        self, markdown: str, *, page: HostPage, config: MkDocsConfig, files: Files
    ) -> str:
        """Leave numbers to Markdown, which knows what is code."""
        page.markdown = self.hidden.show(markdown)
        title = page.title or ""
        if self.hidden.show(title) != title:  # A plugin has rendered a title with other braces.
            page.title = with_numbers(self.hidden.show(title), self._number)
        return page.markdown

    on_page_markdown = CombinedEvent(_hide_numbers, _show_numbers)

    def on_page_content(
        self, html: str, *, page: HostPage, config: MkDocsConfig, files: Files
    ) -> str:
        """Tell MkDocs the anchors that come with the figures, so that links to them are checked.

        Notebooks lose the styles and scripts that the policy would stop.
        """
        if self.config.csp:
            html = notebooks.without_jupyterlab(
                html, get_relative_url(f"{ASSETS}/notebook.css", page.url)
            )
        keys = self.pending.keys_in(html)
        if keys:
            seen: set[str] = set()
            self.shown[page.file.src_uri] = keys, self._fence_figures(keys, page, seen)
            page.present_anchor_ids = {*(page.present_anchor_ids or ()), *seen}
        ours = self.pages.get(page.file.src_uri)
        if ours:
            page.present_anchor_ids = {*(page.present_anchor_ids or ()), *ours.anchors}
        return html

    def on_env(self, env: object, *, config: MkDocsConfig, files: Files) -> None:
        """Give titles their braces back, now that no plugin renders them any more."""
        found = (files.get_file_from_path(path) for path in self.pages)
        with_braces(file.page for file in found if file and file.page)

    def on_page_context(
        self, context: TemplateContext, *, page: HostPage, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Leave other studies out of a page's navigation, where that is asked for."""
        if self.config.prune_nav:
            homes = {
                path
                for path, ours in self.pages.items()
                if len(ours.plan.trail) == 2 and ours.plan.is_index
            }
            context["nav"] = pruned(nav, page, homes)
        return context

    # Before others change the placeholders: a minifier takes their quotes.
    @event_priority(100)
    def _put_figures_in(self, output: str, *, page: HostPage, config: MkDocsConfig) -> str:
        """Put the figures in, now that neither Markdown nor the search index has to read them."""
        keys = self.pending.keys_in(output)
        if keys:
            shown_keys, shown = self.shown.get(page.file.src_uri, ([], []))
            # A theme or plugin shows the content of other pages in this one.
            if shown_keys != keys:
                shown = self._fence_figures(keys, page, set())
            output = put_in(output, self.pending, shown)
        ours = self.pages.get(page.file.src_uri)
        if ours is None:
            return output
        figures = {key: page_links(html, _ending(config)) for key, html in ours.figures.items()}
        # A theme's lists of pages are in large part the indents of their templates.
        parts = _VERBATIM.split(output)
        parts[::2] = map(_in_few_lines, parts[::2])
        return fill("".join(parts), figures)

    def _add_tags(self, output: str, *, page: HostPage, config: MkDocsConfig) -> str:
        """Say in the page's head what it is, where the theme and other plugins don't."""
        ours = self.pages.get(page.file.src_uri)
        return with_dataset(with_tags(output, ours.head), ours.dataset) if ours else output

    on_post_page = CombinedEvent(_put_figures_in, _add_tags)

    @event_priority(-200)  # A plugin for languages builds the others, and the search anew, at -100.
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Put more into the search, and the policy into all pages, which nobody changes now."""
        self._add_to_search(Path(config.site_dir, INDEX), config)
        if self.config.csp:
            add_policy(Path(config.site_dir), config.site_url or "", self.serving)
        if self.waiting:
            self.waiting.end()

    def _add_to_search(self, index: Path, config: MkDocsConfig) -> None:
        """Have the site's search find cells and sources; a theme without a search has no index."""
        if index.is_file():
            site = SiteAddress("", _ending(config))
            given = self.site.assessments.values(), self.pages.values(), site
            entries = [*source_entries(*given), *cell_entries(*given)]
            escaping = config.theme.name in ESCAPING_THEMES
            found = with_entries(index.read_text("utf-8"), entries, escaping, self.config.into)
            index.write_text(found, "utf-8")

    @event_priority(-200)
    def on_build_error(self, *, error: Exception) -> None:
        """Tell of a full disk, where MkDocs would show a traceback."""
        if self.waiting:
            self.waiting.end()
        if self.serving or self.config_of_build is None or not isinstance(error, OSError):
            return
        site = Path(self.config_of_build.site_dir)
        if is_of_disk(error, site):
            raise Abort(not_written(error, site, NOT_BUILT)) from error

    def on_shutdown(self) -> None:
        """End what looks for changes."""
        if self.watching:
            self.watching.end()
            self.watching = None

    def _read(self, config: MkDocsConfig) -> None:
        """Read and check the studies, and tell what is wrong."""
        cache = self._path(config, self.config.cache)
        try:
            self.assessments = load_data(
                self._path(config, self.config.data_),
                self.config.data_,
                _progress(),
                cache,
                self.serve_cache.load_study if self.serving else load_study,
            )
        except OSError as error:
            if not self.serving:
                raise PluginError(not_written(error, cache, NOT_BUILT)) from error
            log.error(not_written(error, cache, "the pages stay as they were"))
            return
        if self.watching:
            self.watching.missed(
                self._path(config, problem.file)
                for problem in self.assessments.problems
                if problem.kind == "no-such-file"
            )
        self._tell(self.assessments.problems, self.config.strict or bool(config.strict))

    def _tell(self, found: Sequence[Problem], strict: bool) -> None:
        """Log problems; of a strict build, fail."""
        for problem in truncate_list(found):
            log.log(logging.WARNING if problem.severity == "problem" else logging.INFO, problem)
        problems = only_problems(found)
        if problems and strict and not self.serving:
            number = many(len(problems), "problem")
            raise PluginError(f"gridatlas: {number} in the data (listed above), and strict is set")

    def _build(self, config: MkDocsConfig, files: Files) -> Site:
        def page_of(script: str) -> str:
            """The path of a script below the docs folder, where another plugin makes it a page."""
            path = self._path(config, script)
            docs = Path(config.docs_dir).resolve()
            if not path.is_relative_to(docs):
                return ""
            file = files.get_file_from_path(path.relative_to(docs).as_posix())
            return file.src_uri if file and file.is_documentation_page() else ""

        base = self._base(config)
        try:
            site = build(
                self._path(config, self.config.data_),
                name=self.config.data_,
                into=self.config.into,
                templates=self._templates(config),
                cache=self._path(config, self.config.cache),
                progress=_progress(),
                address=f"{config.site_url.rstrip('/')}/" if config.site_url else "",
                ending=_ending(config),
                page_of=page_of,
                base=base,
                assessments=self.assessments,
                serve_cache=self.serve_cache if self.serving else None,
            )
        except OSError as error:
            cache = self._path(config, self.config.cache)
            if not self.serving:
                raise PluginError(not_written(error, cache, NOT_BUILT)) from error
            log.error(not_written(error, cache, "the pages stay as they were"))
            return self.site
        self._tell(site.problems[len(self.assessments.problems) :], self.config.strict)
        return site

    def _base(self, config: MkDocsConfig) -> Base | None:
        """What to compare with; None where nothing is asked for, or it can't be had."""
        if not self.config.compare_to:
            return None
        try:
            root, cache = self._path(config, "."), self._path(config, self.config.cache)
            return load_base(self.config.compare_to, Path(self.config.data_), root, cache=cache)
        except CannotCompare as error:
            message = without_commands(f"gridatlas: the option compare_to: {error}")
            if self.config.strict and not self.serving:
                raise PluginError(message) from error
            log.warning("%s\nThe page of changes is left out.", message)
            return None

    def _number(self, expression: str) -> str:
        try:
            return number(expression, self.site.assessments.results)
        except ClaimError as error:
            log.warning("%s: a number is missing\n%s", self.page, error)
            return FailedNumber(f"({error.message})")

    def _fence_figures(self, keys: list[str], page: HostPage, seen: set[str]) -> list[str]:
        """What takes the place of a page's fences; logs those that can't be shown."""

        def failed(error: FenceError, fence: PendingFence, before: int) -> str:
            text = page.file.content_string
            log.warning(error.message(place(page.file.src_uri, text, error, fence, before)))
            return error_box(error)

        return figures_of(keys, self.pending, self.fences, page.file.dest_uri, seen, failed)

    def _path(self, config: MkDocsConfig, path: str) -> Path:
        return Path(config.config_file_path or "mkdocs.yml").parent.resolve() / path

    def _templates(self, config: MkDocsConfig) -> Path | None:
        if not self.config.templates:
            return None
        folder = self._path(config, self.config.templates)
        if not folder.is_dir():
            log.warning("gridatlas: the option templates names %s, which isn't a folder", folder)
            return None
        return folder

    def _edit_uri(self, config: MkDocsConfig) -> str:
        """Path of the data from the docs folder, where the repository holds both; else empty."""
        root = self._path(config, ".")
        data, docs = self._path(config, self.config.data_), Path(config.docs_dir).resolve()
        if not data.is_relative_to(root) or not docs.is_relative_to(root):
            return ""
        up = "../" * len(docs.relative_to(root).parts)
        return f"{up}{data.relative_to(root).as_posix()}/"


def _progress() -> Callable[[str], None]:
    return throttled(partial(log.info, "gridatlas: %s"))


_ELEMENTS = (rf"<{name}\b.*?</{name}>" for name in ("pre", "script", "style", "textarea"))
_VERBATIM = re.compile(f"({'|'.join(_ELEMENTS)})", re.DOTALL)


def _in_few_lines(html: str) -> str:
    """HTML without indents and empty lines: outside of texts that are shown or run as they are."""
    first, *lines = html.split("\n")
    between = filter(None, map(str.strip, lines[:-1]))
    return "\n".join([first.rstrip(), *between, lines[-1].lstrip()]) if lines else html


def _ending(config: MkDocsConfig) -> str:
    """What the address of a page has in the place of `index.md`."""
    return "" if config.use_directory_urls else "index.html"
