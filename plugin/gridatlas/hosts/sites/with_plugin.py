"""MkDocs and ProperDocs: hosts that run the plugin, which does all that is to be done."""

from __future__ import annotations

from gridatlas.hosts.sites import processes
from gridatlas.hosts.sites.adapters import Report
from gridatlas.hosts.sites.project import Project


def build(project: Project, strict: bool, report: Report) -> int:
    """Build the site; the host's status."""
    more = ["--strict"] if strict else []
    arguments = ["build", "--config-file", str(project.config), *more]
    return processes.run(project.host, arguments, project.folder)


def serve(project: Project, address: str, report: Report) -> int:
    """Show the site until it is ended; the host's status.

    Raises:
        HostError: For an address that something else uses.
    """
    processes.require_free(address)
    arguments = ["serve", "--config-file", str(project.config), "--dev-addr", address]
    try:
        return processes.run(project.host, arguments, project.folder)
    except KeyboardInterrupt:
        return 0
