"""A toy of each kind of part, added by one file, or by a package of another."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from builders import write_study
from click.testing import CliRunner
from jinja2 import ChoiceLoader, DictLoader, PackageLoader

from gridatlas import checks
from gridatlas.assessment.pipeline import load_data
from gridatlas.charts import kinds
from gridatlas.charts.kinds import all_plots
from gridatlas.charts.pool import draw
from gridatlas.charts.render import DrawingError
from gridatlas.checks import all_checks
from gridatlas.cli.main import main
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.json_schema import key_texts
from gridatlas.model.schema import AcceptedEntry
from gridatlas.pages.anatomy import study_anatomy
from gridatlas.pages.environment import own_environments
from gridatlas.pages.exports import plot_files
from gridatlas.pages.fence import FenceError, parse
from gridatlas.pages.fence_figures import figures
from gridatlas.pages.render import Templates
from gridatlas_import import readers
from gridatlas_import.detect import detect
from gridatlas_import.importers import importers
from gridatlas_import.rows import CannotImport


class Elsewhere:
    """A folder with packages of others, as pip installs them, and with a project."""

    def __init__(self, folder):
        self.folder = folder
        self.packages = folder / "packages"
        self.packages.mkdir()

    def install(self, name, group, point, modules):
        about = self.packages / f"{name.replace('-', '_')}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{group}]\n{point}\n")
        for module, source in modules.items():
            (self.packages / f"{module}.py").write_text(source)

    def run(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "gridatlas", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.packages)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def elsewhere(tmp_path):
    return Elsewhere(tmp_path)


COMMAND = """
import click

@click.command()
def greet():
    \"\"\"Greet who runs it.\"\"\"
    click.echo("hello")
"""


def test_a_command_of_others_is_listed_and_runs(elsewhere):
    elsewhere.install("toy-greet", "gridatlas.commands", "greet = toy:greet", {"toy": COMMAND})
    assert "  greet    Greet who runs it.\n" in elsewhere.run("--help").stdout
    assert elsewhere.run("greet").stdout == "hello\n"


def test_a_command_whose_module_is_gone_is_not_listed(elsewhere):
    elsewhere.install("toy-greet", "gridatlas.commands", "greet = toy:greet", {})
    listed = elsewhere.run("--help")
    assert (listed.returncode, "greet" in listed.stdout) == (0, False)
    assert elsewhere.run("greet").stderr.endswith(
        'Error: the entry point "greet" of gridatlas.commands needs toy, which isn\'t installed\n'
    )


HOST = """
CONFIGS = ("toy.ini",)
PACKAGES = ("toy",)

def build(project, strict, report):
    report(f"built {project.config.name} with {project.host}")
    return 0

def serve(project, address, report):
    return 0

def data_of(config):
    return "data"
"""


@pytest.mark.parametrize("named", [("--host", "toy"), ()], ids=["named", "by its configuration"])
def test_a_host_of_others_builds_a_site(elsewhere, named):
    elsewhere.install("toy-host", "gridatlas.hosts", "toy = toy", {"toy": HOST})
    (elsewhere.folder / "toy.ini").write_text("")
    built = elsewhere.run("build", "--site", *named)
    assert (built.returncode, built.stdout + built.stderr) == (0, "built toy.ini with toy\n")
    assert "toy" in elsewhere.run("build", "--help").stdout


TWICE = 'both bring the entry point "toy" of gridatlas.{}: remove one of them\n'


@pytest.mark.parametrize(
    ("group", "source", "arguments"),
    [
        ("commands", COMMAND, ("toy",)),
        ("hosts", HOST, ("build", "--site", "--host", "toy")),
        ("hosts", HOST, ("build", "--site")),
        ("importers", "ENDINGS = ('.toy',)\ndef read(file): ...\n", ("import", "toy.ini")),
    ],
)
def test_of_two_packages_with_the_same_name_both_are_named(elsewhere, group, source, arguments):
    point = "{}:greet" if group == "commands" else "{}"
    for name in ("one", "two"):
        own = f"toy = {point.format(name)}"
        elsewhere.install(f"toy-{name}", f"gridatlas.{group}", own, {name: source})
    (elsewhere.folder / "toy.ini").write_text("")
    ran = elsewhere.run(*arguments)
    assert ran.returncode in (1, 2)
    assert f"toy-one and toy-two {TWICE.format(group)}" in ran.stderr
    assert "Traceback" not in ran.stderr
    if group == "commands":  # the others are fine
        assert elsewhere.run("check", "--help").returncode == 0


# --- importers ------------------------------------------------------------------------------------

READER = """
from gridatlas_import.rows import RawTable

