"""What Zensical is given: the user's configuration and pages, with ours."""

from pathlib import Path

import pytest
import yaml
from builders import cases

from gridatlas.hosts.mkdocs.options import GridAtlasConfig
from gridatlas.hosts.sites import HostError, find_project
from gridatlas.pages.plan import PagePlan
from gridatlas_zensical import configuration
from gridatlas_zensical.folders import Mirror, in_memory, of_file
from gridatlas_zensical.overlay import nav_of_files, nav_with_pages, nav_without
from gridatlas_zensical.settings import Options, options_of
from gridatlas_zensical.staging import theme_overrides

CONFIG = Path("mkdocs.yml")

# --- options and projects -------------------------------------------------------------------------


def test_options_are_those_of_the_plugin():
    plugin = GridAtlasConfig()
    plugin.validate()
    ours = Options()
    found = {name: getattr(ours, name) for name in Options.__slots__}
    assert {name: value or None for name, value in found.items()} == {
        name: plugin[name] or None for name, _ in GridAtlasConfig._schema
    }


@pytest.mark.parametrize(("given", "message"), cases(__file__, "wrong options"))
def test_a_wrong_option_is_named(given, message):
    with pytest.raises(HostError) as raised:
        options_of(given, CONFIG)
    assert str(raised.value).startswith("mkdocs.yml, the plugin gridatlas: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("files", "host", "found"),
    [
        (["mkdocs.yml"], None, ("mkdocs.yml", "mkdocs")),
        (["mkdocs.yml", "properdocs.yml"], None, ("properdocs.yml", "properdocs")),
        (["mkdocs.yml", "zensical.toml"], None, ("zensical.toml", "zensical")),
        (["mkdocs.yml", "zensical.toml"], "mkdocs", ("mkdocs.yml", "mkdocs")),
        (["mkdocs.yaml"], "zensical", ("mkdocs.yaml", "zensical")),
        (["mkdocs.yml"], "properdocs", ("mkdocs.yml", "properdocs")),
    ],
)
def test_a_project_has_the_host_of_its_configuration(tmp_path, files, host, found):
    for name in files:
        (tmp_path / name).touch()
    project = find_project(None, host, tmp_path)
    assert (project.config.name, project.host) == found


def test_without_a_site_it_says_where_one_begins(tmp_path):
    (tmp_path / "zensical.toml").touch()
    with pytest.raises(HostError, match=r"no site in .*\n  expected: one of mkdocs.yml"):
        find_project(None, "mkdocs", tmp_path)
    with pytest.raises(HostError, match=r"other.yml: no such file"):
        find_project(tmp_path / "other.yml", None)


# --- the configuration ----------------------------------------------------------------------------


def test_a_configuration_keeps_what_is_not_ours(tmp_path, monkeypatch):
    (tmp_path / "base.yml").write_text("site_name: Base\nextra_css: [a.css]\nextra: {a: 1, b: 2}\n")
    (tmp_path / "mkdocs.yml").write_text(
        "INHERIT: base.yml\nsite_name: !ENV [NAME, Mine]\nextra_css: [b.css]\nextra: {b: 3}\n"
        "markdown_extensions:\n"
        "  - pymdownx.emoji: {emoji_index: !!python/name:material.extensions.emoji.twemoji }\n"
    )
    node = configuration.read(tmp_path / "mkdocs.yml")
    assert configuration.values(node)["site_name"] == "Mine"
    monkeypatch.setenv("NAME", "Yours")
    values = configuration.values(node)
    assert (values["site_name"], values["extra_css"]) == ("Yours", ["a.css", "b.css"])
    assert values["extra"] == {"a": 1, "b": 3}
    text = configuration.text(node)
    assert "!ENV" in text
    assert "!!python/name:material.extensions.emoji.twemoji" in text
    assert yaml.compose(text) is not None


