"""Words that pages explain where they occur: a study's own, and those that are built in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from gridatlas.data.levels import slug
from gridatlas.model.study import Study

BY_NONE = "By {facet}: no level shows a difference by itself"
BY_ONE = "By {facet}: {levels} shows a difference by itself, the others don't"
BY_ONE_OF_TWO = "By {facet}: {levels} shows a difference by itself, the other doesn't"
BY_SOME = "By {facet}: {levels} show a difference by themselves, the others don't"
BY_MANY = "By {facet}: {count} of {of} levels show a difference by themselves"


ANOTHER_READING = "A reading that may be right as well gives another answer."
AT_EDGE = "A best setting lies at the edge of the grid: better ones may lie beyond."
NOT_AT_EDGE = "{level} isn't at the edge of the grid."
READINGS_DIFFER = "A second reading gives other numbers in {failed:,} of {cells}."
REJECTED_DIFFERS = "A rejected reading gives other numbers in {failed:,} of {cells}."
RUNS_FAILED = "In {cells} the runs failed."
READ_ONCE = "Each value was read once, and nobody compared it."
MEASURED_ONCE = "Nobody has measured it again."


@cache
def built_in() -> dict[str, str]:
    """Their meanings."""
    text = Path(__file__).with_name("words.txt").read_text("utf-8")
    return dict(line.split(": ", 1) for line in text.splitlines())


def words_of(study: Study) -> dict[str, str]:
    """The words that a study explains itself, with their meanings."""
    factors = (*study.varied, *study.facets)
    named = [(study.metric.name, study.metric.description)]
    named += [(factor.label, factor.description) for factor in factors]
    named += [(of.label, of.description) for factor in factors for of in factor.levels]
    return {name: text for name, text in named if text} | dict(study.terms)


def undescribed(study: Study) -> list[str]:
    """The factors and the metric that readers find no description of."""
    described = {word.casefold() for word in (*words_of(study), *built_in())}
    named = [factor.label for factor in (*study.varied, *study.facets)] + [study.metric.name]
    return [name for name in named if name.casefold() not in described]


class Words:
    """The words of one page: each is a link to its meaning where it is first used."""

    def __init__(self, study: Study) -> None:
        self.own = words_of(study)
        names = {word.casefold() for word in self.own}
        builtin = {word: text for word, text in built_in().items() if word not in names}
        self._meanings: Mapping[str, str] = self.own | builtin
        self._by_key = {word.casefold(): word for word in self._meanings}
        self._used: dict[str, None] = {}
        self._pattern = re.compile(
            rf"(?<![\w&#/@-])({'|'.join(_patterns(self._meanings))})s?(?![\w@-])", re.IGNORECASE
        )

    def mark(self, text: str) -> Markup:
        """A text in which each word that wasn't used before links to its meaning."""

        def linked(match: re.Match[str]) -> str:
            word = self._by_key.get(match[1].casefold())
            if word is None or word in self._used:
                return match[0]
            self._used[word] = None
            return f'<a class="ga-term" href="#{anchor(word)}">{match[0]}</a>'

        return Markup(self._pattern.sub(linked, str(escape(text))))

    @property
    def listed(self) -> Iterator[tuple[str, str, str]]:
        """The study's own words, and the others that were used: anchor, word and meaning."""
        for word, text in self._meanings.items():
            if word in self.own or word in self._used:
                yield anchor(word), word, text


def anchor(word: str) -> str:
    """The id of a word's meaning on a page."""
    return f"word-{slug(word)}"


def _patterns(words: Iterable[str]) -> Iterator[str]:
    """The longest first; a single letter is one only before a number, as `p = 0.03`."""
    for word in sorted(words, key=len, reverse=True):
        text = re.escape(str(escape(word)))
        yield text if len(word) > 1 else rf"{text}(?=\W(?:=|&lt;|&gt;))"
