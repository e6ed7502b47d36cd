"""Looks at a page in a browser: what it asked for, what it said, and how it is laid out."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Response, ViewportSize

MEASURE = (Path(__file__).with_name("measure.js")).read_text(encoding="utf-8")

HEIGHT = 800
WIDE, PHONE = ViewportSize(width=1280, height=HEIGHT), ViewportSize(width=360, height=740)
SCHEMES = {"default": "light", "slate": "dark"}
"""The theme's names of its colour schemes."""
AT_REST = "() => document.getAnimations().every((one) => one.playState !== 'running')"

FOLLOWS = """() => "location$" in window && performance.getEntriesByType("resource").some(
  (one) => one.name.endsWith("/sitemap.xml") && one.responseEnd > 0)"""
"""The theme's script ran to its end, and knows which pages it can put into this one's place."""

Point = Sequence[float]
Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 255."""


@dataclass
class Visit:
    """A page that is open, with all that happened since.

    Attributes:
        host: Where the site is; no other is to be asked.
        elsewhere: Requests to other hosts.
        failed: Requests that were answered with an error, or not at all.
        messages: Errors and warnings on the console, and errors that nothing caught.
    """

    page: Page
    host: str = "127.0.0.1"
    elsewhere: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        self.page.on("requestfailed", self._request_failed)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.messages.append(f"pageerror: {error}"))
        self.page.on("dialog", self._dialog)

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != self.host:
            self.elsewhere.append(request.url)

    def _request_failed(self, request: Request) -> None:
        # What was under way when the reader went on to another page is no failure.
        if request.failure != "net::ERR_ABORTED":
            self.failed.append(f"{request.failure} {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.failed.append(f"{response.status} {response.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.messages.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()


CLOSED = "() => new Promise((done) => setTimeout(done, 200))"
"""The theme closes its search and its drawer 125 ms after each step from page to page.

A timer of the same page that was set later, and for longer, ends later on any machine.
"""


def search(page: Page, words: str) -> Locator:
    """Look for words in the theme's search; its results, of which the first can be seen."""
    page.evaluate(CLOSED)
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type(words)
    results = page.locator(".md-search-result__item")
    results.first.wait_for()
    return results


def measured(page: Page, width: int, scheme: str = "") -> dict[str, Any]:
    """What a page looks like at a width, in a scheme that the reader chooses by the theme's button.

    Args:
        scheme: "light" or "dark"; as it is without.
    """
    page.set_viewport_size({"width": width, "height": HEIGHT})
    body = page.locator("body")
    if scheme and SCHEMES[str(body.get_attribute("data-md-color-scheme"))] != scheme:
        page.locator("label[for^=__palette]:visible").click()
        now = SCHEMES[str(body.get_attribute("data-md-color-scheme"))]
        assert now == scheme, "the button did not change the colours"
    until(page, AT_REST)
    return page.evaluate(MEASURE)  # type: ignore[no-any-return]


@contextmanager
def step(of: object) -> Iterator[None]:
    """Say with what fails within where in a journey it did."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the step: {of}")
        raise


def arrive(page: Page, url: str) -> None:
    """Open a page of a site with instant navigation, and wait until the theme follows links."""
    page.goto(url)
    until(page, FOLLOWS)


def until(page: Page, condition: str, argument: object = None, patience: float = 120) -> None:
    """Wait for a condition; unlike `wait_for_function`, it needs no `eval` in the page."""
    end = time.monotonic() + patience
    while not page.evaluate(condition, argument):
        assert time.monotonic() < end, f"not in {patience} s: {condition} of {argument}"
        page.wait_for_timeout(20)


# --- colours ------------------------------------------------------------------------------------


def colour(css: str, opacity: float, behind: Colour) -> Colour:
    """A computed colour as it is seen on what lies behind it."""
    numbers = [float(number) for number in re.findall(r"[\d.]+", css)]
    assert css.startswith("rgb"), css
    assert len(numbers) in (3, 4), css
    alpha = (numbers[3] if len(numbers) == 4 else 1.0) * opacity
    red, green, blue = (
        alpha * number + (1 - alpha) * other for number, other in zip(numbers, behind, strict=False)
    )
    return red, green, blue


def luminance(of: Colour) -> float:
    """Relative luminance, 0 (black) to 1 (white), by WCAG 2."""
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (part / 255 for part in of)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: Colour, other: Colour) -> float:
    """Contrast ratio, 1 to 21, by WCAG 2."""
    low, high = sorted((luminance(first), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# --- places -------------------------------------------------------------------------------------


def overlap(shape: Sequence[Point], other: Sequence[Point]) -> float:
    """How far two convex shapes reach into each other, in pixels; 0 where they don't.

    The least distance by which one would have to move, by the theorem of separating axes.
    """
    for side in (0, 1):  # Most are far apart; this is quick.
        first, second = [point[side] for point in shape], [point[side] for point in other]
        if min(first) >= max(second) or min(second) >= max(first):
            return 0.0
    least = float("inf")
    for corners in (shape, other):
        for (x, y), (x2, y2) in pairwise([*corners, corners[0]]):
            length = ((x2 - x) ** 2 + (y2 - y) ** 2) ** 0.5
            if not length:
                continue
            axis = ((y - y2) / length, (x2 - x) / length)
            first = [axis[0] * px + axis[1] * py for px, py in shape]
            second = [axis[0] * px + axis[1] * py for px, py in other]
            least = min(least, max(first) - min(second), max(second) - min(first))
    return max(0.0, least) if least < float("inf") else 0.0


def beyond(shape: Sequence[Point], box: Sequence[float]) -> float:
    """How far a shape reaches out of a box (left, top, right, bottom), in pixels."""
    left, top, right, bottom = box
    return max(max(left - x, x - right, top - y, y - bottom) for x, y in shape)


def centre(shape: Sequence[Point]) -> tuple[float, float]:
    return sum(x for x, _ in shape) / len(shape), sum(y for _, y in shape) / len(shape)


def within(point: Point, box: Sequence[float]) -> bool:
    left, top, right, bottom = box
    return left <= point[0] <= right and top <= point[1] <= bottom
