"""A proposal for what each column of a table means, from the data before the names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gridatlas.analysis.table import Codes, Floats
from gridatlas.model.schema import Role

REPLICATES = "seed|random_?state|fold|trial|run|rep|repeat|replicate|rng"
ITEMS = "items?|questions?|question_?id|doc_?id|problem|idx|example|prompt_?id"
PROGRESS = "step|steps|epoch|epochs|iteration|iterations|iter|checkpoint|tokens"
MOST_SET = 5
"""Times up to which they may be set, as those after which a person is measured again."""
SPLITS = {"train", "training", "dev", "valid", "validation", "val", "test"}
METRICS = (
    "acc|accuracy|f1|macro_?f1|ppl|perplexity|loss|bleu|rouge.?|em|wer|cer|mse|mae|rmse|r2|auc|"
    "precision|recall|latency|throughput|ms|params|size|memory|ttft|tpot|score"
)
BLOCKS = (
    "benchmark|dataset|data_?set|task|subset|language|lang|subject|category|domain|game|env|"
    "(question|task|problem|query|prompt)_type|blocks?|plot|site|study|study_key|cohort|location|loc|participant|person|patient|rater"
)
PROGRAMMING = (
    r"(c|c\+\+|c#|go|java|javascript|python|ruby|rust|scala|julia|php|perl|haskell)([_/(].*)?"
)
"""Languages of programs, which are compared; those of people are several tests of one thing."""
ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
TRAINING = (
    "lr|learning_?rate|wd|weight_?decay|bs|(train_|training_)?batch_?size|optim(izer)?|width|"
    "warm_?up(_steps|_ratio)?|(attention_|train_)?dropout|(n(um)?_?)?layers|(lora_)?r(ank)?|lora_alpha"
)
"""Settings of a training: each of its cells is a run of its own."""
SETTINGS = f"{TRAINING}|" + (
    "ratio|(local_?)?window|momentum|scheduler?|alpha|hidden(_?size)?|heads|beta\\d?|gamma|lambda|"
    "top_?[kp]|beams|(num_?)?shots|threshold|budget|model|method|gpu|quantization|(precision_?)?bits"
)
NUMBER = re.compile(r"\s*[-+−]?\d[\d.,_]*(e[-+]?\d+)?\s*(%|[a-zµ]{0,4})\s*", re.IGNORECASE)
INT_TYPE = re.compile(r"(u?int|fp|bf|float)\d+", re.IGNORECASE)


CONDITIONS = (
    "(in|out)put_?len(gth)?|isl|osl|seq(uence)?_?len(gth)?|context(_?len(gth)?)?|length|depth|"
    "digits|n_?digits|[a-z]+_digits|difficulty|level|concurrency|batch|requests?|request_?rate|qps|"
    "phase|stage|grade|size|n|days?|commit|date|host|node|distance|age|year|hops|noise"
)
"""What is given and not chosen."""
KNOWN = CONDITIONS + "|time|(week|month|quarter)s?"
"""Conditions that nobody asks about: that they matter is known."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to be.

    Attributes:
        role: `metrics` parts the table into studies; None is an identifier, which is dropped.
        why: In a few words.
        ask: Whether a person must confirm it.
    """

    role: Role | Literal["metrics", "split"] | None
    why: str
    ask: bool = False


UNKNOWN_NUMBER = Guess("condition", "given, not chosen: numbers without a setting's name")


def guess_roles(
    levels: Mapping[str, Sequence[str]], codes: Mapping[str, Codes], value: Floats
) -> dict[str, Guess]:
    """What each column of a table in long form seems to be.

    Args:
        levels: What the levels of each column are called.
        codes: By column, the level of each row.
        value: Of each row.
    """
    guesses = {name: _guess(name, levels[name], codes[name], codes, value) for name in levels}
    if any(is_named(name, TRAINING) for name in guesses):
        # The batch of a training is chosen, that of a request isn't.
        batch = Guess("choice", "a setting of the training")
        guesses |= {name: batch for name in guesses if is_named(name, "batch(es)?")}
    if any(guess.role == "choice" for guess in guesses.values()):
        return guesses
    # A study in which nothing is chosen asks little: numbers that no list knows are its choices.
    chosen = Guess("choice", "a number, and nothing else is chosen")
    return {
        name: chosen if guess == UNKNOWN_NUMBER and not is_named(name, CONDITIONS) else guess
        for name, guess in guesses.items()
    }


def is_named(name: str, words: str) -> bool:
    """Whether a column's name is one of the words, in any spelling."""
    return bool(re.fullmatch(words, re.sub(r"[\s-]+", "_", name.strip().casefold())))


