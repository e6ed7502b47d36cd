"""`gridatlas build`: pages in a folder, all or none, and nobody else's files."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import site_builds
from click.testing import CliRunner, Result

from gridatlas.cli.main import main
from gridatlas.files import staging
from gridatlas.files.staging import move
from gridatlas_zensical import into as written
from gridatlas_zensical.into import MANIFEST, FolderError, write


def _files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


# --- files in a folder --------------------------------------------------------------------------


def test_only_own_files_are_written_changed_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "new/docs"
    first = write({"a.md": b"1", "s/b.md": b"1", "s/t/c.md": b"1"}, folder)
    assert (first.added, first.same) == (("a.md", "s/b.md", "s/t/c.md"), 0)
    (folder / "s/mine.md").write_text("mine", "utf-8")
    second = write({"a.md": b"2", "d.md": b"1"}, folder)
    assert second == written.FolderChanges(("d.md",), ("a.md",), ("s/b.md", "s/t/c.md"), 0)
    assert _files(folder).keys() == {"a.md", "d.md", "s/mine.md", MANIFEST}
    assert [path.name for path in folder.rglob("*") if path.is_dir()] == ["s"]


def test_what_is_the_same_is_not_touched(tmp_path: Path) -> None:
    files = {"a.md": b"1", "s/b.md": b"2"}
    write(files, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write(files, tmp_path) == written.FolderChanges((), (), (), 2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("first", [None, {"a.md": b"1"}])
def test_a_file_of_others_is_never_overwritten(
    tmp_path: Path, first: Mapping[str, bytes] | None
) -> None:
    if first:
        write(first, tmp_path)
    (tmp_path / "a.md").write_text("mine", "utf-8")
    before = _files(tmp_path)
    with pytest.raises(
        FolderError, match=r"overwrite 1 file that no build wrote, or that changed since: a\.md\n"
    ):
        write({"a.md": b"2", "b.md": b"2"}, tmp_path)
    assert _files(tmp_path) == before


def test_a_file_of_others_with_the_same_content_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("1", "utf-8")
    assert write({"a.md": b"1"}, tmp_path).same == 1


def test_a_changed_file_that_is_not_needed_any_more_stays(tmp_path: Path) -> None:
    write({"a.md": b"1", "b.md": b"1"}, tmp_path)
    (tmp_path / "b.md").write_text("mine", "utf-8")
    assert write({"a.md": b"1"}, tmp_path).left == ("b.md",)
    assert (tmp_path / "b.md").read_text("utf-8") == "mine"
    # It is nobody's then.
    assert write({"a.md": b"1"}, tmp_path).left == ()


@pytest.mark.parametrize(
    ("kind", "path"), [("s", "s/a.md"), ("s/a.md/x", "s/a.md"), ("s", "s/t/a.md")]
)
def test_files_and_folders_in_the_way_are_told(tmp_path: Path, kind: str, path: str) -> None:
    (tmp_path / kind).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / kind).write_text("mine", "utf-8")
    before = _files(tmp_path)
    with pytest.raises(
        FolderError, match="nothing was written, since folders and files there have the same names"
    ):
        write({path: b"1"}, tmp_path)
    assert _files(tmp_path) == before


@pytest.mark.parametrize(
    "manifest",
    ["", "[]", "{}", '{"format": 2, "files": {}}', '{"format": 1, "files": {"../a": ""}}'],
)
def test_a_damaged_manifest_is_not_guessed(tmp_path: Path, manifest: str) -> None:
    (tmp_path / MANIFEST).write_text(manifest, "utf-8")
    with pytest.raises(FolderError, match="isn't a list of files that a build wrote"):
        write({"a.md": b"1"}, tmp_path)
    assert _files(tmp_path).keys() == {MANIFEST}


def test_all_is_put_back_where_one_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a.md": b"1", "old/b.md": b"1"}, tmp_path)
    before = _files(tmp_path)

    def failing(source: Path, target: Path) -> None:
        if target.name == "last.md":
            raise OSError(28, "No space left on device", str(target))
        move(source, target)

    monkeypatch.setattr(staging, "move", failing)
    with pytest.raises(FolderError, match=r"last\.md: No space left on device"):
        write({"a.md": b"2", "new/c.md": b"2", "new/last.md": b"2"}, tmp_path)
    assert _files(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {"a.md", "old", MANIFEST}


def test_what_a_killed_build_left_is_removed_though_all_is_written(tmp_path: Path) -> None:
    write({"a.md": b"1"}, tmp_path)
    before = _files(tmp_path)
    (tmp_path / ".gridatlas-left").mkdir()
    (tmp_path / ".gridatlas-left/kept-0").write_text("from before", "utf-8")
    assert write({"a.md": b"1"}, tmp_path).same == 1
    assert _files(tmp_path) == before


class Killed(BaseException):
    """Nothing is put back: as where the process is killed."""


@pytest.mark.parametrize("third", [{"a.md": b"1", "s/b.md": b"1"}, {"a.md": b"2"}, {"a.md": b"3"}])
def test_a_build_after_a_killed_one_knows_what_that_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, third: Mapping[str, bytes]
) -> None:
    """Killed at the first file that is moved, at the second, and so on until none is left."""
    for at in range(1, 20):
        folder = tmp_path / str(at)
        write({"a.md": b"1", "s/b.md": b"1"}, folder)
        moved = 0

        def dying(source: Path, target: Path, at: int = at) -> None:
            nonlocal moved
            moved += 1
            if moved == at:
                raise Killed
            move(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(staging, "move", dying)
            patch.setattr(staging.FileTransaction, "__exit__", lambda *_: None)
            patch.setattr(staging.StagingDir, "close", lambda made: os.close(made._handle))
            try:
                write({"a.md": b"2", "t/c.md": b"2"}, folder)
            except Killed:
                pass
            else:
                break
        write(third, folder)
        assert {path: text for path, text in _files(folder).items() if path != MANIFEST} == third
        assert not (folder / "t").exists()
    assert at > 3


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with a study, which is the working folder."""
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    made = site_builds.make_project(tmp_path / "project", cache)
    site_builds.add_tiny_study(made)
    made.write("docs/studies/mine.md", "# Mine\n")
    monkeypatch.chdir(made.folder)
    return made.folder


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["build", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_build_says_what_it_wrote_and_does_it_alike(project: Path) -> None:
    first = _run("--into", "docs")
    assert first.exit_code == 0
    pages = "6 pages and their files are in docs: "
    assert re.fullmatch(rf"{pages}\d+ added\n", first.stdout)
    before = _files(project / "docs")
    assert {"studies/tiny/index.md", "studies/.nav.yml", "studies/mine.md"} <= before.keys()
    assert "grids/tiny/small.csv" in before
    assert before["studies/mine.md"] == b"# Mine\n"
    assert re.fullmatch(rf"{pages}\d+ as before\n", _run("--into", "docs").stdout)
    assert _files(project / "docs") == before


def test_build_follows_the_data(project: Path) -> None:
    _run("--into", "docs")
    cells = project / "data/tiny/cells.csv"
    text = cells.read_text("utf-8")
    cells.write_text("\n".join(text.splitlines()[:5]) + "\n", "utf-8")
    result = _run("--into", "docs")
    assert "removed  docs/grids/tiny/large.csv\n" in result.output
    assert "removed  docs/studies/tiny/model/large/index.md\n" in result.output
    assert not (project / "docs/studies/tiny/model/large").exists()
    assert (project / "docs/studies/mine.md").is_file()


def test_build_says_in_json_what_changed_and_what_is_wrong(project: Path) -> None:
    first = json.loads(_run("--into", "docs", "--json").stdout)
    assert (first["folder"], first["pages"], first["problems"]) == ("docs", 6, [])
    assert "studies/tiny/index.md" in first["added"]
    with (project / "data/tiny/cells.csv").open("a", encoding="utf-8") as cells:
        cells.write("small,8,0.1,101\n")
    result = _run("--into", "docs", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    then = json.loads(result.stdout)
    assert "studies/tiny/index.md" in then["changed"]
    assert [(of["file"], of["line"]) for of in then["problems"]] == [("data/tiny/cells.csv", 10)]
    assert (then["added"], then["kept"]) == ([], [])


def test_build_with_problems_writes_and_fails(project: Path) -> None:
    with (project / "data/tiny/cells.csv").open("a", encoding="utf-8") as cells:
        cells.write("small,8,0.1,101\n")
    result = _run("--into", "docs")
    assert result.exit_code == 1
    assert "problem [" in result.output
    assert "problem" in (project / "docs/studies/tiny/index.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--into", "docs", "--data", "dta"], "there is no folder dta; name the folder"),
        (["--into", "data/docs"], "data/docs lies in data: pages there would be taken for"),
        (["--into", "docs", "--pages", "../up"], "--pages ../up: name a folder such as studies"),
        ([], "name what to build: --site for the site"),
        (["--site", "--json"], "--site takes no --json"),
    ],
)
def test_wrong_usage_is_told(project: Path, arguments: list[str], message: str) -> None:
    before = _files(project / "docs")
    result = _run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert _files(project / "docs") == before


