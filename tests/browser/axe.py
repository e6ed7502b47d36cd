"""What axe-core finds on a page, and whose it is."""

from collections.abc import Sequence
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

# Contrast is what takes axe its time, and hundreds of texts of a page look alike. Of those in the
# same colours, size and weight, on the same colours of all that they stand in, one is judged. What
# is out of the flow counts as unlike all others, and so does each text that it reaches.
MARK = """(part) => {
  const TEXT = ["color", "fill", "fontSize", "fontWeight", "textShadow"];
  const AROUND = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode"];
  const places = ["absolute", "fixed", "sticky"];
  const look = (style, names) => names.map((name) => style[name]).join();
  const seen = (one) => one.checkVisibility({ visibilityProperty: true });
  const apart = [...document.querySelectorAll("body *")].filter((one) =>
    places.includes(getComputedStyle(one).position) && seen(one));
  const boxes = new Map(apart.map((one) => [one, one.getBoundingClientRect()]));
  const reaches = (one, text, at) => {
    const box = boxes.get(one);
    return box.left < at.right && at.left < box.right && box.top < at.bottom
      && at.top < box.bottom && !one.contains(text);
  };
  const known = new Map([[null, ""]]);
  const around = (one) => {
    if (!known.has(one)) {
      const own = look(getComputedStyle(one), AROUND) + (boxes.has(one) ? known.size : "");
      known.set(one, `${around(one.parentElement)}|${own}`);
    }
    return known.get(one);
  };
  const judged = new Set();
  for (const one of [part, ...part.querySelectorAll("*")]) {
    one.removeAttribute("data-judged");
    const has = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!seen(one) || !(has || one.matches("input, select, textarea"))) continue;
    const at = one.getBoundingClientRect();
    const alone = !has || apart.some((other) => reaches(other, one, at));
    const like = alone ? judged.size : look(getComputedStyle(one), TEXT) + around(one);
    if (!judged.has(like)) one.setAttribute("data-judged", "");
    judged.add(like);
  }
}"""

FIND = f"""async ([part, rules]) => {{
  for (const one of document.querySelectorAll(part || "body")) ({MARK})(one);
  axe.configure({{ rules: [{{ id: "color-contrast", selector: "[data-judged]" }}] }});
  const settings = {{ resultTypes: ["violations"], elementRef: true }};
  if (rules.length) settings.runOnly = rules;
  const {{ violations }} = await axe.run(part || document, settings);
  const ours = (element) =>
    Boolean(element?.closest("article, .ga-figure, .ga-card")) && !element.closest(".md-code__nav");
  return violations.flatMap(({{ id, nodes }}) =>
    nodes.map(({{ element, html }}) => [ours(element), id, html.slice(0, 200)]));
}}"""


THEME = {
    # The label of a section with a page of its own, which names its list, is an icon; and the lists
    # of buttons beside blocks of code have no names.
    "landmark-unique",
}
"""What is left of the theme's on this repository's site."""
CARD = ".ga-card, .ga-figure:has([aria-expanded=true])"
"""The card, and the heatmap with the cell that it is of."""

OF_COLOURS_AND_WIDTHS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""The rules that may find something else in other colours, or where the window is narrower."""


def violations(
    page: Page, part: str | None = None, rules: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """The violations in what stands in the article, and in the theme's parts around and in it.

    Args:
        part: Selector of what is looked at, where not the whole page is.
        rules: Those that are looked for, where not all are.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    found: tuple[list[str], list[str]] = ([], [])
    for ours, rule, html in page.evaluate(FIND, [part, list(rules)]):
        found[0 if ours else 1].append(f"{rule}: {html}")
    return found


def rules(found: list[str]) -> set[str]:
    return {violation.partition(":")[0] for violation in found}


def folds(page: Page, do: str) -> None:
    """Open what is folded, as tables are, and heatmaps of disagreements; or close it again."""
    page.evaluate(
        """(open) => {
          for (const one of document.querySelectorAll("details")) {
            if (open ? one.open : !one.was) continue;
            one.open = one.was = open;
          }
        }""",
        do == "open",
    )


def open_card(page: Page) -> None:
    """By key, of a cell in the middle."""
    page.locator(".ga-figure svg path[role=button]").nth(7).focus()
    page.keyboard.press("Enter")
    page.locator(".ga-card[role=dialog]").wait_for()


# What is put in, so that nothing passes because it notices nothing.
PLANT = """(place) => {
  const within = document.querySelector(place);
  const fault = document.createElement(within.matches("ul, ol") ? "li" : "p");
  fault.innerHTML = "<button></button> Pale";
  fault.style.color = "rgb(128, 128, 128)";
  fault.style.background = "rgb(200, 200, 200)";
  within.prepend(fault);
}"""
PLANTED = {"button-name", "color-contrast"}


def planted(page: Page, place: str) -> set[str]:
    """The rules that a nameless button and a pale text break, which are put into a place."""
    page.evaluate(PLANT, place)
    return rules([line for found in violations(page, place) for line in found])