def _guess(
    name: str, labels: Sequence[str], column: Codes, codes: Mapping[str, Codes], value: Floats
) -> Guess:
    rows = np.bincount(column, minlength=len(labels))
    if _is_item(column, codes, name, len(labels), value):
        return Guess("item", "outcomes of 0 or 1, and the same levels in all cells", True)
    sample = is_named(name, "sample") and len(labels) <= 20
    if is_named(name, REPLICATES) or sample:
        if len(labels) == len(column) > 1 and rows.max(initial=0) == 1:
            return Guess(None, "one row per level: an identifier", True)
        return Guess("replicate", "the experiment made again, by its name", True)
    if is_named(name, PROGRESS + "|hours?|time" * (len(labels) > MOST_SET)):
        return Guess("progress", "points along one run, by its name", True)
    if is_named(name, "split|partition|set") and {label.casefold() for label in labels} <= SPLITS:
        return Guess("split", "parts of the data: choose one", True)
    if _are_metrics(labels, column, value):
        return Guess("metrics", "levels that are measured in different ways", True)
    if is_named(name, ITEMS):
        return Guess("item", "questions, by its name")
    programs = sum(is_named(label, PROGRAMMING) for label in labels) > 2
    if is_named(name, f"({BLOCKS})s?(_?names?)?") and not (programs or _are_sizes(labels)):
        return Guess("block", "several tests of the same thing, by its name")
    if {*ROMAN[:3]} <= {*labels} <= {*ROMAN} and not is_named(name, CONDITIONS):
        return Guess("block", "numbered as blocks of an experiment are", True)
    numeric = all(NUMBER.fullmatch(label) or INT_TYPE.fullmatch(label) for label in labels)
    if is_named(name, SETTINGS):
        return Guess("choice", "a setting, by its name")
    if numeric or is_named(name, "commit|date|host|node|day"):
        return UNKNOWN_NUMBER
    many = len(labels) > 40
    return Guess("choice", "many names" if many else "a few names", many)


def _are_sizes(labels: Sequence[str]) -> bool:
    """Whether levels grow by one factor, as 32, 64, 128: blocks are named, or numbered."""
    try:
        sizes = np.sort([float(label) for label in labels])
    except ValueError:
        return False
    with np.errstate(all="ignore"):
        factors = sizes[1:] / sizes[:-1]
    return bool(len(factors) > 1 and factors[0] >= 2 and np.allclose(factors, factors[0]))


def _is_item(
    column: Codes, codes: Mapping[str, Codes], name: str, count: int, value: Floats
) -> bool:
    finite = value[np.isfinite(value)]
    outcomes = len(finite) and (np.isin(finite, [0, 1]).all() or np.isin(finite, [0, 100]).all())
    if not outcomes or count < 20:
        return False
    cell = np.zeros(len(column), np.int64)
    for other, each in codes.items():
        if other != name:
            cell = np.unique(cell * (int(each.max(initial=0)) + 1) + each, return_inverse=True)[1]
    cells = int(cell.max(initial=0)) + 1
    pairs = np.unique(cell * count + column)
    return bool((np.bincount(pairs % count, minlength=count) >= 0.9 * cells).all())


def _are_metrics(labels: Sequence[str], column: Codes, value: Floats) -> bool:
    """Whether most levels are names of metrics, or medians differ more than 20-fold beside one."""
    named = [is_named(label, METRICS) for label in labels]
    if len(labels) < 2 or not any(named):
        return False
    with np.errstate(all="ignore"):
        medians = [
            float(np.median(np.abs(of[np.isfinite(of)]))) if np.isfinite(of).any() else np.nan
            for of in (value[column == at] for at in range(len(labels)))
        ]
    finite = [median for median in medians if np.isfinite(median) and median > 0]
    far = bool(finite) and max(finite) > 20 * min(finite)
    return sum(named) >= 2 or far
