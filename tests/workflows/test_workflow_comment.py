"""comment.yml, run as it is against a GitHub of our own: what it writes and refuses."""

import copy
import html
import json
import re
import runpy
import stat
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from fake_github import TOKEN, GitHub, serving
from workflows import COMMENT, ROOT, Done, event, run_step, run_steps, workflow

REPOSITORY = "atlas-owner/results"
MARKER = "<!-- gridatlas-preview -->"
HEAD, BASE = "a3c1" * 10, "b0b5" * 10
_, STEP = run_steps(COMMENT, "comment")
SCRIPTS = ROOT / ".github/scripts"
PREVIEW = {"format": 1, "pull_request": 12, "head": HEAD, "base": BASE, "site": "site"}


def packed(*entries: tuple[str | zipfile.ZipInfo, Any]) -> bytes:
    """A zip of named contents; what isn't bytes is written as JSON."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def artifact(diff: Any = None, preview: Any = None) -> bytes:
    """The artifact of a preview, whole and honest but for what is given."""
    return packed(
        ("diff.json", event("diff") if diff is None else diff),
        ("preview.json", PREVIEW if preview is None else preview),
    )


def pull(number: int = 12, fork: bool = False, **more: Any) -> dict[str, Any]:
    """A pull request as the API gives it."""
    given = event("pull_request.fork" if fork else "pull_request.own")["pull_request"]
    given["head"]["label"] = f"{given['head']['repo']['owner']['login']}:{given['head']['ref']}"
    return given | {"number": number} | more


@pytest.fixture(scope="module")
def hosts() -> Iterator[GitHub]:
    with serving(GitHub(REPOSITORY)) as github:
        yield github


@pytest.fixture
def github(hosts: GitHub) -> GitHub:
    """A GitHub with the pull request and its artifact."""
    hosts.pulls[:] = [pull(), pull(3, head={**pull()["head"], "ref": "other", "label": "x:other"})]
    hosts.comments, hosts.artifacts = {}, {501: ("gridatlas-preview-data", artifact())}
    hosts.asked, hosts.token_elsewhere, hosts.failing = [], [], "(nothing)"
    return hosts


WriteComment = Callable[..., Done]


@pytest.fixture
def comment(github: GitHub, tmp_path: Path) -> WriteComment:
    """Run the workflow's step: `comment("fork")`, `comment(content=…)`."""

    def comment(
        name: str = "own",
        content: bytes | None = None,
        inputs: dict[str, str] | None = None,
        published: dict[str, str] | None = None,
        **changes: Any,
    ) -> Done:
        given = event(f"workflow_run.{name}")
        given["workflow_run"].update(changes)
        if content is not None:
            github.artifacts = {501: ("gridatlas-preview-data", content)}
        folder = tmp_path / "empty"
        folder.mkdir(exist_ok=True)
        scripts = tmp_path / "runner/grid-atlas/.github/scripts"
        if not scripts.exists():
            scripts.parent.mkdir(parents=True)
            scripts.symlink_to(SCRIPTS)
        context = {"github": {"event": given, "token": TOKEN}, "inputs": inputs or {}}
        context["needs"] = {"preview": {"outputs": published or {}}}
        done = run_step(STEP, folder, context, {"GITHUB_API_URL": github.api})
        assert list(folder.iterdir()) == []  # nothing is unpacked
        assert github.token_elsewhere == []
        assert TOKEN not in done.log
        return done

    return comment


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The functions of comment.py."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_API_URL", "RUN_ID"):
        monkeypatch.setenv(name, name)
    monkeypatch.syspath_prepend(SCRIPTS)
    return runpy.run_path(str(SCRIPTS / "comment.py"))


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["own", "fork"])
def test_the_comment_is_written_and_then_written_over(
    github: GitHub, comment: WriteComment, name: str
) -> None:
    github.pulls[0] = pull(fork=name == "fork")
    github.comments[12] = [
        # A person's, with our marker; and so many that there are more pages.
        {"id": 1, "user": {"login": "visitor"}, "body": f"{MARKER} mine"},
        {"id": 2, "user": None, "body": None},
        *({"id": 10 + i, "user": {"login": "visitor"}, "body": "+1"} for i in range(120)),
        {"id": 3, "user": {"login": "github-actions[bot]"}, "body": "of another workflow"},
    ]
    first = comment(name)
    assert (first.status, first.summary) == (0, "created the comment on pull request 12\n")
    again = event("diff") | {"summary": "Only one."}
    second = comment(name, artifact(again))
    assert (second.status, second.summary) == (0, "updated the comment on pull request 12\n")
    ours = [body for body in github.bodies() if body.startswith(MARKER)]
    assert len(github.bodies()) == 124 + 1 - 1
    assert ours[0] == f"{MARKER} mine"
    assert [body for body in ours if "Only one" in body] == ours[1:]
    assert [method for method, _ in github.writes()] == ["POST", "PATCH"]


