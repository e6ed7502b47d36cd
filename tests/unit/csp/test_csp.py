"""Which inline scripts a page has, what the policy stops in it, and where the policy is put."""

from html.parser import HTMLParser

import pytest
from builders import cases
from hypothesis import given
from hypothesis import strategies as st

from gridatlas.csp.policy import policy, scan, script_hash, with_meta

RUN = "sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ="
"""Of `run()`, as `openssl dgst -sha256 -binary | base64` gives it."""


def test_a_hash_is_that_of_the_text():
    assert script_hash("run()") == RUN


@pytest.mark.parametrize("html", cases(__file__, "scripts that run are found and others are not"))
def test_scripts_that_run_are_found_and_others_are_not(html):
    found = scan(html)
    assert found.hashes == {RUN}
    assert found.refused == frozenset()


def test_line_ends_are_those_that_a_browser_reads():
    assert script_hash("a\r\nb\rc") == script_hash("a\nb\nc")


class _Parser(HTMLParser):
    """Reads scripts by the standard library."""

    def __init__(self):
        super().__init__()
        self.scripts: list[str] = []
        self.within = False

    def handle_starttag(self, tag, attrs):
        self.within = tag == "script"
        if self.within:
            self.scripts.append("")

    def handle_data(self, data):
        if self.within:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self.within = False


PIECES = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            '<p title="<script>">',
            "<a href='x>y' b=\"</script>\">",
            "<img alt=a/b src=c>",
            "<br/>",
            "text > text",
            "&lt;script&gt;",
            "<!-- <script> -->",
            "<style>p > a {}</style>",
            "<script>one(1 < 2 && '</p>')</script>",
            '<script id="a>b" >two("<!-- no")</script >',
            "<SCRIPT>three()</SCRIPT>",
        ]
    )
)


@given(PIECES)
def test_scripts_are_read_as_by_the_standard_library(pieces):
    html = "\n".join(pieces)
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert scan(html).hashes == {script_hash(script) for script in parser.scripts}


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(("html", "found", "fix"), cases(__file__, "stopped"))
def test_what_the_policy_stops_is_told_with_what_to_do(html, found, fix):
    [refused] = scan(html).refused
    message = refused.message(["b.html", "a.html", "c.html"])
    assert message.startswith("csp: a.html and 2 more: ")
    assert found in message
    assert fix in message.partition("Fix: ")[2]


@pytest.mark.parametrize("html", cases(__file__, "allowed"))
def test_what_the_policy_allows_is_not_told(html):
    assert scan(html, "https://own.example/site/").refused == frozenset()


# --- the policy and its place -------------------------------------------------------------------


def test_the_policy_names_each_hash_once_and_allows_nothing_unsafe_to_scripts():
    text = policy(["sha256-b", "sha256-a", "sha256-b"])
    directives = dict(part.split(" ", 1) for part in text.split("; "))
    assert directives["script-src"] == "'self' 'sha256-a' 'sha256-b'"
    assert directives["default-src"] == "'self'"
    assert directives["style-src"] == "'self' 'unsafe-inline'"
    assert directives["img-src"] == "'self' data:"
    assert "unsafe-eval" not in text
    assert "frame-ancestors" not in text  # nothing that a <meta> can't say


META = '\n<meta http-equiv="Content-Security-Policy" content="P" data-gridatlas>'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<!doctype html>\n<html lang=en>\n<head>", "<script>run()</script></head>"),
        ('<head>\n  <meta charset="utf-8">', "<title>T</title>"),
        ('<HEAD class="a>b"><META charset=utf-8>\n<meta name=d content="a > b">', "<link>"),
        ("<!doctype html>\n<html lang=en>", "<title>no head</title>"),
        ("<!DOCTYPE html>", "<header>a page</header>"),
        ("", "<p>a piece</p>"),
    ],
)
def test_the_policy_stands_ahead_of_all_that_runs_and_behind_the_encoding(before, after):
    once = with_meta(before + after, "P")
    assert once == before + META + after
    assert with_meta(once, "P") == once
    assert with_meta(once, "Q").count("Content-Security-Policy") == 1