def test_a_file_in_the_way_ends_the_build(project: Path) -> None:
    (project / "docs/studies/index.md").write_text("# Mine\n", "utf-8")
    result = _run("--into", "docs")
    assert result.exit_code == 2
    assert "no build wrote, or that changed since: studies/index.md" in result.output
    assert not (project / "docs/grids").exists()


def test_navigation_has_short_titles_in_the_order_of_the_pages(project: Path) -> None:
    _run("--into", "docs")
    nav = {
        path: content.decode()
        for path, content in _files(project / "docs").items()
        if path.endswith(".nav.yml")
    }
    assert nav == {
        "studies/.nav.yml": 'title: "Studies"\nnav:\n  - index.md\n  - tiny\n',
        "studies/tiny/.nav.yml": 'title: "Learning rate and batch size"\nnav:\n'
        '  - index.md\n  - model\n  - "Checks": checks/index.md\n',
        "studies/tiny/model/.nav.yml": 'title: "Model"\nnav:\n  - index.md\n'
        '  - "Small": small/index.md\n  - "Large": large/index.md\n',
    }


def test_the_manifest_names_all_that_was_written(project: Path) -> None:
    _run("--into", "docs")
    named = json.loads((project / "docs" / MANIFEST).read_text("utf-8"))["files"]
    mine = {MANIFEST, "index.md", "studies/mine.md"}
    assert set(named) == _files(project / "docs").keys() - mine
