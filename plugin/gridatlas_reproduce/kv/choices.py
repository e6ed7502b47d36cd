r"""Which of several choices an answer settles on: a letter, or the text of a choice.

All letters are read by the same rules. A letter is one that stands by itself, and what follows it
may follow a letter: punctuation, the line's end, or a word such as "because". So neither the
article in "The answer is A proton" is a choice, nor is the first letter of a word or formula. What
explains a letter is passed over: "B (4.2 eV)", "B = 4.2 eV" and "B, 4.2 eV" are B where 4.2 eV is
its choice, and so is "B (because …)".

The first of these that finds a choice decides; of several of one kind the last does:

1. A box: `\boxed{B}`, `\boxed{\text{B) } 3.5\ \text{eV}}`, or the text of a choice. A box with
   anything else is passed over, and one that is denied.
2. A statement: "Answer: B", "the answer is B", "B is the correct answer", "I would choose B", "so
   the muon (option B)". One that is denied, or names two letters, is none.
3. A statement that names a choice by its text: "the answer is 3.5 eV".
4. The last line, where it is a letter, a letter with the choice's text, or that text, or ends in a
   letter alone, or concludes that text ("so it is 3.5 eV"). A list of choices isn't an answer.
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
_TAG = re.compile(r"</?[a-z]+>", re.IGNORECASE)
_BRACE = re.compile(r"\\(?:f?boxed|f(?:rame)?box)\s*\{|(?<!\\)[{}]")
_CHINESE = re.compile(r"答案\s*(?:应该|应)?\s*[是为选]?\s*[:：]?")
_DEPTH = 10


def plain(text: str) -> str:
    r"""Without emphasis, headings, math delimiters, and commands such as `\text{…}`."""
    for _ in range(_DEPTH):
        text = _WRAPPED.sub(r"\1", text)
    text = _DELIMITERS.sub("", _HEADING.sub("", _TAG.sub("\n", text)))
    text = _CHINESE.sub(" answer: ", text).replace("。", ". ").replace("，", ", ")
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


_IS_DENIED = re.compile(
    r"\b(?:not|never|unlike|rather\s+than|instead\s+of|(?:is|was)n['’]t|can(?:not|['’]t)\s+be)\s+"
    r"(?:[a-z]+\s+){0,2}[\s$\\(\[]*$",
    re.IGNORECASE,
)
_IS_WRONG = re.compile(
    r"[\s$.\\)\]]*\s(?:(?:is|was|would\s+be)\s+(?:wrong|incorrect|false|not\b)|(?:is|was)n['’]t\b"
    r"|can(?:not|['’]t)\s+be\b)",
    re.IGNORECASE,
)


def meant_boxes(text: str) -> list[tuple[int, int, str]]:
    """Those that aren't denied: neither "not" before them, nor "is wrong" after them."""
    return [
        box
        for box in boxes(text)
        if not _IS_DENIED.search(text[max(box[0] - _BEFORE, 0) : box[0]])
        and not _IS_WRONG.match(text, box[1])
    ]


# --- statements -----------------------------------------------------------------------------------

