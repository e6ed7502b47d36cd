"""How sites are served under their policy; and small ones whose pages take each other's place."""

import json
from contextlib import AbstractContextManager
from pathlib import Path

import site_builds
from once import once

POLICY = "Content-Security-Policy"
ARGS = "--model={model} --batch {batch} --rate '{rate}' --to out/{batch}-{rate}; rm -rf /"
LEVEL = "$(touch hit) 'a' <b>"
INSTANT = {
    "name": "material",
    "font": False,
    "features": ["navigation.instant", "navigation.indexes"],
}
FLAT_HOST = "https://tiny.example/"


def under_policy(site: Path, *, found: bool = True) -> AbstractContextManager[str]:
    """Serve a site whose pages bring a policy, and so does the server."""
    text = (site / "assets/gridatlas/csp.txt").read_text("utf-8").strip()
    return site_builds.serving(site, site_builds.PREFIX, {POLICY: text}, found=found)


@once
def instant_site(base: Path) -> Path:
    """A study with a command, of which a level looks like one."""
    project = site_builds.make_project(
        base / "instant",
        site_builds.shared_cache(base),
        theme=INSTANT,
        site_url=f"{site_builds.SITE_HOST}/",
    )
    reproduce = {"script": "docs/run.py", "args": ARGS}
    study = site_builds.TINY_STUDY + f"reproduce: {json.dumps(reproduce)}\n"
    project.write(
        "data/tiny/study.yml", study.replace("{id: large,", f"{{id: {json.dumps(LEVEL)},")
    )
    project.write("data/tiny/cells.csv", site_builds.TINY_CELLS.replace("large", f"{LEVEL}"))
    return project.built("--strict").site


@once
def flat_site(base: Path) -> Path:
    """A site whose addresses are files."""
    theme = INSTANT | {
        "palette": [
            {"scheme": "default", "toggle": {"icon": "material/weather-night", "name": "Dark"}},
            {"scheme": "slate", "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
        ],
    }
    cache = site_builds.shared_cache(base)
    project = site_builds.make_project(
        base / "flat", cache, use_directory_urls=False, site_url=FLAT_HOST, theme=theme
    )
    site_builds.add_tiny_study(project)
    return project.built("--strict").site
