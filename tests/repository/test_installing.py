"""No command of ours installs a name that isn't ours: whoever takes it would own the machine."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT

NAME = "gridatlas"
"""Isn't registered on PyPI. Once it is, and is ours, this file can go."""

ANY_NAME = r"grid[-_.]?atlas"
"""A registry takes these for names, too."""
NAMED = re.compile(ANY_NAME, re.IGNORECASE)
FROM_A_PLACE = re.compile(rf"{ANY_NAME}(?:\[[\w, -]+\])?\s*@\s*\S+", re.IGNORECASE)
REQUIREMENT = re.compile(
    rf"(?<![\w./-]){ANY_NAME}(?:\[[\w$, -]+\]|\s*(?:[=~!<>]=|===|[<>])\s*v?\d)", re.IGNORECASE
)
"""The name with extras or a version, from no place."""
COMMAND = re.compile(
    r"\b(?:(?:pip[\d.]*|pipx|uv|poetry|pdm|rye|pixi|hatch|conda|mamba|micromamba)"
    r"(?: pip| tool)? (?:install|add|download|wheel)|uvx|pipx run)\b(?P<rest>[^;|&#`]*)",
    re.IGNORECASE,
)
ARGUMENT = re.compile(rf"[\"'(]*{ANY_NAME}(?:\[[\w$, -]+\])?[\"').,:;\]]*", re.IGNORECASE)
FENCE = re.compile(r'^```\w*(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
REQUIREMENTS_FILE = re.compile(r"requirements[\w.-]*\.(?:txt|in|lock)|environment\.ya?ml")


def tracked() -> list[Path]:
    """All files under git; of an unpacked sdist, which has no git, all that aren't built."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    built = {".venv", ".cache", "build", "dist", "site", "__pycache__"}
    files = [path for path in ROOT.rglob("*") if path.is_file()]
    return [path for path in files if not built & set(path.relative_to(ROOT).parts)]


def texts(path: Path, content: str) -> Iterator[str]:
    """What may be a command or a message: lines, code within sentences, and texts of Python."""
    lines = re.sub(r"\\\n\s*", " ", content)
    yield from lines.splitlines()
    if path.suffix in (".md", ".jinja"):
        sentences = FENCE.sub("", content)
        yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", sentences))
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from node.value.splitlines()
            elif isinstance(node, ast.JoinedStr):
                parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                yield " ".join(map(str, parts))


def requirements(path: Path, content: str) -> Iterator[str]:
    """The lines of a requirements file, and of those that a page shows."""
    files = [(path.name, content)]
    if path.suffix == ".md":
        files += FENCE.findall(content)
    for name, text in files:
        if REQUIREMENTS_FILE.fullmatch(Path(name).name):
            yield from text.splitlines()


def installs_the_name(text: str) -> bool:
    if not NAMED.search(text):  # As nearly all texts.
        return False
    text = FROM_A_PLACE.sub("", text)
    if REQUIREMENT.search(text):
        return True
    return any(
        ARGUMENT.fullmatch(argument)
        for command in COMMAND.finditer(text)
        for argument in command["rest"].split()
    )


def found(path: Path, content: str) -> list[str]:
    """What installs the name, or tells a reader to."""
    return [
        *(text for text in texts(path, content) if installs_the_name(text)),
        *(
            line
            for line in requirements(path, content)
            if ARGUMENT.fullmatch(line.strip().removeprefix("- ").partition(" #")[0].strip())
        ),
    ]


def test_no_file_installs_a_name_that_is_not_ours() -> None:
    files = tracked()
    assert ROOT / "docs/python.md" in files
    assert ROOT / "plugin/gridatlas/data/tables.py" in files
    assert ROOT / ".github/workflows/results.yml" in files
    wrong = {}
    for path in files:
        content = path.read_bytes().decode("utf-8", "replace")
        # A page as a reader has it names the versions that were measured with.
        if path.is_relative_to(ROOT / "tests/golden/sites"):
            continue
        if "\0" not in content and (hits := found(path, content)):
            wrong[path.relative_to(ROOT).as_posix()] = hits
    assert wrong == {}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.md", f"`pip install {NAME}` is all.\n"),
        ("a.md", f"Type `pip install\n{NAME}`, please.\n"),
        ("a.md", f"```sh\npython -m pip install --upgrade \\\n  {NAME.title()}\n```\n"),
        ("a.md", f"once it is on PyPI, `{NAME}[mkdocs]==0.1.0` will do\n"),
        ("a.md", f'```text title="requirements.txt"\nmkdocs\n{NAME}  # the plugin\n```\n'),
        ("requirements-docs.txt", f"{NAME}\n"),
        ("environment.yml", f"dependencies:\n  - {NAME}\n"),
        ("a.toml", f'dependencies = ["{NAME} >= 0.1"]\n'),
        ("a.yml", f"run: uv tool install {NAME}\n"),
        ("a.sh", f"uvx {NAME} check\n"),
        ("a.sh", f"pip install {NAME.replace('d', 'd-')}\n"),
        ("a.sh", f'wanted=("{NAME}[$extras]==$VERSION")\n'),
        ("a.py", f"fix = 'pip install \"{NAME}[parquet]\", or save it'\n"),
        ("a.py", f'fix = (\n    "pip "\n    "install {NAME}"\n)\n'),
        ("a.ipynb", f'"source": ["%pip install -q {NAME}"]\n'),
    ],
)
def test_each_way_to_install_the_name_is_seen(file: str, content: str) -> None:
    assert found(Path(file), content) != []


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.md", 'Type `pip install "/path/to/grid-atlas[mkdocs]"`, then `gridatlas check`.\n'),
        ("a.md", '```sh\npip install "/path/to/grid-atlas[mkdocs]"\ngridatlas check\n```\n'),
        ("a.md", f"```text\n{NAME}[mkdocs] @ git+https://example.org/grid-atlas@COMMIT\n```\n"),
        ("a.sh", f'pip install "{NAME} @ git+https://example.org/grid-atlas@COMMIT"\n'),
        ("a.yml", "uses: OWNER/grid-atlas/.github/workflows/results.yml@COMMIT\n"),
        ("mkdocs.yml", "plugins:\n  - search\n  - gridatlas\n"),
        ("a.sh", 'pip install -e ".[reproduce]"; gridatlas check\n'),
        ("a.py", 'study = gridatlas.load("data")["demo"]\n'),
    ],
)
def test_what_installs_it_from_a_place_is_fine(file: str, content: str) -> None:
    assert found(Path(file), content) == []
