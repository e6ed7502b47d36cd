r"""Which of several choices an answer settles on: a letter, or the text of a choice.

All letters are read by the same rules. A letter is one that stands by itself, and what follows it
may follow a letter: a bracket, punctuation, the line's end, or a word such as "because". So neither
the article in "The answer is A proton" is a choice, nor is the first letter of a word or formula.

The first of these that finds a choice decides; of several of one kind the last does:

1. A box: `\boxed{B}`, `\boxed{\text{B) } 3.5\ \text{eV}}`, or the text of a choice. A box with
   anything else is passed over.
2. A statement: "Answer: B", "the answer is B", "B is the correct answer", "I would choose B". One
   that is denied, or names two letters, is none.
3. A statement that names a choice by its text: "the answer is 3.5 eV".
4. The last line, where it is a letter, a letter with the choice's text, or that text. A list of
   choices isn't an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gridatlas_reproduce.kv.questions import LETTERS

# --- markup ---------------------------------------------------------------------------------------

_NAMES = "text(?:bf|rm|it|sf|tt)?|math(?:bf|rm|it|sf|bb)|mbox|hbox|boldsymbol|bm|underline|emph"
_WRAPPED = re.compile(rf"\\(?:{_NAMES})\s*\{{([^{{}}]*)\}}")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$|`+|(?<!\w)[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)")
_HEADING = re.compile(r"^[ \t]*(?:#+|>+)[ \t]*", re.MULTILINE)
_SPACE = re.compile(r"\\[ ,;:!]|\\q?quad\b|~|[ \t\u00a0\u2009\u202f]+")
_BRACE = re.compile(r"\\f?boxed\s*\{|(?<!\\)[{}]")
_DEPTH = 10


def plain(text: str) -> str:
    r"""Without emphasis, headings, math delimiters, and commands such as `\text{…}`."""
    for _ in range(_DEPTH):
        text = _WRAPPED.sub(r"\1", text)
    text = _DELIMITERS.sub("", _HEADING.sub("", text))
    return _SPACE.sub(" ", text.replace("\\left", "").replace("\\right", ""))


def boxes(text: str) -> list[tuple[int, int, str]]:
    r"""Start, end and content of each `\boxed{…}` that is closed, by their ends."""
    found, opened = [], []
    for brace in _BRACE.finditer(text):
        if brace[0] != "}":
            opened.append(brace)
        elif opened and (start := opened.pop())[0] != "{":
            found.append((start.start(), brace.end(), text[start.end() : brace.start()]))
    return found


# --- statements -----------------------------------------------------------------------------------

_WORDS = (
    "because|since|as|for|so|and|but|or|not|which|that|with|due|given|by|in|on|at|from|if|when|"
    "where|while|whereas|rather|instead|only|then|thus|hence|therefore|although|though|however|is|"
    "are|was|would|will|can|has|according|based|using|among|of|here|indeed|than|over"
)
"""Words that may follow a letter; nearly any may follow an article."""
_BARE = r"(?![\w'’^=])"
"""The letter isn't the first of a word, a formula or an equation."""
_KIND = r"(?:(?:the\s+)?(?:option|choice|answer|letter)\s*:?\s*)?"
_LABEL = r"\b(?:answer|choice|option|solution)s?\b"
_BE = r"(?:is|be|was|being)\b(?:\s+(?:indeed|therefore|thus|then|clearly|hence|simply|likely))*"
_RIGHT = r"(?:correct|right|best|true|accurate|appropriate|valid|answer|choice|option|one)"
_SEEMS = r"(?:is|must\s+be|has\s+to\s+be|would\s+be|should\s+be|seems|appears)"
_BETWEEN = r"(?:\s+(?:to\s+be|the|a|an|also|thus|therefore|clearly|indeed|most|only|single|then))*"
_CHOOSE = r"(?:choose|chose|choosing|pick|select|selecting|go(?:ing)?\s+with|opt\s+for|settle\s+on)"
_NEGATED = re.compile(r"\b(?:not|never|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_BEFORE = 200
"""Characters before a statement in which it may be denied."""


class _Rules:
    """The patterns for the letters of a question's choices. Words may be in any case."""

    def __init__(self, letters: str) -> None:
        self.letters = letters
        own = r"(?<![\w\\'’])[(\[{]?\s*"
        letter = rf"{own}(?P<letter>(?-i:[{letters}]))"
        either = rf"{own}(?P<letter>[{letters}])"
        second = rf"[(\[]?(?-i:[{letters}]){_BARE}"
        # Two letters for one answer are none.
        alone = (
            rf"(?!\s*[)\]}}]?\s*,?\s*(?:and|or|nor|&|/)\s*(?:option\s+|choice\s+)?{second})"
            rf"(?!\s*[)\]}}]?\s*,\s*{second}\s*(?:[,.]|$|and|or))"
        )
        end = rf"{_BARE}{alone}(?=\s*(?:$|[)\]}}.,:;!?\"”]|[-–—]\s)|\s*\n|\s+(?:{_WORDS})\b)"
        but = rf"(?:not\s+{_KIND}{second}[)\]]?\s*,?\s*but\s+(?:rather\s+)?)"
        self.statements = tuple(
            re.compile(pattern, re.MULTILINE | re.IGNORECASE)
            for pattern in (
                # "Answer: B", and a heading with the letter on the next line.
                rf"{_LABEL}\s*(?:[:=]|\n)\s*{_KIND}{either}{end}",
                # "The answer is B", "the choice that fits best is option (B)".
                rf"{_LABEL}[^.:;!?\n]{{0,80}}?\b{_BE}\s*:?\s*{but}?{_KIND}{letter}{end}",
                # "B is the correct answer".
                rf"{letter}{_BARE}\s*[)\]}}]?,?\s+{_SEEMS}{_BETWEEN}\s+{_RIGHT}\b",
                # "I would choose B", "so we go with (B)".
                rf"\b{_CHOOSE}\s+{_KIND}{letter}{end}",
                # "Therefore, B." and nothing more in the sentence.
                rf"\b(?:therefore|thus|hence|so)\b\s*,?\s*(?:it\s+is\s+|it['’]s\s+)?{_KIND}{letter}"
                rf"{_BARE}\s*[)\]}}]?\s*(?:[.!]|$)",
            )
        )
        self.corrected = re.compile(but, re.IGNORECASE)
        self.denied = re.compile(
            r"(?:(?:\b(?:not|never|cannot|neither|nor|either|both|if|unless|whether)|n['’]t)\s+"
            rf"(?:[a-z]+\s+){{0,2}}?|{second}[)\]]?\s*,?\s*(?:and|or|nor)\s+{_KIND})[(\[]?$",
            re.IGNORECASE,
        )
        self.bare = re.compile(rf"[(\[{{\s]*([{letters}])[)\]}}.:\s]*")
        self.listed = re.compile(
            rf"\s*(?:[-•]\s*)?(?:[(\[]([{letters}])[)\]]|([{letters}])[).:])(?:\s+\S.*)?"
        )
        self.labelled = re.compile(
            rf"(?:.*{_LABEL})\s*(?:is\b)?\s*:?\s*{letter}{end}.*", re.IGNORECASE
        )

    def stated(self, text: str) -> str | None:
        """The letter of the last statement that names one."""
        found = [
            (match.start("letter"), match["letter"].upper())
            for pattern in self.statements
            for match in pattern.finditer(text)
            if not self._is_denied(text, match)
        ]
        return max(found)[1] if found else None

    def _is_denied(self, text: str, match: re.Match[str]) -> bool:
        """Whether the words before a statement, or those in it, take it back."""
        before = re.split(r"[.:;!?\n]", text[max(match.start() - _BEFORE, 0) : match.start()])[-1]
        inner = self.corrected.sub("", text[match.start() : match.start("letter")])
        return bool(self.denied.search(before) or _NEGATED.search(inner))

    def of_line(self, line: str) -> str | None:
        """The letter of a line such as `B) 3.5 eV`."""
        found = self.listed.fullmatch(line)
        return (found[1] or found[2]) if found else None


@cache
def _rules(number: int) -> _Rules:
    return _Rules(LETTERS[:number])


# --- the text of a choice -------------------------------------------------------------------------

_ENDS = re.compile(rf"$|[.,;:!?)](?:\s|$)|\s+(?:{_WORDS})\b")
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.IGNORECASE)
_TEXT_SAID = re.compile(
    rf"(?:{_LABEL}\s*[:=]\s*|{_LABEL}[^.:;!?\n]{{0,80}}?\b{_BE}\s*:?\s*)(?P<rest>[^\n]+)",
    re.IGNORECASE,
)


