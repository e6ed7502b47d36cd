"""Problems in data and options: on the page, in the log, and in the exit status."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest
import site_builds
from site_builds import TINY_CELLS, TINY_STUDY, Build, Project, navigation, text_of

CELLS = TINY_CELLS.replace("11.5", "abc").replace("24.5", "140")
"""Two values that can't be right, in lines 2 and 9."""
MESSAGES = """\
WARNING -  data/tiny/cells.csv:2, "accuracy": problem [not-a-number]
  found:    "abc"
  expected: a number such as 47.3
  fix:      correct it, or leave it empty and say why in the columns state and note
WARNING -  data/tiny/cells.csv:9, "accuracy": problem [out-of-range]
  found:    140
  expected: 0 to 100, the range of Accuracy in study.yml
  fix:      correct the value, or the range
"""
ON_THE_PAGE = [
    'data/tiny/cells.csv:2, "accuracy" (not-a-number): found "abc"; expected a number such as '
    "47.3. To fix it: correct it, or leave it empty and say why in the columns state and note.",
    'data/tiny/cells.csv:9, "accuracy" (out-of-range): found 140; expected 0 to 100, the range of '
    "Accuracy in study.yml. To fix it: correct the value, or the range.",
]


def problems_on(build: Build, address: str) -> list[str]:
    return [text_of(element) for element in build.page(address).select("article .ga-problems li")]


def assert_log(build: Build, status: int, text: str) -> None:
    """The whole of what MkDocs said, but for what depends on the time and the folder."""
    assert build.status == status, build.log
    assert "Traceback" not in build.log
    # Which folder is written to, how long it took, and how far it is.
    others = ("Cleaning site directory", "Building documentation ", "Documentation ", "gridatlas: ")
    begins = tuple(f"INFO    -  {other}" for other in others)
    lines = [line for line in build.log.splitlines() if not line.startswith(begins)]
    assert "\n".join(lines).strip() == text.strip()


FAILED = (
    "ERROR   -  gridatlas: {} in the data (listed above), and strict is set\n\n"
    "Aborted with a BuildError!"
)


def test_a_build_that_is_not_strict_shows_them_on_the_page(tiny: Callable[..., Project]) -> None:
    project = tiny()
    project.write("data/tiny/cells.csv", CELLS)
    build = project.build()
    assert_log(build, 0, MESSAGES)
    for address in ("studies/tiny/", "studies/tiny/model/", "studies/tiny/model/small/"):
        assert problems_on(build, address) == ON_THE_PAGE
        details = build.page(address).select(".ga-problems details")
        assert [detail.has_attr("open") for detail in details] == [True]
    # What was left out is missing, never zero.
    figure = site_builds.figure_of(build.page("studies/tiny/model/small/"), "small")
    assert site_builds.data_table(figure)[1]["8"] == ["missing", "12.5"]


def test_a_strict_build_of_mkdocs_fails(tiny: Callable[..., Project]) -> None:
    project = tiny()
    project.write("data/tiny/cells.csv", CELLS)
    build = project.build("--strict")
    assert_log(build, 1, MESSAGES + FAILED.format("2 problems"))


@pytest.mark.parametrize("by", ["the option", "MkDocs"])
@pytest.mark.parametrize(
    ("file", "text"),
    [("cells.csv", CELLS), ("study.yml", "title: half of a study\n")],
    ids=["cells", "study"],
)
def test_bad_data_leave_the_site_of_a_strict_build_as_it_is(
    tiny: Callable[..., Project], by: str, file: str, text: str
) -> None:
    project = tiny(options={"strict": by == "the option"})
    before = project.built().files()
    project.write(f"data/tiny/{file}", text)
    build = project.build(*(["--strict"] if by == "MkDocs" else []))
    assert build.status == 1
    assert "gridatlas: " in build.log
    assert build.files() == before


def test_the_option_strict_fails_any_build(tiny: Callable[..., Project]) -> None:
    project = tiny(options={"strict": True})
    project.write("data/tiny/cells.csv", CELLS)
    assert_log(project.build("--no-strict"), 1, MESSAGES + FAILED.format("2 problems"))


def test_notes_fail_nothing(tiny: Callable[..., Project]) -> None:
    project = tiny(options={"strict": True})
    rows = [f"{row},x" for row in TINY_CELLS.splitlines()]
    project.write("data/tiny/cells.csv", "\n".join([rows[0][:-1] + "seed", *rows[1:]]))
    build = project.build("--strict")
    assert build.status == 0
    assert 'INFO    -  data/tiny/cells.csv:1, "seed": note [unused-column]\n' in build.log
    assert len(problems_on(build, "studies/tiny/")) == 1
    assert problems_on(build, "studies/tiny/model/small/") == []