ENDINGS = (".toy", ".json")

def recognise(file):
    return file.ending == ".toy" or b"toys" in file.head

def read(file):
    return RawTable(
        "toys", {"lr": ["0.1", "0.2"], "depth": ["1", "2"], "accuracy": ["0.5", "0.75"]},
        [f"{file.name}:1", f"{file.name}:2"],
    )
"""
CELLS = "lr,depth,accuracy\n0.1,1,0.5\n0.2,1,0.75\n"


@pytest.mark.parametrize("name", ["results.toy", "results.json"])
def test_an_importer_of_others_reads_its_files(elsewhere, name):
    elsewhere.install("toy-reader", "gridatlas.importers", "toy = toy", {"toy": READER})
    (elsewhere.folder / "logs").mkdir()
    for path in (name, f"logs/{name}"):
        (elsewhere.folder / path).write_text('{"toys": 1}')
    for path in (name, "logs"):
        ran = elsewhere.run("import", path, "--yes", "--study", f"of-{path.partition('.')[0]}")
        assert ran.returncode == 0, ran.stderr
        cells = elsewhere.folder / f"data/of-{path.partition('.')[0]}/cells.csv"
        values = [row.split(",")[2] for row in cells.read_text().splitlines()]
        assert values == ["accuracy", "0.5", "0.75"]


def test_what_is_no_importer_is_said(elsewhere):
    elsewhere.install("toy-reader", "gridatlas.importers", "toy = toy", {"toy": "ENDINGS = ()"})
    (elsewhere.folder / "results.csv").write_text(CELLS)
    ran = elsewhere.run("import", "results.csv")
    assert ran.returncode == 1
    assert "the importer toy, without ENDINGS, or without any of read, read_all" in ran.stderr


def test_an_importer_is_a_file_in_a_folder(tmp_path, monkeypatch):
    (tmp_path / "toys.py").write_text(READER)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    importers.cache_clear()
    try:
        (tmp_path / "results.toy").write_text("toys")
        assert detect([tmp_path / "results.toy"]).form == "toys"
    finally:
        importers.cache_clear()


def test_a_log_beside_a_table_is_refused(tmp_path):
    (tmp_path / "log.eval").write_text("")
    (tmp_path / "results.csv").write_text(CELLS)
    with pytest.raises(CannotImport) as error:
        detect([tmp_path / "results.csv", tmp_path / "log.eval"])
    assert str(error.value) == (
        "  found:    log.eval, a log, and results.csv, which is none\n"
        "  expected: logs alone: files that end with .eval, .json\n"
        "  fix:      import one after the other"
    )


# --- checks ---------------------------------------------------------------------------------------

CHECK = """
from gridatlas.checks.register import check

@check(
    kind="{kind}", title="Toys", says="A value of 13. A note.", passing="another value", order=5
)
def toys(view):
    found = [
        view.finding("{kind}", sheet.levels, [point], "a 13", "Bad luck.", "Certain.")
        for sheet in view.sheets for point, value in sheet.values() if value == 13
    ]
    return [view.result("{kind}", [sheet.levels for sheet in view.sheets], "Looked.", "", found)]
"""


@pytest.fixture
def check_files(tmp_path, monkeypatch):
    """A folder whose files are as those in `checks/`."""
    more = tmp_path / "checks"
    more.mkdir()
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(more)])
    all_checks.cache_clear()
    yield more
    all_checks.cache_clear()
    for file in more.iterdir():
        sys.modules.pop(f"gridatlas.checks.{file.stem}", None)


def test_a_check_is_a_file(check_files, make_study):
    (check_files / "toys.py").write_text(CHECK.format(kind="toy"))
    found = checks.check_study(make_study("", "rate,depth,value\n0.1,1,13\n0.2,1,20\n"))
    assert next(iter(all_checks())) == "toy"
    assert (found.results[0].title, found.results[0].outcome) == ("Toys", "found")
    assert str(found.problems[0]) == (
        'data/demo/cells.csv:2, "value": problem [toy]\n'
        "  found:    a 13\n"
        "  expected: another value\n"
        "  fix:      correct the values; if the source has them so, add under accepted in "
        'study.yml: - {finding: toy, at: {rate: 0.1}, because: "…"}'
    )
    entry = '\naccepted:\n  - {finding: toy, because: "Known."}\n'
    assert not checks.check_study(
        make_study(entry, "rate,depth,value\n0.1,1,13\n0.2,1,20\n")
    ).problems
    assert "`toy`" in key_texts(AcceptedEntry, all_checks())["finding"]
    assert CliRunner().invoke(main, ["schema"]).output.count("`toy`") == 1


def test_two_checks_of_one_kind_are_refused(check_files):
    (check_files / "toys.py").write_text(CHECK.format(kind="decimals"))
    with pytest.raises(ValueError, match=r"^checks/decimals.py and checks/toys.py both have "):
        all_checks()


# --- charts ---------------------------------------------------------------------------------------

CHART = """
import json
from dataclasses import asdict, dataclass

