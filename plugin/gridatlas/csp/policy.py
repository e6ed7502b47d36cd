"""A strict Content-Security-Policy for a site: which inline scripts run, and what can't.

One policy serves the whole site: as a header, and as a `<meta>` in each page. A page changed in
place (Material's instant navigation) runs under the policy of the page that was loaded first.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

from gridatlas.model.addresses import ASSETS
from gridatlas.model.inert import get_logger
from gridatlas.model.problems import quote

log = get_logger("mkdocs.plugins.gridatlas")

POLICY = f"{ASSETS}/csp.txt"
"""File of the site that holds the policy as one line, for those who can send it as a header."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something in a page that the policy stops, and that no hash can allow."""

    found: str
    fix: str

    def message(self, pages: Collection[str]) -> str:
        """What to say of it where it stands on these pages."""
        more = len(pages) - 1
        place = f"{min(pages)}{f' and {more} more' if more else ''}"
        return f"csp: {place}: {self.found} is stopped by the policy. Fix: {self.fix}"


@dataclass(frozen=True, slots=True)
class Scan:
    """What a page means for the policy: the hashes of its inline scripts, and what it refuses."""

    hashes: frozenset[str]
    refused: frozenset[Refused]


def policy(hashes: Iterable[str]) -> str:
    """The policy's text, for a header or a `<meta>`.

    Pages can be shown in frames of any site: grids are made to be embedded, and a `<meta>` can't
    say otherwise.
    """
    scripts = " ".join(["'self'", *(f"'{digest}'" for digest in sorted(set(hashes)))])
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
        )
    )


def with_meta(html: str, text: str) -> str:
    """A page with the policy in its head, in place of one that was put in before.

    It stands behind the first `<meta>`s: ahead of all that runs, but not ahead of the encoding,
    which browsers look for in the first kilobyte.
    """
    html = _META.sub("", html)
    at = _HEAD.search(html) or _BEFORE_HEAD.match(html)
    assert at is not None  # the latter matches anything
    meta = f'\n<meta http-equiv="Content-Security-Policy" content="{text}" data-gridatlas>'
    return html[: at.end()] + meta + html[at.end() :]


def scan(html: str, address: str = "") -> Scan:
    """Find the inline scripts of a page, and what the policy would stop.

    Args:
        html: The whole page.
        address: URL of the published site; empty where not known.
    """
    own = urlsplit(address).netloc
    hashes: set[str] = set()
    refused: set[Refused] = set()
    mermaid, scripts = False, []
    for tag in _tags(html):
        if tag.name == "script":
            source = tag.attributes.get("src")
            if source is not None:
                scripts.append(source)
            elif tag.attributes.get("type", "").lower() == _WIDGET:
                refused.add(_WIDGETS)
            elif _runs(tag.attributes) and tag.text:
                hashes.add(script_hash(tag.text))
                refused |= _read_otherwise(tag)
        elif "srcdoc" in tag.attributes:  # runs under the policy of the page around it
            inner = scan(tag.attributes["srcdoc"], address)
            hashes |= inner.hashes
            refused |= inner.refused
        mermaid |= tag.name == "pre" and "mermaid" in tag.attributes.get("class", "").split()
        refused |= _handlers(tag)
        refused |= _loads(tag, own)
    if mermaid and not any("mermaid" in source for source in scripts):
        refused.add(_MERMAID)
    return Scan(frozenset(hashes), frozenset(refused))


def script_hash(script: str) -> str:
    """The hash that allows an inline script, of its text as a browser reads it."""
    text = script.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    raw = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
    return f"sha256-{base64.b64encode(raw).decode()}"


# --- tags ---------------------------------------------------------------------------------------
# By the HTML Standard. The parser of the standard library reads the same, but takes four times as
# long, which is felt on sites with many drawings.

