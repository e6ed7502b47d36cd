"""The part of GitHub's API that the workflows ask, and the other host that keeps artifacts."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "token-of-the-run"
PAGE = 100


@dataclass
class GitHub:
    """What GitHub knows, and what it was asked.

    Attributes:
        repository: The repository, as `owner/name`.
        pulls: All pull requests.
        comments: Comments by the number of their pull request.
        artifacts: Content of each artifact, by id, with its name.
        runs: What made artifacts, by their ids.
        asked: Method and path of each request.
        token_elsewhere: Tokens that the other host was sent.
        failing: Paths (their ends) that are answered with 500.
    """

    repository: str
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    artifacts: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    token_elsewhere: list[str] = field(default_factory=list)
    failing: str = "(nothing)"
    api: str = ""
    store: str = ""

    def bodies(self, number: int = 12) -> list[str]:
        return [comment["body"] or "" for comment in self.comments.get(number, [])]

    def writes(self) -> list[tuple[str, str]]:
        return [request for request in self.asked if request[0] != "GET"]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """What a request is answered with: a status and JSON, or a place to go to."""
        prefix = f"/repos/{self.repository}/"
        parts = path.removeprefix(prefix).split("/")
        if not path.startswith(prefix):
            about = {"id": 77, "default_branch": "main"}
            return (200, about) if path == prefix.rstrip("/") else (404, {})
        match method, *parts:
            case "GET", "actions", "artifacts":
                found = [
                    {"id": i, "name": name, "size_in_bytes": len(content), "expired": False}
                    | {"workflow_run": self.runs.get(i)}
                    for i, (name, content) in self.artifacts.items()
                    if name == query["name"]
                ]
                return 200, {"artifacts": self.page(found, query)}
            case "GET", "pulls":
                owner, _, ref = query.get("head", "").partition(":")
                found = [
                    pull
                    for pull in self.pulls
                    if query["state"] in ("all", pull["state"])
                    if not ref
                    or (
                        pull["head"]["ref"] == ref and pull["head"]["label"].startswith(f"{owner}:")
                    )
                ]
                return 200, self.page(found, query)
            case "GET", "issues", number, "comments":
                return 200, self.page(self.comments.get(int(number), []), query)
            case "POST", "issues", number, "comments":
                new = {"id": 9000 + len(self.comments), "user": {"login": "github-actions[bot]"}}
                self.comments.setdefault(int(number), []).append(new | body)
                return 201, new
            case "PATCH", "issues", "comments", identity:
                for comments in self.comments.values():
                    for comment in comments:
                        if comment["id"] == int(identity):
                            comment.update(body)
                            return 200, comment
            case "GET", "actions", "runs", _, "artifacts":
                found = [
                    {"id": i, "name": name, "size_in_bytes": len(content), "expired": False}
                    for i, (name, content) in self.artifacts.items()
                    if name == query.get("name", name)
                ]
                return 200, {"total_count": len(found), "artifacts": found}
            case "GET", "actions", "artifacts", identity, "zip":
                return 302, f"{self.store}/{identity}"
        return 404, {}

    @staticmethod
    def page(found: list[Any], query: dict[str, str]) -> list[Any]:
        size, number = int(query["per_page"]), int(query["page"])
        assert size <= PAGE
        return found[size * (number - 1) : size * number]


@contextmanager
def serving(github: GitHub) -> Iterator[GitHub]:
    """Run both hosts; `github.api` is the address of the API."""

    class Api(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            github.asked.append((self.command, parts.path))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                status, content = 401, {}
            elif parts.path.endswith(github.failing):
                status, content = 500, {}
            else:
                status, content = github.answer(self.command, parts.path, query, body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", content)
                content = {}
            text = json.dumps(content).encode()
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = handle_any

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Store(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if token := self.headers.get("Authorization"):
                github.token_elsewhere.append(token)
            content = github.artifacts[int(self.path.strip("/"))][1]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Api) as api,
        ThreadingHTTPServer(("127.0.0.1", 0), Store) as store,
    ):
        for server in (api, store):
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        github.api = f"http://127.0.0.1:{api.server_port}"
        github.store = f"http://127.0.0.1:{store.server_port}"
        try:
            yield github
        finally:
            api.shutdown()
            store.shutdown()