def test_the_comment_says_all_that_changed_the_important_first(
    github: GitHub, comment: WriteComment
) -> None:
    assert comment().status == 0
    [text] = github.bodies()
    shown = visible(text)
    expected = [
        "1 claim flipped and 1 average is wrong. 3 cells changed in 1 grid;",
        f"Commit {HEAD[:12]} of this pull request, merged into {BASE[:12]} (main).",
        "Claims that flipped (1)",
        "tuning: Large is ahead of Small everywhere: was true, is false",
        "It fails at rate 0.1, batch 8: 21.5 is not above 31.5.",
        "Checks that newly fail (1)",
        "average at rate 0.2, batch 16: printed 44.0, the mean is 34.5",
        "Best cells that moved (1)",
        "Small: 14.5 at rate 0.2, batch 16 → 31.5 at rate 0.1, batch 8",
        "Cells that changed (1)",
        "0.1 8 11.5 31.5 +20.0 0.2 8 12.5 12.0 −0.5 0.1 16 13.5 14.0 +0.5",
        "Levels, grids and studies (1)",
        "The site with these results is also in this run: download gridatlas-preview-site",
        "was made by the code of this pull request.",
    ]
    places = [shown.find(text) for text in expected]
    assert -1 not in places, expected[places.index(-1)]
    assert places == sorted(places)
    assert links(text) == ["https://github.com/atlas-owner/results/actions/runs/7001#artifacts"]


def test_no_change_says_so(github: GitHub, comment: WriteComment) -> None:
    same = event("diff") | {"changed": False, "summary": "No result changed.", "sections": []}
    assert comment(content=artifact(same)).status == 0
    [text] = github.bodies()
    assert "## – No change of the results\n" in text


def test_the_newest_of_several_artifacts_is_read(github: GitHub, comment: WriteComment) -> None:
    github.artifacts = {
        502: ("gridatlas-preview-data", artifact(event("diff") | {"summary": "Again."})),
        501: ("gridatlas-preview-data", artifact()),
        503: ("gridatlas-preview-site", b"no zip"),
    }
    assert comment().status == 0
    assert "Again." in github.bodies()[0]


def test_a_branch_with_several_pull_requests_is_told_apart(
    github: GitHub, comment: WriteComment
) -> None:
    github.pulls.insert(0, pull(11))
    assert comment().status == 0
    assert set(github.comments) == {12}


def test_many_changes_are_cut_and_counted(github: GitHub, comment: WriteComment) -> None:
    item = {"text": "é" * 390, "study": "s", "details": [], "table": None}
    many = {"id": "cells", "title": "Cells", "items": [item] * 100, "more": 40}
    diff = event("diff") | {"sections": [many, many | {"title": "Levels"}]}
    assert comment(content=artifact(diff)).status == 0
    [text] = github.bodies()
    assert 60_000 < len(text.encode()) <= 65_000
    shown = text.count("é" * 390)
    assert f"and {100 - shown + 40:,} more\n" in text
    assert "and 140 more of other kinds" in text
    assert text.count("<details>") == text.count("</details>") == 1
    assert "download `gridatlas-preview-site`" in text


def test_wide_and_long_tables_are_cut_and_counted(github: GitHub, comment: WriteComment) -> None:
    table = {"columns": [f"c{i}" for i in range(50)], "rows": [["x"] * 50] * 100}
    item = {"text": "t", "study": "s", "details": ["d"] * 15, "table": table}
    diff = event("diff") | {"sections": [{"id": "a", "title": "T", "items": [item], "more": 0}]}
    assert comment(content=artifact(diff)).status == 0
    shown = visible(github.bodies()[0])
    assert "and 5 more" in shown
    assert "and 70 more rows" in shown
    assert "and 38 more columns" in shown


# --- a preview that failed ----------------------------------------------------------------------

NEXT = "e5d7" * 10
"""The commit after `HEAD`."""
UNCHANGED = artifact(
    event("diff") | {"changed": False, "summary": "No result changed.", "sections": []}
)


def without_preview(ended: str = "failed", commit: str = NEXT) -> str:
    """The comment on a commit whose preview didn't succeed."""
    return (
        f"{MARKER}\n## Preview {ended} for `{commit[:12]}`\n\n"
        "There is no preview of this commit, so what it changes in the results is unknown. "
        "[The run](https://github.com/atlas-owner/results/actions/runs/7001) shows why. "
        "The next preview that succeeds replaces this comment.\n"
    )


