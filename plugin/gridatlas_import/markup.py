"""Texts of cells without what only looks: bold, colours, LaTeX's commands, footnote marks."""

from __future__ import annotations

import html
import re

_AROUND = re.compile(
    r"\\(?:textbf|textit|textsc|texttt|textrm|textsf|text|mathbf|mathrm|mathit|mathsf|boldsymbol|"
    r"bm|emph|underline|uline|ul|mbox|makecell|shortstack|best|second|bf|ensuremath)"
    r"(?:\[[^\]]*\])?\s*\{([^{}]*)\}"
)
_GONE = re.compile(
    r"\\(?:cite[pt]?|label|footnote|footnotemark|cellcolor|rowcolor|color|textcolor|hspace|vspace|"
    r"citep|citet|ref)\*?(?:\[[^\]]*\])?\{[^{}]*\}"
)
_SPANNED = re.compile(
    r"\\(?:multirow|multicolumn)\*?(?:\[[^\]]*\])?\{[^{}]*\}\{[^{}]*\}\{([^{}]*)\}"
)
_WORDS = {
    "pm": "±", "uparrow": "↑", "downarrow": "↓", "times": "×", "checkmark": "✓", "cmark": "✓",
    "xmark": "✗", "ding{51}": "✓", "ding{55}": "✗", "dagger": "", "ddagger": "", "ast": "",
    "quad": " ", "qquad": " ", "bfseries": "", "itshape": "", "small": "", "footnotesize": "",
    "scriptsize": "", "tiny": "", "centering": "", "textpm": "±", "sim": "~", "approx": "≈",
    "alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "tau": "τ", "rho": "ρ", "sigma": "σ",
    "infty": "∞", "ldots": "…", "dots": "…", "bullet": "•", "star": "", "arraybackslash": "",
}  # fmt: skip
_COMMAND = re.compile(r"\\(ding\{\d+\}|[A-Za-z]+)\s?")
_RULE = re.compile(r"\\(toprule|midrule|bottomrule|hline|cmidrule|cline|addlinespace|specialrule)")
_NOTES = re.compile(r"(?<=[\w.%)])\s*[†‡§¶*]+$")


def is_rule(text: str) -> bool:
    """Whether a text is a line of a LaTeX table."""
    return _RULE.match(text.strip()) is not None


def without_latex(text: str) -> str:
    r"""A cell of a LaTeX table as plain text: `$\mathbf{63.9}_{\pm 0.4}$` is `63.9 ± 0.4`."""
    if "\\" not in text and "$" not in text and "{" not in text:
        return text
    text = re.sub(r"\\([%&_#$])", r"\1", text.replace("\\$", "\\$")).replace("~", " ")
    for _ in range(6):
        before = text
        text = _SPANNED.sub(r"\1", _AROUND.sub(r"\1", _GONE.sub("", text)))
        if text == before:
            break
    text = re.sub(r"_\s*\{\s*\\?(?:scriptsize|small|tiny)?\s*\\pm\s*([^{}]*)\}", r" \\pm \1", text)
    text = re.sub(r"[_^]\s*\{\s*\\pm\s*([^{}]*)\}", r" \\pm \1", text)
    text = re.sub(r"\^\s*(?:\{[^{}]*\}|\\\w+|[*†‡])", "", text)
    text = _COMMAND.sub(lambda found: _WORDS.get(found[1], ""), text)
    text = re.sub(r"\\[,;:!> ]", " ", text)
    text = text.replace("$", "").replace("{", "").replace("}", "").replace("\\", "")
    return " ".join(text.replace("---", "-").replace("--", "-").split())


_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_FOOTNOTE = re.compile(
    r"\s*\[\^[^\]\s]{1,20}\]|<sup>\s*(?:<[^<>]*>\s*)*[\d†‡§*a-h, ]{1,4}\s*(?:<[^<>]*>\s*)*</sup>"
)
_BLOCK = re.compile(r"</?(?:br|sup|sub|p|div|li|ul|ol|hr|td|tr)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_DECORATION = re.compile(r"[\U0001f300-\U0001faff⭐⚪⚫\ufe0f]|(?<=\d)\s*\(\d+(?:st|nd|rd|th)\)")


def without_tags(text: str) -> str:
    """A cell without tags, links, entities, marks of footnotes, and what only decorates."""
    if not any(sign in text for sign in "<[&(") and text.isascii():
        return text
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", _FOOTNOTE.sub("", text)))
    text = _TAG.sub("", _BLOCK.sub(" ", text))
    text = " ".join(html.unescape(text).split())
    return " ".join(_DECORATION.sub("", text).split()) or text


_ESCAPED = re.compile(r"\\([#*_`])")
_HIDDEN = 0xE000
"""Added to the codes of signs that Markdown takes literally, while marks are looked for."""
_UNESCAPED = re.compile("[\ue023\ue02a\ue05f\ue060]")


def without_marks(text: str) -> str:
    """A cell of Markdown without bold, code, links, tags and marks of footnotes."""
    text = without_tags(text.strip().replace("\\|", "|"))
    if "\\" in text and re.search(r"\\(?:pm|text|math|up|down|under)|\$", text):
        text = without_latex(text)
    text = _ESCAPED.sub(lambda found: chr(_HIDDEN + ord(found[1])), text)
    text = re.sub(r"(\*\*\*|\*\*|__|~~|`)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+)(?<=\S)\*(?![\w*])", r"\1", text)
    text = re.sub(r"(?<!\w)_(?=\S)([^_]+)(?<=\S)_(?!\w)", r"\1", text)
    text = _UNESCAPED.sub(lambda found: chr(ord(found[0]) - _HIDDEN), text)
    return _NOTES.sub("", text).strip() if text[:1].isdigit() else text.strip()
