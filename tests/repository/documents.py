"""The documents as texts: their blocks and words, and what happens when one does what they say."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import forked

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RECORDS = [*(ROOT / "benchmarks").glob("*.md"), *(ROOT / "decisions").glob("*.md")]
"""For who works on the project; the site doesn't have them."""
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *RECORDS]

NOT_RUN = re.compile(r"python3 -m venv|\. \.venv/|pip install|mkdocs serve|make ")
"""Commands of the documents that need a network, or don't end."""
NOT_PLAIN = re.compile(r"[|&;<>()$`\\*?\[\]#~=%\n{}]")
"""What a shell makes something else of."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    fence = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    return [Block(*found) for found in fence.findall(page.read_text("utf-8").replace("\r", ""))]


def words(page: Path) -> set[str]:
    """All that stands in single backticks on a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_MKDOCS_2_WARNING": "1",
        "DISABLE_MKDOCS_2_WARNING": "true",
    }
    if not NOT_PLAIN.search(command) and command.split(maxsplit=1)[0] in forked.COMMANDS:
        return forked.run(shlex.split(command), folder, environment, apart=True)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def follow(page: Path, folder: Path) -> list[str]:
    """Do what a page says, from top to bottom; return the commands that were run."""
    done = []
    for block in blocks(page):
        if block.language == "sh":
            for command in block.text.splitlines():
                if NOT_RUN.match(command):
                    continue
                # Strict, so that a warning of the build is seen here.
                strictly = command.replace("mkdocs build", "mkdocs build --strict")
                result = run(strictly, folder)
                assert result.returncode == 0, command + result.stdout + result.stderr
                done.append(command)
        elif block.language == "text" and block.title:
            assert run(block.title, folder).stdout == block.text
        elif block.title:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
    return done
