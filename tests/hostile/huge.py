"""Input that is long, deep or many: run as a program, in little memory, it says what each took."""

import json
import resource
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent)]

from targets import OUTCOMES, RUN, STUDY, TARGETS  # noqa: E402

MOST_SECONDS, MOST_BYTES = 60, 3 * 2**30
"""Of the processor, and of memory."""
N = 100_000
HEAD = b"m,lr,b,acc\n"
MARKDOWN = b"| m | lr | b | acc |\n|--|--|--|--|\n| "


def _study(part: bytes, by: bytes) -> bytes:
    assert STUDY.count(part) == 1
    return STUDY.replace(part, by)


INPUT: Mapping[str, tuple[str, bytes]] = {
    "a value with many spaces": ("import-csv", HEAD + b"a,1,1,1" + b" " * N + b"x\n"),
    "a value of many digits": ("import-csv", HEAD + b"a,1,1," + b"1" * N + b"x\n"),
    "many thousands": ("import-csv", HEAD + b'a,1,1,"1' + b",111" * N + b'x"\n'),
    "quotes only": ("import-csv", HEAD + b"a,1,1," + b'"' * N + b"\n"),
    "a megabyte in a field": ("import-csv", HEAD + b"a,1,1," + b"x" * 10**6 + b"\n"),
    "ten megabytes in a table's field": ("table", HEAD + b"x" * 10**7),
    "brackets in a cell": ("import-md", MARKDOWN + b"[" * N + b" | 1 | 1 | 1 |\n"),
    "links in a cell": ("import-md", MARKDOWN + b"[](" * N + b" | 1 | 1 | 1 |\n"),
    "spaces in a rule": ("import-md", b"| m |\n|-" + b" " * N + b"x\n"),
    "spaces before a rule": ("import-md", b"| m |\n" + b" " * N + b"|-x\n"),
    "a rule of many columns": ("import-md", b"| m |\n|" + b"-|" * N + b"x\n"),
    "lists in lists": ("import-json", b"[" * N),
    "objects in objects": ("import-json", b'[{"a":' * N),
    "a value nested deeply": ("import-json", b'[{"x":1,"a":' + b"[" * 900 + b"]" * 900 + b"}]"),
    "lists in a line": ("import-jsonl", b"[" * N + b'\n{"a":1}\n'),
    "a number of many digits": ("import-json", b'[{"a":1,"b":2,"acc":' + b"9" * N + b"}]"),
    "lists in a run": ("run", b"[" * N),
    "digits in a run": ("run", RUN.replace(b'"done": 1', b'"done": ' + b"9" * 5000)),
    "a run's settings in settings": (
        "run", RUN.replace(b'{"b": 1}', b'{"b":' * 400 + b"1" + b"}" * 400)
    ),
    "half a character in a run": ("run", RUN.replace(b'"x"', b'"\\ud800"')),
    "more samples than memory": (
        "outcomes", OUTCOMES.replace(b'"samples": [1, 1]', b'"samples": 99999999999999999999')
    ),
    "more items than memory": (
        "outcomes", OUTCOMES.replace(b'"items": 0', b'"items": ' + b"9" * 30)
    ),
    "spaces behind the word grid": ("page", b"```grid" + b" " * N + b"x\n```\n"),
    "spaces in a fence's list": ("page", b"``` {.grid " + b" " * 20_000 + b"x\n```\n"),
    "quotes in quotes": ("page", b"> " * 2000 + b"```grid\n"),
    "fences that aren't ended": ("page", b"```grid\ndemo/small\n\n" * 8_000),
    "fences that aren't ended, of two kinds": ("page", b"```grid\n\n~~~~grid\n\n" * 5_000),
    "many addresses": ("fence", b"demo/small\n" * 300),
    "a long address": ("fence", b"demo/" + b"s" * N),
    "brackets in brackets": ("claim", b"(" * 999 + b"1" + b")" * 999),
    "not not not": ("claim", b"not " * 400 + b"1 < 2"),
    "minus minus": ("claim", b"-" * 1999 + b"1"),
    "a long sum": ("claim", b"1" + b" + 1" * 480 + b" > 2"),
    "a long chain": ("claim", b"1" + b" < 2" * 480),
    "dots": ("claim", b'grid(model="small")' + b".mean" * 300),
    "a large product": ("claim", b"*".join([b"999999999999999"] * 58) + b" > 1"),
    "a power": ("claim", b"9**9**9 > 1"),
    "a claim of a megabyte": ("claim", b"1 < 2 and " * N),
    "boxes with a level again and again": (
        "study",
        _study(b"{rate: [0.1], depth: [1]}", b"{rate: [" + b"0.1," * 9999 + b"0.1], depth: ["
               + b"1," * 9999 + b"1]}"),
    ),
    "a level again and again": ("study", _study(b"[small, {", b"[small, " + b"a," * 5000 + b"{")),
    "many unknown keys": ("study", STUDY + b"".join(b"kex%d: 1\n" % at for at in range(1500))),
    "brackets in study.yml": ("study", b"a: " + b"[" * N),
    "aliases of aliases": (
        "study",
        b"a0: &a0 [x, x]\n" + b"".join(
            b"a%d: &a%d [%s]\n" % (at, at, b", ".join([b"*a%d" % (at - 1)] * 9))
            for at in range(1, 12)
        ),
    ),
}  # fmt: skip
"""What each is, its target, and its bytes."""


def _late(_: int, __: Any) -> None:
    raise TimeoutError


def tell() -> None:
    """A line of JSON for each: its name, and what went wrong."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGPROF, _late)
    for name, (target, data) in INPUT.items():
        fault = ""
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            TARGETS[target][0](data)
        except BaseException as error:
            fault = repr(error)[:500]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([name, fault, round(time.process_time() - began, 1)]), flush=True)


if __name__ == "__main__":
    tell()
