"""Adds to an SBOM what a site gets of Vega, which no Python package of its own brings.

`python bundled.py sbom.cdx.json site/assets/gridatlas/vega-6.2.0.js`: the bundle's first line names
the versions of its three packages, and vl-convert, which makes it. Exit status: 0 fine, 1 with what
is wrong.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

MAKER = "vl-convert-python"
HEAD = re.compile(
    r"// Vega (?P<vega>[\w.-]+), Vega-Lite (?P<lite>[\w.-]+), vega-embed (?P<embed>[\w.-]+), "
    r"bundled by vl-convert (?P<maker>[\w.-]+?)\. "
)


def with_bundle(sbom: dict[str, Any], bundle: str) -> dict[str, Any]:
    """An SBOM with the packages of a bundle, as what vl-convert depends on.

    Args:
        sbom: CycloneDX, as JSON has it.
        bundle: The JavaScript.

    Raises:
        ValueError: If one of the two isn't what it should be.
    """
    head = HEAD.match(bundle)
    if head is None:
        raise ValueError(f"the bundle begins with {bundle[:60]!r}, not with its versions")
    made_by = [
        one for one in sbom["components"] if (one["name"], one["version"]) == (MAKER, head["maker"])
    ]
    if len(made_by) != 1:
        raise ValueError(f"the SBOM has no {MAKER} {head['maker']}, which made the bundle")
    [maker] = made_by
    # vl-convert tells the first two numbers of Vega-Lite's version; its code has all three.
    lite = set(re.findall(rf'"({re.escape(head["lite"])}\.\d+)"', bundle))
    if len(lite) != 1:
        raise ValueError(
            f"the bundle has {len(lite)} versions of Vega-Lite {head['lite']}, not one"
        )
    found = {"vega": head["vega"], "vega-lite": lite.pop(), "vega-embed": head["embed"]}
    parts = [
        {
            "bom-ref": f"pkg:npm/{name}@{version}",
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:npm/{name}@{version}",
            "description": f"In the bundle that {MAKER} makes, for a site's readers",
            "licenses": [{"license": {"id": "BSD-3-Clause"}}],
        }
        for name, version in found.items()
    ]
    refs = [one["bom-ref"] for one in parts]
    depends = [one for one in sbom["dependencies"] if one["ref"] != maker["bom-ref"]]
    depends += [{"ref": maker["bom-ref"], "dependsOn": refs}, *({"ref": one} for one in refs)]
    return {
        **sbom,
        "components": [*sbom["components"], *parts],
        "dependencies": sorted(depends, key=lambda one: str(one["ref"])),
    }


def main() -> int:
    """Write the SBOM with the bundle."""
    file, bundle = map(Path, sys.argv[1:3])
    try:
        sbom = with_bundle(json.loads(file.read_text("utf-8")), bundle.read_text("utf-8"))
    except ValueError as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    file.write_text(json.dumps(sbom, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