def test_a_study_that_cannot_be_read_has_a_page_that_says_why(tiny: Callable[..., Project]) -> None:
    project = tiny()
    site_builds.add_tiny_study(project, "whole")
    project.write("data/tiny/study.yml", TINY_STUDY.replace("x: rate", "x: ["))
    message = (
        "WARNING -  data/tiny/study.yml:7: problem [not-yaml]\n"
        "  found:    expected ',' or ']', but got ':'\n"
        "  expected: YAML\n"
        "  fix:      check the indentation, colons and quotes of this line and the one above\n"
    )
    build = project.build()
    assert_log(build, 0, message)
    assert problems_on(build, "studies/tiny/") == [
        "data/tiny/study.yml:7 (not-yaml): found expected ',' or ']', but got ':'; expected YAML. "
        "To fix it: check the indentation, colons and quotes of this line and the one above."
    ]
    overview = site_builds.article(build.page("studies/"))
    links = {str(link["href"]): text_of(link) for link in overview.select("a")}
    assert links["tiny/"] == "tiny"
    # The other study is not held up by it.
    assert "whole/" in links
    assert "Learning rate and batch size" in text_of(overview)
    pages = [build.page(f"studies/whole/model/{level}/") for level in ("small", "large")]
    assert [len(site_builds.figures(page)) for page in pages] == [1, 1]
    studies = next(item for item in navigation(build.page("")) if item[0] == "Studies")
    assert ["tiny", "studies/tiny/", []] in studies[2]
    strict = project.build("--strict")
    assert_log(strict, 1, message + FAILED.format("1 problem"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            None,
            "WARNING -  data: problem [no-such-file]\n"
            "  found:    no such folder\n"
            "  expected: a folder with one folder per study\n"
            "  fix:      create it, or correct the option data\n",
        ),
        (
            {"data": "results/raw"},
            "WARNING -  results/raw: problem [no-such-file]\n"
            "  found:    no such folder\n"
            "  expected: a folder with one folder per study\n"
            "  fix:      create it, or correct the option data\n",
        ),
        (
            {"data": "docs"},
            "WARNING -  docs: problem [no-study]\n"
            "  found:    no folder with a study.yml\n"
            "  expected: data/<study>/study.yml\n"
            "  fix:      add a study; the documentation's page on the data format has a minimal "
            "example\n",
        ),
    ],
)
def test_a_missing_data_folder(
    tiny: Callable[..., Project], options: dict[str, Any] | None, message: str
) -> None:
    project = tiny(options=options)
    shutil.rmtree(project.folder / "data")
    strict = project.build("--strict")
    assert_log(strict, 1, message + FAILED.format("1 problem"))
    if options is None:
        build = project.build()
        assert_log(build, 0, message)
        assert "There is no study yet" in text_of(site_builds.article(build.page("studies/")))


ALL_OPTIONS = (
    "the options are data, into, templates, cache, strict, csp, prune_nav, compare_to, limits"
)
TYPES = "Expected type: <class '{}'> but received: <class '{}'>"


@pytest.mark.parametrize(
    ("options", "name", "message"),
    [
        ({"strict": "maybe"}, "strict", TYPES.format("bool", "str")),
        ({"into": 5}, "into", TYPES.format("str", "int")),
        ({"data": ["data"]}, "data", TYPES.format("str", "list")),
        ({"templates": True}, "templates", TYPES.format("str", "bool")),
        ({"cache": 1.5}, "cache", TYPES.format("str", "float")),
        ({"limits": 5}, "limits", "Expected names with numbers, such as levels: 100000"),
        ({"limits": {"levls": 5}}, "limits", 'no limit "levls"; did you mean levels?'),
        (
            {"limits": {"levels": "many"}},
            "limits",
            'levels is "many"; write a whole number from 1, such as 5000',
        ),
    ],
)
def test_an_option_of_the_wrong_type(
    tiny: Callable[..., Project], options: dict[str, Any], name: str, message: str
) -> None:
    build = tiny(options=options).build()
    assert build.status == 1
    assert build.log.strip() == (
        f"ERROR   -  Config value 'plugins': Plugin 'gridatlas' option '{name}': {message}\n\n"
        "Aborted with a configuration error!"
    )


def test_the_option_limits_holds_for_the_data(tiny: Callable[..., Project]) -> None:
    build = tiny(options={"limits": {"readings": 1, "file_bytes": 20}}).build()
    assert (build.status, "[too-large]" in build.log, "at most 20 bytes" in build.log) == (
        0,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("datas", "did you mean data?"),
        ("comparee-to", "did you mean compare_to?"),
        ("data_", "did you mean data?"),
        (5, ALL_OPTIONS),
        ("zebra", ALL_OPTIONS),
    ],
)
def test_an_option_that_there_is_not(
    tiny: Callable[..., Project], name: str | int, right: str
) -> None:
    project = tiny(options={name: "data"})
    message = (
        f"WARNING -  Config value 'plugins': Plugin 'gridatlas' option '{name}': Unrecognised "
        f"configuration name: {name}; {right}\n"
    )
    build = project.build()
    assert (build.status, build.log.startswith(message)) == (0, True)
    strict = project.build("--strict")
    assert strict.status == 1
    assert strict.log == f"{message}\nAborted with 1 configuration warnings in 'strict' mode!\n"


def test_a_cache_that_cannot_be_written(tiny: Callable[..., Project]) -> None:
    project = tiny(options={"cache": "docs/index.md"})
    build = project.build("--strict")
    assert build.status == 0
    place = f"{project.folder}/docs/index.md"
    assert (
        f"gridatlas: the cache {place}/cache-1.sqlite3 can't be used: [Errno 17] File exists: "
        f"'{place}'. The build continues without it and takes longer. Make its folder writable, or "
        "choose another folder\n"
    ) in build.log
    assert "Traceback" not in build.log
    assert (build.site / "studies/tiny/index.html").exists()
