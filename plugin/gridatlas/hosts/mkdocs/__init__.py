"""The adapter for MkDocs and ProperDocs."""

from gridatlas.hosts.mkdocs.plugin import GridAtlasPlugin

__all__ = ["GridAtlasPlugin"]
