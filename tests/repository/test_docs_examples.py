"""Every block of the documents is run, built or read: what they print is what happens."""

import functools
import json
import re
import shlex
import shutil
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import site_builds
import yaml
from documents import DOCS, PAGES, ROOT, Block, blocks, follow, run
from log_samples import put_eval, put_lm_eval
from mkdocs.config import load_config
from once import once

from gridatlas import registry
from gridatlas.cli.main import main
from gridatlas.data.yaml import parse_yaml
from gridatlas.model.schema import StudyFile

LEAST = {"format": 1, "title": "t", "metric": {"name": "m", "better": "higher"}, "x": "x", "y": "y"}

# --- pages that one follows -------------------------------------------------------------------


STARTED = ["gridatlas import tuning.csv --yes --site", "gridatlas check", "mkdocs build"]


@once
def followed(base: Path) -> tuple[Path, list[str]]:
    """What one has who follows the start page, with all that was drawn; and the commands."""
    folder = base / "start"
    folder.mkdir()
    return folder, follow(DOCS / "start.md", folder)


@pytest.fixture
def start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it, as others begin with it."""
    folder, _ = followed(tmp_path_factory.getbasetemp())
    return shutil.copytree(folder, tmp_path, dirs_exist_ok=True)


def test_start_page_leads_to_a_site(tmp_path_factory: pytest.TempPathFactory) -> None:
    page = DOCS / "start.md"
    folder, commands = followed(tmp_path_factory.getbasetemp())
    assert commands == STARTED
    site = folder / "site"
    assert "studies/" in (site / "index.html").read_text("utf-8")
    for address in ("studies", "studies/tuning", "studies/tuning/model/large"):
        assert (site / address / "index.html").is_file()
    # The page's picture is described by what the page of the study leads with.
    [answer] = re.findall(r'!\[A page headed "([^"]+)"', page.read_text("utf-8"))
    assert answer in (site / "studies/tuning/index.html").read_text("utf-8")
    [table] = [block.text for block in blocks(page) if block.title == "tuning.csv"]
    values = [line.split(",")[3] for line in table.splitlines()[1:]]
    html = "".join(
        (site / f"studies/tuning/model/{model}/index.html").read_text("utf-8")
        for model in ("small", "large")
    )
    assert "76.2" in values
    assert "" in values  # the cell that the page calls hatched
    shown = set(re.findall(r"<td[^>]*>(?:<strong>)?([\w.]+)", html))
    assert {value or "missing" for value in values} <= shown
    for ending in ("svg", "png", "csv", "json", "vl.json"):
        assert (site / f"grids/tuning/large.{ending}").is_file()


def test_start_page_shows_what_the_import_proposes(tmp_path: Path) -> None:
    page = blocks(DOCS / "start.md")
    [table] = [block.text for block in page if block.title == "tuning.csv"]
    [roles] = [block.text for block in page if block.language == "text" and not block.title]
    (tmp_path / "tuning.csv").write_text(table, "utf-8")
    assert roles in run(f"{STARTED[0]} --dry-run".replace(" --yes --site", ""), tmp_path).stdout


@pytest.fixture
def drawn(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is drawn anywhere isn't drawn once more here."""
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    cache.mkdir(exist_ok=True)
    (tmp_path / ".cache").symlink_to(cache, target_is_directory=True)


@pytest.mark.usefixtures("drawn")
def test_readme_leads_to_a_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A site", "utf-8")
    page = tmp_path / "README.md"
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 120
    # The reader's own mkdocs.yml has a name; the start is tried below, with a reader's table.
    start = "gridatlas import results.csv --site\n"
    assert start in readme
    text = readme.replace("plugins:\n", "site_name: Mine\nplugins:\n").replace(start, "")
    page.write_text(text, "utf-8")
    assert follow(page, tmp_path) == ["gridatlas check", "mkdocs build"]
    html = (tmp_path / "site/studies/tuning/index.html").read_text("utf-8")
    shown = set(re.findall(r"<td[^>]*>(?:<strong>)?([^<]+)<", html))
    assert {"71.2", "73.9", "70.4", "missing"} <= shown


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_start_in_three_lines_makes_a_site_of_any_table(tmp_path: Path, page: str) -> None:
    [start] = [block.text for block in blocks(ROOT / page) if "import" in block.text]
    [command] = [line for line in start.splitlines() if line.startswith("gridatlas import")]
    [table] = [block.text for block in blocks(DOCS / "start.md") if block.title == "tuning.csv"]
    (tmp_path / "results.csv").write_text(table, "utf-8")
    done = run(f"{command} --yes", tmp_path)  # nobody is there to answer
    assert (done.returncode, done.stderr) == (0, "")
    assert run("mkdocs build --strict", tmp_path).returncode == 0
    assert (tmp_path / "site/studies/results/index.html").is_file()


