"""Serves a built site as static hosts such as GitHub Pages do; needs the standard library only."""

import functools
import io
import json
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE_HOST = "https://atlas.example"
"""Where the tests' sites say that they are."""


class Quiet(SimpleHTTPRequestHandler):
    """As static hosts answer: no listing of folders, and a page for what isn't there."""

    def __init__(
        self,
        *args: Any,
        headers: Mapping[str, str],
        home: str,
        found: bool = True,
        **kwargs: Any,
    ) -> None:
        self.more_headers, self.home, self.found = headers, home, found
        super().__init__(*args, **kwargs)

    def end_headers(self) -> None:
        for name, value in self.more_headers.items():
            self.send_header(name, value)
        super().end_headers()

    def send_head(self) -> Any:
        file = Path(self.translate_path(self.path))
        if file.name == "sitemap.xml" and file.is_file():
            # The theme compares its addresses with those of links, and the port with them.
            host = f"http://{self.headers['Host']}"
            return self._send(200, file.read_text("utf-8").replace(SITE_HOST, host), "xml")
        if not self.found and file.name == "search_index.json" and file.is_file():
            return self._send(200, _empty(file), "json")
        missing = Path(self.translate_path(self.home)) / "404.html"
        if not file.exists() and self.path.startswith(self.home) and missing.is_file():
            return self._send(404, missing.read_text("utf-8"), "html")
        return super().send_head()

    def _send(self, status: int, text: str, kind: str) -> io.BytesIO:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def list_directory(self, path: object) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


@functools.lru_cache(maxsize=8)
def _empty(index: Path) -> str:
    """An index of the theme's search with its settings, in which nothing is found."""
    return json.dumps(json.loads(index.read_text("utf-8")) | {"docs": []})


@contextmanager
def serving(
    site: Path,
    prefix: str = "/",
    headers: Mapping[str, str] | None = None,
    *,
    found: bool = True,
) -> Iterator[str]:
    """Serve a site below a prefix such as `/project/sub/`; give the address of its home page.

    Args:
        site: The site's folder, absolute.
        prefix: Path of the home page.
        headers: What is sent with every answer, besides the usual.
        found: Whether the theme's search finds anything. Each page that is loaded indexes all
            texts of the site anew, which takes longer than all the rest of a page.
    """
    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / prefix.strip("/") if prefix.strip("/") else Path(root) / "site"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(site, target_is_directory=True)
        folder = Path(root) if prefix.strip("/") else place
        handler = functools.partial(
            Quiet, directory=str(folder), headers=headers or {}, home=prefix, found=found
        )
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}{prefix}"
            finally:
                server.shutdown()