def move_on(github: GitHub, commit: str = NEXT, **more: Any) -> None:
    """Push another commit to the pull request."""
    github.pulls[0] = pull(head={**github.pulls[0]["head"], "sha": commit}, **more)


def test_a_comment_is_asked_for_however_a_preview_ends() -> None:
    job = workflow(COMMENT)["jobs"]["comment"]
    # The job that it needs is skipped without previews, and may fail.
    assert job["needs"] == "preview"
    assert job["if"] == (
        "always() && github.event_name == 'workflow_run' && "
        "github.event.workflow_run.event == 'pull_request'"
    )


@pytest.mark.parametrize("name", ["own", "fork"])
@pytest.mark.parametrize(
    ("conclusion", "ended"),
    [
        ("failure", "failed"),
        ("startup_failure", "failed"),
        ("timed_out", "timed out"),
        ("cancelled", "cancelled"),
    ],
)
def test_a_failing_preview_writes_over_the_comment(
    github: GitHub, comment: WriteComment, name: str, conclusion: str, ended: str
) -> None:
    github.pulls[0] = pull(fork=name == "fork")
    github.comments[12] = [{"id": 1, "user": {"login": "visitor"}, "body": f"{MARKER} mine"}]
    assert comment(name, UNCHANGED).status == 0
    assert "## – No change of the results" in github.bodies()[1]
    move_on(github)
    github.artifacts = {}
    done = comment(name, head_sha=NEXT, conclusion=conclusion)
    assert (done.status, done.summary) == (
        0,
        f"updated the comment on pull request 12: the preview {ended}\n",
    )
    assert github.bodies() == [f"{MARKER} mine", without_preview(ended)]


@pytest.mark.parametrize("conclusion", ["startup_failure", "timed_out", "cancelled"])
def test_what_a_broken_run_left_is_not_even_looked_at(
    github: GitHub, comment: WriteComment, conclusion: str
) -> None:
    assert comment(content=UNCHANGED).status == 0
    asked = len(github.asked)
    assert comment(conclusion=conclusion).status == 0
    assert not any("artifacts" in path for _, path in github.asked[asked:])


FAILS = (
    "❌ The checks fail: [the run](https://github.com/atlas-owner/results/actions/runs/7001) "
    "shows on what.\n"
)


def test_a_run_that_fails_on_problems_has_a_comment_that_says_so(
    github: GitHub, comment: WriteComment
) -> None:
    assert comment().status == 0
    done = comment(conclusion="failure")
    assert (done.status, done.summary) == (0, "updated the comment on pull request 12\n")
    [text] = github.bodies()
    assert text.startswith(f"{MARKER}\n## 1 claim flipped")
    assert text.endswith(FAILS)


def test_what_a_failed_run_claims_is_compared_with_what_github_says(
    github: GitHub, comment: WriteComment
) -> None:
    assert comment().status == 0
    claimed = artifact(preview=PREVIEW | {"pull_request": 3})
    done = comment(content=claimed, conclusion="failure")
    assert done.status == 1
    assert "pull request 3, which isn't of that branch" in done.summary
    assert github.bodies() == [without_preview(commit=HEAD)]
    assert github.bodies(3) == []


def test_a_preview_that_succeeds_again_replaces_it(github: GitHub, comment: WriteComment) -> None:
    assert comment(content=UNCHANGED).status == 0
    github.artifacts = {}
    assert comment(conclusion="failure").status == 0
    assert github.bodies() == [without_preview(commit=HEAD)]
    again = comment(content=artifact())
    assert again.summary == "updated the comment on pull request 12\n"
    [text] = github.bodies()
    assert text.startswith(f"{MARKER}\n## 1 claim flipped")


def test_a_first_preview_that_fails_writes_no_comment(
    github: GitHub, comment: WriteComment
) -> None:
    github.artifacts = {}
    done = comment(conclusion="failure")
    assert (done.status, done.summary) == (0, "No comment: there is none to write over\n")
    assert github.writes() == []


@pytest.mark.parametrize("more", [{"state": "closed"}, {"commit": "f" * 40}])
def test_a_failed_preview_of_what_is_closed_or_moved_on_changes_nothing(
    github: GitHub, comment: WriteComment, more: dict[str, Any]
) -> None:
    assert comment().status == 0
    move_on(github, **more)
    before = github.bodies()
    github.artifacts = {}
    done = comment(head_sha=NEXT, conclusion="failure")
    assert (done.status, done.summary) == (
        0,
        "No comment: no open pull request is at the commit that was built\n",
    )
    assert github.bodies() == before


