"""Drawing with vl-convert, and the cache of what was drawn."""

import io
import os
import pickle
import re
import sqlite3
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest
import vl_convert
from builders import write_study
from PIL import Image
from test_plot_drawings import dot_plot, forest, profile

from gridatlas.charts import pool, render
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.marks import CellMark, Segment
from gridatlas.charts.palette import ColourScale
from gridatlas.charts.pool import RenderPool, draw
from gridatlas.charts.render import Drawing, DrawingError, draw_one, recompress_png
from gridatlas.files.cache import FILE

SVG = "{http://www.w3.org/2000/svg}"


def _picture(title="One", *values, **more):
    """One row of cells; None is a cell that is missing."""
    values = values or (1.0, 2.0, None)
    labels = tuple(map(str, range(len(values))))
    return Heatmap(
        title=title,
        description=f"{title}: a heatmap.",
        measure="Accuracy (%)",
        ends=("1", "2"),
        scale=ColourScale("values", 1.0, 2.0),
        x_title="Rate",
        y_title="Depth",
        x_labels=labels,
        y_labels=("1",),
        marks=tuple(
            CellMark(
                f"{x},1", x, "1", value, "" if value is None else f"{value:.1f}", f"cell {x}",
                absent="no value: missing" if value is None else "",
            )
            for x, value in zip(labels, values, strict=True)
        ),
    )  # fmt: skip


ONE, TWO = _picture("One"), _picture("Two", 1.0, 1.5)


def _refuse(picture):
    raise AssertionError(f"{picture.title} is drawn again")


def _execute(folder, statement):
    """The rows that a statement gives in the database of a cache."""
    with sqlite3.connect(folder / FILE) as connection:
        rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def _entries(folder):
    return len(_execute(folder, "SELECT key FROM entries"))


# --- the libraries, for a browser ---------------------------------------------------------------


def test_the_bundle_is_that_of_the_versions_that_draw_the_pictures(tmp_path):
    made = render.bundle(tmp_path)
    head, _, script = made.script.decode().partition("\n")
    assert made.name == f"vega-{vl_convert.get_vega_version()}.js"
    assert f"Vega-Lite {vl_convert.get_vegalite_versions()[-1]}," in head
    assert re.search(r"export\{[\w$]+ as vegaEmbed\};$", script)
    # Nothing is put on `window`, where a script of someone else's would find it.
    assert not re.search(r"window\.vega\w*\s*=[^=]", script)


def test_the_package_has_the_bundle_that_its_vl_convert_makes(tmp_path):
    """Of the version in the lock, which is that of the tests: `make vega` writes it."""
    shipped = render.shipped_bundle(version("vl-convert-python"))
    assert render.bundle(tmp_path).script == shipped.read_bytes() == render.make_bundle()
    assert [file.name for file in shipped.parent.iterdir()] == [shipped.name]
    assert not (tmp_path / FILE).exists()


def test_bundles_of_other_versions_are_made_once_and_then_read(tmp_path, monkeypatch):
    monkeypatch.setattr(render, "version", lambda name: "98")
    made = render.bundle(tmp_path)
    assert made == render.bundle(tmp_path)
    assert _entries(tmp_path) == 1

    def refuse():
        raise AssertionError("made again")

    with monkeypatch.context() as patched:
        patched.setattr(render, "make_bundle", refuse)
        assert render.bundle(tmp_path) == made
    _execute(tmp_path, "UPDATE parts SET value = x'00' WHERE name = 'script'")
    assert render.bundle(tmp_path) == made
    monkeypatch.setattr(render, "version", lambda name: "99")
    render.bundle(tmp_path)
    assert _entries(tmp_path) == 2


# --- a drawing ----------------------------------------------------------------------------------


def test_a_drawing_is_named_for_a_screen_reader():
    picture = replace(ONE, description='<"One"> & more')
    root = ET.fromstring(draw_one(picture).svg)
    assert (root.get("role"), root.get("aria-label")) == ("group", '<"One"> & more')
    cells = [path.get("aria-label") for path in root.iter(f"{SVG}path") if path.get("aria-label")]
    assert cells == ["cell 0", "cell 1", "cell 2"]


