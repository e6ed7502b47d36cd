"""The site that is kept between test runs is of this very state, or isn't used."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import kept
import pytest

STATE = {
    "mkdocs.yml": "site_url: !ENV [SITE_URL, '']",
    "docs/index.md": "# Home",
    "data/tiny/cells.csv": "1,2",
    "requirements.lock": "mkdocs==1",
    "plugin/gridatlas/a.py": "A = 1",
    "plugin/gridatlas/pages/assets/a.js": "a()",
    ".jupyter/config.json": "{}",
    **{f"tests/{name}": name for name in kept.BUILDERS},
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is small, outside CI."""
    for name, text in STATE.items():
        file = tmp_path / "root" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    monkeypatch.setattr(kept, "_ROOT", tmp_path / "root")
    monkeypatch.setattr(kept, "installed", list)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("SITE_URL", raising=False)
    return tmp_path / "root"


def _place(environment: tuple[tuple[str, str], ...] = (("A", "1"),)) -> Path:
    found = kept.place(environment)
    assert found is not None
    return found


def _written(name: str, text: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")

    return write


CHANGES: dict[str, Callable[[Path], object]] = {
    **{f"{name} has another byte": _written(name, f"{text[:-1]}~") for name, text in STATE.items()},
    "a page more": _written("docs/new.md", ""),
    "a module more": _written("plugin/gridatlas/b.py", ""),
    "a folder more": _written("overrides/main.html", ""),
    "a page less": lambda root: (root / "docs/index.md").unlink(),
    "a page of another name": lambda root: (root / "docs/index.md").rename(root / "docs/a.md"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_it_is_made_of_makes_another(root: Path, change: str) -> None:
    before = _place()
    assert _place() == before
    CHANGES[change](root)
    assert _place() != before


def test_so_do_variables_and_packages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [_place(), _place((("A", "2"),))]
    monkeypatch.setenv("SITE_URL", "https://else.example/")
    places.append(_place())
    monkeypatch.setattr(kept, "installed", lambda: ["mkdocs 2"])
    places.append(_place())
    assert len(set(places)) == 4


def test_packages_are_listed_with_the_digests_of_their_files() -> None:
    found = {package.partition(" ")[0]: package for package in kept.installed()}
    assert "mkdocs/commands/build.py,sha256=" in found["mkdocs"]


def test_a_byte_that_goes_to_the_next_file_makes_another(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    found = set()
    for texts in (("ab", "c"), ("a", "bc"), ("", "abc")):
        first.write_text(texts[0])
        second.write_text(texts[1])
        found.add(kept.digest({"all": [first, second]}, []))
    assert len(found) == 3


def test_what_it_is_not_made_of_changes_nothing(root: Path) -> None:
    before = _place()
    for name in ("tests/unit/test_a.py", "site/index.html", ".cache/a", "build/b",
                 "plugin/gridatlas/__pycache__/a.pyc"):  # fmt: skip
        _written(name, "else")(root)
    assert _place() == before


def test_nothing_is_kept_where_changes_are_judged(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert kept.place(()) is None
    assert kept.drawings() is None


def test_the_last_three_states_are_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(kept, "_PLACE", tmp_path / "states")
    assert kept.drawings() is None
    drawings = tmp_path / "drawings.sqlite3"
    with closing(sqlite3.connect(drawings)) as connection, connection:
        connection.execute("CREATE TABLE entries (key TEXT)")
        connection.execute("INSERT INTO entries VALUES ('a')")
    site = tmp_path / "site"
    for number in range(5):
        shutil.rmtree(site, ignore_errors=True)
        _written("index.html", str(number))(site)
        kept.keep(tmp_path / "states" / str(number), site, f"log {number}", drawings)
    states = sorted((tmp_path / "states").iterdir())
    assert [state.name for state in states] == ["2", "3", "4"]
    assert kept.drawings() == states[-1] / "drawings.sqlite3"
    for state in states:
        assert (state / "site/index.html").read_text() == state.name
        assert (state / "log.txt").read_text() == f"log {state.name}"
        with closing(sqlite3.connect(state / "drawings.sqlite3")) as connection:
            assert connection.execute("SELECT key FROM entries").fetchall() == [("a",)]
