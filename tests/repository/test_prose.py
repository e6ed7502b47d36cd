"""Documents, templates and README are written as the project writes: its terms, short sentences."""

import re
from pathlib import Path

import pytest
from documents import DOCS, ROOT
from prose import TERMS, findings, prose, sentences, words

TEMPLATES = ROOT / "plugin/gridatlas/pages/templates"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def terms_of_template(text: str) -> list[str]:
    """Words of a template that the project doesn't use; code in braces and tags are no words."""
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", text, flags=re.DOTALL)
    return [
        f'"{found[0]}": write {instead}'
        for pattern, instead in TERMS.items()
        for found in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_have_short_sentences_and_the_terms_of_the_project(page: Path) -> None:
    found = [f"{name_of(page)}:{at.line}: {at.text}" for at in findings(page.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("template", sorted(TEMPLATES.iterdir()), ids=name_of)
def test_templates_have_the_terms_of_the_project(template: Path) -> None:
    found = terms_of_template(template.read_text("utf-8"))
    assert found == []


LONG = "One two three four five six seven eight nine ten eleven twelve thirteen " * 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A sentence. Another one.", []),
        (f"{LONG}.", [1]),
        ("It is told\nin a log.", [1]),
        ("Fine.\n\n- It leads to a page.\n- Fine.", [3]),
        ("`told`, and [a link](told.md).", []),
        (f"| {LONG} |\n\n> told\n\n```text\ntold\n```", []),
        ("---\ndescription: told\n---\n# It stands below", [4]),
        ("# Told\nIt is fine.", [1]),
    ],
)
def test_prose_is_found(text: str, found: list[int]) -> None:
    assert [at.line for at in findings(text)] == found


def test_sentences_are_counted_without_code() -> None:
    [(line, text)] = prose("Run `gridatlas check` in\n[a folder](a.md). Is it **fine**?")
    assert line == 1
    assert [words(sentence) for sentence in sentences(text)] == [5, 3]