_BEFORE = 200
"""Characters before a statement or box in which it may be denied."""
_WORDS = (
    "because|since|as|for|so|and|but|or|not|which|that|with|due|given|by|in|on|at|from|"
    "where|while|whereas|rather|instead|only|then|thus|hence|therefore|although|though|however|"
    "according|based|using|among|of|here|indeed|than|over|i\\.e\\.|namely|meaning|corresponding"
)
"""Words that may follow a letter; nearly any may follow an article."""
_VERBS = "is|are|was|would|will|can|has"
"""Words that may do so, too, where it is said before that the letter is the answer."""
_BARE = r"(?![\w'’^=]|-\w|\s*[→⇒])"
"""The letter isn't the first of a word, a formula or an equation."""
_KIND = r"(?:(?:the\s+|an?\s+)?(?:only\s+)?(?:option|choice|answer|letter)\s*:?\s*)?"
_OPTION = r"(?:(?:answer\s+)?(?:option|choice)|answer|letter)\s+"
_LABEL = r"\b(?:answer|choice|option|solution|(?:correct|right|best|closest)\s+\w+)\b"
_HEAD = r"\b(?:ans(?:wer)?|choice|option|solution|conclusion|verdict|select(?:ion)?)\b"
_COLON = r"[\"”]?\s*(?:[:=→⇒]|--?|[–—]|\.(?=\s*[(\[])|\n)\s*"
_FILL = r"(?:[^.:;!?\n]|\.(?=\d)){0,80}?"
"""Of one sentence; a number's point isn't its end."""
_STOP = re.compile(r"[:;!?\n]|(?<!i)(?<!i\.e)\.(?!\d)")
_BE = r"(?:is|be|was|being)\b(?:\s+(?:[a-z]+ly|indeed|therefore|thus|then|hence|in\s+fact|most))*"
_RIGHT = (
    r"(?:correct|right|best|closest|true|accurate|appropriate|valid|answer|choice|option|one|"
    r"candidate|most\s+(?:plausible|likely|consistent|reasonable)(?=\s*(?:[.,;]|$)))"
)
_SEEMS = r"(?:is|must\s+be|has\s+to\s+be|would\s+be|should\s+be|seems|appears)"
_BETWEEN = (
    r"(?:\s+(?:to\s+be|the|a|an|also|thus|therefore|[a-z]+ly|indeed|most|single|then|plausible))*"
)
_CHOOSE = (
    r"(?:choose|chose|choosing|pick|select|selecting|go(?:ing)?\s+with|opt\s+for|settle\s+on|"
    r"leav(?:es|ing)(?:\s+only)?|left\s+with|lean(?:ing)?\s+towards?)"
)
_SO = r"\b(?:therefore|thus|hence|so|but)\b"
_FITS = r"(?:fit|match|describe|explain|agree|suit|satisfie|represent|correspond)e?s"
_MATCHES = (
    r"\b(?:correspond|match|agree|align)(?:e?s|ing)(?:\s+(?:[a-z]+ly|best))?(?:\s+(?:to|with))?"
)
_AS = (
    r"(?:\b(?:which|that|this|it)(?:\s+(?:value|result))?(?:\s+(?:[a-z]+ly|best|most))*\s+"
    rf"(?:is|{_MATCHES})|,\s*(?:corresponding\s+to|matching)|\bi\.e\.|\bnamely|[→⇒])"
)
_NEGATED = re.compile(r"\b(?:not|never|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_EXCLUDES = re.compile(
    rf"{_NEGATED.pattern}|\b(?:rules?|ruling|ruled|exclud|eliminat|contradict|reject|discard|unlike|"
    r"against|wrong|incorrect|false|fails?|too|impossible|inconsistent|consider|rather)",
    re.IGNORECASE,
)


_SIGN = r"\s*(?:[-–—]+|[:=,/.→⇒]|\\(?:right)?arrow|\\to|i\.e\.,?)?\s*"
"""What may stand between a letter and the text of its choice."""


_GOES_ON = rf"(?!\w)(?!\s+(?!(?:{_WORDS}|{_VERBS})\b)\w)(?:\s+[-–—]+(?=\s))?"
"""That text isn't the first of a longer one."""


