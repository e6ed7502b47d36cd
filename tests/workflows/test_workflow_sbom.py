"""The SBOM names what readers of a site get of Vega."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from workflows import ROOT

from gridatlas.charts.render import bundle

MAKER = version("vl-convert-python")


def sbom(maker: str = MAKER) -> dict[str, Any]:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "components": [
            {"bom-ref": "altair", "name": "altair", "version": "6.0.0"},
            {"bom-ref": "maker", "name": "vl-convert-python", "version": maker},
        ],
        "dependencies": [{"ref": "altair"}, {"ref": "maker"}],
    }


def added(folder: Path, content: dict[str, Any], script: bytes) -> subprocess.CompletedProcess[str]:
    (folder / "sbom.json").write_text(json.dumps(content), "utf-8")
    (folder / "vega.js").write_bytes(script)
    return subprocess.run(
        [sys.executable, ROOT / ".github/scripts/bundled.py", "sbom.json", "vega.js"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_parts_of_the_bundle_are_listed_with_their_versions(tmp_path: Path) -> None:
    done = added(tmp_path, sbom(), bundle().script)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "sbom.json").read_text("utf-8"))
    parts = {
        component["name"]: component["version"]
        for component in found["components"]
        if "purl" in component
    }
    assert parts.pop("vega-lite").rpartition(".")[0] == vl_convert.get_vegalite_versions()[-1]
    assert parts == {
        "vega": vl_convert.get_vega_version(),
        "vega-embed": vl_convert.get_vega_embed_version(),
    }
    refs = {component["bom-ref"] for component in found["components"]}
    assert {dependency["ref"] for dependency in found["dependencies"]} == refs
    [maker] = [dependency for dependency in found["dependencies"] if dependency["ref"] == "maker"]
    assert set(maker["dependsOn"]) == refs - {"altair", "maker"}


@pytest.mark.parametrize(
    ("maker", "cut", "message"),
    [
        ("0.1", slice(None), f"the SBOM has no vl-convert-python {MAKER}, which made the bundle"),
        (MAKER, slice(7), "the bundle begins with '// Vega', not with its versions"),
        (MAKER, slice(200), "the bundle has 0 versions of Vega-Lite"),
    ],
)
def test_what_is_not_known_is_an_error(
    tmp_path: Path, maker: str, cut: slice, message: str
) -> None:
    script = bundle().script[cut]
    done = added(tmp_path, sbom(maker), script)
    assert done.returncode == 1
    assert done.stderr.startswith(f"sbom.json: {message}")
    assert json.loads((tmp_path / "sbom.json").read_text("utf-8")) == sbom(maker)