from gridatlas.charts.kinds import Plot

@dataclass(frozen=True, slots=True)
class Toys(Plot):
    KIND, PLACE, ORDER = "{kind}", "settings", 9

    title: str
    description: str
    values: tuple[float, ...]
    missing: int = 0

    @classmethod
    def of(cls, assessment, grids, facet):
        values = [grid.columns.value.floats.max() for grid in grids]
        return (cls("Toys", "The best of each", tuple(values)),)

    def to_json(self):
        return json.dumps({{"toys": asdict(self)}})

    def specification(self):
        values = [{{"value": value}} for value in self.values]
        encoding = {{"x": {{"field": "value"}}}}
        return {{"data": {{"values": values}}, "mark": "point", "encoding": encoding}}

    def expected(self):
        return {{"point": ("toys", len(self.values) + self.missing)}}

    @property
    def columns(self):
        return ("Best",)

    def table(self):
        return [(str(value),) for value in self.values]

    def records(self):
        return [{{"best": value}} for value in self.values]
"""


@pytest.fixture
def chart_files(tmp_path, monkeypatch):
    """A folder whose files are as those in `charts/kinds/`, and another one with templates."""
    more = tmp_path / "kinds"
    more.mkdir()
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(more)])
    loader = own_environments()[1].loader
    assert isinstance(loader, PackageLoader)
    captions = DictLoader({"toys.html.jinja": "{{ chart.values | length }} of the toys."})
    monkeypatch.setattr(own_environments()[1], "loader", ChoiceLoader([loader, captions]))
    all_plots.cache_clear()
    yield more
    all_plots.cache_clear()
    sys.modules.pop("gridatlas.charts.kinds.toys", None)


def test_a_chart_is_a_file(chart_files):
    (chart_files / "toys.py").write_text(CHART.format(kind="toys"))
    write_study(chart_files / "data/demo", cells="rate,depth,value\n0.1,1,13\n0.2,1,20\n")
    assessment = load_data(chart_files / "data")["demo"]
    assert list(all_plots()) == [
        "dots", "rows", "profile", "forest", "sweep", "ratios", "seeds", "toys"
    ]  # fmt: skip
    anatomy = study_anatomy(assessment)
    assert anatomy.context["placed"] == {"settings": ["toys"], "axes": ["profile"], "ahead": []}
    row = anatomy.charts[-1]
    drawings = draw([figure.chart for figure in row.figures])
    [drawing] = drawings.values()
    assert 'role="img" aria-label="The best of each"' in drawing.svg
    assert drawing.png.startswith(b"\x89PNG")
    page = Templates(None, frozenset(), (), SiteAddress()).fence(
        row, "studies/demo/index.md", drawings, set()
    )
    assert "<figcaption>1 of the toys.</figcaption>" in page
    assert '<tr><th scope="row">20.0</th></tr>' in page
    assert plot_files(row.figures[0], drawing)["plots/demo/toys.csv"] == "best\n20.0\n"
    fence = parse("demo\nas: toys\n")
    assert figures(fence, {"demo": assessment}).figures[0].chart == row.figures[0].chart
    with pytest.raises(FenceError) as error:
        figures(parse("demo\nas: toy\n"), {"demo": assessment})
    assert (
        error.value.expected
        == "dots, rows, profile, forest, sweep, ratios, seeds, toys, delta or studies"
    )
    with pytest.raises(DrawingError, match=r"^Toys: drawn with 1 toys, expected 2$"):
        draw([replace(row.figures[0].chart, missing=1)])


def test_two_charts_of_one_kind_are_refused(chart_files):
    (chart_files / "toys.py").write_text(CHART.format(kind="dots"))
    with pytest.raises(
        ValueError, match=r"^charts/kinds/dots.py and charts/kinds/toys.py both have dots$"
    ):
        all_plots()
