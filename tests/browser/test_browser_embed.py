"""Heatmaps in other people's pages: frames in a real browser, and what the copy buttons copy."""

import base64
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from expected import GRIDS, shown
from playwright.sync_api import Browser, BrowserContext, Frame, Locator, Page
from site_builds import DYNTS, PREFIX, Build
from static_host import Quiet

from views import Visit, step, until

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)
GRID = f"grids/{DYNTS}/r1-qwen/aime24"
QWEN = f"studies/{DYNTS}/model/r1-qwen/"


class _Strict(Quiet):
    """Sends the policy with all that is framed, and forbids to keep anything."""

    def end_headers(self) -> None:
        if self.path.startswith(PREFIX):
            self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()


@dataclass(frozen=True)
class Hosts:
    """A site under the strict policy, and beside it pages of others.

    Attributes:
        root: Address of the pages of others.
        site: Address of the site.
    """

    folder: Path
    root: str

    @property
    def site(self) -> str:
        return f"{self.root}{PREFIX[1:]}"

    def page(self, name: str, body: str) -> str:
        """Write a page of others; give its address."""
        text = f"<!doctype html><html lang=en><title>{name}</title>{body}"
        (self.folder / f"{name}.html").write_text(text, encoding="utf-8")
        return f"{self.root}{name}.html"


