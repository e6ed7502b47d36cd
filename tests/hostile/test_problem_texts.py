"""What is wrong with naughty strings is told of everywhere as text: pages, logs, comments."""

import json
import os
import re
from pathlib import Path

import pytest
import site_builds
from amount import amount
from bs4 import BeautifulSoup
from click.testing import CliRunner, Result
from naughty import FOREIGN, OURS, plain
from once import once
from playwright.sync_api import Browser
from site_builds import TINY_CELLS, Build, Project
from test_strings import HOOKS, shape

from gridatlas.assessment.pipeline import load_data
from gridatlas.cli.main import main
from gridatlas.data.tables import unguarded
from gridatlas.model.problems import ALIKE, Problem, quote
from gridatlas_review.compare import compare_snapshots, make_report
from gridatlas_review.formats import to_json
from gridatlas_review.markdown import to_markdown
from gridatlas_review.page import changes_document
from gridatlas_review.report import Report
from gridatlas_review.snapshot import snapshot_of

STRINGS = [*OURS, *FOREIGN[: amount(0, len(FOREIGN))]]
PARTS = [STRINGS[at : at + ALIKE] for at in range(0, len(STRINGS), ALIKE)]
"""Those of one study: of more problems of a kind, only the first are told one by one."""
FOLDERS = [b"new\nline", b"a <b>x?#&\"'", b"\xfe", b"c\x1b[31m", "é😀 [x](y)".encode()]
"""Names of folders that are no ids; on a file system that takes only UTF-8, one is left out."""


def _project(base: Path) -> Project:
    """Values, keys and names of files that are naughty where none of them can be."""
    project = site_builds.make_project(
        base / "problems",
        site_builds.shared_cache(base),
        options={"csp": True},
        theme={"name": "material", "font": False},
        site_url="https://atlas.example/project/sub/",
    )
    for number, strings in enumerate(PARTS):
        values, keys = f"values-{number}", f"keys-{number}"
        site_builds.add_tiny_study(project, values)
        rows = [f'small,8,0.{at},"{_doubled(text)}"' for at, text in enumerate(strings, 3)]
        project.write(f"data/{values}/cells.csv", TINY_CELLS + "\n".join(rows) + "\n")
        site_builds.add_tiny_study(project, keys)
        study = (project.folder / f"data/{keys}/study.yml").read_text("utf-8")
        unknown = "".join(f"? {json.dumps(f'{text} key')}\n: 1\n" for text in strings)
        project.write(f"data/{keys}/study.yml", study + unknown)
    data = os.fsencode(project.folder / "data")
    for folder in FOLDERS:
        try:
            os.mkdir(os.path.join(data, folder))
        except OSError:
            assert folder == b"\xfe"
            continue
        Path(os.fsdecode(os.path.join(data, folder, b"study.yml"))).write_text("title: x\n")
        run = b"data/values-0/runs/" + folder.replace(b"/", b"") + b".json"
        (project.folder / "data/values-0/runs").mkdir(exist_ok=True)
        Path(os.fsdecode(os.path.join(os.fsencode(project.folder), run))).write_text("{}")
    return project


def _doubled(text: str) -> str:
    return f"{text} value".replace('"', '""')


@once
def problem_site(base: Path) -> tuple[Project, Build]:
    """The project, and its site."""
    project = _project(base)
    return project, project.built()


@pytest.fixture(scope="module")
def project(base: Path) -> Project:
    return problem_site(base)[0]


@pytest.fixture(scope="module")
def site(base: Path) -> Build:
    return problem_site(base)[1]


@pytest.fixture(scope="module")
def problems(project: Project) -> tuple[Problem, ...]:
    return load_data(project.folder / "data", "data").problems


def test_each_string_is_a_problem(problems: tuple[Problem, ...]) -> None:
    found = {plain(problem.found) for problem in problems}
    values = [plain(quote(unguarded(f"{text} value"))) for text in STRINGS]
    assert [value for value in values if not any(value in text for text in found)] == []
    folders = {problem.file for problem in problems if problem.file.endswith("/study.yml")}
    assert len(folders) >= len(FOLDERS)