def test_of_several_pull_requests_of_a_branch_none_keeps_its_comment(
    github: GitHub, comment: WriteComment
) -> None:
    github.pulls.insert(1, pull(11))
    for number in (11, 12):
        assert comment(content=artifact(preview=PREVIEW | {"pull_request": number})).status == 0
    # GitHub doesn't say of which of them the run was.
    github.artifacts = {}
    done = comment(conclusion="failure")
    assert done.summary == "updated the comment on pull request 11, 12: the preview failed\n"
    assert github.bodies(11) == github.bodies(12) == [without_preview(commit=HEAD)]


def test_how_else_a_preview_may_end_changes_nothing(github: GitHub, comment: WriteComment) -> None:
    done = comment(conclusion="action_required")
    assert (done.status, done.summary) == (
        0,
        "No comment: the preview ended with action_required\n",
    )
    assert github.asked == []


def test_a_preview_that_is_refused_leaves_no_earlier_comment(
    github: GitHub, comment: WriteComment
) -> None:
    assert comment(content=UNCHANGED).status == 0
    move_on(github)
    done = comment(content=b"<html>", head_sha=NEXT)
    assert (done.status, done.summary) == (
        1,
        "No comment: the zip can't be read: BadZipFile; updated the comment on pull request 12: "
        "the preview failed\n",
    )
    assert github.bodies() == [without_preview()]


# --- when nothing is written, and why -----------------------------------------------------------


def test_a_closed_pull_request_gets_no_comment(github: GitHub, comment: WriteComment) -> None:
    github.pulls[0] = pull(state="closed")
    done = comment()
    assert (done.status, done.summary) == (0, "No comment: pull request 12 is closed\n")
    assert github.writes() == []


def test_a_pull_request_that_moved_on_gets_no_comment(
    github: GitHub, comment: WriteComment
) -> None:
    github.pulls[0] = pull(head={**pull()["head"], "sha": "e" * 40})
    done = comment()
    assert (done.status, done.summary) == (
        0,
        "No comment: pull request 12 has moved on to another commit\n",
    )
    assert github.writes() == []


def test_a_fork_that_is_gone_gets_no_comment(github: GitHub, comment: WriteComment) -> None:
    done = comment("fork", head_repository=None)
    assert (done.status, done.summary) == (
        0,
        "No comment: the repository or branch that was built is gone\n",
    )
    assert github.writes() == []


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def lying_about_size() -> bytes:
    """A zip whose JSON unpacks to more than it says."""
    big = artifact(event("diff") | {"summary": " " * 900_000})
    size = zipfile.ZipFile(BytesIO(big)).getinfo("diff.json").file_size
    return big.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))


def encrypted() -> bytes:
    content = bytearray(artifact())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    return bytes(content)


PLAIN = [("diff.json", event("diff")), ("preview.json", PREVIEW)]
HOSTILE_ZIPS = {
    "no zip": (b"<html>", "the zip can't be read: BadZipFile"),
    "nothing": (b"", "the zip can't be read: BadZipFile"),
    "cut off": (artifact()[:-30], "the zip can't be read: BadZipFile"),
    "10,000 files": (
        packed(*((f"{i}.txt", b"") for i in range(10_000))),
        "the zip has 10,000 entries, not 2",
    ),
    "a parent folder": (
        packed(PLAIN[0], ("../preview.json", PREVIEW)),
        "the zip has other files than diff.json and preview.json",
    ),
    "an absolute path": (
        packed(PLAIN[0], ("/tmp/preview.json", PREVIEW)),
        "the zip has other files than diff.json and preview.json",
    ),
    "a Windows path": (
        packed(PLAIN[0], ("C:\\preview.json", PREVIEW)),
        "the zip has other files than diff.json and preview.json",
    ),
    "a NUL in a name": (
        packed(PLAIN[0], ("preview.jsonx", PREVIEW)).replace(b"preview.jsonx", b"preview.json\0"),
        "the zip has other files than diff.json and preview.json",
    ),
    "only one file": (packed(PLAIN[0]), "the zip has other files than diff.json and preview.json"),
    "one file more": (packed(*PLAIN, ("site.sh", b"x")), "the zip has 3 entries, not 2"),
    "one name twice": (
        packed(PLAIN[0], ("diff.jsom", {})).replace(b"diff.jsom", b"diff.json"),
        "the zip has other files than diff.json and preview.json",
    ),
    "a symlink": (
        packed((link("diff.json"), b"/etc/passwd"), PLAIN[1]),
        "diff.json is no plain file",
    ),
    "encrypted": (encrypted(), "diff.json is encrypted, or packed in an unusual way"),
    "a false size": (lying_about_size(), "the zip can't be read: BadZipFile"),
}