class _Rules:
    """The patterns for the letters of a question's choices. Words may be in any case."""

    def __init__(self, letters: str) -> None:
        self.letters = letters
        own = r"(?<![\w\\'’])(?<![A-Z][-–—])[(\[{]?\s*"
        letter = rf"{own}(?P<letter>(?-i:[{letters}])|(?<=[(\[])(?-i:[{letters.lower()}])(?=[)\]]))"
        either = rf"{own}(?P<letter>[{letters}])"
        second = rf"[(\[]?(?-i:[{letters}]){_BARE}"
        # Two letters for one answer are none.
        alone = (
            rf"(?!\s*[)\]}}]?\s*,?\s*(?:and|or|nor|&|/)\s*(?:option\s+|choice\s+)?{second})"
            rf"(?!\s*[)\]}}]?\s*,\s*{second}\s*(?:[,.]|$|and|or))"
        )
        closed = rf"{_BARE}{alone}(?=\s*(?:$|[)\]}}.,:;!?\"”]|--|—|[-–]\s)|\s*\n|\s+(?:{_WORDS})"
        ends, end = rf"{closed}(?!\w))", rf"{closed[:-1]}|{_VERBS})(?!\w))"
        but = rf"(?:not\s+{_KIND}{second}[)\]]?\s*,?\s*but\s+(?:rather\s+)?)"
        self.statements = tuple(
            (re.compile(pattern, re.MULTILINE | re.IGNORECASE), denied)
            for pattern, denied in (
                # "Answer: B", and a heading with the letter on the next line.
                (rf"{_HEAD}{_COLON}[\"“]?{_KIND}{either}{end}", _NEGATED),
                # "Answer (B)" in a line of its own.
                (rf"^(?:\w+\s+)?answer\s+{either}[)\]]?[.!]?\s*$", _NEGATED),
                # "The answer is B", "the choice that fits best is option (B)".
                (rf"{_LABEL}{_FILL}\s{_BE}\s*:?\s*{but}?{_KIND}{letter}{end}", _NEGATED),
                # "B is the correct answer".
                (rf"{letter}{_BARE}\s*[)\]}}]?,?\s+{_SEEMS}{_BETWEEN}\s+{_RIGHT}\b", _NEGATED),
                # "B fits best", "option B best describes it".
                (
                    rf"{letter}{_BARE}[)\]]?\s+(?:{_FITS}\s(?:\w+\s+){{0,3}}best|best\s+{_FITS})\b",
                    _NEGATED,
                ),
                # "Only option B is consistent with it".
                (
                    rf"\bonly\s+(?:option|choice)\s+{letter}{_BARE}[)\]]?\s+(?!(?:is|was)\s+"
                    rf"(?:wrong|in[a-z]+|not|false|ruled|excluded)\b)(?:{_VERBS}|remains|{_FITS})\b",
                    _NEGATED,
                ),
                # "I would choose B", "so we go with (B)", "which makes B the best choice".
                (rf"\b{_CHOOSE}\s+{_KIND}{letter}{end}", _NEGATED),
                (rf"\bmak(?:es|ing)\s+{_KIND}{letter}[)\]]?\s+(?:the\s+)?{_RIGHT}\b", _NEGATED),
                # "Therefore, B." and nothing more in the sentence.
                (
                    rf"(?:{_SO}|;)\s*,?\s*(?:it\s+(?:is|must\s+be)\s+|it['’]s\s+)?{_KIND}{letter}"
                    rf"{_BARE}{alone}\s*[)\]}}]?\s*(?:[.!]|$)",
                    _NEGATED,
                ),
                # "So it is the muon (option B)", "that is the muon, which corresponds to option B".
                (
                    rf"(?:{_SO}|{_LABEL}{_FILL}\s{_BE}){_FILL}(?:[(,]|{_MATCHES})\s*{_OPTION}{letter}{ends}",
                    _EXCLUDES,
                ),
                (
                    rf"{_AS}\s+{_OPTION}{letter}{ends}(?!\s*\?|[)\]]?,?\s+(?:but|only|if)\b)",
                    _EXCLUDES,
                ),
            )
        )
        self.corrected = re.compile(but, re.IGNORECASE)
        self.denied = re.compile(
            r"^\s*(?:if|unless|suppose|assuming)\b|(?:(?:\b(?:not|never|cannot|neither|nor|either|both|if|unless|whether)|n['’]t)\s+"
            rf"(?:[a-z]+\s+){{0,2}}?|{second}[)\]]?\s*,?\s*(?:and|or|nor)\s+{_KIND})[(\[]?$",
            re.IGNORECASE,
        )
        self.quoted = re.compile(rf"[\"“'‘]([{letters}])[\"”'’]")
        self.explained = re.compile(
            rf"({own}[{letters}][)\]}}]?)\s*(?:\([^()\n]{{0,200}}\)|\[[^\[\]\n]{{0,200}}\])"
        )
        self.bare = re.compile(
            rf"(?:(?:it\s+is|it['’]s|option|choice)\s)?[(\[{{\s]*((?-i:[{letters}]))[)\]}}.:\s]*",
            re.IGNORECASE,
        )
        self.last = re.compile(rf"[.:!]\s+[(\[]?([{letters}])[)\]]?[.\s]*$")
        self.listed = re.compile(
            rf"\s*(?:[-•✅✓✔☑👉➡\ufe0f]+\s*)?(?:[(\[]([{letters}])[)\]]|([{letters}])[).:])(?:\s+\S.*)?"
        )
        self.labelled = re.compile(
            rf"(?:.*{_LABEL})\s*(?:is\b)?\s*:?\s*{letter}{end}.*", re.IGNORECASE
        )

    def stated(self, text: str) -> str | None:
        """The letter of the last statement that names one."""
        found = [
            (match.start("letter"), match["letter"].upper())
            for pattern, denied in self.statements
            for match in pattern.finditer(text)
            if not self._is_denied(text, match, denied)
        ]
        return max(found)[1] if found else None

    def _is_denied(self, text: str, match: re.Match[str], denied: re.Pattern[str]) -> bool:
        """Whether the words before a statement, or those in it, take it back."""
        before = _STOP.split(text[max(match.start() - _BEFORE, 0) : match.start()])[-1]
        inner = self.corrected.sub("", text[match.start() : match.start("letter")])
        if denied is _EXCLUDES:
            inner = before + inner
        return bool(self.denied.search(before) or denied.search(inner))

    def unexplained(self, text: str, choices: Sequence[str]) -> str:
        """Without braces, quotes around a letter, and what explains one.

        A choice's text that begins with a letter is put as that of the choice.
        """
        text = self.quoted.sub(r"\1", text.replace("{", "").replace("}", ""))
        texts = [
            (letter, r"\s*".join(re.escape(word) for word in _normal(choice).split()))
            for letter, choice in zip(self.letters, choices, strict=True)
        ]
        for letter, words in texts:
            if re.match(rf"[{self.letters}]\b.", words.replace(r"\s*", " ")):
                text = re.sub(rf"(?<!\w){words}(?!\w)", letter, text)
        for letter, words in texts:
            if words:
                text = re.sub(
                    rf"(?<![\w\\'’])((?-i:{letter})[)\]]?){_SIGN}(?:the\s+)?{words}{_GOES_ON}",
                    r"\1",
                    text,
                    flags=re.IGNORECASE,
                )
        return self.explained.sub(r"\1", text)

    def of_line(self, line: str) -> str | None:
        """The letter of a line such as `B) 3.5 eV`."""
        found = self.listed.fullmatch(line)
        return (found[1] or found[2]) if found else None