def _normal(text: str) -> str:
    """Text to compare: without markup, braces, spaces at its ends, and the sentence's end."""
    bare = re.sub(r"\s+", " ", plain(text).replace("{", "").replace("}", "")).strip()
    return _ARTICLE.sub("", bare.rstrip(".;,: "))


def _same(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the one choice that has this text."""
    for change in (str, str.casefold, lambda text: text.casefold().replace(" ", "")):
        wanted = change(_normal(text))
        found = [i for i, choice in enumerate(choices) if change(_normal(choice)) == wanted]
        if wanted and found:
            return LETTERS[found[0]] if len(found) == 1 else None
    return None


def _begun(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the longest choice that a statement begins with, where its text ends there."""
    statement = _normal(text).casefold()
    fits = []
    for number, choice in enumerate(choices):
        wanted = _normal(choice).casefold()
        if wanted and statement.startswith(wanted) and _ENDS.match(statement, len(wanted)):
            fits.append((len(wanted), number))
    longest = [number for length, number in fits if length == max(fits)[0]]
    return LETTERS[longest[0]] if len(longest) == 1 else None


# --- the rule -------------------------------------------------------------------------------------


def choice_of(answer: str, choices: Sequence[str]) -> str | None:
    """The letter that an answer settles on, by the rules above; None where it settles on none.

    Args:
        answer: What stands after the thought.
        choices: Their texts, at most ten.
    """
    rules = _rules(len(choices))
    for _, _, content in reversed(boxes(answer)):
        if found := _boxed(content, choices, rules):
            return found
    text = plain(answer)
    if found := rules.stated(text):
        return found
    for match in reversed(list(_TEXT_SAID.finditer(text))):
        if not _NEGATED.search(text[match.start() : match.start("rest")]) and (
            found := _begun(match["rest"], choices)
        ):
            return found
    return _last_line(text, choices, rules)


def _boxed(content: str, choices: Sequence[str], rules: _Rules) -> str | None:
    """The choice in a box."""
    text = plain(content).strip()
    if bare := rules.bare.fullmatch(text):
        return bare[1]
    labelled = rules.labelled.fullmatch(text)
    return _same(text, choices) or rules.of_line(text) or (labelled["letter"] if labelled else None)


def _last_line(text: str, choices: Sequence[str], rules: _Rules) -> str | None:
    """The choice that the last line is."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if bare := rules.bare.fullmatch(lines[-1]):
        return bare[1]
    if found := rules.of_line(lines[-1]):
        # The last of a list of choices, of which none is statement to be right.
        others = {rules.of_line(line) for line in lines[:-1]} - {None, found}
        return None if others else found
    return _same(lines[-1], choices)