@pytest.mark.parametrize("name", HOSTILE_ZIPS)
def test_a_hostile_zip_is_refused_with_its_reason(
    github: GitHub, comment: WriteComment, name: str
) -> None:
    content, reason = HOSTILE_ZIPS[name]
    done = comment(content=content)
    assert (done.status, done.summary) == (1, f"No comment: {reason}\n")
    assert f"::error::No comment: {reason}\n" in done.log
    assert github.writes() == []


def test_a_gigabyte_of_nothing_is_not_unpacked(github: GitHub, comment: WriteComment) -> None:
    content = packed(("diff.json", b"\0" * 10**7), PLAIN[1])
    sizes = (10**7).to_bytes(4, "little"), (10**9).to_bytes(4, "little")
    assert content.count(sizes[0]) == 2  # as each entry has it twice
    done = comment(content=content.replace(*sizes))
    assert done.summary == "No comment: diff.json has 1,000,000,000 bytes, more than 1,000,000\n"
    done = comment(content=content)
    assert done.summary == "No comment: diff.json has 10,000,000 bytes, more than 1,000,000\n"


def test_a_large_artifact_is_not_downloaded(github: GitHub, comment: WriteComment) -> None:
    done = comment(content=b"PK" * 1_500_000)
    assert done.summary == "No comment: the artifact has more than 2,000,000 bytes\n"
    assert not any(path.endswith("/zip") for _, path in github.asked)


def test_a_run_without_the_artifact_is_told(github: GitHub, comment: WriteComment) -> None:
    github.artifacts = {503: ("gridatlas-preview-site", artifact())}
    done = comment()
    assert (done.status, done.summary) == (
        1,
        "No comment: the run has no artifact gridatlas-preview-data\n",
    )


def test_what_github_refuses_is_told(github: GitHub, comment: WriteComment) -> None:
    github.failing = "/comments"
    done = comment()
    assert (done.status, done.summary) == (
        1,
        "No comment: GitHub answered 500 to GET issues/12/comments\n",
    )


def changed(path: str, value: Any) -> Any:
    """The recorded diff with one value replaced: `sections.0.items`."""
    diff = copy.deepcopy(event("diff"))
    *parents, last = path.split(".")
    parent: Any = diff
    for name in parents:
        parent = parent[int(name) if isinstance(parent, list) else name]
    parent[last] = value
    return diff


