"""`gridatlas new`: a site from nothing, and lines in somebody's mkdocs.yml."""

import json
import os
import re
import subprocess
from pathlib import Path

import forked
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st

from gridatlas.cli.github import github_files, parse_source
from gridatlas.cli.main import main
from gridatlas.cli.new import STARTER, offer_site
from gridatlas.hosts.mkdocs_config import CannotAdd, with_plugin

DOCS = Path(__file__).parents[3] / "docs" / "assets"


def run(*arguments):
    return CliRunner().invoke(main, ["new", *arguments])


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def build(folder):
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    command = ("mkdocs", "build", "--strict", "--quiet")
    done = forked.run(command, folder, environment, apart=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


NEXT = """
Next:
  cd mine
  gridatlas check
  mkdocs serve      then open http://127.0.0.1:8000/studies/
Your own results: gridatlas import FILE
"""
EXAMPLE = "written: {0}data/example/study.yml\nwritten: {0}data/example/cells.csv\n"


def test_a_whole_site_that_builds_strictly(here):
    """Dear: the site is built with the theme that it names, all drawings anew."""
    result = run("mine")
    assert result.exit_code == 0
    assert result.output == (
        EXAMPLE.format("mine/")
        + "written: mine/.gitignore\nwritten: mine/docs/index.md\n"
        + "written: mine/docs/assets/logo.svg\nwritten: mine/docs/assets/site.css\n"
        + "written: mine/mkdocs.yml\n"
        + NEXT
    )
    checked = CliRunner().invoke(main, ["check", "mine/data"])
    assert (
        checked.output
        == "example: 2 grids, 11 values, 1 reading; answers hold if these questions are asked "
        "again\n0 problems\n"
    )
    build(here / "mine")
    index = (here / "mine/site/index.html").read_text("utf-8")
    assert '<span class="ga-number">75.1</span> %' in index
    page = (here / "mine/site/studies/example/index.html").read_text("utf-8")
    assert "Batch size and learning rate" in page
    assert "At learning rate 0.01 the large model is ahead of the small one." in (
        here / "mine/site/studies/example/checks/index.html"
    ).read_text("utf-8")
    assert (here / "mine/site/grids/example/large.svg").is_file()


def test_a_whole_site_of_zensical(here):
    result = run("mine", "--host", "zensical")
    assert result.exit_code == 0
    assert result.output == (
        EXAMPLE.format("mine/")
        + "written: mine/.gitignore\nwritten: mine/docs/index.md\n"
        + "written: mine/docs/assets/logo.svg\nwritten: mine/docs/assets/site.css\n"
        + "written: mine/zensical.toml\n"
        + NEXT.replace("  mkdocs serve     ", "  gridatlas serve  ")
    )
    command = ("gridatlas", "build", "--site", "--strict")
    done = forked.run(command, here / "mine", os.environ)
    assert done.returncode == 0, done.stdout
    index = (here / "mine/site/index.html").read_text("utf-8")
    assert '<span class="ga-number">75.1</span> %' in index
    assert (here / "mine/site/grids/example/large.svg").is_file()
    # With the host that a zensical.toml is for.
    before = files(here)
    for again in (run("mine"), run("mine", "--host", "zensical")):
        assert (again.exit_code, again.output) == (
            0,
            "Nothing to do: mine/zensical.toml is there, and there is a data folder.\n",
        )
    assert files(here) == before


@pytest.mark.parametrize("name", ["zensical.toml", "mkdocs.yml"])
def test_a_site_of_zensical_gets_an_example(here, name):
    text = "site_name: Lab\nplugins:\n  - gridatlas: {data: results}\n"
    if name == "zensical.toml":
        text = '[project]\nsite_name = "Lab"\nplugins.gridatlas.data = "results"\n'
    (here / name).write_text(text)
    result = run("--host", "zensical")
    assert (result.exit_code, result.output.partition("\nNext")[0]) == (
        0,
        "written: results/example/study.yml\nwritten: results/example/cells.csv\n",
    )
    assert (here / name).read_text() == text


def test_a_second_run_finds_nothing_to_do(here):
    run("mine")
    before = files(here)
    result = run("mine")
    assert (result.exit_code, result.output) == (
        0,
        "Nothing to do: mine/mkdocs.yml has the plugin, and there is a data folder.\n",
    )
    assert files(here) == before


def test_no_file_is_written_over(here):
    theirs = ("docs/index.md", ".gitignore", "docs/assets/logo.svg", "docs/assets/site.css")
    for name in theirs:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("mine", "utf-8")
    (here / "data").mkdir()
    result = run()
    assert result.exit_code == 0
    assert result.output.startswith(
        "left as it is: .gitignore\nleft as it is: docs/index.md\n"
        "left as it is: docs/assets/logo.svg\nleft as it is: docs/assets/site.css\n"
        "written: mkdocs.yml\n\nNext:\n"
    )
    assert set(files(here)) == {*theirs, "mkdocs.yml"}
    assert {(here / name).read_text("utf-8") for name in theirs} == {"mine"}


def test_a_new_site_looks_like_the_one_of_this_repository():
    for name in ("logo.svg", "site.css"):
        assert (STARTER / name).read_bytes() == (DOCS / name).read_bytes()


PROJECT = """\
# Our site
site_name: !ENV [NAME, Ours]
theme: {name: material, font: false}

plugins: # in this order
  - search
  - tags:   # kept
      export: true

  # what comes last
markdown_extensions:
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
"""
DIFF = """\
--- mkdocs.yml (now)
+++ mkdocs.yml (then)
@@ -6,6 +6,7 @@
   - search
   - tags:   # kept
       export: true
+  - gridatlas
 
   # what comes last
 markdown_extensions:
"""  # noqa: W293


def test_a_project_is_shown_the_change_first(here):
    (here / "mkdocs.yml").write_text(PROJECT, "utf-8")
    result = run()
    assert (result.exit_code, result.output) == (
        0,
        f"{DIFF}\nNothing was changed. To accept this, run: gridatlas new --yes\n",
    )
    assert files(here) == {"mkdocs.yml": PROJECT.encode()}


def test_a_project_gets_the_line_and_an_example(here):
    (here / "mkdocs.yml").write_text(PROJECT, "utf-8")
    result = run("--yes")
    assert (result.exit_code, result.output) == (
        0,
        f"{DIFF}changed: mkdocs.yml\n{EXAMPLE.format('')}{NEXT.replace('  cd mine' + chr(10), '')}",
    )
    after = PROJECT.replace("export: true\n", "export: true\n  - gridatlas\n")
    assert (here / "mkdocs.yml").read_text("utf-8") == after
    assert run().output == (
        "Nothing to do: mkdocs.yml has the plugin, and there is a data folder.\n"
    )


def test_the_plugins_own_data_folder_counts(here):
    (here / "mkdocs.yml").write_text(
        "site_name: a\nplugins:\n  - gridatlas:\n      data: results/\n", "utf-8"
    )
    assert run().output.startswith(
        "written: results/example/study.yml\nwritten: results/example/cells.csv\n"
    )
    assert run().output.startswith("Nothing to do")


CHANGED = {
    "no plugins": ("site_name: a\n", "site_name: a\nplugins:\n  - search\n  - gridatlas\n"),
    "no line end": ("site_name: a", "site_name: a\nplugins:\n  - search\n  - gridatlas\n"),
    "a list": ("plugins:\n- search\n", "plugins:\n- search\n- gridatlas\n"),
    "a list with options": (
        "plugins:\n    - search:\n        lang: en # ours\n\n# end\n",
        "plugins:\n    - search:\n        lang: en # ours\n    - gridatlas\n\n# end\n",
    ),
    "a list with a text over lines": (
        "plugins:\n  - x:\n      a: |\n        b\n\n        c\n\nnav: []\n",
        "plugins:\n  - x:\n      a: |\n        b\n\n        c\n  - gridatlas\n\nnav: []\n",
    ),
    "a list without options": (
        "plugins:\n  - search:\nnav: []\n",
        "plugins:\n  - search:\n  - gridatlas\nnav: []\n",
    ),
    "no line end after a list": ("plugins:\n  - search", "plugins:\n  - search\n  - gridatlas\n"),
    "in brackets": ("plugins: [search, tags] # a\n", "plugins: [search, tags, gridatlas] # a\n"),
    "in brackets, over lines": (
        "plugins: [\n  search,\n]\n",
        "plugins: [\n  search, gridatlas,\n]\n",
    ),
    "in brackets, with options": (
        "plugins: [{search: {lang: en}}]\n",
        "plugins: [{search: {lang: en}}, gridatlas]\n",
    ),
    "empty brackets": ("plugins: []\nnav: []\n", "plugins: [gridatlas]\nnav: []\n"),
    "nothing": ("plugins: # none\nnav: []\n", "plugins: # none\n  - gridatlas\nnav: []\n"),
    "a mapping": (
        "plugins:\n  search:\n    lang: en\n",
        "plugins:\n  search:\n    lang: en\n  gridatlas: {}\n",
    ),
    "a mapping in braces": ("plugins: {search: {}}\n", "plugins: {search: {}, gridatlas: {}}\n"),
    "Windows line ends": (
        "site_name: a\r\nplugins:\r\n  - search\r\nnav: []\r\n",
        "site_name: a\r\nplugins:\r\n  - search\r\n  - gridatlas\r\nnav: []\r\n",
    ),
    "a byte order mark": (
        "\ufeffplugins:\n  - search\n",
        "\ufeffplugins:\n  - search\n  - gridatlas\n",
    ),
    "tags": (
        "a: !!python/name:b.c\nplugins:\n  - search:\n      on: !ENV [CI, false]\n",
        "a: !!python/name:b.c\nplugins:\n  - search:\n      on: !ENV [CI, false]\n  - gridatlas\n",
    ),
    "there already": ("plugins: [search, gridatlas]\n", "plugins: [search, gridatlas]\n"),
    "there with options": (
        "plugins:\n  - gridatlas:\n      data: x\n",
        "plugins:\n  - gridatlas:\n      data: x\n",
    ),
}


@pytest.mark.parametrize("case", CHANGED)
def test_lines_are_added_and_the_rest_stays(case):
    before, after = CHANGED[case]
    assert with_plugin(before) == after
    assert with_plugin(after) == after
    assert yaml.compose(after.removeprefix("\ufeff"), Loader=yaml.SafeLoader) is not None


REFUSED = {
    "inherited": (
        "INHERIT: base.yml\nsite_name: a\n",
        "no plugins of its own, since it inherits base.yml",
    ),
    "not YAML": ("a: [\n", "mkdocs.yml, which isn't YAML, line 2"),
    "empty": ("", "mkdocs.yml without keys"),
    "a text": ("plugins: search\n", "plugins that aren't a list"),
    "an alias": ("a: &p [search]\nplugins: *p\n", "plugins with an anchor or an alias"),
    "braces": ("{site_name: a}\n", "mkdocs.yml as one mapping in braces"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cant_be_changed_safely_is_left(case):
    text, found = REFUSED[case]
    with pytest.raises(CannotAdd) as error:
        with_plugin(text)
    assert str(error.value) == found


def test_a_refusal_says_what_to_write(here):
    (here / "mkdocs.yml").write_text("INHERIT: base.yml\n", "utf-8")
    result = run("--yes")
    assert (result.exit_code, result.output) == (
        1,
        "Error: nothing was changed\n"
        "  found:    no plugins of its own, since it inherits base.yml\n"
        "  expected: a list of plugins in mkdocs.yml\n"
        "  fix:      add the line - gridatlas to the plugins in base.yml\n",
    )


# --- offered by an import -------------------------------------------------------------------------

TABLE = "lr,batch,acc\n0.1,16,71.2\n0.1,32,70.0\n0.2,16,69.5\n0.2,32,68.0\n"
PLUGIN = "site_name: Lab\nplugins: [search, gridatlas]\n"


@pytest.mark.parametrize(
    ("config", "option", "message", "made"),
    [
        ("", "", "Next: gridatlas new, to make a website to show it", False),
        ("", "--site", "written: mkdocs.yml", True),
        ("", "--no-site", "", False),
        ("site_name: Lab\n", "", "Next: gridatlas new, to add Grid Atlas to mkdocs.yml", False),
        ("site_name: Lab\n", "--site", "changed: mkdocs.yml", True),
        (PLUGIN, "--site", "", True),
    ],
)
def test_an_import_offers_the_website(here, config, option, message, made):
    (here / "t.csv").write_text(TABLE)
    if config:
        (here / "mkdocs.yml").write_text(config)
    result = CliRunner().invoke(main, ["import", "t.csv", "--yes", *filter(None, [option])])
    assert result.exit_code == 0, result.output
    tail = result.output.partition("0 problems\n")[2]
    assert message in tail
    assert bool(message) == bool(tail)
    text = (here / "mkdocs.yml").read_text() if config or made else ""
    assert ("gridatlas" in text) == made
    assert not (here / "data/example").exists()


@pytest.mark.parametrize(("answer", "made"), [(True, True), (False, False)])
def test_at_a_terminal_an_import_asks(here, monkeypatch, answer, made):
    monkeypatch.setattr("click.confirm", lambda *_, **__: answer)
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    offer_site(here, None)
    assert (here / "mkdocs.yml").exists() == made


# --- workflows ------------------------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = f"atlas/grid-atlas@{COMMIT}"
CALLERS = [".github/workflows/results.yml", ".github/workflows/comment.yml"]
WRITTEN = [*CALLERS, ".github/dependabot.yml"]


@pytest.fixture
def site(here):
    """A site that lacks nothing but workflows."""
    (here / "mkdocs.yml").write_text("site_name: a\nplugins: [gridatlas]\n")
    (here / "data").mkdir()
    return here


def test_workflows_are_shown_and_then_written(site):
    before = files(site)
    shown = run("--github", "--source", SOURCE)
    assert shown.exit_code == 0
    assert files(site) == before
    assert f"+    uses: atlas/grid-atlas/.github/workflows/results.yml@{COMMIT}\n" in shown.output
    command = f"gridatlas new --github --source {SOURCE} --yes"
    tail = f"\nNothing was changed. To accept this, run: {command}\n"
    assert shown.output.endswith(tail)
    done = run("--github", "--source", SOURCE, "--yes")
    assert done.exit_code == 0
    assert done.output.startswith(shown.output.removesuffix(tail))
    assert [line for line in done.output.splitlines() if line.startswith("written")] == [
        f"written: {path}" for path in WRITTEN
    ]
    assert set(files(site)) - set(before) == set(WRITTEN)
    lines = [line for path in CALLERS for line in (site / path).read_text().splitlines()]
    assert len(lines) <= 30
    assert f"{COMMIT}" in (site / CALLERS[1]).read_text()
    assert not re.search("OWNER|COMMIT", "".join(lines))
    again = run("--github", "--source", f"atlas/grid-atlas@{'f' * 40}")
    assert (again.exit_code, again.output) == (
        0,
        "Nothing to do: the workflows are there, mkdocs.yml has the plugin, "
        "and there is a data folder.\n",
    )


def test_a_workflow_that_is_there_stays(site):
    (site / CALLERS[0]).parent.mkdir(parents=True)
    (site / CALLERS[0]).write_text("name: mine\n")
    done = run("--github", "--source", SOURCE, "--yes")
    assert f"left as it is: {CALLERS[0]}\n" in done.output
    assert (site / CALLERS[0]).read_text() == "name: mine\n"
    assert (site / CALLERS[1]).is_file()


def test_workflows_know_the_plugins_own_data_folder(here):
    (here / "mkdocs.yml").write_text('site_name: a\nplugins: [gridatlas: {data: "ü: #/"}]\n')
    (here / "ü: #").mkdir()
    assert run("--github", "--source", SOURCE, "--yes").exit_code == 0
    jobs = yaml.safe_load((here / CALLERS[0]).read_text())["jobs"]
    assert jobs["results"]["with"] == {"data": "ü: #"}
    assert "with" not in jobs["deploy"]


def test_vendored_workflows_call_none_of_another_repository(site):
    done = run("--github", "--vendored", "--source", SOURCE, "--yes")
    assert done.exit_code == 0
    for name in ("results", "deploy", "comment"):
        ours = STARTER.parents[3] / f".github/workflows/{name}.yml"
        copied = site / f".github/workflows/gridatlas-{name}.yml"
        assert copied.read_bytes() == ours.read_bytes()
    callers = [yaml.safe_load((site / path).read_text()) for path in CALLERS]
    called = [job["uses"] for caller in callers for job in caller["jobs"].values()]
    assert called == [
        f"./.github/workflows/gridatlas-{n}.yml" for n in ("results", "deploy", "comment")
    ]
    assert callers[0]["jobs"]["results"]["with"] == {"source": SOURCE}


@pytest.mark.parametrize(
    ("url", "vcs", "found"),
    [
        ("https://github.com/atlas/grid-atlas", {"commit_id": COMMIT}, SOURCE),
        ("https://github.com/atlas/grid-atlas.git", {"commit_id": COMMIT}, SOURCE),
        ("ssh://git@github.com/atlas/grid-atlas.git", {"commit_id": COMMIT}, SOURCE),
        ("https://github.com/atlas/grid-atlas", {"commit_id": "main"}, None),
        ("https://git.example/atlas/grid-atlas", {"commit_id": COMMIT}, None),
        ("https://github.com.evil.example/a/b", {"commit_id": COMMIT}, None),
        ("file:///home/me/grid-atlas", None, None),
        ("", None, None),
    ],
)
def test_the_commit_is_that_of_the_installed_version(site, monkeypatch, url, vcs, found):
    record = json.dumps({"url": url} | ({"vcs_info": vcs} if vcs else {"dir_info": {}}))
    installed = type("Installed", (), {"read_text": lambda self, _: record if url else None})
    monkeypatch.setattr("gridatlas.cli.github.metadata.distribution", lambda _: installed())
    result = run("--github", "--yes")
    if found:
        assert result.exit_code == 0
        repository, commit = found.split("@")
        assert (
            f"{repository}/.github/workflows/results.yml@{commit}"
            in (site / CALLERS[0]).read_text()
        )
        return
    reason = (
        "this installation isn't from a commit on GitHub"
        if url
        else "pip recorded no source of this installation"
    )
    assert (result.exit_code, result.output) == (
        1,
        "Error: nothing was changed\n"
        f"  found:    {reason}\n"
        "  expected: a commit, which the workflows name and install\n"
        "  fix:      name it: gridatlas new --github --source OWNER/grid-atlas@COMMIT\n",
    )
    assert not (site / ".github").exists()


@pytest.mark.parametrize("pushed", [True, False])
def test_the_commit_of_a_clone_is_that_which_github_has(
    site, tmp_path_factory, monkeypatch, pushed
):
    clone = tmp_path_factory.mktemp("grid atlas")

    def git(*words):
        named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *named, *words], cwd=clone, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "Begin")
    git("remote", "add", "origin", "git@github.com:atlas/grid-atlas.git")
    commit = git("rev-parse", "HEAD")
    if pushed:
        git("update-ref", "refs/remotes/origin/main", commit)
    record = json.dumps({"url": clone.as_uri(), "dir_info": {"editable": True}})
    installed = type("Installed", (), {"read_text": lambda self, _: record})
    monkeypatch.setattr("gridatlas.cli.github.metadata.distribution", lambda _: installed())
    result = run("--github", "--yes")
    named = f"atlas/grid-atlas/.github/workflows/results.yml@{commit}"
    assert (result.exit_code, named in result.output) == (0 if pushed else 1, pushed)
    assert ("isn't from a commit on GitHub" in result.output) is not pushed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vendored"], "--vendored and --source are for --github"),
        (["--source", SOURCE], "--vendored and --source are for --github"),
        (["--github", "--source", "atlas/grid-atlas"], "with all 40 digits of the commit"),
        (["--github", "--source", f"a b/c@{COMMIT}"], "with all 40 digits of the commit"),
        (["--github", "--source", f"a/b@{COMMIT}\nx"], "with all 40 digits of the commit"),
    ],
)
def test_what_is_asked_wrongly_changes_nothing(site, arguments, message):
    result = run(*arguments, "--yes")
    assert result.exit_code == 2
    assert message in result.output
    assert not (site / ".github").exists()


