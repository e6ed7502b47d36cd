"""What tests are run with: commands in copies of a process do as where Python starts anew."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from builders import HEAD, write_study
from costs import Meter

QUIET = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
COMMANDS = [
    ("gridatlas", "check"),
    ("gridatlas", "check", "--wrong"),
    ("gridatlas", "check", "broken"),
    ("mkdocs", "build", "--quiet"),
    ("mkdocs", "build", "--strict", "--config-file", "none.yml"),
    ("gridatlas", "build", "--site", "--host", "mkdocs"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_study(tmp_path / "data/demo", HEAD)
    write_study(tmp_path / "broken/demo", HEAD.replace("format: 1", "format: one"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Home\n", "utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: Mine\nplugins: [missing]\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_copy_says_and_returns_the_same(folder: Path, command: tuple[str, ...]) -> None:
    environment = os.environ | QUIET
    name, *arguments = command
    start = (
        ["-m", "mkdocs"] if name == "mkdocs" else [str(Path(sys.executable).with_name("gridatlas"))]
    )
    started = subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    copy = forked.run(command, folder, environment, apart=True)
    assert (copy.returncode, copy.stdout, copy.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )
    together = forked.run(command, folder, environment)
    assert together.returncode == started.returncode
    assert sorted(together.stdout) == sorted(started.stdout + started.stderr)


def test_a_copy_has_the_variables_and_the_folder_that_are_said(folder: Path) -> None:
    (folder / "mkdocs.yml").write_text("site_name: !ENV NAME_OF_SITE\n", "utf-8")
    name = {"NAME_OF_SITE": "From a variable"}
    for environment, shown in ((QUIET | name, True), (QUIET, False)):
        forked.run(("mkdocs", "build", "--quiet"), folder, os.environ | environment)
        page = folder / "site/index.html"
        assert (page.exists() and "From a variable" in page.read_text("utf-8")) == shown
        page.unlink(missing_ok=True)


MATERIAL = """
site_name: Mine
theme: {name: material, font: false, custom_dir: overrides, logo: logo.svg}
plugins: [search, gridatlas]
"""


def test_a_copy_builds_the_same_site(folder: Path) -> None:
    """Dear: templates are compiled, and the theme's files listed, as where Python starts anew.

    The second copy has the templates of the first, but for one that was changed.
    """
    for path, text in {
        "mkdocs.yml": MATERIAL,
        "overrides/logo.svg": "<svg/>",
        "overrides/main.html": '{% extends "base.html" %}{% block footer %}One{% endblock %}',
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    environment = os.environ | QUIET | {"SOURCE_DATE_EPOCH": "1700000000"}
    command = ("mkdocs", "build", "--quiet", "--strict", "--site-dir")
    sites = [folder / name for name in ("started", "first", "second", "changed")]
    subprocess.run(
        [sys.executable, "-m", *command, sites[0]], cwd=folder, env=environment, check=True
    )
    for site in sites[1:]:
        if site == sites[1]:  # Charts are drawn as where Python starts anew, too.
            shutil.rmtree(folder / ".cache")
        if site == sites[-1]:
            (folder / "overrides/main.html").write_text("Two", "utf-8")
        assert forked.run((*command, str(site)), folder, environment).returncode == 0
    files = [
        {file.relative_to(site): file.read_bytes() for file in site.rglob("*") if file.is_file()}
        for site in sites
    ]
    assert len(files[0]) > 50
    assert files[0] == files[1] == files[2]
    assert files[3].keys() == files[0].keys()
    assert files[3][Path("studies/demo/index.html")] == b"Two"


ENDLESS = ("mkdocs", "build", "--config-file", "waiting.yml")
"""Where `waiting.yml` is a pipe that nobody writes to."""


def test_a_copy_that_does_not_end_is_killed(folder: Path) -> None:
    os.mkfifo(folder / "waiting.yml")
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(ENDLESS, folder, os.environ | QUIET, timeout=0.2)
    assert forked.run(("gridatlas", "check"), folder, os.environ).returncode == 0


def test_a_copy_that_is_killed_at_once_said_nothing(folder: Path) -> None:
    os.mkfifo(folder / "waiting.yml")
    log = folder / "log"
    for _ in range(20):
        running = forked.start(ENDLESS, folder, os.environ, log, log)
        running.send_signal(signal.SIGKILL)
        assert running.wait(600) == -signal.SIGKILL
        assert log.read_text("utf-8") == ""
        log.unlink()


SCRIPT = """
gridatlas check broken > report.txt 2> errors.txt; echo $?
cat report.txt errors.txt
gridatlas check --wrong; echo $?
python -m mkdocs build --strict --config-file none.yml; echo $?
mkdocs build --quiet; echo $?
python -c 'import sys; print(sys.argv)' one
"""


def test_commands_of_a_script_say_and_return_the_same(folder: Path) -> None:
    programs = Path(sys.executable).parent
    done = [
        subprocess.run(
            ["bash", "-c", SCRIPT],
            cwd=folder,
            env=os.environ | QUIET | {"PATH": os.pathsep.join([*path, os.environ["PATH"]])},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        ).stdout
        for path in ([str(programs)], [str(forked.commands()), str(programs)])
    ]
    assert done[0] == done[1]
    assert done[0].splitlines()[0] == "1"
    assert "[unknown-format]" in done[0]
    assert done[0].splitlines()[-1] == "['-c', 'one']"


def test_what_children_use_is_counted_while_they_run_and_afterwards() -> None:
    used = Meter().used
    before = used()
    count = "x = 0\nwhile x < 3_000_000: x += 1\nprint(flush=True)\ninput()"
    child = subprocess.Popen(
        [sys.executable, "-c", count], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    running = used()
    child.communicate(b"\n")
    assert running > before + 0.01
    # Once: what was seen of it isn't added again when it has ended.
    assert running <= used() < running + (running - before) / 2 + 0.05