def test_a_png_is_twice_the_size_of_its_svg():
    drawing = draw_one(ONE)
    root = ET.fromstring(drawing.svg)
    assert drawing.png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", drawing.png[16:24])
    assert (width, height) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))


@pytest.mark.parametrize("size", ["large", "panel", "thumbnail"])
def test_one_of_several_heatmaps_has_no_png(size):
    drawing = draw_one(replace(ONE, size=size))
    assert drawing.svg
    assert drawing.png == b""


def test_a_png_has_the_same_pixels_in_fewer_bytes():
    png = vl_convert.svg_to_png(draw_one(ONE).svg, scale=2)
    small = recompress_png(png)
    assert len(small) < 0.6 * len(png)
    before, after = (Image.open(io.BytesIO(image)) for image in (png, small))
    assert (after.mode, after.size, after.info) == (before.mode, before.size, before.info)
    assert after.tobytes() == before.tobytes()
    with pytest.raises(ValueError, match="not a PNG"):
        recompress_png(b"GIF89a")


def test_the_fonts_of_vl_convert_come_first():
    # In a process of its own: fonts are looked for once.
    script = (
        "import os, sys\n"
        "from gridatlas.charts.render import _vl_convert\n"
        "png = _vl_convert().svg_to_png(sys.argv[1], scale=2)\n"
        "assert os.environ.get('FONTCONFIG_FILE') == sys.argv[2]\n"
        "sys.stdout.buffer.write(png)\n"
    )
    svg = draw_one(ONE).svg

    def png(fonts):
        return subprocess.run(
            [sys.executable, "-c", script, svg, fonts],
            env={**os.environ, "FONTCONFIG_FILE": fonts},
            capture_output=True,
            check=True,
        ).stdout

    # Whatever the system has.
    assert png("/etc/fonts/fonts.conf") == png("/nonexistent")


def test_two_threads_load_the_fonts_one_after_the_other(monkeypatch):
    # Each would take away the other's file of fonts, or leave it to all that comes later.
    both, together = Barrier(2), []

    class Fonts:
        def expanduser(self):
            with suppress(BrokenBarrierError):
                both.wait(0.2)
                together.append(self)
            return Path("no such folder")

    monkeypatch.setattr(render, "SYSTEM_FONTS", [Fonts()])
    monkeypatch.setattr(sys, "platform", "linux")
    with ThreadPoolExecutor(2) as threads:
        loaded = list(threads.map(lambda _: render._vl_convert.__wrapped__(), range(2)))
    assert loaded == [vl_convert, vl_convert]
    assert not together


def test_a_drawing_needs_no_altair():
    """It takes half a second to start, and what it wrote comes with the package."""
    script = (
        "import pickle, sys\n"
        "from gridatlas.charts.render import draw_one\n"
        "for picture in pickle.load(sys.stdin.buffer): assert draw_one(picture).svg\n"
        "print(sorted({'altair', 'pandas', 'vl_convert'} & set(sys.modules)))\n"
    )
    drawn = [ONE, replace(ONE, size="panel"), dot_plot(), profile(1, -1)]
    drawn += [forest(("A", 1.0))]
    done = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(drawn), capture_output=True, check=True
    )
    assert done.stdout == b"['vl_convert']\n"


def test_a_drawing_needs_nothing_from_elsewhere():
    svg = draw_one(ONE).svg
    root = ET.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "g", "path", "text", "rect", "line", "defs", "linearGradient", "stop", "clipPath",
    }  # fmt: skip
    names = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in names if name.endswith("href") or name.startswith("on")]
    assert "://" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_a_label_is_text_whatever_it_says():
    label = "</text><script>alert('1')</script>&amp;"
    picture = replace(
        _picture(label, 1.0),
        x_labels=(label,),
        y_labels=(label,),
        marks=(CellMark("a,b", label, label, 1.0, label, label),),
    )
    root = ET.fromstring(draw_one(picture).svg)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts.count(label) >= 2
    assert "script" not in {element.tag.removeprefix(SVG) for element in root.iter()}


