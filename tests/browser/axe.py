"""What axe-core finds on a page, and whose it is."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

FIND = """async (part) => {
  const settings = { resultTypes: ["violations"], elementRef: true };
  const { violations } = await axe.run(part || document, settings);
  const ours = (element) =>
    Boolean(element?.closest("article, .ga-figure, .ga-card")) && !element.closest(".md-code__nav");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ element, html }) => [ours(element), id, html.slice(0, 200)]));
}"""


def violations(page: Page, part: str | None = None) -> tuple[list[str], list[str]]:
    """The violations in what stands in the article, and in the theme's parts around and in it.

    Args:
        page: A page whose context was made with `bypass_csp=True`: axe-core comes as a script.
        part: Selector of what is looked at, where not the whole page is.
    """
    page.evaluate(AXE)
    found: tuple[list[str], list[str]] = ([], [])
    for ours, rule, html in page.evaluate(FIND, part):
        found[0 if ours else 1].append(f"{rule}: {html}")
    return found
