"""The options of the MkDocs plugin."""

from __future__ import annotations

from collections.abc import Mapping

from mkdocs.config import Config
from mkdocs.config import config_options as c
from mkdocs.config.base import BaseConfigOption, ConfigErrors, ConfigWarnings, ValidationError

from gridatlas.model.addresses import is_below
from gridatlas.model.limits import limits_of
from gridatlas.model.problems import join_names, nearest, printable


class FolderInSite(c.Type[str]):
    """A relative path below the site, without `..`: pages are never written beside the site."""

    def __init__(self, default: str) -> None:
        super().__init__(str, default=default)

    def run_validation(self, value: object) -> str:
        """Refuse a path that isn't a folder of the site."""
        folder: str = super().run_validation(value)
        if not is_below(folder):
            raise ValidationError(
                f'Expected a folder of the site, such as "studies" or "results/studies", '
                f'without a slash at its ends and without "..", but received: "{folder}"'
            )
        return folder


class LimitsOption(BaseConfigOption[dict[str, int]]):
    """How large input may be, by names."""

    def __init__(self) -> None:
        super().__init__()
        self.default = {}

    def run_validation(self, value: object) -> dict[str, int]:
        """Refuse a name that no limit has, and what is no number."""
        if not isinstance(value, Mapping):
            raise ValidationError("Expected names with numbers, such as levels: 100000")
        try:
            limits_of(value)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        return dict(value)


class GridAtlasConfig(Config):
    """The plugin's options in `mkdocs.yml`."""

    # Config is a UserDict with a `data` of its own; the key in mkdocs.yml stays `data`.
    data_ = c.Type(str, default="data")
    """The folder of the [studies](data-format.md)."""

    into = FolderInSite(default="studies")
    """The folder of the site for the pages. Files of grids are always in `grids/`."""

    templates = c.Optional(c.Type(str))
    """A folder of your [templates](#change-a-template)."""

    cache = c.Type(str, default=".cache/gridatlas")
    """The folder of the [cache](#caching)."""

    strict = c.Type(bool, default=False)
    """Whether a problem in the data fails the build, as with `mkdocs build --strict`. Notes never
    do.
    """

    csp = c.Type(bool, default=False)
    """Whether pages have a strict [policy](#a-strict-content-security-policy)."""

    prune_nav = c.Type(bool, default=False)
    """Whether a page of a study has only that study in its [navigation](#navigation), and other
    pages one link per study.
    """

    compare_to = c.Optional(c.Type(str))
    """A git revision, or a folder of studies, to [compare](#changes) the site with."""

    limits = LimitsOption()
    """How large input may be: [limits](#limits) by their names."""

    def validate(self) -> tuple[ConfigErrors, ConfigWarnings]:
        """As MkDocs does, and name the option that is like one that there isn't."""
        failed, warnings = super().validate()
        # YAML's keys may be numbers.
        unknown = sorted(set(self) - self._schema_keys, key=str)
        others = [warning for warning in warnings if warning[0] not in unknown]
        return failed, [*others, *((name, self._unknown(str(name))) for name in unknown)]

    def take_environment(self, environment: Mapping[str, str]) -> None:
        """Take what a workflow sets for one build, in the place of what `mkdocs.yml` has."""
        self.compare_to = environment.get("GRIDATLAS_COMPARE_TO") or self.compare_to
        if environment.get("GRIDATLAS_CSP") == "false":
            self.csp = False

    def _unknown(self, name: str) -> str:
        options = [option for option, _ in self._schema]
        near = nearest(name, options)
        right = f"did you mean {near}?" if near else f"the options are {join_names(options)}"
        return f"Unrecognised configuration name: {printable(name)}; {right}"
