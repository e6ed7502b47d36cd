"""The site of before stays whole until the new one is: where a build fails, and in odd folders."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest
import site_builds
from site_builds import Project

PLAIN = {"theme": {"name": "mkdocs"}}
"""The quickest theme to build with."""


@pytest.fixture
def project(tiny: Callable[..., Project]) -> Project:
    return tiny(**PLAIN)


@pytest.fixture(scope="module")
def standing(
    tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> tuple[Project, dict[str, bytes]]:
    """A project with a page more than its site has, and the files of the site."""
    folder = tmp_path_factory.mktemp("standing") / "project"
    project = site_builds.make_project(folder, cache, **PLAIN, hooks=["hook.py"])
    site_builds.add_tiny_study(project)
    project.write("hook.py", "")
    before = project.built().files()
    project.write("docs/more.md", "# More\n")
    return project, before


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- builds that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "arguments"),
    [
        ("docs/index.md", "# Home\n\n[nowhere](nowhere.md)\n", ["--strict"]),
        ("data/tiny/cells.csv", "model,batch,rate,accuracy\nsmall,8,0.1,oops\n", ["--strict"]),
        ("hook.py", "def on_post_build(config):\n    raise RuntimeError('late')\n", []),
        (
            "hook.py",
            "import os\ndef on_env(env, config, files):\n    os.kill(os.getpid(), 2)\n",
            [],
        ),
    ],
    ids=["a warning of MkDocs", "a problem in the data", "an error", "Ctrl-C"],
)
def test_a_build_that_fails_leaves_the_site_as_it_was(
    standing: tuple[Project, dict[str, bytes]], path: str, text: str, arguments: list[str]
) -> None:
    project, before = standing
    file = project.folder / path
    good = file.read_text("utf-8")
    file.write_text(text, "utf-8")
    try:
        build = project.build(*arguments)
    finally:
        file.write_text(good, "utf-8")
    assert build.status != 0
    assert build.files() == before
    assert not [name for name in names(build.site) if name.startswith(".")]


def test_a_first_build_that_fails_leaves_no_folder(project: Project) -> None:
    project.write("docs/index.md", "[nowhere](nowhere.md)\n")
    build = project.build("--strict", into="new/site")
    assert build.status == 1
    assert not build.site.exists()


def test_a_site_that_cannot_be_brought_to_its_folder(project: Project) -> None:
    before = project.built().files()
    # While the site is built somebody puts a folder where a page of it shall be.
    project.write(
        "hook.py",
        "from pathlib import Path\n"
        "def on_post_build(config):\n"
        "    Path('site/zzz.html/mine').mkdir(parents=True)\n",
    )
    project.configure(hooks=["hook.py"])
    project.write("docs/zzz.html", "<p>a file\n")
    build = project.build()
    assert build.status == 1
    assert (
        "gridatlas: the site was built, but couldn't replace the one before, which is unchanged\n"
        in build.log
    )
    assert "zzz.html" in build.log
    assert "  fix:      " in build.log
    assert "Traceback" not in build.log
    assert build.files() == before


# --- what else is in the folder -----------------------------------------------------------------


def test_what_the_last_build_left_goes_and_what_is_hidden_stays(project: Project) -> None:
    project.write("docs/one", "a file, then a folder\n")
    project.write("docs/two/page.txt", "in a folder, then a file\n")
    project.write("docs/gone/deep/page.txt", "then nothing\n")
    site = project.built().site
    (site / ".git").write_text("gitdir: elsewhere\n")
    (site / "theirs.html").write_text("a file that no build wrote goes, as MkDocs does it\n")
    (site / ".gridatlas-left/site").mkdir(parents=True)
    number = site.stat().st_ino
    project.write("docs/elsewhere", "").unlink()
    (project.folder / "docs/one").unlink()
    project.write("docs/one/page.txt", "in a folder\n")
    (project.folder / "docs/two/page.txt").unlink()
    (project.folder / "docs/two").rmdir()
    project.write("docs/two", "a file\n")
    (project.folder / "docs/gone/deep/page.txt").unlink()
    again = project.built()
    assert again.files()["one/page.txt"] == b"in a folder\n"
    assert again.files()["two"] == b"a file\n"
    assert not (site / "gone").exists()
    assert not (site / "theirs.html").exists()
    assert {name for name in names(site) if name.startswith(".")} == {".git"}
    # It is the same folder: it may be a mount, or one that a server is in.
    assert site.stat().st_ino == number
    fresh = project.built(into="fresh").files()
    assert again.files() == fresh | {".git": b"gitdir: elsewhere\n"}


def test_a_folder_that_is_a_link(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project.folder / "site").symlink_to(tmp_path / "elsewhere")
    project.built()
    assert (project.folder / "site").is_symlink()
    assert (tmp_path / "elsewhere/studies/tiny/index.html").is_file()


def test_what_other_plugins_write_last_is_in_the_site(project: Project) -> None:
    project.write(
        "hook.py",
        "from pathlib import Path\n"
        "from mkdocs.plugins import event_priority\n"
        "@event_priority(-1000)\n"
        "def on_post_build(config):\n"
        "    (Path(config.site_dir) / 'late.txt').write_text('late')\n"
        "    Path('site').mkdir(exist_ok=True)\n"
        "    Path('site/by-name.txt').write_text('by name')\n"
        "    with open('site/index.html', 'a') as page:\n"
        "        page.write('lost')\n",
    )
    project.configure(hooks=["hook.py"])
    project.built()
    build = project.built()
    assert build.files()["late.txt"] == b"late"
    assert build.files()["by-name.txt"] == b"by name"
    assert b"lost" not in build.files()["index.html"]
    [warning] = [line for line in build.log.splitlines() if line.startswith("WARNING")]
    assert warning.endswith(
        f"a hook or plugin wrote into {build.site} during the build: index.html. It should write "
        "into config.site_dir, where the site is built"
    )


def test_a_hook_finds_all_files_though_nothing_changed(project: Project) -> None:
    site = project.built().site
    changed = {path: path.stat().st_ctime_ns for path in site.rglob("*") if path.is_file()}
    project.write(
        "hook.py",
        "from pathlib import Path\n"
        "def on_post_build(config):\n"
        "    for file in Path(config.site_dir, 'grids').rglob('*.csv'):\n"
        "        file.write_text(file.read_text() + 'by a hook')\n",
    )
    files = project.built().files()
    assert {path: path.stat().st_ctime_ns for path in changed} == changed
    # A hook finds all files where the site is built, and may change them.
    project.configure(hooks=["hook.py"])
    for _ in range(2):
        hooked = project.built().files()
        assert hooked.keys() == files.keys()
        differ = [path for path in files if hooked[path] != files[path]]
        assert differ == [path for path in files if path.startswith("grids/") and ".csv" in path]
    project.configure(hooks=[])
    assert project.built().files() == files


# --- other commands -----------------------------------------------------------------------------


def test_gh_deploy_publishes_the_new_site(project: Project, tmp_path: Path) -> None:
    def git(*command: str) -> str:
        name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        done = subprocess.run(
            ["git", *name, *command], cwd=project.folder, capture_output=True, text=True, check=True
        )
        return done.stdout

    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote"], check=True)
    git("init", "-q")
    git("remote", "add", "origin", str(tmp_path / "remote"))
    git("add", "docs")
    git("commit", "-qm", "Begin")
    project.write("docs/more.md", "# More\n")
    environment = {"GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@example.org",
                   "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@example.org"}  # fmt: skip
    done = site_builds.run(
        [sys.executable, "-m", "mkdocs", "gh-deploy"], project.folder, environment
    )
    assert done.returncode == 0, done.stdout
    site = site_builds.Build(0, "", project.folder / "site")
    published = set(git("ls-tree", "-r", "--name-only", "-z", "origin/gh-pages").split("\0")) - {""}
    assert published == site.files().keys() | {".nojekyll"}
    assert "more/index.html" in published


def test_a_server_shows_a_clean_build(project: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "--clean", "--dev-addr", address],
        cwd=project.folder,
        env=site_builds.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        end = time.monotonic() + 300
        while True:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                with urlopen(f"http://{address}/studies/tiny/", timeout=60) as answer:
                    assert b"Learning rate and batch size" in answer.read()
                    break
            # Nobody answers yet, or the answer broke off.
            except (OSError, HTTPException):
                assert time.monotonic() < end
                time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    assert not (project.folder / "site").exists()


def test_a_dirty_build_changes_the_site_that_is_there(project: Project) -> None:
    site = project.built().site
    project.write("docs/index.md", "# Home, again\n")
    os.utime(project.folder / "docs/index.md", (2**32, 2**32))
    (site / "theirs.txt").write_text("stays")
    again = project.built("--dirty")
    assert b"Home, again" in again.files()["index.html"]
    assert again.files()["theirs.txt"] == b"stays"