@pytest.mark.parametrize("label", ["clipper", "clip1", "gradient_0", "currentColor"])
def test_a_label_stays_as_it_is(label, monkeypatch):
    for_png = []
    to_png = vl_convert.svg_to_png

    def watched(svg, **options):
        for_png.append(svg)
        return to_png(svg, **options)

    monkeypatch.setattr(vl_convert, "svg_to_png", watched)
    drawing = draw_one(replace(ONE, x_title=label, description=f"About {label}."))
    for svg in (drawing.svg, *for_png):
        root = ET.fromstring(svg)
        assert label in [element.text for element in root.iter(f"{SVG}text")]
        assert root.get("aria-label") == f"About {label}."


def test_a_label_is_not_counted_for_a_cell():
    label = 'aria-roledescription="rect mark"'
    assert label in draw_one(replace(ONE, x_title=label)).svg


@pytest.mark.parametrize("lost", ["rect mark", "point"])
def test_a_lost_cell_is_an_error(lost, monkeypatch):
    to_svg = vl_convert.vegalite_to_svg

    def losing(*arguments, **options):
        svg = to_svg(*arguments, **options)
        return svg.replace(f'aria-roledescription="{lost}"', "", 1)

    assert draw_one(ONE).svg
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", losing)
    with pytest.raises(DrawingError) as error:
        draw_one(ONE)
    coloured, hatched = (1, 1) if lost == "rect mark" else (2, 0)
    drawn = f"{coloured} coloured cells and {hatched} cells without a value"
    assert str(error.value) == f"One: drawn with {drawn}, expected 2 and 1"


# --- the same drawing, whatever was drawn before ------------------------------------------------


def test_ids_are_made_of_content():
    def ids(drawing):
        return set(re.findall(r'\bid="([^"]+)"', drawing.svg))

    for picture in (ONE, TWO, dot_plot(), profile(1, -1)):
        drawing = draw_one(picture)
        assert all(name.startswith("ga-") for name in ids(drawing))
        assert set(re.findall(r"url\(#([^)]+)\)", drawing.svg)) == ids(drawing)


def test_the_order_of_drawing_changes_no_byte():
    first = draw([ONE, TWO])
    second = draw([TWO, ONE])
    assert list(first) == [ONE, TWO]
    assert list(second) == [TWO, ONE]
    assert first == second