def test_import_page_works(tmp_path: Path) -> None:
    done = follow(DOCS / "import.md", tmp_path)
    assert [command.split()[2] for command in done if "import" in command] == [
        "results.csv",
        "ablation.md",
        "runs",
    ]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "ablation",
        "results",
        "runs",
    ]


def inspect_stand_in(folder: Path) -> dict[str, Any]:
    """The modules that the page's script imports, with logs of the same form as Inspect's."""
    logs = iter(range(1, 60))

    def evaluate(task: Any, model: Any, temperature: float) -> None:
        scores, config = {}, SimpleNamespace(temperature=temperature)
        for item in task.items:
            message = SimpleNamespace(text=item.input)
            output = model.custom_outputs([message], [], None, config)
            scores[item.id] = "C" if output.text == item.target else "I"
        number = next(logs)
        put_eval(
            folder / f"logs/{number}.eval",
            scores,
            number=number,
            model=model.name,
            plan={"steps": [], "config": {"temperature": temperature}},
            targets={item.id: item.target for item in task.items},
        )

    def content(name: str, text: str) -> SimpleNamespace:
        return SimpleNamespace(name=name, text=text)

    names: dict[str, Any] = {
        "Task": lambda items, **given: SimpleNamespace(items=items, **given),
        "eval": evaluate,
        "Sample": SimpleNamespace,
        "ModelOutput": SimpleNamespace(from_content=content),
        "ModelUsage": SimpleNamespace,
        "get_model": lambda name, **given: SimpleNamespace(name=name, **given),
        "match": SimpleNamespace,
    }
    modules = ("inspect_ai", "inspect_ai.dataset", "inspect_ai.model", "inspect_ai.scorer")
    return dict.fromkeys(modules, SimpleNamespace(**names))


