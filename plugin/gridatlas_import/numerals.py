"""Numbers as people and spreadsheets write them; what they say is kept digit by digit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from gridatlas.model.problems import quote
from gridatlas.model.study import State
from gridatlas_import.rows import WrongUsage
from gridatlas_import.vocabulary import UNIT

DecimalMark = Literal["point", "comma"]

_ABSENT = "- – — . .. ? † ‡ n/a na n.a. #n/a #na nan -nan none null nil <na> missing tbd"
ABSENT = frozenset(_ABSENT.split())
"""Texts (in lower case) that stand where there is no value; nothing at all is one, too."""
STATES_IN_WORDS: dict[str, State] = dict.fromkeys(("oom", "o.o.m.", "out of memory"), "oom")
STATES_IN_WORDS |= dict.fromkeys(
    ("failed", "fail", "error", "crash", "crashed", "timeout", "diverged"), "failed"
)
"""Texts in the place of a value that tell why there is none."""
INFINITE = frozenset({"inf", "-inf", "+inf", "infinity", "-infinity", "∞", "-∞"})

_SPACES = "[  \u2007\u2009\u202f'’]"
_EXPONENT = r"(?:[eE][+-]?\d{1,3})?"
_POINT = re.compile(
    rf"[+-]?(?:(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:{_SPACES}\d{{3}})+)(?:\.\d*)?|\.\d+){_EXPONENT}",
    re.ASCII,
)
_COMMA = re.compile(
    rf"[+-]?(?:(?:\d+|\d{{1,3}}(?:\.\d{{3}})+|\d{{1,3}}(?:{_SPACES}\d{{3}})+)(?:,\d*)?|,\d+){_EXPONENT}",
    re.ASCII,
)
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_PLAIN_LINES = re.compile(rf"(?:{_PLAIN.pattern}\n)*+", re.ASCII)
THREE = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
"""Numbers of which nothing tells whether thousands are separated."""
_MARGIN = re.compile(r"(.+?)(?:±|\+/-|\+-|\\pm)\s*(.+)")
_ONE = rf"\d[\d.,]*\s*(?:{UNIT.pattern}|%)[*†‡]*"
_SEVERAL = re.compile(rf"(?!\d+\s?(?:h|m|min)\b){_ONE}(?:\s+{_ONE})+")
_IN_BRACKETS = re.compile(r"([+-]?[\d.,]+%?)\s*\(\s*([\d.,]+%?)\s*\)")


def plain(text: str) -> str:
    """A text without what only looks: spaces around it, a typographic minus."""
    return text.strip().replace("\u2212", "-")


def without_percent(text: str) -> tuple[str, bool]:
    """A text without its percent sign, and whether it had one."""
    text = plain(text)
    return (text[:-1].rstrip(), True) if text.endswith("%") else (text, False)


def without_margin(text: str) -> tuple[str, str]:
    """`71.2 ± 0.5` or `71.2 (0.5)` in its two parts; the second is empty where there is none."""
    if not any(sign in text for sign in ("±", "+", "\\pm", "(")):
        return text, ""  # as nearly all are
    found = _MARGIN.fullmatch(plain(text)) or _IN_BRACKETS.fullmatch(plain(text))
    return (found[1].rstrip(), found[2]) if found else (text, "")


def margin_number(text: str, mark: DecimalMark) -> str | None:
    """What stands after a ± as a number, 0 or more; None where none stands there."""
    margin = without_percent(without_margin(text)[1].rstrip(" )}$"))[0]
    number = number_text(margin, mark) if margin else None
    return None if number is None or number.startswith("-") else number


def number_text(text: str, mark: DecimalMark) -> str | None:
    """A number with a point for decimals and no separators, digits as printed; None for no number.

    `1.234,50` with the mark `comma` is `1234.50`. A percent sign isn't part of a number.
    """
    text = plain(text)
    if not (_POINT if mark == "point" else _COMMA).fullmatch(text):
        return None
    text = re.sub(_SPACES, "", text)
    text = text.replace(",", "") if mark == "point" else text.replace(".", "").replace(",", ".")
    text = text.removeprefix("+").removesuffix(".")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + ("0" + digits if digits.startswith(".") else digits)


def odd_texts(texts: Collection[str]) -> set[str]:
    """The texts that aren't numbers as programs write them: `-2.5`, `1e-05`.

    What holds of those needn't be looked at one by one; where all are, it is found at once.
    """
    lines = "\n".join([*texts, ""])
    if lines.count("\n") == len(texts) and _PLAIN_LINES.fullmatch(lines):
        return set()
    return {text for text in texts if not _PLAIN.fullmatch(text)}


def looks_like_number(text: str) -> bool:
    """Whether a text is a number with one mark or the other."""
    text = without_percent(without_margin(text)[0])[0]
    return bool(_POINT.fullmatch(text) or _COMMA.fullmatch(text))


def is_absent(text: str) -> bool:
    """Whether a text in the place of a value says that there is none."""
    lower = plain(text).lower()
    is_word = lower in ABSENT or lower in STATES_IN_WORDS or lower in INFINITE
    return not lower.strip("-–—.…") or is_word or is_censored(lower) or is_several(lower)


def is_censored(text: str) -> bool:
    """Whether a text only says that a value is below or above a number: `< 5%`."""
    return text[:1] in "<>≤≥" and any(map(str.isdigit, text))


def is_several(text: str) -> bool:
    """Whether a text is several measurements, of which none is the cell's: `443 µs 418 µs`."""
    return " " in text and text[:1].isdigit() and _SEVERAL.fullmatch(text) is not None


def marks_of(texts: Iterable[str]) -> dict[str, str]:
    """What numbers say of the decimal mark, with an example each.

    `point`, `comma`, or where it may as well separate thousands `point_or_thousands`,
    `comma_or_thousands`.
    """
    found: dict[str, str] = {}
    for given in texts:
        text = without_percent(without_margin(given)[0])[0]
        points, commas = text.count("."), text.count(",")
        if not points and not commas:
            continue
        if points and commas:
            kind = "point" if text.rindex(".") > text.rindex(",") else "comma"
        elif points > 1 or commas > 1:
            kind = "point" if commas else "comma"  # only thousands stand more than once
        elif THREE.fullmatch(text):
            kind = "point_or_thousands" if points else "comma_or_thousands"
        else:
            kind = "point" if points else "comma"
        found.setdefault(kind, plain(given))
    return found


def decimal_mark(marks: Mapping[str, str], *, semicolons: bool) -> DecimalMark:
    """The decimal mark of a file's numbers.

    Raises:
        CannotImport: Where the numbers don't tell, or contradict one another.
    """
    fix = "name the decimal mark: --decimal-mark point or --decimal-mark comma"
    point, comma = marks.get("point"), marks.get("comma")
    if point and comma:
        raise WrongUsage(
            f"numbers with a decimal point ({quote(point)}) and with a decimal comma "
            f"({quote(comma)})",
            "one way of writing numbers",
            f"write all numbers alike, or {fix}; the others then count as texts",
        )
    if point or comma:
        return "point" if point else "comma"
    unclear = marks.get("comma_or_thousands") or (semicolons and marks.get("point_or_thousands"))
    if unclear:
        digits = unclear.replace(",", "").replace(".", "")
        decimal = unclear.replace(",", ".")
        raise WrongUsage(
            f"{quote(unclear)}, which may be {digits} or {decimal}", "numbers with one meaning", fix
        )
    return "point"
