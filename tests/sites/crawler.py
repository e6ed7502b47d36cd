"""Follows every link of a served site, as a browser would resolve it."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

LOADING = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src", "srcdoc"),
    "frame": ("src",),
    "embed": ("src",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "track": ("src",),
    "input": ("src",),
    "object": ("data",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "link": ("href",),
}
"""Attributes whose address is fetched without a click."""
LEADING = {"a": ("href", "xlink:href"), "area": ("href",), "form": ("action",)}
NOT_FETCHED = {"canonical", "next", "prev", "alternate"}
"""Relations of <link> that only name an address."""

_CSS_ADDRESS = re.compile(
    r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)'"]*))\s*\)|@import\s+["']([^"']+)"""
)


class _Parser(HTMLParser):
    """Collects the ids and addresses of one page; links within <article> are told apart."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.links: list[tuple[str, str]] = []
        self.named: list[tuple[str, str]] = []
        self.in_article: list[str] = []
        self._article = 0
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._article += tag == "article"
        self._style = tag == "style"
        self.ids += [given["id"]] if "id" in given else []
        self.loads += [
            (f"{tag} style", address) for address in css_addresses(given.get("style", ""))
        ]
        for name in LOADING.get(tag, ()):
            if name not in given:
                continue
            relations = set(given.get("rel", "").split()) if tag == "link" else set()
            into = self.named if relations & NOT_FETCHED else self.loads
            addresses = [given[name]]
            if name == "srcset":
                addresses = [part.split()[0] for part in given[name].split(",")]
            into += [
                (f"{tag} {' '.join(sorted(relations))}".strip(), address) for address in addresses
            ]
        for name in LEADING.get(tag, ()):
            if name in given:
                self.links.append((tag, given[name]))
                if self._article:
                    self.in_article.append(given[name])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._article -= tag == "article"
        self._style = False

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loads += [("style", address) for address in css_addresses(data)]


def css_addresses(css: str) -> list[str]:
    """The addresses that a stylesheet loads."""
    return ["".join(match).strip() for match in _CSS_ADDRESS.findall(css)]


@dataclass
class Crawl:
    """What following every link of a site found.

    Attributes:
        pages: Ids of each page, by its address.
        article_links: Addresses that a page's own text links to, without their fragments.
        loads: Addresses that a page loads.
        files: Addresses of all else that was fetched.
        broken: Links that lead nowhere, as `page: link (why)`.
        foreign: What is loaded from another host, as `page: what address`.
        outward: Links to other hosts.
        named: What <link> names as (page, relation, address).
    """

    home: str
    pages: dict[str, list[str]] = field(default_factory=dict)
    article_links: dict[str, set[str]] = field(default_factory=dict)
    loads: dict[str, set[str]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    outward: set[str] = field(default_factory=set)
    named: list[tuple[str, str, str]] = field(default_factory=list)

    def path(self, url: str) -> str:
        """An address below the home page's."""
        return unquote(url.removeprefix(self.home))

    def addresses(self) -> set[str]:
        """The pages by their folders, whichever style of address the site has."""
        return {self.path(url).removesuffix("index.html") for url in self.pages}


def crawl(home: str, *more: str, missing: Collection[str] = ()) -> Crawl:
    """Follow every link from a site's home page and from further pages of it.

    Args:
        home: Address of the home page.
        more: Further pages, relative to it.
        missing: Addresses below it that must be answered with 404 and a page whose links lead
            somewhere from there.
    """
    found = Crawl(home)
    expected = {urljoin(home, path): 404 for path in missing}
    more = (*more, *missing)
    host = urlsplit(home).netloc
    connection = HTTPConnection(host, timeout=120)
    waiting = [(home, "start"), *((urljoin(home, path), "start") for path in more)]
    seen = {url for url, _ in waiting}
    fragments: list[tuple[str, str, str]] = []
    while waiting:
        url, linked_by = waiting.pop()
        status, kind, body = _get(connection, url)
        if status != expected.get(url, 200) or (url in expected and kind != "text/html"):
            found.broken.append(f"{linked_by}: {found.path(url)} ({status})")
            continue
        for target, fragment, where in _addresses(found, url, kind, body, host):
            if fragment:
                fragments.append((target, fragment, where))
            if target not in seen:
                seen.add(target)
                waiting.append((target, where))
    for target, fragment, where in fragments:
        if target in found.pages and fragment not in found.pages[target]:
            found.broken.append(f"{where}: {found.path(target)}#{fragment} (no such id)")
    connection.close()
    return found


def _get(connection: HTTPConnection, url: str) -> tuple[int, str, bytes]:
    parts = urlsplit(url)
    connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
    answer = connection.getresponse()
    return answer.status, answer.headers.get_content_type(), answer.read()


def _addresses(
    found: Crawl, url: str, kind: str, body: bytes, host: str
) -> Iterator[tuple[str, str, str]]:
    """Note what a page or stylesheet names; yield what of it lies on the same host."""
    where = found.path(url) or "/"
    links: list[tuple[str, str]] = []
    loads: list[tuple[str, str]] = []
    if kind == "text/html":
        parser = _Parser()
        parser.feed(body.decode("utf-8"))
        found.pages[url] = parser.ids
        found.named += [(url, what, urljoin(url, to)) for what, to in parser.named]
        found.article_links[url] = {urldefrag(urljoin(url, to)).url for to in parser.in_article}
        links, loads = parser.links, parser.loads
        found.loads[url] = {urljoin(url, to) for _, to in loads}
    else:
        found.files.add(url)
        if kind == "text/css":
            loads = [("css", address) for address in css_addresses(body.decode("utf-8"))]
        elif kind == "image/svg+xml":
            parser = _Parser()
            parser.feed(body.decode("utf-8"))
            links, loads = parser.links, parser.loads
    for tag, address in [*links, *loads]:
        target, fragment = urldefrag(urljoin(url, address))
        scheme, target_host = urlsplit(target)[:2]
        if scheme == "data" or (tag == "a" and scheme == "mailto"):
            continue
        if target_host == host and scheme == "http":
            if target.startswith(found.home):
                yield target, unquote(fragment), f"{where} <{tag}>"
            else:
                found.broken.append(f"{where}: {address} (outside the site's folder)")
        elif (tag, address) in links and scheme in ("http", "https"):
            found.outward.add(target)
        else:
            found.foreign.append(f"{where}: <{tag}> {address}")