@pytest.mark.usefixtures("drawn")
def test_logs_page_leads_to_answers_that_are_paired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = DOCS / "evaluation-logs.md"
    for name, module in inspect_stand_in(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)
    [script] = [block.text for block in blocks(page) if block.language == "python"]
    exec(compile(script, "sweep.py", "exec"), {})
    [task] = [yaml.safe_load(block.text) for block in blocks(page) if block.language == "yaml"]
    for shots in (0, 2, 4):
        scores = {task["task"]: {"none": [float((n + shots) % 3 > 0) for n in range(40)]}}
        put_lm_eval(tmp_path / "lm/x", f"2026-03-01T10-0{shots}-00", scores, shots=shots)
    done = [line for line in command_lines(page.name) if line.startswith("gridatlas import")]
    assert len(done) == 3
    for line in done:
        result = run(line, tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
    assert run("gridatlas build --into site", tmp_path).returncode == 0
    answers = json.loads((tmp_path / "site/grids/doubles/answers.json").read_text("utf-8"))
    assert answers[0]["population"] == "for other questions (40 here)"
    [shown] = [block for block in blocks(page) if block.language == "text"]
    assert shown.text in run(shown.title, tmp_path).stdout


def test_hosts_page_leads_to_a_site(start: Path, tmp_path: Path) -> None:
    """Dear: the page's commands build three sites, and write all pages."""
    for written in ("data", "docs", "site"):
        shutil.rmtree(start / written)
    assert run(STARTED[0].replace("--site", "--no-site"), tmp_path).returncode == 0
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Mine\n\n```grid\ntuning/small\n```\n", "utf-8")
    # The first command of the page builds what is there before it.
    (tmp_path / "mkdocs.yml").write_text("site_name: Mine\nplugins: [search, gridatlas]\n", "utf-8")
    assert follow(DOCS / "hosts.md", tmp_path) == [
        "gridatlas build --site",
        "gridatlas build --site --strict",
        "gridatlas build --into docs",
        "zensical build --clean --config-file mkdocs.yml",
    ]
    for page in ("site/index.html", "site/studies/tuning/model/small/index.html"):
        assert "<td>61.2" in (tmp_path / page).read_text("utf-8")


def test_hosts_page_moves_a_site_and_back(start: Path, tmp_path: Path) -> None:
    """Dear: the commands build a site three times, with two hosts."""
    [block] = [block for block in blocks(DOCS / "hosts.md") if block.language == "text"]
    before = {file: file.read_bytes() for file in (tmp_path / "docs").rglob("*") if file.is_file()}
    install, *commands = block.text.splitlines()
    assert install.startswith("pip install ")
    assert len(commands) == 2
    pages = []
    for command in (*commands, commands[0]):
        done = run(command, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        files = (tmp_path / "site").rglob("index.html")
        pages.append(sorted(file.relative_to(tmp_path).as_posix() for file in files))
    assert pages[0] == pages[1] == pages[2]
    after = {file: file.read_bytes() for file in (tmp_path / "docs").rglob("*") if file.is_file()}
    assert after == before


def test_examples_of_the_fence_page_stand_on_it_as_they_are_written() -> None:
    text = (DOCS / "fence.md").read_text("utf-8")
    written = re.findall(r"^````md\n(.*?)^````$", text, re.MULTILINE | re.DOTALL)
    written += re.findall(r"^```md\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(written) == 7
    live = re.sub(r"^(`{3,4})md\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in written if line.strip() not in live] == []


def test_python_of_the_fence_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = [block for block in blocks(DOCS / "fence.md") if block.language == "python"]
    made: dict[str, str] = {}
    exec(compile(code.text, "fence.md", "exec"), made)
    assert made["html"].count("<figure") == 1


def test_full_example_of_the_data_format_is_fine(tmp_path: Path) -> None:
    page = DOCS / "data-format.md"
    example = [block for block in blocks(page) if block.title.startswith("data/")]
    for block in example:
        (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / block.title).write_text(block.text, "utf-8")
    [fine] = [block for block in blocks(page) if block.title.startswith("gridatlas")]
    [wrong] = blocks(DOCS / "problems.md")
    result = run(fine.title, tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == (fine.text, "", 0)
    figure = tmp_path / "data/tuning/figure.csv"
    figure.write_text(figure.read_text("utf-8").replace("78.7", "787"), "utf-8")
    result = run(wrong.title, tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == (wrong.text, "", 1)


def test_least_example_of_the_data_format_is_fine(tmp_path: Path) -> None:
    study = tmp_path / "data/least"
    study.mkdir(parents=True)
    for block in blocks(DOCS / "data-format.md"):
        if block.title in ("study.yml", "cells.csv"):
            (study / block.title).write_text(block.text, "utf-8")
    assert run(
        "gridatlas check", tmp_path
    ).stdout == "least: 1 grid, 2 values, 1 reading; no difference is tested\n" + ("0 problems\n")


@pytest.mark.parametrize(
    "block",
    [
        block
        for page in ("data-format.md", "review.md")
        for block in blocks(DOCS / page)
        if block.language == "yaml"
    ],
    ids=lambda block: block.title or block.text.split(":")[0],
)
def test_snippets_of_study_yml_are_valid(block: Block) -> None:
    tree, _, problems = parse_yaml(block.text, "study.yml")
    assert problems == []
    StudyFile.model_validate(LEAST | tree)


def test_printed_commands_of_the_data_format_run(tmp_path: Path) -> None:
    for block in blocks(DOCS / "data-format.md"):
        if block.language == "sh":
            result = run(block.text, tmp_path)
            assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "data/schema/study.v1.json").read_text("utf-8").startswith("{")


@pytest.mark.usefixtures("start")
def test_template_of_the_options_page_works(tmp_path: Path) -> None:
    [template] = [block for block in blocks(DOCS / "options.md") if block.language == "jinja"]
    (tmp_path / "templates").mkdir()
    (tmp_path / template.title).write_text(template.text, "utf-8")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Mine\nplugins: [{gridatlas: {templates: templates}}]\n", "utf-8"
    )
    result = run("mkdocs build --strict", tmp_path)
    assert result.returncode == 0, result.stderr
    html = (tmp_path / "site/studies/index.html").read_text("utf-8")
    assert '<a href="tuning/">Batch size and learning rate</a>' in html


def test_python_page_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    page = blocks(DOCS / "python.md")
    code = "\n".join(block.text for block in page if block.language == "python")
    namespace: dict[str, Any] = {}
    exec(compile(code, "python.md", "exec"), namespace)
    [output] = [block.text for block in page if block.language == "text"]
    printed = capsys.readouterr().out
    assert output in printed
    assert "0.1 500 42.7 ok\n" in printed
    assert Path("grid.svg").read_text("utf-8").startswith("<svg ")
    assert Path("chart.svg").read_text("utf-8").startswith("<svg ")
    assert len(namespace["single"]) == 160


# --- settings ------------------------------------------------------------------------------------

SETTINGS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in (DOCS / name for name in ("options.md", "hosts.md"))
    for number, block in enumerate(blocks(page))
    if block.language == "yaml"
    and not block.title  # for another host
    and not block.text.startswith("nav:")
] + [
    pytest.param(block, id=f"fence-{number}")
    for number, block in enumerate(blocks(DOCS / "fence.md"))
    if block.language == "yaml"
]


@pytest.mark.parametrize("block", SETTINGS)
def test_settings_are_those_that_mkdocs_and_its_plugins_know(
    tmp_path: Path, block: Block, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    start = "" if "site_name:" in block.text else "site_name: Mine\n"
    Path("mkdocs.yml").write_text(start + block.text, "utf-8")
    config = load_config("mkdocs.yml")
    assert caplog.messages == []
    written = yaml.safe_load(re.sub(r"!ENV \[\w+, (\S+)\]", r"\1", block.text))
    for entry in written.get("plugins", []):
        if isinstance(entry, dict):
            [(name, options)] = entry.items()
            plugin = config.plugins[f"material/{name}" if name == "search" else name]
            read = {key.removesuffix("_"): value for key, value in plugin.config.items()}
            assert {key: read[key] for key in options} == {
                key: None if value == "" and read[key] is None else value
                for key, value in options.items()
            }
    if "site_url" in written:
        assert config.site_url == written["site_url"]


@pytest.mark.usefixtures("start")
def test_policy_and_navigation_of_the_options_page(tmp_path: Path) -> None:
    page = blocks(DOCS / "options.md")
    [policy] = [block.text for block in page if "csp: true" in block.text]
    navigation, tabs = [block.text for block in page if block.text.startswith("nav:")]
    number = 'The small model\'s best is {{ grid(study="tuning", model="small").best.value }} %.'
    headers = next(block.text for block in page if "csp.txt" in block.text)
    (tmp_path / "mkdocs.yml").write_text(f"site_name: Mine\n{policy}{navigation}", "utf-8")
    (tmp_path / "docs/index.md").write_text(f"# Home\n\n{number}", "utf-8")
    built = run("mkdocs build --strict", tmp_path)
    assert built.returncode == 0, built.stderr

    home = (tmp_path / "site/index.html").read_text("utf-8")
    cells = (tmp_path / "data/tuning/cells.csv").read_text("utf-8")
    best = max(re.findall(r"^small,[^,]+,[^,]+,([\d.]+)", cells, re.MULTILINE), key=float)
    assert f"The small model's best is {best} %." in re.sub(r"<[^>]+>", "", home)
    links = re.findall(
        r'<a href="([^"]+)" class="md-nav__link">\s*<span[^>]*>\s*([^<]+?)\s*<', home
    )
    assert ("studies/tuning/model/large/", "Best results") in links

    (tmp_path / "mkdocs.yml").write_text(f"site_name: Mine\n{policy}{tabs}", "utf-8")
    built = run("mkdocs build --strict", tmp_path)
    assert built.returncode == 0, built.stderr
    overview = (tmp_path / "site/studies/index.html").read_text("utf-8")
    tree = overview.partition("md-nav--primary")[2]
    titles = ("Results", "Batch size and learning rate", "Guide")
    places = [tree.index(title) for title in titles]
    assert places == sorted(places)

    assert run(headers, tmp_path).returncode == 0
    policy = (tmp_path / "site/assets/gridatlas/csp.txt").read_text("utf-8").strip()
    assert "script-src 'self'" in policy
    assert '"' not in policy
    nginx = (tmp_path / "csp.conf").read_text("utf-8")
    assert nginx == f'add_header Content-Security-Policy "{policy}" always;\n'
    netlify = (tmp_path / "site/_headers").read_text("utf-8")
    assert netlify == f"/*\n  Content-Security-Policy: {policy}\n"


# --- commands ------------------------------------------------------------------------------------


def command_lines(page: str) -> list[str]:
    """The commands `gridatlas` in blocks of a page."""
    return [
        line
        for block in blocks(DOCS / page)
        if block.language in ("sh", "text") and "Usage:" not in block.text
        for line in block.text.splitlines()
        if line.startswith("gridatlas ") and " > " not in line
    ]


@pytest.fixture
def repository(start: Path) -> Path:
    """A repository with what the examples of the help name."""
    project = start
    shutil.copytree(project / "data", project / "my/data")
    [table] = [block.text for block in blocks(DOCS / "import.md") if block.title == "results.csv"]
    (project / "results.csv").write_text(table, "utf-8")
    done = run(
        "git init -q -b main && git add mkdocs.yml docs data && "
        "git -c user.name=A -c user.email=a@example.org commit -qm First && git tag v1.0 && "
        "git update-ref refs/remotes/origin/main HEAD",
        project,
    )
    assert done.returncode == 0, done.stderr
    return project


def examples() -> list[str]:
    """The examples in the help of the commands, without what is said of them."""
    lines = []
    # Under `main`: click keeps a command's first help option, and without the group it has no -h.
    above = click.Context(main, info_name="gridatlas", **main.context_settings)
    for name in registry.found(registry.COMMANDS):
        command = registry.load(registry.COMMANDS, name)
        text = command.get_help(click.Context(command, info_name=name, parent=above))
        shown = text.partition("Examples:\n")[2].partition("\n\n")[0]
        lines += [re.split(r"\s{2,}", line.strip())[0] for line in shown.splitlines()]
    return lines


def test_examples_of_the_help_run(repository: Path) -> None:
    """Dear: eighteen commands run as they are printed, some of which build sites."""
    imported = [line for line in examples() if line.startswith("gridatlas import results.csv")]
    # Runs are measured by other tests, sites are served by others, without an end, and other tests
    # import logs and folders, export studies, and write workflows.
    elsewhere = tuple(
        f"gridatlas {words}" for words in ("collect", "serve", "import", "export", "new --g")
    )
    others = [line for line in examples() if not line.startswith(elsewhere)]
    assert len(others) == 14
    [proposed, _, accepted] = imported
    assert "--yes" in run(proposed, repository).stdout  # no one can accept it
    for command in [accepted, *others]:
        result = run(command, repository)
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    assert (repository / "my-results/mkdocs.yml").is_file()
    assert (repository / "data/results/study.yml").is_file()
    # The new study is a change, which neither --fail-on nor a comparison of revisions reports.
    assert run("gridatlas diff origin/main data", repository).returncode == 1


def parse(line: str) -> None:
    """Read the words of a command as on the command line, and do nothing."""
    name, *words = shlex.split(line)[1:]
    above = click.Context(main, info_name="gridatlas", **main.context_settings)
    registry.load(registry.COMMANDS, name).make_context(name, words, parent=above)


@pytest.mark.parametrize("line", [line for line in examples() if " > " not in line])
def test_examples_of_the_help_have_the_options_that_there_are(line: str) -> None:
    parse(line)


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_printed_commands_have_the_options_that_there_are(page: str) -> None:
    for line in command_lines(page):
        parse(line)


def test_every_page_names_only_targets_that_make_knows() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        word
        for page in PAGES
        for block in blocks(page)
        if block.language == "sh"
        for word in re.findall(r"^make ([a-z-]+)", block.text, re.MULTILINE)
    }
    assert {"site", "test", "bench"} <= named
    assert named - targets == set()


MEASURES = [
    line
    for page in ("builds.md", "pages.md")
    for block in blocks(ROOT / "benchmarks" / page)
    for line in block.text.splitlines()
    if block.language == "sh"
]


@functools.cache
def help_of(script: str) -> str:
    return run(f"{sys.executable} {script} --help", ROOT).stdout.replace(",", " ")


@pytest.mark.parametrize("line", MEASURES)
def test_commands_that_measure_have_the_options_that_there_are(line: str) -> None:
    command, script, *arguments = shlex.split(line)
    if command == "make":
        [script, arguments] = [
            "tools/bench/bench.py",
            shlex.split(arguments[0].removeprefix("ARGS=")),
        ]
    options = [argument for argument in arguments if argument.startswith("--")]
    assert options
    assert [option for option in options if f"{option} " not in help_of(script)] == []


# --- the rest ------------------------------------------------------------------------------------


def test_editors_of_the_studies_are_told_as_the_page_says() -> None:
    [line] = [
        block.text for block in blocks(DOCS / "data-format.md") if "language-server" in block.text
    ]
    studies = sorted((ROOT / "data").glob("*/study.yml"))
    assert len(studies) >= 3
    assert [path.read_text("utf-8").startswith(line) for path in studies] == [True] * len(studies)


@pytest.mark.usefixtures("start")
def test_metadata_is_read_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [block for block in blocks(DOCS / "data-format.md") if block.language == "python"]
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of mlcroissant's own dependencies
        exec(compile(code.text, "data-format.md", "exec"), namespace)
        cells = list(namespace["cells"])
    assert len(cells) == 18
    assert any("76.2" in str(cell) for cell in cells)


@pytest.mark.usefixtures("drawn")
def test_wrong_fence_is_told_as_the_page_says(tmp_path: Path) -> None:
    [output] = [block.text for block in blocks(DOCS / "fence.md") if block.language == "text"]
    (tmp_path / "data").mkdir()
    for study in ("dynts-window-ratio", "schema"):
        shutil.copytree(ROOT / "data" / study, tmp_path / "data" / study)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: Mine\nplugins: [gridatlas]\n", "utf-8")
    text = "# Home" + "\n" * 12 + "```grid\ndynts-window-ratio/r1-qwen/aime42\n```\n"
    (tmp_path / "docs/index.md").write_text(text, "utf-8")
    log = run("mkdocs build", tmp_path).stderr.splitlines()
    start = next(number for number, line in enumerate(log) if line.startswith("WARNING"))
    pattern = re.escape(output.rstrip()).replace("…", ".+")
    assert re.fullmatch(pattern, "\n".join(log[start : start + 4]))


HERE = {
    ("README.md", "csv"): "test_readme_leads_to_a_site",
    ("README.md", "sh"): "test_readme_leads_to_a_site",
    ("README.md", "yaml"): "test_readme_leads_to_a_site",
    ("docs/commands.md", "bash"): "test_completion_is_what_the_page_says",
    ("docs/commands.md", "text"): "test_reference_is_what_the_code_says",
    ("docs/data-format.md", "csv"): "test_full_example_of_the_data_format_is_fine",
    ("docs/data-format.md", "python"): "test_metadata_is_read_as_the_page_says",
    ("docs/data-format.md", "sh"): "test_printed_commands_of_the_data_format_run",
    ("docs/data-format.md", "text"): "test_full_example_of_the_data_format_is_fine",
    ("docs/data-format.md", "yaml"): "test_snippets_of_study_yml_are_valid",
    ("docs/evaluation-logs.md", "python"): "test_logs_page_leads_to_answers_that_are_paired",
    ("docs/evaluation-logs.md", "sh"): "test_logs_page_leads_to_answers_that_are_paired",
    ("docs/evaluation-logs.md", "text"): "test_logs_page_leads_to_answers_that_are_paired",
    ("docs/evaluation-logs.md", "yaml"): "test_logs_page_leads_to_answers_that_are_paired",
    ("docs/fence.md", "md"): "test_examples_of_the_fence_page_stand_on_it_as_they_are_written",
    ("docs/fence.md", "python"): "test_python_of_the_fence_page_runs",
    ("docs/fence.md", "text"): "test_wrong_fence_is_told_as_the_page_says",
    ("docs/fence.md", "yaml"): "test_settings_are_those_that_mkdocs_and_its_plugins_know",
    ("docs/hosts.md", "sh"): "test_hosts_page_leads_to_a_site",
    ("docs/hosts.md", "text"): "test_hosts_page_moves_a_site_and_back",
    ("docs/hosts.md", "toml"): "test_hosts_page_leads_to_a_site",
    ("docs/hosts.md", "yaml"): "test_hosts_page_leads_to_a_site",
    ("docs/import.md", "csv"): "test_import_page_works",
    ("docs/import.md", "markdown"): "test_import_page_works",
    ("docs/import.md", "sh"): "test_import_page_works",
    ("docs/import.md", "text"): "test_printed_commands_have_the_options_that_there_are",
    ("docs/options.md", "jinja"): "test_template_of_the_options_page_works",
    ("docs/options.md", "sh"): "test_policy_and_navigation_of_the_options_page",
    ("docs/options.md", "yaml"): "test_settings_are_those_that_mkdocs_and_its_plugins_know",
    ("benchmarks/pages.md", "sh"): "test_commands_that_measure_have_the_options_that_there_are",
    ("docs/problems.md", "text"): "test_full_example_of_the_data_format_is_fine",
    ("docs/publish.md", "sh"): "test_printed_commands_have_the_options_that_there_are",
    (
        "docs/publish.md",
        "yaml",
    ): "workflows/test_publishing.py::test_workflows_of_the_page_are_those_that_are_written",
    (
        "docs/publish-elsewhere.md",
        "sh",
    ): "workflows/test_publishing.py::test_mike_keeps_a_site_per_version",
    (
        "docs/publish-elsewhere.md",
        "text",
    ): "workflows/test_publishing.py::test_requirement_of_the_page_names_a_place",
    (
        "docs/publish-elsewhere.md",
        "toml",
    ): "workflows/test_publishing.py::test_hosts_that_preview_build_what_changed",
    (
        "docs/publish-elsewhere.md",
        "yaml",
    ): "workflows/test_publishing.py::test_gitlab_fails_on_a_ragged_row_and_keeps_what_changed",
    ("docs/python.md", "python"): "test_python_page_runs_from_top_to_bottom",
    ("docs/python.md", "text"): "test_python_page_runs_from_top_to_bottom",
    ("docs/review.md", "yaml"): "test_snippets_of_study_yml_are_valid",
    ("docs/review.md", "text"): "test_printed_commands_have_the_options_that_there_are",
    ("docs/start.md", "csv"): "test_start_page_leads_to_a_site",
    ("docs/start.md", "sh"): "test_start_page_leads_to_a_site",
    ("docs/start.md", "text"): "test_start_page_leads_to_a_site",
    ("docs/start.md", "yaml"): "test_start_page_leads_to_a_site",
    ("benchmarks/builds.md", "sh"): "test_commands_that_measure_have_the_options_that_there_are",
    ("docs/claims.md", "python"): "unit/claims/test_claims.py::test_example_of_the_page",
    ("docs/claims.md", "text"): "unit/claims/test_claims.py::test_error_of_the_page",
    (
        "docs/claims.md",
        "yaml",
    ): "unit/claims/test_claims.py::test_claims_of_the_page_are_as_they_record",
    (
        "docs/embedding/index.md",
        "html",
    ): "sites/test_site_embedding.py::test_texts_of_the_page_lead_to_files_of_this_site",
    (
        "docs/embedding/index.md",
        "markdown",
    ): "sites/test_site_embedding.py::test_texts_of_the_page_lead_to_files_of_this_site",
    ("docs/index.md", "grid"): "sites/test_site_fence.py::test_the_home_page_lists_the_studies",
    ("docs/index.md", "sh"): "test_printed_commands_have_the_options_that_there_are",
    (
        "docs/explore.md",
        "grid",
    ): "sites/test_site_fence.py::test_the_page_about_explore_has_a_grid_to_try_it_on",
    ("docs/fence.md", "grid"): "sites/test_site_fence.py::test_examples_of_the_page_are_shown",
    (
        "docs/reproducing/index.md",
        "json",
    ): "reproduce/test_pages.py::test_own_questions_of_the_page_are_read",
    (
        "docs/reproducing/index.md",
        "sh",
    ): "reproduce/test_pages.py::test_all_pages_with_commands_are_found",
}
"""By page and language, the test that runs, builds or reads the blocks."""


def test_completion_is_what_the_page_says(tmp_path: Path) -> None:
    [line] = [block.text for block in blocks(DOCS / "commands.md") if block.language == "bash"]
    done = run(f"{line.strip()}; complete -p gridatlas", tmp_path)
    assert (done.returncode, done.stdout.split()[-1]) == (0, "gridatlas")


def test_every_block_of_every_page_has_its_test() -> None:
    existing = {
        (page.relative_to(ROOT).as_posix(), block.language)
        for page in PAGES
        if "decisions" not in page.parts
        for block in blocks(page)
    }
    assert existing == HERE.keys()
    for test in HERE.values():
        file, _, name = test.rpartition("::")
        text = (ROOT / "tests" / (file or "repository/test_docs_examples.py")).read_text("utf-8")
        text += (ROOT / "tests/repository/test_docs.py").read_text("utf-8")
        assert f"def {name}" in text, test
