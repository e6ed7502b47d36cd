"""previews.py, run as it is against a GitHub of our own: the site, and previews below it."""

import json
import tarfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fake_github import TOKEN, GitHub, serving
from workflows import DEPLOY, ROOT, Done, event, run_step, run_steps

REPOSITORY = "atlas-owner/results"
_, STEP = run_steps(DEPLOY, "deploy")
OURS, FORK = {"id": 77}, {"id": 78}
PAGE = "<!doctype html><html><head><title>x</title></head><body class='a'>Results</body></html>"


def zipped(files: dict[str, bytes | str]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def site(**files: str) -> bytes:
    """The main site, packed as upload-pages-artifact packs it."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in ({"index.html": PAGE} | files).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, BytesIO(text.encode()))
    return zipped({"artifact.tar": packed.getvalue()})


def pull(number: int, branch: str, repo: Any = OURS, state: str = "open") -> dict[str, Any]:
    return {"number": number, "state": state, "head": {"ref": branch, "repo": repo}}


def made_by(branch: str, repository: int = 77, sha: str = "a" * 40) -> dict[str, Any]:
    return {"head_branch": branch, "head_repository_id": repository, "head_sha": sha}


@pytest.fixture(scope="module")
def hosts() -> Iterator[GitHub]:
    with serving(GitHub(REPOSITORY)) as github:
        yield github


@pytest.fixture
def github(hosts: GitHub) -> GitHub:
    """A main site, and the preview of pull request 12."""
    hosts.pulls = [pull(12, "tune")]
    hosts.artifacts = {1: ("gridatlas-site", site()), 2: preview()}
    hosts.runs = {1: made_by("main"), 2: made_by("tune")}
    hosts.failing = "(nothing)"
    return hosts


def preview(text: str = PAGE, **more: Any) -> tuple[str, bytes]:
    files = {"index.html": text, "studies/lora/index.html": text, "sitemap.xml": "<x/>"}
    return "gridatlas-preview-site", zipped(files | more)


def publish(github: GitHub, folder: Path) -> tuple[Done, Path]:
    """Put together what would be deployed."""
    scripts = folder / "runner/grid-atlas/.github/scripts"
    scripts.parent.mkdir(parents=True)
    scripts.symlink_to(ROOT / ".github/scripts")
    (folder / "empty").mkdir()
    context = {"github": {"event": event("workflow_run.own"), "token": TOKEN}}
    done = run_step(STEP, folder / "empty", context, {"GITHUB_API_URL": github.api})
    return done, folder / "runner/pages"


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_site_has_previews_that_say_what_they_are(github: GitHub, tmp_path: Path) -> None:
    done, pages = publish(github, tmp_path)
    assert (done.status, done.summary) == (0, "the site of main with 1 previews\n")
    assert done.outputs == {"previews": "12"}
    assert below(pages) == ["index.html", "pr/12/index.html", "pr/12/studies/lora/index.html"]
    assert (pages / "index.html").read_text() == PAGE
    page = (pages / "pr/12/studies/lora/index.html").read_text()
    assert '<head><meta name="robots" content="noindex">' in page
    assert "<body class='a'><div " in page
    assert "aaaaaaaaaaaa</code>" in page
    assert 'href="https://github.com/atlas-owner/results/pull/12"' in page
    assert 'href="../../../../"' in page


def test_all_open_ones_of_this_repository_are_there_in_their_newest_state(
    github: GitHub, tmp_path: Path
) -> None:
    github.pulls += [pull(7, "old", state="closed"), pull(9, "fork", FORK), pull(10, "gone", None)]
    github.pulls += [pull(11, "more")]
    github.artifacts |= {3: preview("<p>old"), 4: preview("<p>fork"), 5: preview("<p>more")}
    github.artifacts |= {6: preview("<head><body>newer"), 8: ("gridatlas-site", site(a="newer"))}
    github.runs |= {3: made_by("old"), 4: made_by("fork", 78), 5: made_by("more")}
    # A fork's branch of the same name is another branch.
    github.artifacts[7] = preview("<p>not ours")
    github.runs |= {6: made_by("tune"), 7: made_by("tune", 78), 8: made_by("main")}
    done, pages = publish(github, tmp_path)
    assert done.outputs == {"previews": "12 11"}
    assert sorted(path.name for path in (pages / "pr").iterdir()) == ["11", "12"]
    assert "newer" in (pages / "pr/12/index.html").read_text()
    assert (pages / "a").read_text() == "newer"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"no zip", "File is not a zip file"),
        (zipped({"../index.html": PAGE}), "an entry that isn't a plain file below it"),
        (zipped({"/etc/index.html": PAGE}), "an entry that isn't a plain file below it"),
    ],
)
def test_a_preview_that_cannot_be_used_keeps_nothing_back(
    github: GitHub, tmp_path: Path, content: bytes, why: str
) -> None:
    github.pulls.append(pull(13, "bad"))
    github.artifacts[3] = ("gridatlas-preview-site", content)
    github.runs[3] = made_by("bad")
    done, pages = publish(github, tmp_path)
    assert (done.status, done.outputs) == (0, {"previews": "12"})
    assert "::warning::The preview of pull request 13 is left out: " in done.log
    assert why in done.log
    assert sorted(path.name for path in (pages / "pr").iterdir()) == ["12"]


def test_without_a_site_nothing_is_deployed(github: GitHub, tmp_path: Path) -> None:
    del github.artifacts[1]
    done, pages = publish(github, tmp_path)
    assert (done.status, done.summary) == (
        1,
        "No deployment: no run for main left a site that is still there. Run results on that "
        "branch again\n",
    )
    assert not pages.exists()


def test_a_site_with_a_page_of_that_name_is_refused(github: GitHub, tmp_path: Path) -> None:
    github.artifacts[1] = ("gridatlas-site", site(**{"pr/index.html": PAGE}))
    done, _ = publish(github, tmp_path)
    assert (done.status, done.outputs) == (1, {})
    assert "the site has a page or folder pr" in done.summary


def test_what_github_refuses_is_told(github: GitHub, tmp_path: Path) -> None:
    github.failing = "/pulls"
    done, _ = publish(github, tmp_path)
    assert (done.status, done.summary) == (
        1, "No deployment: GitHub answered 500 to GET pulls\n",
    )  # fmt: skip
    assert json.dumps(TOKEN) not in done.log