DEEP = b"[" * 400_000 + b"]" * 400_000
ITEM = "sections.0.items"
CLAIMS = {
    "another pull request": (
        artifact(preview=PREVIEW | {"pull_request": 3}),
        "the preview claims pull request 3, which isn't of that branch",
    ),
    "another head": (
        artifact(preview=PREVIEW | {"head": "d" * 40}),
        "the preview claims another head than the run was made of",
    ),
    "another form": (
        artifact(preview=PREVIEW | {"pull_request": "12/../3"}),
        "pull_request has the wrong form",
    ),
}
HOSTILE_JSON: dict[str, tuple[bytes, str]] = {
    "a number as text": (
        artifact(preview=PREVIEW | {"pull_request": "12/../3"}),
        "pull_request has the wrong form",
    ),
    "true for a number": (
        artifact(preview=PREVIEW | {"pull_request": True}),
        "pull_request has the wrong form",
    ),
    "a commit with more": (
        artifact(preview=PREVIEW | {"base": f"{BASE}\n"}),
        "base has the wrong form",
    ),
    "a list for preview.json": (artifact(preview=[]), "preview.json has the wrong form"),
    "a text for diff.json": (artifact("text"), "diff.json has the wrong form"),
    "not JSON": (packed(("diff.json", b"{"), PLAIN[1]), "diff.json isn't JSON: JSONDecodeError"),
    "not UTF-8": (
        packed(("diff.json", b"\xff"), PLAIN[1]),
        "diff.json isn't JSON: UnicodeDecodeError",
    ),
    "NaN": (
        packed(("diff.json", b'{"format": NaN}'), PLAIN[1]),
        "diff.json isn't JSON: ValueError",
    ),
    "a key twice": (
        packed(("diff.json", b'{"format": 1, "format": 2}'), PLAIN[1]),
        "diff.json isn't JSON: ValueError",
    ),
    "a number of a million digits": (
        packed(("diff.json", b"1" * 900_000), PLAIN[1]),
        "diff.json isn't JSON: ValueError",
    ),
    "deep nesting": (packed(("diff.json", DEEP), PLAIN[1]), "diff.json is nested too deeply"),
    "a future format": (artifact(changed("format", 2)), "format has the wrong form"),
    "changed as text": (artifact(changed("changed", "no")), "changed has the wrong form"),
    "a base without a name": (artifact(changed("base", {})), "base has the wrong form"),
    "a base without a commit": (
        artifact(changed("base.commit", "main")),
        "base.commit has the wrong form",
    ),
    "a summary in parts": (artifact(changed("summary", ["a"])), "summary has the wrong form"),
    "sections by name": (artifact(changed("sections", {})), "sections has the wrong form"),
    "31 sections": (
        artifact(changed("sections", event("diff")["sections"][:1] * 31)),
        "sections has the wrong form",
    ),
    "a title as number": (
        artifact(changed("sections.0.title", 1)),
        "title of a section has the wrong form",
    ),
    "a count below zero": (
        artifact(changed("sections.0.more", -1)),
        "more of a section has the wrong form",
    ),
    "3,000 items": (
        artifact(changed(ITEM, event("diff")["sections"][0]["items"] * 3000)),
        "items of a section has the wrong form",
    ),
    "an item as text": (artifact(changed(ITEM, ["x"])), "items of a section has the wrong form"),
    "an item without text": (artifact(changed(ITEM, [{}])), "text of an item has the wrong form"),
    "a study as number": (
        artifact(changed(ITEM, [{"text": "x", "study": 1}])),
        "study of an item has the wrong form",
    ),
    "details as text": (
        artifact(changed(ITEM, [{"text": "x", "details": "x"}])),
        "details of an item has the wrong form",
    ),
    "another mark": (artifact(changed("mark", "!")), "mark has the wrong form"),
    "a point of three": (artifact(changed("points", [["❌"] * 3])), "a point has the wrong form"),
    "a picture elsewhere": (
        artifact(preview=PREVIEW | {"picture": "https://example.org/x.svg"}),
        "picture has the wrong form",
    ),
    "changes above": (
        artifact(preview=PREVIEW | {"changes": "../changes/"}), "changes has the wrong form"
    ),
    "links as text": (
        artifact(changed("leads", [{"table": {"columns": [], "rows": [], "links": "x"}}])),
        "links of a table has the wrong form",
    ),
    "leads by name": (artifact(changed("leads", {})), "leads has the wrong form"),
    "too many leads": (artifact(changed("leads", [{}] * 31)), "leads has the wrong form"),
    "an answer of numbers": (
        artifact(changed("leads", [{"text": 1}])),
        "text of a lead has the wrong form",
    ),
    "remarks as text": (
        artifact(changed("leads", [{"remarks": "x"}])),
        "remarks of a lead has the wrong form",
    ),
    "a lead's ragged table": (
        artifact(changed("leads", [{"table": {"columns": ["a"], "rows": [["1", "2"]]}}])),
        "row of a table has the wrong form",
    ),
    "a grid as text": (
        artifact(changed("leads", [{"grids": ["x"]}])),
        "grids of a lead has the wrong form",
    ),
    "a ragged table": (
        artifact(changed(ITEM, [{"text": "x", "table": {"columns": ["a"], "rows": [["1", "2"]]}}])),
        "row of a table has the wrong form",
    ),
    "a table of numbers": (
        artifact(changed(ITEM, [{"text": "x", "table": {"columns": ["a"], "rows": [[1]]}}])),
        "row of a table has the wrong form",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_a_false_claim_is_refused_with_its_reason(
    github: GitHub, comment: WriteComment, name: str
) -> None:
    content, reason = CLAIMS[name]
    done = comment(content=content)
    assert (done.status, done.summary) == (1, f"No comment: {reason}\n")
    assert github.writes() == []


@pytest.mark.parametrize("name", HOSTILE_JSON)
def test_hostile_json_is_refused_with_its_reason(functions: dict[str, Any], name: str) -> None:
    content, reason = HOSTILE_JSON[name]
    with pytest.raises(functions["Refused"]) as refused:
        functions["read_preview"](content)
    assert str(refused.value) == reason


# --- texts that want to be more than texts ------------------------------------------------------

HOSTILE_TEXTS = [
    "@everyone and @atlas-owner/maintainers, cc @visitor",
    "closes #1, fixes atlas-owner/results#2, resolves GH-3, Gh-4",
    "closes https://github.com/atlas-owner/results/issues/1",
    "HTTPS://evil.example http://evil.example/?a=b www.evil.example WWW.evil.example",
    "mail visitor@evil.example, mailto:visitor@evil.example, xmpp:visitor@evil.example",
    "[click](https://evil.example) ![pixel](https://evil.example/p.png) [a]: https://evil.example",
    "<img src=x onerror=alert(1)> <script>alert(1)</script> <a href='https://evil.example'>x</a>",
    "<https://evil.example> <!-- --> </details> <summary> &lt;b&gt; &#64;visitor &commat;visitor",
    "`code` ``code`` ```\nfence\n``` ~~~ *bold* __bold__ ~~gone~~ $x$ $$\\href{javascript:1}{x}$$",
    "| a | b |\\| c || \\",
    "# heading", "1. list", "12) list", "- [ ] task", "+ list", "* list", "> [!WARNING]", "=====",
    "    indented", "---", "[^1]: note", "a\\\nb\r\n\r\n# c\u2028# d\u2029# e\x0b# f\x85# g",
    "seen in " + "abcdef1" + " and " + "0123456789" * 4 + " and visitor@" + "abcdef1",
    "tell them :tada: :+1: :octocat:",
    "\u202eright to left\u202c, \u2066isolated\u2069, \u200b\u200dzero, \ufeff, \x00 \x1b[31m \x07",
    "\ud83d lone surrogate", f"{MARKER}", "::error::stop ##[add-mask]x",
    "x" * 3000 + "@visitor",
    "é\\" * 2000,
    "${{ github.token }} $(touch /tmp/hit) `touch /tmp/hit`",
]  # fmt: skip

OURS = {"p", "span", "h2", "h3", "ul", "li", "hr", "code", "strong", "details", "summary"}
OURS |= {"table", "thead", "tbody", "tr", "th", "td"}


def rendered(text: str) -> str:
    """A comment as GitHub's Markdown makes it."""
    return cmarkgfm.github_flavored_markdown_to_html(
        text, options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    )


def visible(text: str) -> str:
    """What a reader of a comment sees, without the spaces that have no width."""
    bare = re.sub(r"<[^>]*>", " ", rendered(text))
    return (
        " ".join(html.unescape(bare).replace("\u200b", "").split())
        .replace(" .", ".")
        .replace(" :", ":")
    )


def links(text: str) -> list[str]:
    return re.findall(r'(?:href|src)="([^"]*)"', rendered(text))


def acted_on(text: str) -> list[str]:
    """What GitHub would act on, in the text of a comment that isn't code."""
    shown = re.sub(r"(?s)<(code|a|span)\b[^>]*>.*?</\1>", " ", rendered(text))
    shown = html.unescape(re.sub(r"<[^>]*>", " ", shown))
    patterns = [
        r"@[\w-]+", r"#\d+", r"(?i)\bgh-\d+", r"://", r"(?i)\bwww\.", r"(?i)mailto:",
        r"\b[0-9a-f]{7,40}\b", r":[\w+-]+:", r"\$[^\s$]+\$",
    ]  # fmt: skip
    return [found for pattern in patterns for found in re.findall(pattern, shown)]


def test_all_hostile_texts_together_are_written(github: GitHub, comment: WriteComment) -> None:
    items = [{"text": text} for text in HOSTILE_TEXTS]
    section = {"id": "x", "title": "All", "items": items}
    assert comment(content=artifact(changed("sections", [section]))).status == 0
    assert acted_on(github.bodies()[0]) == []
    assert len(links(github.bodies()[0])) == 1


def test_what_is_acted_on_is_found() -> None:
    for text in HOSTILE_TEXTS[:4]:
        assert acted_on(text) or links(text), text


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_a_hostile_text_is_shown_and_does_nothing(functions: dict[str, Any], text: str) -> None:
    item = {"text": text, "study": text, "details": [text, f"and {text}"]}
    item["table"] = {"columns": [text, "b"], "rows": [[text, "last"]]}
    section = {"id": text, "title": text, "items": [item], "more": 0}
    diff = changed("base.name", text) | {"summary": text, "sections": [section]}
    functions["check_diff"](diff)
    body = functions["comment"](diff, PREVIEW, "")
    assert acted_on(body) == []
    assert links(body) == ["GITHUB_SERVER_URL/GITHUB_REPOSITORY/actions/runs/RUN_ID#artifacts"]
    html_text = rendered(body)
    assert set(re.findall(r"<([a-z][a-z0-9]*)", html_text)) <= OURS | {"a"}
    assert body.count("<!--") == 1
    # Our own structure is there, once, and nothing beside it.
    counts = {tag: len(re.findall(f"<{tag}[ >]", html_text)) for tag in OURS}
    assert counts["h2"] == counts["details"] == counts["table"] == counts["hr"] == 1
    assert (counts["th"], counts["td"], counts["li"]) == (2, 2, 3)
    assert not any(
        (ord(c) < 32 and c != "\n") or c in "\u202e\u202c\u2066\u2069\u200d\ufeff\u2028"
        for c in body
    )
    # The text can still be read.
    words = re.findall(r"[A-Za-z]{3,}", text[:300])
    shown = visible(body)
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_a_hostile_text_does_nothing_in_what_is_read_first(
    functions: dict[str, Any], text: str
) -> None:
    table = {"columns": [text, "b"], "rows": [[text, "last"]]}
    table |= {"links": [text], "linked": 0}
    lead = {"title": text, "text": text, "page": text}
    lead |= {"remarks": [text, text], "table": table, "grids": [table]}
    diff = changed("leads", [lead]) | {"summary": text, "more": text, "mark": "❌"}
    diff["points"] = [["❌", text]] * 3
    diff["sections"] = []
    functions["check_diff"](diff)
    body = functions["comment"](diff, PREVIEW, "")
    assert acted_on(body) == []
    assert links(body) == ["GITHUB_SERVER_URL/GITHUB_REPOSITORY/actions/runs/RUN_ID#artifacts"]
    site = "https://atlas-owner.github.io/results/pr/12/"
    linked = functions["comment"](diff, PREVIEW | {"changes": "studies/changes/"}, site)
    assert {link.startswith(site) for link in links(linked)[:-1]} == {True}
    html_text = rendered(body)
    assert set(re.findall(r"<([a-z][a-z0-9]*)", html_text)) <= OURS | {"a"}
    counts = {tag: len(re.findall(f"<{tag}[ >]", html_text)) for tag in OURS}
    assert counts["h2"] == counts["h3"] == counts["hr"] == 1
    assert (counts["table"], counts["th"], counts["td"], counts["li"]) == (2, 4, 4, 3)


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_a_hostile_text_does_nothing_in_a_fold(functions: dict[str, Any], text: str) -> None:
    items = [{"text": text}, {"text": text}]
    section = {"id": text, "title": text, "items": items, "more": 3}
    diff = changed("leads", [{"title": "a"}]) | {"summary": "s", "sections": [section] * 2}
    functions["check_diff"](diff)
    body = functions["comment"](diff, PREVIEW, "")
    assert acted_on(body) == []
    assert links(body) == ["GITHUB_SERVER_URL/GITHUB_REPOSITORY/actions/runs/RUN_ID#artifacts"]
    html_text = rendered(body)
    assert set(re.findall(r"<([a-z][a-z0-9]*)", html_text)) <= OURS | {"a"}
    counts = {tag: len(re.findall(f"<{tag}[ >]", html_text)) for tag in OURS}
    # A fold per section.
    assert (counts["details"], counts["summary"], counts["li"], counts["hr"]) == (2, 2, 4, 1)
    assert body.count("</details>") == 2
    shown = visible(body)
    words = re.findall(r"[A-Za-z]{3,}", text[:100])
    assert [word for word in words if shown.count(word) < 6 * words.count(word)] == []
    assert shown.count("and 3 more") == 2


def test_many_leads_are_counted_where_they_do_not_fit(functions: dict[str, Any]) -> None:
    row = ["x" * 240] * 12
    lead = {"title": "a", "table": {"columns": row, "rows": [row] * 30}}
    diff = changed("leads", [lead] * 30) | {"summary": "s", "mark": "✅"}
    body = functions["comment"](diff, PREVIEW, "")
    assert body.startswith(f"{MARKER}\n## ✅ s\n")
    assert len(body.encode()) <= 65_000
    assert re.search(r"and \d+ more of other kinds", body)
    assert body.count("<details>") == body.count("</details>") == 0


# --- previews -----------------------------------------------------------------------------------


def test_the_preview_is_linked_where_it_was_published(
    github: GitHub, comment: WriteComment
) -> None:
    preview = PREVIEW | {
        "changes": "studies/changes/",
        "picture": "studies/changes/differences.svg",
    }
    content = artifact(preview=preview)
    pages = {"url": "https://atlas-owner.github.io/results/"}
    for numbers, linked in (("12 7", True), ("7", False), ("", False)):
        assert comment(content=content, published=pages | {"previews": numbers}).status == 0
        [text] = github.bodies()
        site = "https://atlas-owner.github.io/results/pr/12/"
        expected = [site, f"{site}studies/changes/", f"{site}{preview['picture']}"]
        assert links(text)[:-1] == (expected if linked else [])


def test_another_host_is_linked_by_its_address(github: GitHub, comment: WriteComment) -> None:
    address = "https://deploy-preview-{number}--results.netlify.app/"
    assert comment(inputs={"preview-url": address}).status == 0
    [text] = github.bodies()
    assert links(text)[0] == "https://deploy-preview-12--results.netlify.app/"
    assert comment(inputs={"preview-url": "javascript:alert(1)"}).status == 0
    assert len(links(github.bodies()[0])) == 1