@cache
def _rules(number: int) -> _Rules:
    return _Rules(LETTERS[:number])


# --- the text of a choice -------------------------------------------------------------------------

_ENDS = re.compile(rf"$|[.,;:!?)](?:\s|$)|\s*[(\[—]|\s+(?:[-–]|(?:{_WORDS}|{_VERBS})\b)")
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.IGNORECASE)
_TEXT_SAID = re.compile(
    rf"(?:{_LABEL}\s*[:=]\s*|{_LABEL}{_FILL}\b{_BE}\s*:?\s*(?:that\s+)?)(?P<rest>[^\n]+)",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(rf"{_SO}{_FILL}(?:\b{_BE}|\bequals|=)\s*(?P<rest>[^\n]+)", re.IGNORECASE)
"""In the last line only: conclusions on the way are of something else."""


def _normal(text: str) -> str:
    """Text to compare: without markup, braces, spaces at its ends, and the sentence's end."""
    bare = re.sub(r"\\[dt]frac", r"\\frac", plain(text).replace("{", "").replace("}", ""))
    bare = re.sub(r"\s+", " ", bare).strip()
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
    for _, _, content in reversed(meant_boxes(answer)):
        if found := _boxed(content, choices, rules):
            return found
    text = plain(answer)
    if found := rules.stated(rules.unexplained(text, choices)):
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
    if bare := rules.bare.fullmatch(text) or rules.bare.fullmatch(rules.unexplained(text, choices)):
        return bare[1]
    labelled = rules.labelled.fullmatch(text)
    return (
        _same(text, choices)
        or rules.of_line(text)
        or (labelled["letter"].upper() if labelled else None)
    )


def _last_line(text: str, choices: Sequence[str], rules: _Rules) -> str | None:
    """The choice that the last line is."""
    lines = [line for line in text.splitlines() if line.strip()]
    letters = [
        bare[1]
        if (bare := rules.bare.fullmatch(rules.unexplained(line, choices)))
        else rules.of_line(line)
        for line in lines
    ]
    if not lines:
        return None
    if letters[-1]:
        # The last of a list of choices, of which none is stated to be right.
        return None if set(letters) - {None, letters[-1]} else letters[-1]
    if alone := rules.last.search(lines[-1]):
        return alone[1]
    text, _, letter = lines[-1].rstrip("). ").rpartition("(")
    own = _same(text, choices)
    if found := _same(lines[-1], choices) or (own if own == letter else None):
        return found
    concluded = list(_CONCLUDED.finditer(lines[-1]))
    return _same(concluded[-1]["rest"], choices) if concluded else None