def test_other_processes_draw_the_same(tmp_path, monkeypatch, caplog):
    alone = draw([ONE, TWO])
    monkeypatch.setattr(pool, "POOL_FROM", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(pool, "draw_one", _refuse)  # Theirs is another.
    (tmp_path / "file").write_text("a file where the folder should be")
    assert draw([ONE, TWO], tmp_path / "file") == alone
    assert len(caplog.records) == 1
    monkeypatch.setattr(pool, "PROCESSES", 1)
    progress = []
    assert draw([ONE, TWO], tmp_path, lambda done, of: progress.append((done, of))) == alone
    assert progress == [(1, 2), (2, 2)]


UNGUARDED = """
import os
from pathlib import Path
from gridatlas.charts import pool
from gridatlas.build.site import build

def refuse(picture):
    raise AssertionError("the processes draw")

print("started", __name__)
pool.POOL_FROM, pool.PROCESSES = 2, 1
pool.draw_one = refuse
os.cpu_count = lambda: 2
site = build(Path("data"))
print(sorted(path for path in site.files if path.endswith(".svg") and "." not in path[:-4]))
print(Path(__file__).name, __spec__)
"""


@pytest.mark.parametrize("command", [["script.py"], ["-m", "script"]])
def test_a_script_that_builds_needs_no_guard(tmp_path, command):
    study = "format: 1\ntitle: Tiny\nmetric: {name: A}\nx: rate\ny: size\nfacets: [model]\n"
    write_study(tmp_path / "data/tiny", study, "rate,size,model,value\n1,1,a,1\n1,1,b,2\n")
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    spec = "None" if command == ["script.py"] else "ModuleSpec(name='script', "
    assert done.stderr == ""
    # Once: it isn't run again by each process.
    started, files, after = done.stdout.splitlines()
    assert started == "started __main__"
    assert files == "['grids/tiny/a.svg', 'grids/tiny/b.svg']"
    assert after.startswith(f"script.py {spec}")


def test_what_is_asked_for_while_others_are_drawn(monkeypatch):
    monkeypatch.setattr(pool, "POOL_FROM", 2)
    monkeypatch.setattr(pool, "PROCESSES", 1)  # Each costs two seconds to start.
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    three = _picture("Three", 1.0, 2.0, 3.0)
    with RenderPool[Heatmap](None) as drawing:
        drawing.request([ONE])
        drawing.request([TWO, ONE])
        drawing.wait([TWO])
        assert list(drawing.drawings) == [TWO]
        drawing.request([three])
        drawing.wait([three, ONE])
    assert drawing.drawings == draw([ONE, TWO, three])


# --- the cache ----------------------------------------------------------------------------------


def test_a_picture_is_drawn_once(tmp_path, monkeypatch):
    progress = []
    first = draw([ONE, TWO, ONE], tmp_path, lambda done, of: progress.append((done, of)))
    assert progress == [(1, 2), (2, 2)]
    assert _entries(tmp_path) == 2
    monkeypatch.setattr(pool, "draw_one", _refuse)
    assert draw([TWO, ONE], tmp_path, lambda done, of: progress.append((done, of))) == first
    assert progress == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "Another"},
        {"description": "Another."},
        {"ends": ("0", "2")},
        {"scale": ColourScale("difference", -1, 1)},
        {"outlined": (Segment(0, 0, 1, 1),)},
        {"region_label": "trained on"},
        {"marks": (replace(ONE.marks[0], best=True), *ONE.marks[1:])},
    ],
)
def test_another_picture_is_drawn_anew(tmp_path, monkeypatch, changed):
    drawing = Drawing("<svg/>", b"png", "{}")
    monkeypatch.setattr(pool, "draw_one", lambda picture: drawing)
    draw([ONE], tmp_path)
    monkeypatch.setattr(pool, "draw_one", _refuse)
    assert draw([ONE], tmp_path) == {ONE: drawing}
    with pytest.raises(AssertionError, match="is drawn again"):
        draw([replace(ONE, **changed)], tmp_path)


def test_another_version_of_a_library_draws_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "draw_one", lambda picture: Drawing("<svg/>", b"png", "{}"))
    draw([ONE], tmp_path)
    monkeypatch.setattr(pool, "draw_one", _refuse)
    monkeypatch.setattr(pool, "version", lambda name: "99")
    pool._drawn_by.cache_clear()
    try:
        with pytest.raises(AssertionError, match="is drawn again"):
            draw([ONE], tmp_path)
    finally:
        pool._drawn_by.cache_clear()


@pytest.mark.parametrize("part", ["svg", "png", "spec"])
def test_a_damaged_drawing_is_drawn_again(tmp_path, monkeypatch, part):
    drawn = []

    def drawing(picture):
        drawn.append(picture.title)
        return Drawing(f"<svg>{picture.title}</svg>", b"\x89PNG\n\n\x00", "{}\n")

    monkeypatch.setattr(pool, "draw_one", drawing)
    first = dict(draw([ONE], tmp_path))
    _execute(tmp_path, f"UPDATE parts SET value = x'00' WHERE name = '{part}'")
    assert draw([ONE], tmp_path) == first
    assert drawn == ["One", "One"]
    assert draw([ONE], tmp_path) == first
    assert drawn == ["One", "One"]