@pytest.fixture(scope="module")
def hosts(atlas: Build, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    folder = tmp_path_factory.mktemp("hosts")
    place = folder / PREFIX.strip("/")
    place.parent.mkdir(parents=True)
    place.symlink_to(atlas.site, target_is_directory=True)
    handler = functools.partial(
        _Strict, directory=str(folder), headers={}, home=PREFIX, found=False
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield Hosts(folder, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser; its colour scheme is the system's own, light, and isn't emulated.

    Emulation would hold in all frames, whatever the page around them says.
    """
    opened = browser.new_context(color_scheme="null")
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    yield opened
    opened.close()


# --- frames -------------------------------------------------------------------------------------

FRAME = f'<iframe src="{PREFIX}{GRID}.html" title=x width=382 height=676 style="border:0"></iframe>'
LIGHT, DARK = "rgb(0, 0, 0)", "rgb(255, 255, 255)"
COLOURS = """() => [
  ...["h1", ".ga-source", "svg"].map((one) => getComputedStyle(document.querySelector(one)).color),
  getComputedStyle(document.querySelector("svg [fill=currentColor]")).fill,
]"""
PIXEL = """async (png) => {
  const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  canvas.drawImage(image, 0, 0);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


def framed(page: Page, number: int = 1) -> list[Frame]:
    """The pages in the frames, once they are there."""
    until(page, "() => [...document.querySelectorAll('iframe')].every((one) => one.contentDocument"
          "?.readyState === 'complete')")  # fmt: skip
    found = [frame for frame in page.frames if "/grids/" in frame.url]
    assert len(found) == number
    return found


def edge(page: Page, at: int = 0) -> list[int]:
    """The colour at the left edge of a frame, half-way down, as it is seen."""
    box = page.locator("iframe").nth(at).bounding_box()
    assert box is not None
    place = {"x": box["x"] + 2, "y": box["y"] + box["height"] / 2, "width": 1, "height": 1}
    png = page.screenshot(clip=place)
    pixel: list[int] = page.evaluate(PIXEL, base64.b64encode(png).decode())
    return pixel


def until_ink(page: Page, frame: Frame, ink: str) -> None:
    for _ in range(6000):
        if set(frame.evaluate(COLOURS)) == {ink}:
            return
        page.wait_for_timeout(20)
    assert set(frame.evaluate(COLOURS)) == {ink}


def test_a_frame_follows_the_page_around_it(page: Page, hosts: Hosts) -> None:
    """Not only the system's scheme; and that page's background is seen through it."""
    schemes = {"normal": LIGHT, "light": LIGHT, "dark": DARK, "light dark": LIGHT}
    behind = {LIGHT: "#ccddee", DARK: "#102030"}
    body = "".join(
        f'<div style="background:{behind[ink]};color-scheme:{scheme}">{FRAME}</div>'
        for scheme, ink in schemes.items()
    )
    page.goto(hosts.page("around", body))
    frames = framed(page, len(schemes))
    for at, (scheme, ink) in enumerate(schemes.items()):
        with step(f"color-scheme: {scheme}"):
            until_ink(page, frames[at], ink)
            page.locator("iframe").nth(at).scroll_into_view_if_needed()
            assert edge(page, at) == list(bytes.fromhex(behind[ink][1:]))


def test_a_frame_in_a_light_page_is_light_where_the_system_is_dark(
    page: Page, hosts: Hosts
) -> None:
    """A frame in a dark page stands for the system: it prefers dark."""
    inner = hosts.page(
        "inner",
        f'<meta name=color-scheme content="light dark">'
        f'<body style="background:#ccddee;color-scheme:light">{FRAME}',
    )
    page.goto(hosts.page("outer", f'<div style="color-scheme:dark"><iframe src="{inner}">'))
    [frame] = framed(page)
    around = frame.parent_frame
    assert around is not None
    assert around.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    until_ink(page, frame, LIGHT)


def test_badges_are_as_wide_as_their_texts_and_a_frame_follows_the_palette_of_the_theme(
    page: Page, home: str
) -> None:
    page.goto(f"{home}embedding/")
    images = page.locator("article img[src$='.best.svg']").all()
    assert images
    for image in images:
        image.scroll_into_view_if_needed()
        assert image.evaluate("(one) => one.decode().then(() => one.naturalHeight)") == 20
    page.locator("iframe").scroll_into_view_if_needed()
    [frame] = framed(page)
    until_ink(page, frame, LIGHT)
    light = edge(page)
    page.locator("label[for^=__palette]:visible").click()
    until_ink(page, frame, DARK)
    until(page, "() => document.getAnimations().every((one) => one.playState !== 'running')")
    dark = edge(page)
    page.locator("label[for^=__palette]:visible").click()
    until_ink(page, frame, LIGHT)
    assert min(light) > 200
    assert max(dark) < 80
    for ending in ("best", "reproduced"):
        page.goto(f"{home}{GRID}.{ending}.svg")
        for text, natural in page.evaluate(
            """() => [...document.querySelectorAll("text")].map((text) => {
              const said = text.textLength.baseVal.value;
              text.removeAttribute("textLength");
              return [said, text.getComputedTextLength()];
            })"""
        ):
            assert text == pytest.approx(natural, rel=0.25)


def test_a_frame_keeps_the_strict_policy_and_leads_out_to_the_grid(
    page: Page, hosts: Hosts
) -> None:
    visit = Visit(page)
    loaded: list[str] = []
    page.on("requestfinished", lambda request: loaded.append(request.url.rpartition("/")[2]))
    page.goto(hosts.page("around", f"<link rel=icon href=data:,>{FRAME}"))
    [frame] = framed(page)
    frame.locator("details >> nth=0 >> summary").click()
    assert frame.locator("td").first.is_visible()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert (visit.messages, visit.failed, visit.elsewhere) == ([], [], [])
    assert sorted(loaded) == ["aime24.html", "around.html", "gridatlas.css", "gridatlas.js"]
    assert frame.evaluate("() => document.styleSheets[0].cssRules.length") > 10
    frame.locator("h1 a").click()
    page.wait_for_url(f"{hosts.site}{QWEN}#grid/r1-qwen/aime24")
    assert page.main_frame.child_frames == []


def test_a_frame_is_whole_without_javascript(browser: Browser, hosts: Hosts) -> None:
    with browser.new_context(java_script_enabled=False) as still:
        page = still.new_page()
        page.goto(f"{hosts.site}{GRID}.html")
        page.locator("summary").first.click()
        values = page.locator("td").all_inner_texts()
        assert {text.split(" (")[0] for text in values} == {
            cell.text for cell in shown("r1-qwen/aime24").values()
        }
        assert page.locator("td").first.is_visible()
        assert page.locator("svg path[role=img]").count() == 20
        # The texts to copy are text, with no button that does nothing.
        page.goto(f"{hosts.site}{QWEN}")
        texts = page.locator("details.ga-share").first
        texts.locator("summary").click()
        assert texts.locator("pre").count() == 1
        assert texts.locator("pre").first.is_visible()
        assert texts.locator("button").count() == 0


def test_the_size_in_the_text_to_copy_fits(page: Page, atlas: Build, hosts: Hosts) -> None:
    """The heatmap with its texts needs no scrolling, and leaves little empty."""
    sizes: dict[str, tuple[int, int]] = {}
    for path in (QWEN, f"studies/{DYNTS}/model/r1-llama/", "studies/grpo-digits/setting/"):
        for text in atlas.page(path).select(".ga-share div pre:nth-of-type(2)"):
            frame = BeautifulSoup(text.get_text(), "html.parser").iframe
            assert frame is not None
            grid = str(frame["src"]).partition("/grids/")[2]
            sizes[grid] = int(str(frame["width"])), int(str(frame["height"]))
    assert {*sizes} == {f"{study}/{grid}.html" for study, grid in GRIDS}
    for path, (width, height) in sizes.items():
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{hosts.site}grids/{path}")
        whole = page.evaluate(
            """() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight,
              Math.ceil(document.querySelector("main").getBoundingClientRect().bottom)]"""
        )
        assert whole[:2] == [width, height], path
        assert whole[2] > height - 120, path
    page.set_viewport_size({"width": 240, "height": 400})
    assert page.evaluate("document.documentElement.scrollWidth") == 240


# --- the height of a frame ----------------------------------------------------------------------

HEIGHTS = "() => [...document.querySelectorAll('iframe')].map((one) => one.clientHeight)"
LISTEN = "<script>var seen = 0; addEventListener('message', () => { seen += 1; });</script>"
LIE = '{ type: "gridatlas:height", height: 3000 }'


def around(hosts: Hosts, name: str, head: str = "", more: str = "") -> str:
    """A page of another origin with a frame of 200 pixels; the address of the page."""
    frame = f'<iframe src="{hosts.site}{GRID}.html" title=x width=382 height=200></iframe>'
    return hosts.page(name, head + frame + more).replace("127.0.0.1", "localhost")


def script(hosts: Hosts) -> str:
    return f'<script src="{hosts.site}assets/gridatlas/embed.js"></script>'


def grid_frame(page: Page) -> Frame:
    [found] = [frame for frame in page.frames if "/grids/" in frame.url]
    found.wait_for_load_state()
    return found


def until_whole(page: Page, frame: Frame) -> int:
    """Wait until the frame is as high as its content; give the height."""
    high = frame.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
    until(page, f"() => document.querySelector('iframe').clientHeight === {high}")
    assert frame.evaluate("innerHeight >= document.documentElement.scrollHeight")
    return int(high)


def test_a_frame_gets_the_height_of_its_content(page: Page, hosts: Hosts) -> None:
    """Where the page around it has the script, also where that comes late; and not without it."""
    page.goto(around(hosts, "height-late", LISTEN))
    frame = grid_frame(page)
    until(page, "() => seen > 0")  # the page in the frame has sent its height; nobody heard
    assert page.evaluate(HEIGHTS) == [200]
    page.add_script_tag(url=f"{hosts.site}assets/gridatlas/embed.js")
    grows_and_shrinks(page, frame)
    page.goto(around(hosts, "height-early", script(hosts)))
    grows_and_shrinks(page, grid_frame(page))


def grows_and_shrinks(page: Page, frame: Frame) -> None:
    closed = until_whole(page, frame)
    assert closed > 400
    frame.locator("summary").first.click()
    assert until_whole(page, frame) > closed + 50
    frame.locator("summary").first.click()
    assert until_whole(page, frame) == closed


def test_a_height_from_elsewhere_is_ignored(page: Page, hosts: Hosts) -> None:
    at_site = hosts.page("other", "")
    elsewhere = at_site.replace("127.0.0.1", "localhost")
    more = "".join(
        f'<iframe src="{at}" title=y height=150></iframe>' for at in (at_site, elsewhere)
    )
    page.goto(around(hosts, "forged", script(hosts) + LISTEN, more))
    frame = grid_frame(page)
    heights = [until_whole(page, frame), 150, 150]
    for speaker, message in [
        (page.url, LIE),  # the page itself
        (elsewhere, LIE),  # a frame of another site
        (at_site, LIE),  # another frame of the site
        *((frame.url, message) for message in (
            "null", "3000", '{ height: 3000 }', '{ type: "other", height: 3000 }',
            *(f'{{ type: "gridatlas:height", height: {high} }}'
              for high in ("'3000px'", "-1", "0", "NaN", "Infinity", "20001", "undefined")),
        )),
        ("another page in the frame", LIE),
    ]:  # fmt: skip
        with step(f"{speaker} says {message}"):
            before = page.evaluate("seen")
            said = [one for one in page.frames if one.url == speaker]
            if said:
                said[0].evaluate(f"() => parent.postMessage({message}, '*')")
            else:
                liar = hosts.page("liar", f"<script>parent.postMessage({message}, '*')</script>")
                page.evaluate(
                    "(at) => { frames[0].location = at; }", liar.replace("127.0.0.1", "localhost")
                )
            until(page, f"() => seen > {before}")
            assert page.evaluate(HEIGHTS) == heights


# --- copy buttons -------------------------------------------------------------------------------


def opened(page: Page, at: int = 0) -> Locator:
    share = page.locator("details.ga-share").nth(at)
    share.locator("summary").click()
    return share


def test_a_button_copies_exactly_the_text(browser: Browser, hosts: Hosts) -> None:
    """Under the strict policy too, though it stops the theme's own scripts."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as reader:
        page = reader.new_page()
        page.goto(f"{hosts.site}{QWEN}")
        share = opened(page, 1)
        names = share.locator("pre").evaluate_all(
            "(all) => all.map((one) => one.previousElementSibling.firstChild.textContent)"
        )
        assert names == ["Markdown", "HTML"] * 5
        for index, name in enumerate(names[:2]):
            button = share.get_by_role("button", name=f"Copy {name} of R1-Qwen | AIME24")
            if index:
                button.click()
            else:
                button.focus()
                page.keyboard.press("Enter")
            status = share.get_by_role("status").nth(index)
            status.filter(has_text="Copied").wait_for()
            text = share.locator("pre").nth(index).text_content()
            assert page.evaluate("navigator.clipboard.readText()") == text
        # Closed and opened again, there is still one button for each.
        share.locator("summary").click()
        share.locator("summary").click()
        assert share.get_by_role("button").count() == 10
        # Instant navigation puts another article in the place of this one.
        page.evaluate("""() => {
          const main = document.querySelector("main");
          main.innerHTML = main.innerHTML.replaceAll(/<button.*?<[/]button>/g, "");
        }""")
        share = page.locator("details.ga-share").nth(1)
        share.locator("summary").click()
        share.locator("summary").click()
        share.get_by_role("button", name="Copy HTML of R1-Qwen | AIME25").click()
        share.get_by_role("status").filter(has_text="Copied").last.wait_for()
        assert "aime25.html" in page.evaluate("navigator.clipboard.readText()")


def test_without_a_clipboard_the_text_is_selected(page: Page, home: str) -> None:
    page.goto(home + QWEN)
    share = opened(page)
    button = share.get_by_role("button", name="Copy BibTeX")
    button.wait_for()
    assert share.locator("button").count() == 1, "the theme adds none of its own"
    for clipboard in ("undefined", "{ writeText: () => Promise.reject(new Error('refused')) }"):
        with step(f"clipboard: {clipboard}"):
            page.evaluate(
                "() => { getSelection().empty(); Object.defineProperty(navigator, 'clipboard',"
                f" {{ value: {clipboard}, configurable: true }}); }}"
            )
            button.click()
            until(page, "() => getSelection().toString() !== ''")
            share.get_by_role("status").filter(has_text="Selected").wait_for()
            selected = page.evaluate("getSelection().toString()")
            assert selected.strip() == (share.locator("pre").nth(0).text_content() or "").strip()
