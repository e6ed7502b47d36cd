"""A hub of models and data sets on this machine, for `HF_ENDPOINT`: what the tests ask of one."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34


@dataclass(frozen=True)
class Hub:
    """What it has: a folder per `models/OWNER/NAME` and `datasets/OWNER/NAME`.

    Attributes:
        gated: Those that it gives to nobody.
    """

    folder: Path
    gated: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)


def _answer(hub, path, body):
    hub.asked.append(path)
    words = path.strip("/").split("/")
    api = words[0] == "api"
    words = words[1:] if api else words
    kind = words.pop(0) if words[0] in ("models", "datasets") else "models"
    repository, rest = "/".join([kind, *words[:2]]), words[2:]
    folder = hub.folder / repository
    if not folder.is_dir():
        return 404, {"X-Error-Code": "RepoNotFound"}, b""
    if repository in hub.gated and rest[:1] != []:
        return 403, {"X-Error-Code": "GatedRepo"}, b""
    if api:
        return _about(folder, rest, words[:2], body)
    assert rest[0] == "resolve", path
    if rest[1] not in ("main", COMMIT):
        return 404, {"X-Error-Code": "RevisionNotFound"}, b""
    file = folder.joinpath(*rest[2:])
    if not file.is_file():
        return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b""
    data = file.read_bytes()
    return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}, data


def _about(folder, rest, name, body):
    files = [
        {
            "type": "file",
            "path": str(path.relative_to(folder)),
            "size": path.stat().st_size,
            "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    content: Any
    if rest[:1] == ["tree"]:
        if len(rest) > 2:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        content = files
    elif rest[:1] == ["paths-info"]:
        wanted = json.loads(body)["paths"]
        content = [file for file in files if file["path"] in wanted]
    elif rest[:1] in ([], ["revision"]):
        siblings = [{"rfilename": file["path"]} for file in files]
        content = {"id": "/".join(name), "sha": COMMIT, "siblings": siblings, "tags": []}
    else:
        return 404, {"X-Error-Code": "EntryNotFound"}, b""
    return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()


@contextmanager
def serving(hub):
    """Its address while it is open."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = unquote(urlsplit(self.path).path)
            code, headers, data = _answer(hub, path, body)
            begin, _, end = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
            if code == 200 and begin:
                last = int(end) if end else len(data) - 1
                headers = {**headers, "Content-Range": f"bytes {begin}-{last}/{len(data)}"}
                code, data = 206, data[int(begin) : last + 1]
            self.send_response(code)
            for key, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_HEAD = do_POST = do_GET

        def log_message(self, format, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