def test_pages_tell_it_and_nothing_runs(
    site: Build, browser: Browser, problems: tuple[Problem, ...]
) -> None:
    context = browser.new_context(service_workers="block")
    context.add_init_script(HOOKS)
    page = context.new_page()
    folders = sorted(path.parent for path in (site.site / "studies").glob("*/index.html"))
    assert len(folders) >= len(FOLDERS) + 1
    text = ""
    with site_builds.serving(site.site, site_builds.PREFIX) as home:
        addresses = [f"studies/{folder.name}/" for folder in folders]
        for address in ["studies/", "studies/values-0/checks/", *addresses]:
            page.goto(home + address)
            assert page.evaluate("window.seen") == [], address
            assert page.locator("main article h1").count() == 1
            assert page.locator("footer:not(.ga-footer)").count() == 1
            article = page.locator("article.md-content__inner")
            text += plain(article.evaluate("element => element.textContent"))
    context.close()
    assert [problem.found for problem in problems if plain(problem.found) not in text] == []
    assert [problem.place for problem in problems if plain(problem.place) not in text] == []


def test_the_log_tells_each_on_lines_of_its_own(site: Build, problems: tuple[Problem, ...]) -> None:
    assert "Traceback" not in site.log
    assert [problem.place for problem in problems if f"{problem.place}: " not in site.log] == []
    begins = ("INFO ", "WARNING ", "  found: ", "  expected: ", "  fix: ", " ")
    assert [line for line in site.log.splitlines() if not line.startswith(begins)] == []


# --- the command line ---------------------------------------------------------------------------


def _check(project: Project, form: str) -> Result:
    done = CliRunner().invoke(main, ["check", str(project.folder / "data"), "--format", form])
    assert done.exit_code == 1
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def test_annotations_are_one_line_each(project: Project, problems: tuple[Problem, ...]) -> None:
    lines = _check(project, "github").output.split("\n")
    annotations = [line for line in lines if line.startswith("::")]
    assert len(annotations) == len(problems)
    for line, problem in zip(annotations, problems, strict=True):
        found = re.fullmatch(r"::(error|notice) ([^:]*)::(.*)", line)
        assert found, line
        fields = dict(field.split("=", 1) for field in found[2].split(","))
        assert fields.keys() <= {"file", "line", "title"}
        # As the runner reads it.
        message = found[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        assert [part.split(": problem ", 1)[-1] for part in message.split("\n")] == [
            part.split(": problem ", 1)[-1] for part in str(problem).split("\n")
        ]
    assert all(line.isprintable() for line in lines)


def test_json_has_each(project: Project, problems: tuple[Problem, ...]) -> None:
    content = json.loads(_check(project, "json").output)
    assert [entry["found"] for entry in content["problems"]] == [
        problem.found for problem in problems
    ]


# --- changes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Report, str, str]:
    before = Project(tmp_path_factory.mktemp("before"))
    for study in ("values-0", "keys-0"):
        site_builds.add_tiny_study(before, study)
    sides = [
        snapshot_of(load_data(build.folder / "data", "data"), "data", name, None)
        for build, name in ((before, "before"), (project, "after"))
    ]
    changes = compare_snapshots(*sides)
    result = make_report(changes)
    return result, to_json(changes, result), changes_document(result)


def test_a_comment_shows_it(comparison: tuple[Report, str, str]) -> None:
    elements, text = shape(to_markdown(comparison[0]))
    assert {element.split()[0] for element in elements} <= {
        *(
            "h1",
            "h2",
            "h3",
            "details",
            "summary",
            "b",
            "h4",
            "p",
            "ul",
            "ol",
            "li",
            "strong",
            "em",
            "details",
            "summary",
            "br",
        ),
        *("blockquote", "code", "a", "hr", "sub", "table", "thead", "tbody", "tr", "th", "td"),
    }
    assert '"<script>window.ran=1;alert(1)</script> value"' in text


def test_a_page_of_changes_shows_it(
    comparison: tuple[Report, str, str], browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.add_init_script(HOOKS)
    (tmp_path / "changes.html").write_text(comparison[2], "utf-8")
    page.goto((tmp_path / "changes.html").as_uri())
    assert page.evaluate("window.seen") == []
    text = plain(page.locator("main").evaluate("element => element.textContent"))
    page.close()
    found = BeautifulSoup(comparison[2], "html.parser")
    assert found.select("script, img, svg, iframe, object, embed, base") == []
    assert '"<script>window.ran=1;alert(1)</script> value"' in text


def test_changes_as_json_have_it(comparison: tuple[Report, str, str]) -> None:
    comparison[1].encode()
    content = json.loads(comparison[1])
    texts = [item["text"] for section in content["sections"] for item in section["items"]]
    assert any("<script>window.ran=1;alert(1)</script> value" in text for text in texts)