_SPACE = r"[\t\n\f\r ]"
_ATTRIBUTES = (
    rf"(?:[\t\n\f\r /]++|[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+)*+"
)
_ATTRIBUTE = re.compile(
    rf"([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+))?+)?+"
)
# Elements whose text holds no tags. `noscript`: no script in it ever runs.
_RAW = "script|style|textarea|title|noscript|xmp|iframe|noembed|noframes"
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<[!?][^>]*>"
    rf"|<(?P<raw>{_RAW})(?P<of_raw>(?=[\t\n\f\r />]){_ATTRIBUTES})>"
    rf"(?P<text>.*?)(?:</(?P=raw)(?=[\t\n\f\r />])|\Z)"
    rf"|<(?P<name>/?[a-z][^\t\n\f\r />]*+)(?P<of_name>{_ATTRIBUTES})>",
    re.DOTALL | re.IGNORECASE,
)
_META = re.compile(r'\n<meta http-equiv="Content-Security-Policy" [^>]*data-gridatlas>')
_HEAD = re.compile(
    rf"<head(?=[\t\n\f\r />]){_ATTRIBUTES}>(?:\s*<meta(?=[\t\n\f\r />]){_ATTRIBUTES}>)*",
    re.IGNORECASE,
)
_BEFORE_HEAD = re.compile(
    rf"(?:\s*<!doctype[^>]*>)?(?:\s*<html(?=[\t\n\f\r />]){_ATTRIBUTES}>)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Tag:
    """A start tag, with the text of those elements that hold no tags."""

    name: str
    attributes: dict[str, str]
    text: str
    in_svg: bool


def _tags(html: str) -> Iterator[_Tag]:
    """The start tags that can matter."""
    lower = html.lower()
    # Most pages have none of these, and thousands of tags in which they needn't be looked for.
    any_tag = "script:" in lower or _HANDLER.search(lower) is not None
    svg = 0
    for token in _TOKEN.finditer(html):
        name = (token["raw"] or token["name"] or "").lower()
        if name == "svg":
            svg += not token["of_name"].endswith("/")
        elif name == "/svg":
            svg -= 1
        if name in _OF_INTEREST or (any_tag and name and name[0] != "/"):
            within = token["of_raw"] or token["of_name"] or ""
            yield _Tag(name, _attributes(within), token["text"] or "", svg > 0)


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), unescape("".join(values)))  # the first one counts
    return found


# --- what runs ----------------------------------------------------------------------------------

_JAVASCRIPT = {
    f"{kind}/{name}"
    for kind, names in {
        "application": ("ecmascript", "javascript", "x-ecmascript", "x-javascript"),
        "text": (
            *("ecmascript", "javascript", "x-ecmascript", "x-javascript", "jscript", "livescript"),
            *(f"javascript1.{minor}" for minor in range(6)),
        ),
    }.items()
    for name in names
}
"""Types of classic scripts, by the WHATWG's MIME Sniffing Standard."""
_OTHER_SCRIPTS = {"module", "importmap", "speculationrules"}


def _runs(attributes: dict[str, str]) -> bool:
    """Whether a browser takes a `<script>` for one, by the HTML Standard; data blocks don't run."""
    if "type" in attributes:
        kind = attributes["type"] or "text/javascript"
    else:
        language = attributes.get("language")
        kind = f"text/{language}" if language else "text/javascript"
    kind = kind.strip("\t\n\f\r ").lower()
    return kind in _JAVASCRIPT or kind in _OTHER_SCRIPTS


def _read_otherwise(tag: _Tag) -> set[Refused]:
    """Scripts whose text isn't what stands between the tags."""
    text = tag.text.lower()
    if tag.in_svg or ("<!--" in text and "<script" in text.partition("<!--")[2]):
        where = "in a drawing" if tag.in_svg else "with <!-- and <script in it"
        found = f"the script {quote(tag.text.strip())} {where}"
        return {Refused(found, "put it into a file of the site")}
    return set()


# --- what is refused ----------------------------------------------------------------------------

_LOADS = {
    ("audio", "src"): "a sound",
    ("base", "href"): "a base for addresses",
    ("button", "formaction"): "a form's target",
    ("form", "action"): "a form's target",
    ("frame", "src"): "a frame",
    ("iframe", "src"): "a frame",
    ("image", "href"): "a picture",
    ("image", "xlink:href"): "a picture",
    ("img", "src"): "a picture",
    ("img", "srcset"): "a picture",
    ("input", "formaction"): "a form's target",
    ("input", "src"): "a picture",
    ("link", "href"): "a stylesheet",
    ("script", "src"): "a script",
    ("source", "src"): "a medium",
    ("source", "srcset"): "a picture",
    ("track", "src"): "subtitles",
    ("video", "poster"): "a picture",
    ("video", "src"): "a film",
}
"""What an attribute of an element loads."""
_LINKS = {
    "stylesheet": "a stylesheet",
    "icon": "an icon",
    "manifest": "a manifest",
    "modulepreload": "a script",
    "prefetch": "a file",
    "preload": "a file",
}
"""What a `<link>` loads, by its `rel`."""
_OF_INTEREST = {name for name, _ in _LOADS} | {"embed", "object", "pre"}
_HANDLER = re.compile(r"on(?<![a-z-]on)[a-z]+[\t\n\f\r ]*=")
_SCRIPT_URL = re.compile(r"[\x00-\x20]*" + r"[\t\n\r]*".join("javascript:"), re.IGNORECASE)
_URLS = {"action", "data", "formaction", "href", "src", "xlink:href"}
_MERMAID = Refused(
    "the script of a Mermaid diagram from unpkg.com",
    "put mermaid.min.js into docs/, and name it in extra_javascript",
)
_WIDGET = "application/vnd.jupyter.widget-view+json"
_WIDGETS = Refused(
    "the scripts of a notebook's widget from cdn.jsdelivr.net",
    "show a picture or a table in its place",
)


