"""Writes the reference into the documents, from the code: `make reference`.

Keys of `study.yml`, kinds of problems, options of the plugin, commands and names of the claim
language stand between marks in the pages; what stands there is made here and nowhere else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gridatlas import registry
from gridatlas.checks import all_checks
from gridatlas.claims.names import BEFORE_DOT, MEANINGS, METHODS, PROPERTIES
from gridatlas.cli.main import main
from gridatlas.hosts.mkdocs.options import GridAtlasConfig
from gridatlas.model.json_schema import attribute_docstrings, key_texts, models
from gridatlas.model.kinds import KINDS
from gridatlas.model.limits import Limits
from gridatlas.model.schema import Identifier

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (
    "data-format.md", "problems.md", "options.md", "commands.md", "claims.md", "trust.md",
    "../benchmarks/answers.md",
)  # fmt: skip

ANCHORS = {
    "Source": "[source](#source)",
    "SpreadEntry": "[spread](#spread)",
    "SeeAlso": "[link](#see_also)",
    "Metric": "[metric](#metric)",
    "FactorEntry": "[factor](#factors)",
    "LevelEntry": "[level](#levels)",
    "Aggregate": "[aggregate](#aggregates)",
    "Trials": "[trials](#trials)",
    "ReadingEntry": "[reading](#readings)",
    "StatedRange": "[range](#readings)",
    "RegionEntry": "[region](#regions)",
    "AgreementEntry": "[pair of readings](#pinned-agreement)",
    "ClaimEntry": "[claim](#claims)",
    "AcceptedEntry": "[finding](#accepted-findings)",
    "HistoryEntry": "[change](#history)",
    "ReproduceEntry": "[reproduce](#reproduce)",
}
"""Where the page on the format says more of a part."""
ID = Identifier.__metadata__[0].metadata[-1].pattern  # type: ignore[attr-defined]


# --- study.yml ----------------------------------------------------------------------------------


def kind(schema: Mapping[str, Any]) -> str:
    """What a key's value is, in words, from the key's JSON Schema."""
    match schema:
        case {"$ref": ref}:
            return ANCHORS[ref.rsplit("/", 1)[-1]]
        case {"anyOf": options}:
            return " or ".join(kind(option) for option in options if option != {"type": "null"})
        case {"enum": choices}:
            return " or ".join(f"`{choice}`".lower() for choice in choices)
        case {"const": value}:
            return f"`{value}`"
        case {"type": "array", "prefixItems": [first, _]}:
            return f"two {plural(kind(first))}"
        case {"type": "array", "minItems": 2, "maxItems": 2}:
            return "two numbers"
        case {"type": "array", "items": items}:
            return f"list of {plural(kind(items))}"
        case {"type": "object", "additionalProperties": value}:
            return f"mapping to {plural(kind(value))}"
    return scalar(schema)


def scalar(schema: Mapping[str, Any]) -> str:
    """What a text or number is, in words."""
    match schema:
        case {"type": "boolean"}:
            return "`true` or `false`"
        case {"type": "integer", "minimum": low, "maximum": high}:
            return f"{low} to {high}"
        case {"type": "integer", "minimum": low}:
            return f"{low} or more"
        case {"type": "number", "exclusiveMinimum": low}:
            return f"more than {low}"
        case {"type": ["string", "number"]}:
            return "text or number"
        case {"type": "string", "pattern": "^https?://"}:
            return "address"
        case {"type": "string", "pattern": pattern} if pattern == ID:
            return "id"
        case {"type": "string"}:
            return "text"
    raise AssertionError(f"a kind of value without words: {schema}")


def plural(words: str) -> str:
    """Several of them: texts or numbers, [readings](#readings), lists of texts."""
    first, of, rest = words.partition(" of ")
    if of:
        return f"{plural(first)} of {rest}"
    return re.sub(r"\b(text|number|id|list|mapping)\b|(\w)(?=\])", r"\g<0>s", words)


def default(schema: Mapping[str, Any]) -> str:
    """The value without the key, in words; none where the meaning says it."""
    value = schema.get("default")
    if value is None or value in ("", [], {}):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def keys(name: str) -> str:
    """The keys of a part of `study.yml`."""
    model = next(model for model in models() if model.__name__ == name)
    schema = model.model_json_schema()
    schema = schema.get("$defs", {}).get(name, schema)
    texts = key_texts(model, all_checks())
    assert texts.keys() == schema["properties"].keys(), f"a key of {name} without a docstring"
    required = schema.get("required", ())
    rows = []
    for key, value in schema["properties"].items():
        about = [kind(value)]
        if key in required:
            about.append("required")
        elif (other := default(value)) != "none":
            about.append(f"default {other}")
        rows.append(f"- `{key}`: {', '.join(about)}. {texts[key]}")
    return "\n".join(rows)


# --- options, commands, names -------------------------------------------------------------------


def options() -> str:
    """The options of the plugin, each below its name, which other pages link to."""
    texts = {name.rstrip("_"): text for name, text in attribute_docstrings(GridAtlasConfig).items()}
    return "\n\n".join(
        f"### `{name}`\n\nDefault: {default({'default': option.default})}. {texts[name]}"
        for name, option in GridAtlasConfig._schema
    )


def limits() -> str:
    """How large input may be: each limit with its default."""
    texts = attribute_docstrings(Limits)
    return "\n".join(
        f"- `{name}`: {number:,}. {texts[name]}" for name, number in asdict(Limits()).items()
    )


def command(name: str = "") -> str:
    """What `--help` prints of a command; without a name, of them all.

    The page has a section for each command, and says of all at once that they have `--help`, and
    how they exit.
    """
    found = registry.load(registry.COMMANDS, name) if name else main
    path = f"gridatlas {name}".rstrip()
    context = click.Context(
        found, info_name=path, terminal_width=78, help_option_names=["-h", "--help"]
    )
    text = "\n".join(line.rstrip() for line in found.get_help(context).splitlines())
    if not name:
        text = text.partition("\n\n  Examples:")[0]
    else:
        text = re.sub(r"\n  Exit status: (?:.+\n)+", "", text)
        text = re.sub(r"\n  -h, --help +Show this message and exit\.$", "", text)
        text = text.removesuffix("\n\nOptions:")
    return f"```text\n{text}\n```"


def names() -> str:
    """What may follow a dot in the claim language, by what it follows."""
    after: dict[tuple[str, bool], list[str]] = {}
    for kind in BEFORE_DOT:
        for called, of in ((False, PROPERTIES), (True, METHODS)):
            for name in of.get(kind, ()):
                after.setdefault((name, called), []).append(BEFORE_DOT[kind])
    groups: dict[str, list[str]] = {}
    for (name, called), kinds in after.items():
        line = f"- `.{name}{'(…)' * called}`: {MEANINGS[name]}"
        groups.setdefault(" or ".join(kinds), []).append(line)
    return "\n\n".join(f"After {kinds}:\n\n" + "\n".join(lines) for kinds, lines in groups.items())


def problems() -> str:
    """The kinds of problems; those that are findings by name, as `checks` says what they are."""
    lines = [f"- `{name}`: {kind.about}" for name, kind in sorted(KINDS.items())]
    findings = ", ".join(f"`{name}`" for name in sorted(all_checks()))
    return "\n".join([*lines, f"- Findings of [checks](trust.md#checks): {findings}."])


def checks() -> str:
    """The kinds of findings."""
    return "\n".join(
        f"- `{name}`: {check.says[0].lower()}{check.says[1:]}"
        for name, check in all_checks().items()
    )


SIMULATED = {
    "-n 200": "55 kinds, nothing differs",
    "--random -n 3000": "random designs, nothing differs",
    "--random --planted -n 3000": "random designs, with effects",
}
"""The tables of `simulate_answers.py` by their options, and what was drawn."""


def rates() -> str:
    """How often answers were wrong in simulations, from the tables that these wrote."""
    page = (DOCS.parent / "benchmarks" / "answers.md").read_text("utf-8")
    lines = ["| Studies | Number | False front page | Without *likely* | False on any page |"]
    lines.append("|---|---:|---:|---:|---:|")
    for options, drawn in SIMULATED.items():
        table = page.partition(f"<!-- {options} -->")[2].partition("<!-- end -->")[0]
        found = re.search(r"\*\*all (\S+)\*\* \| (.*) \|", table)
        if found is None:
            sys.exit(f"benchmarks/answers.md: no row of all studies below <!-- {options} -->")
        lines.append(f"| {drawn} | {found[1]} | {found[2]} |")
    return "\n".join(lines)


# --- pages --------------------------------------------------------------------------------------

PARTS: Mapping[str, Callable[..., str]] = {
    "keys": keys,
    "options": options,
    "limits": limits,
    "command": command,
    "names": names,
    "problems": problems,
    "checks": checks,
    "rates": rates,
}
MARK = re.compile(r"<!--code: (\w+)(?: (\w+))?-->\n.*?<!--/code-->", re.DOTALL)


def written(page: str) -> str:
    """A page with its parts made anew."""

    def part(match: re.Match[str]) -> str:
        asked = " ".join(filter(None, match.groups()))
        text = PARTS[match[1]](*filter(None, [match[2]]))
        return f"<!--code: {asked}-->\n\n{text}\n\n<!--/code-->"

    return MARK.sub(part, page)


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit("python tools/write_reference.py: takes no arguments; it writes into docs/")
    for name in PAGES:
        path = DOCS / name
        before = path.read_text("utf-8")
        after = written(before)
        path.write_text(after, "utf-8")
        print(f"docs/{name}: {'written' if after != before else 'as it was'}")
