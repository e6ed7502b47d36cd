"""Serves built sites as static hosts do, with gzip, and counts what it sends."""

import functools
import gzip
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMPRESSED = (
    "text/",
    "application/javascript",
    "application/json",
    "application/xml",
    "image/svg+xml",
)
"""Begins of the types that are sent with gzip; pictures and fonts are compressed already."""

MAX_AGE = 600
"""Seconds for which a browser may keep a file: what GitHub Pages says."""


@dataclass(frozen=True)
class Answer:
    """One answered request.

    Attributes:
        path: As asked for, with its query.
        status: Of HTTP.
        bytes: Sent, with the headers and after compression.
        content: Bytes of the body after compression.
    """

    path: str
    status: int
    bytes: int
    content: int


@dataclass
class Host:
    """A running server.

    Attributes:
        address: Of its root, with the last slash.
        answers: All that was sent since it started, or since `taken`.
    """

    address: str
    answers: list[Answer] = field(default_factory=list)

    def taken(self) -> list[Answer]:
        """The answers so far, which are forgotten here."""
        answers, self.answers = self.answers, []
        return answers


@dataclass(frozen=True)
class Body:
    """A file as it is sent."""

    kind: str
    plain: bytes
    zipped: bytes | None
    tag: str


@functools.lru_cache(maxsize=1024)
def _body(file: Path, _changed: int) -> Body:
    content = file.read_bytes()
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if kind == "text/javascript":  # what some systems call it
        kind = "application/javascript"
    zips = kind.startswith(COMPRESSED)
    if kind.startswith("text/") or kind in ("application/javascript", "application/json"):
        kind += "; charset=utf-8"
    # No time in it: the same file is always the same bytes.
    zipped = gzip.compress(content, compresslevel=6, mtime=0) if zips else None
    return Body(kind, content, zipped, f'"{sha256(content).hexdigest()[:16]}"')


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True

    def __init__(self, *arguments: object, folder: Path, host: Host) -> None:
        self.folder, self.host = folder, host
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        file = (self.folder / path.lstrip("/")).resolve()
        if not file.is_relative_to(self.folder):
            return self._answer(404, {}, b"")
        if file.is_dir() and not path.endswith("/"):
            return self._answer(301, {"Location": f"{path}/"}, b"")
        if file.is_dir():
            file /= "index.html"
        status = 200
        if not file.is_file():
            # As static hosts do: the page for this, of the site that was asked.
            top = self.folder / path.lstrip("/").partition("/")[0] / "404.html"
            file, status = (top if top.is_file() else self.folder / "404.html"), 404
        if not file.is_file():
            return self._answer(404, {"Content-Type": "text/plain"}, b"There is no such page.\n")
        body = _body(file, file.stat().st_mtime_ns)
        headers = {"ETag": body.tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
        if status == 200 and self.headers.get("If-None-Match") == body.tag:
            return self._answer(304, headers, b"")
        content = body.plain
        if body.zipped is not None:
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                headers["Content-Encoding"] = "gzip"
                content = body.zipped
        return self._answer(status, {"Content-Type": body.kind, **headers}, content)

    do_HEAD = do_GET

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        lines = {"Date": formatdate(usegmt=True), **headers, "Content-Length": str(len(content))}
        head = f"HTTP/1.1 {status} {self.responses[status][0]}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        sent = head.encode("latin-1") + (b"" if self.command == "HEAD" else content)
        self.host.answers.append(Answer(self.path, status, len(sent), len(content)))
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: browsers that are closed leave their connections."""


@contextmanager
def serve(folder: Path) -> Iterator[Host]:
    """Serve a folder on a free port of this machine."""
    host = Host("")
    handler = functools.partial(_Handler, folder=folder.resolve(), host=host)
    with _Server(("127.0.0.1", 0), handler) as server:
        host.address = f"http://127.0.0.1:{server.server_port}/"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield host
        finally:
            server.shutdown()