def _handlers(tag: _Tag) -> set[Refused]:
    """Scripts in attributes, which a hash can't allow."""
    found = set()
    for name, value in tag.attributes.items():
        if re.fullmatch(r"on[a-z]+", name) and value.strip():
            fix = "call addEventListener in a script instead"
        elif name in _URLS and _SCRIPT_URL.match(value):
            fix = "make it a button, and call addEventListener in a script"
        else:
            continue
        found.add(Refused(f"{name}={quote(value)} of <{tag.name}>", fix))
    return found


def _loads(tag: _Tag, own: str) -> set[Refused]:
    """What would come from another host, or isn't shown at all."""
    if tag.name in ("embed", "object"):
        data = tag.attributes.get("data" if tag.name == "object" else "src", "")
        fix = "link to the file, or show it in an <iframe>"
        return {Refused(f"<{tag.name}> of {quote(data)}", fix)}
    found = set()
    for name, value in tag.attributes.items():
        what = _LOADS.get((tag.name, name))
        if tag.name == "link" and what:
            rel = tag.attributes.get("rel", "").lower().split()
            what = next((_LINKS[kind] for kind in rel if kind in _LINKS), None)
        if what:
            hosts = {_host(url, own, what) for url in _addresses(name, value)}
            found |= {_elsewhere(what, host) for host in hosts if host}
    return found


def _addresses(attribute: str, value: str) -> list[str]:
    if attribute != "srcset":
        return [value]
    # Candidates end with a comma and a space; a `data:` address has commas of its own.
    return [part.split()[0] for part in re.split(r",\s+", value) if part.split()]


def _host(url: str, own: str, what: str) -> str | None:
    """The other host that an address leads to, "data:", or None where it is allowed."""
    try:
        parts = urlsplit(re.sub(r"[\t\n\r]", "", url).strip("\x00\x20"))
    except ValueError:  # no address at all: nothing is loaded
        return None
    if parts.scheme == "data":
        return None if what in ("a picture", "an icon") else "data:"
    if parts.scheme in ("", "http", "https", "ws", "wss") and parts.netloc:
        return parts.netloc if parts.netloc.lower() != own.lower() else None
    return None


def _elsewhere(what: str, host: str) -> Refused:
    if host in ("fonts.googleapis.com", "fonts.gstatic.com"):
        fix = "set font: false under theme in mkdocs.yml"
    elif what == "a form's target":
        fix = "link to that page instead"
    elif host == "data:":
        return Refused(f"{what} within its address (data:)", "put it into a file of the site")
    else:
        fix = "put the file into docs/ and name it there, or remove it"
    return Refused(f"{what} from {host}", fix)


def add_policy(site: Path, address: str, serving: bool) -> None:
    """Put the policy into all pages of a site, and into a file for those who send it as a header.

    Args:
        site: The folder of the site.
        address: URL of the site; empty where it isn't known.
        serving: Whether the site is for `mkdocs serve`: what the policy would stop is only logged.
    """
    pages = {
        path.relative_to(site).as_posix(): path
        for path in sorted(site.rglob("*.html"))
        if not any(part.startswith(".") for part in path.relative_to(site).parts)
    }
    hashes: set[str] = set()
    refused: dict[Refused, list[str]] = {}
    for name, path in pages.items():
        found = scan(_read(path), address)
        hashes |= found.hashes
        for refusal in found.refused:
            refused.setdefault(refusal, []).append(name)
    for refusal, names in sorted(refused.items(), key=lambda item: (item[1][0], item[0].found)):
        log.warning(refusal.message(names))
    # The server of `mkdocs serve` puts a script into pages that is another each time.
    if serving:
        return
    header = policy(hashes)
    for path in pages.values():
        page = with_meta(_read(path), header)
        path.write_bytes(page.encode("utf-8", "surrogateescape"))
    file = site / POLICY
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{header}\n", encoding="utf-8")
    log.info("gridatlas: the header for the whole site, also in %s:", POLICY)
    log.info("Content-Security-Policy: %s", header)


def _read(page: Path) -> str:
    # With its line ends, and with bytes that aren't UTF-8: some pages are the user's own files.
    return page.read_bytes().decode("utf-8", "surrogateescape")
