"""Makes the preview of a pull request: what changes in the results, and the site with them.

`python preview.py OUT` runs in a checkout of the merge that GitHub makes of a pull request and its
base, and writes into OUT:

    diff.json      what changes, as `gridatlas diff --format json` says it
    preview.json   of which pull request and commits that is
    site/          the site, which opens from the disk

It needs nothing but Python's standard library, git, and a gridatlas and mkdocs that are installed.
Exit status: 0 fine, else it says what is wrong.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

DIFF_BYTES = 1_000_000
"""The workflow that writes the comment reads no more."""


class Failed(Exception):
    """Why there is no preview, for who reads the log."""


def git(*arguments: str) -> str:
    """What a command of git says; empty if it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def find_base(head: str) -> str:
    """The commit that a pull request is merged into.

    Args:
        head: The last commit of the pull request.

    Raises:
        Failed: If what is checked out isn't the merge, or its parents aren't there.
    """
    if not git("rev-parse", "--verify", "--quiet", "HEAD^1^{commit}"):
        raise Failed(
            "The commit that the pull request is merged into isn't there. "
            "Give actions/checkout fetch-depth: 2, and no ref."
        )
    if git("rev-parse", "--verify", "--quiet", "HEAD^2") != head:
        raise Failed(
            f"This isn't a merge of {head[:12]}, so what it is merged into isn't known. "
            "Run on pull_request, and give actions/checkout no ref."
        )
    return git("rev-parse", "HEAD^1")


def compare(base: str, data: str) -> dict[str, object]:
    """What changes between a commit and the checked out one, as `gridatlas diff` says it."""
    done = subprocess.run(
        ["gridatlas", "diff", base, "HEAD", "--data", data, "--format", "json"],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise Failed(f"gridatlas diff failed (exit status {done.returncode}), see above.")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def summarise(base: str, data: str) -> None:
    """Show what changes on the page of the workflow's run."""
    done = subprocess.run(
        ["gridatlas", "diff", base, "HEAD", "--data", data],
        stdout=subprocess.PIPE,
        check=False,
    )
    with open(os.environ["GITHUB_STEP_SUMMARY"], "ab") as summary:
        summary.write(done.stdout)


def build(config: str, site: Path, base: str) -> None:
    """Build a site whose pages lead to each other on the disk, problems or not."""
    options = ["--no-strict", "--clean", "--no-directory-urls", "--config-file", config]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *options, "--site-dir", str(site)],
        # Read by the site's configuration, where it names them.
        env={**os.environ, "SITE_URL": "", "GRIDATLAS_CSP": "false", "GRIDATLAS_COMPARE_TO": base},
        check=False,
    )
    if done.returncode:
        raise Failed(f"mkdocs build failed (exit status {done.returncode}), see above.")


def as_json(content: object) -> bytes:
    """Write as JSON, in UTF-8."""
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def main(out: Path) -> None:
    """Make the preview in a folder."""
    number, head = os.environ["PULL_REQUEST"], os.environ["HEAD_SHA"]
    if not number:
        raise Failed("This isn't a pull request: run on pull_request.")
    base, data = find_base(head), os.environ["DATA"]
    diff = compare(base, data)
    diff["base"] = {"name": os.environ["BASE_NAME"], "commit": base}
    diff["head"] = {"name": f"pull request {number}", "commit": head}
    out.mkdir(parents=True, exist_ok=True)
    build(os.environ["CONFIG"], out / "site", base)
    (out / "site/diff.json").write_bytes(as_json(diff))
    if len(as_json(diff)) > DIFF_BYTES:
        # For programs; the site's copy keeps it.
        diff.pop("studies", None)
    if len(as_json(diff)) > DIFF_BYTES:
        raise Failed(f"What changes takes more than {DIFF_BYTES:,} bytes.")
    (out / "diff.json").write_bytes(as_json(diff))
    preview = {
        "format": 1,
        "pull_request": int(number),
        "head": head,
        "base": base,
        "site": "site",
    }
    (out / "preview.json").write_bytes(as_json(preview))
    summarise(base, data)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]).resolve())
    except Failed as reason:
        print(f"::error::{reason}")
        sys.exit(1)