FOLDERS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"))


@given(
    FOLDERS | st.sampled_from(["a\u2028b", "\x85", "a: #b", "${ {x}}", "'\"\\", "é😀", "y", "1"])
)
def test_a_data_folder_of_any_name_reaches_the_workflow_as_it_is(data):
    source = parse_source(SOURCE)
    assert source
    assume("${{" not in data)
    for vendored in (False, True):
        text = github_files(source, data, vendored=vendored)[".github/workflows/results.yml"]
        taken = yaml.safe_load(text)["jobs"]["results"].get("with", {})
        assert taken.get("data", "data") == data
        assert "${{" not in text


@pytest.mark.parametrize("more", [[], ["--vendored"]])
def test_workflows_of_zensical_name_its_configuration(tmp_path, more):
    folder = str(tmp_path / "site")
    done = run(folder, "--host", "zensical", "--github", "--source", SOURCE, "--yes", *more)
    assert done.exit_code == 0, done.output
    calls = [
        job
        for name in ("results", "comment")
        for job in yaml.safe_load((tmp_path / f"site/.github/workflows/{name}.yml").read_text())[
            "jobs"
        ].values()
    ]
    given = [job.get("with", {}) for job in calls]
    assert [entry.get("config") for entry in given] == ["zensical.toml", None, None]
    assert [entry.get("source") for entry in given] == [SOURCE if more else None] * 3


def test_a_data_folder_that_github_would_evaluate_is_refused(site):
    text = 'site_name: a\nplugins: [gridatlas: {data: "d${{ github.token }}"}]\n'
    (site / "mkdocs.yml").write_text(text)
    done = run("--github", "--source", SOURCE, "--yes")
    assert (done.exit_code, done.output) == (
        1,
        'Error: the data folder "d${{ github.token }}"\n'
        "  expected: a name without ${{, which begins an expression in workflows\n"
        "  fix:      rename the folder, and the option data of the plugin\n",
    )
    assert not (site / ".github").exists()
