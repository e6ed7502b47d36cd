"""Puts together what deploy.yml publishes: the site of the main branch, and previews below `pr/`.

    previews.py FOLDER

The site is the newest that a run for the default branch left. Each open pull request of this
repository has its newest preview at `pr/NUMBER/`, marked as what it is, and not for search engines.
Those of forks aren't published: their pages aren't ours. A preview that can't be used is left out,
and the site is published without it. Nothing of an artifact is run. The standard library alone.
"""

import os
import re
import shutil
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath

from github_api import REPOSITORY, SERVER, Refused, ask, get, pages, run

SITE, PREVIEW = "gridatlas-site", "gridatlas-preview-site"
MOST = 1_000_000_000  # bytes of all together: GitHub Pages takes no more
FILES = 50_000  # in a preview
BAR = (
    '<div style="background:#fff3cd;color:#111;font:14px/1.4 system-ui,sans-serif;padding:6px 12px;'
    'text-align:center;position:relative;z-index:9">Preview of <a style="color:#06c" href="{pull}">'
    "pull request {number}</a> at <code>{commit}</code>. Nobody has accepted these results. "
    '<a style="color:#06c" href="{home}">The published site</a></div>'
)


def newest(name):
    """Artifacts of a name, the newest first."""
    page, found = 1, []
    while some := get(f"actions/artifacts?name={name}&per_page=100&page={page}")["artifacts"]:
        found += [artifact for artifact in some if not artifact["expired"]]
        page += 1
    return sorted(found, key=lambda artifact: -artifact["id"])


def of_branch(artifacts, branch, repository):
    """The newest one that a run for a branch of this repository left."""
    for artifact in artifacts:
        made_by = artifact.get("workflow_run") or {}
        if made_by.get("head_branch") == branch and made_by.get("head_repository_id") == repository:
            return artifact
    return None


def download(artifact, limit):
    if artifact["size_in_bytes"] > limit:
        raise Refused(f"{artifact['name']} has more than {limit:,} bytes")
    return zipfile.ZipFile(
        BytesIO(ask("GET", f"actions/artifacts/{artifact['id']}/zip", limit=limit))
    )


def unpack_site(artifact, folder):
    """The main site; upload-pages-artifact packs it as a tar file in the zip."""
    with (
        download(artifact, MOST) as archive,
        archive.open("artifact.tar") as packed,
        tarfile.open(fileobj=packed, mode="r|") as tar,
    ):
        tar.extractall(folder, filter="data")


def unpack_preview(artifact, folder, limit):
    """A preview, with files alone; gives the bytes that it takes."""
    total = 0
    with download(artifact, limit) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > FILES:
            raise Refused(f"the preview has more than {FILES:,} files")
        for entry in entries:
            path = PurePosixPath(entry.filename)
            kind = entry.external_attr >> 16 & 0o170000
            if path.is_absolute() or ".." in path.parts or kind not in (0, 0o100000):
                raise Refused("the preview has an entry that isn't a plain file below it")
            total += entry.file_size
            if total > limit:
                raise Refused(f"the previews have more than {MOST:,} bytes")
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
    return total


def mark(folder, number, commit):
    """Say on each page what it is, and keep search engines away."""
    pull = f"{SERVER}/{REPOSITORY}/pull/{number}"
    (folder / "sitemap.xml").unlink(missing_ok=True)
    for page in folder.rglob("*.html"):
        text = page.read_text("utf-8", errors="surrogateescape")
        home = "../" * (len(page.relative_to(folder).parts) + 1)
        bar = BAR.format(pull=pull, number=number, commit=commit[:12], home=home)
        text = after("head", text, '<meta name="robots" content="noindex">')
        page.write_text(after("body", text, bar), "utf-8", errors="surrogateescape")


def after(tag, text, more):
    """A page with more after the beginning of an element."""
    return re.sub(rf"(?i)<{tag}(\s[^>]*)?>", lambda found: found[0] + more, text, count=1)


def main():
    """Write the folder; give what it has, in a sentence."""
    folder = Path(sys.argv[1])
    about = get("")
    site = of_branch(newest(SITE), about["default_branch"], about["id"])
    if site is None:
        raise Refused(
            f"no run for {about['default_branch']} left a site that is still there. Run results "
            "on that branch again"
        )
    folder.mkdir(parents=True)
    unpack_site(site, folder)
    if (folder / "pr").exists():
        raise Refused("the site has a page or folder pr, where previews would be")
    left = MOST - sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    artifacts, published = newest(PREVIEW), []
    for pull in sorted(pages("pulls?state=open&"), key=lambda pull: -pull["number"]):
        head, number = pull["head"], int(pull["number"])
        if (head["repo"] or {}).get("id") != about["id"]:
            continue  # of a fork
        found = of_branch(artifacts, head["ref"], about["id"])
        target = folder / "pr" / str(number)
        if found is None:
            continue
        try:
            left -= unpack_preview(found, target, left)
            mark(target, number, found["workflow_run"]["head_sha"])
            published.append(number)
        except (Refused, zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
            shutil.rmtree(target, ignore_errors=True)
            print(f"::warning::The preview of pull request {number} is left out: {error}")
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as output:
        output.write(f"previews={' '.join(map(str, published))}\n")
    return f"the site of {about['default_branch']} with {len(published)} previews"


if __name__ == "__main__":
    sys.exit(run(main, "deployment"))