def test_toml_is_read_as_the_same(tmp_path):
    file = tmp_path / "zensical.toml"
    file.write_text('[project]\nsite_name = "Mine"\n[project.plugins.gridatlas]\ndata = "d"\n')
    node = configuration.read(file)
    plugins = configuration.entries(configuration.get(node, "plugins"))
    assert (configuration.values(node)["site_name"], plugins) == (
        "Mine", {"gridatlas": {"data": "d"}}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mkdocs.yml", "a: [\n", "mkdocs.yml:2: "),
        ("mkdocs.yml", "- a\n", "mkdocs.yml: no keys"),
        ("mkdocs.yml", "INHERIT: none.yml\n", "none.yml"),
        ("zensical.toml", "a = \n", "zensical.toml: Invalid value (at line 1"),
    ],
)
def test_a_configuration_that_cant_be_read_is_told_with_its_place(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(HostError) as raised:
        configuration.read(tmp_path / name)
    assert message in str(raised.value)


# --- the navigation -------------------------------------------------------------------------------


def plan(path, trail, title, is_index=True):
    return PagePlan(path, "t", trail, title, "", "", {}, is_index=is_index)


PLANS = [
    plan("s/index.md", ("Studies",), "Studies"),
    plan("s/a/index.md", ("Studies", "A & B"), "A & B"),
    plan("s/a/m/index.md", ("Studies", "A & B", "Model"), "Model"),
    plan("s/a/m/x/index.md", ("Studies", "A & B", "Model"), "X", is_index=False),
]
MODEL = {"Model": [{"Model": "s/a/m/index.md"}, {"X": "s/a/m/x/index.md"}]}


@pytest.mark.parametrize(("nav", "expected"), cases(__file__, "navigation"))
def test_our_pages_have_their_places_in_the_navigation(nav, expected):
    before = repr(nav)
    assert nav_with_pages(nav, PLANS, "s") == expected
    assert repr(nav) == before


def test_a_site_without_nav_has_a_section_per_folder():
    pages = ["b.md", "a/z.md", "a/index.md", "index.md", "a/my-part/x.md"]
    assert nav_of_files(pages) == [
        "index.md", "b.md", {"A": ["a/index.md", "a/z.md", {"My part": ["a/my-part/x.md"]}]},
    ]  # fmt: skip


def test_pages_that_nobody_makes_leave_no_empty_section():
    nav = ["index.md", {"Notebooks": [{"One": "one.py"}, "two.py"]}, {"Links": ["https://a.b/"]}]
    assert nav_without(nav, {"one.py", "two.py"}) == [
        "index.md", {"Links": ["https://a.b/"]},
    ]  # fmt: skip


# --- what is written ------------------------------------------------------------------------------


def test_a_mirror_writes_what_changed_and_removes_what_is_gone(tmp_path):
    folder = tmp_path / "mirror"
    (folder / "old").mkdir(parents=True)
    (folder / "old/left.md").write_text("of an earlier session")
    (folder / "same.md").write_text("same")
    mirror = Mirror(folder)
    same, first = in_memory(b"same"), in_memory(b"1")
    assert mirror.bring({"same.md": same, "a/b.md": first}) == ("old/left.md", "a/b.md")
    assert not (folder / "old").exists()
    time = (folder / "same.md").stat().st_mtime_ns
    assert mirror.bring({"same.md": same, "a/b.md": in_memory(b"2")}) == ("a/b.md",)
    assert (folder / "a/b.md").read_bytes() == b"2"
    assert (folder / "same.md").stat().st_mtime_ns == time
    # A file becomes a folder.
    assert mirror.bring({"same.md": same, "a/b.md/c.md": first}) == ("a/b.md", "a/b.md/c.md")


def test_a_mirror_sees_that_a_file_was_edited(tmp_path):
    source = tmp_path / "source.md"
    source.write_text("one")
    mirror = Mirror(tmp_path / "mirror")
    assert mirror.bring({"x.md": of_file(source)}) == ("x.md",)
    assert mirror.bring({"x.md": of_file(source)}) == ()
    source.write_text("two!")
    assert mirror.bring({"x.md": of_file(source)}) == ("x.md",)


@pytest.mark.parametrize("own", [True, False])
def test_the_users_template_is_extended(tmp_path, own):
    (tmp_path / "partials").mkdir()
    (tmp_path / "partials/footer.html").write_text("footer")
    if own:
        (tmp_path / "main.html").write_text("mine")
    files = {path: content.read().decode() for path, content in theme_overrides(tmp_path).items()}
    parent = "gridatlas-main.html" if own else "base.html"
    assert files["main.html"].startswith(f'{{% extends "{parent}" %}}')
    assert files.get("gridatlas-main.html") == ("mine" if own else None)
    assert files["partials/footer.html"] == "footer"
