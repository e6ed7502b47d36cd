"""Writes what a pull request changes as a comment, for comment.yml.

It runs nothing of the pull request: what results.yml left is read as data that anybody may have
made, in memory and with limits, and what it says about itself is compared with what GitHub says.
Where a run failed before it left anything, the comment says that it failed. The standard library
alone, so that nothing is installed beside the token.
"""

import json
import os
import re
import sys
import unicodedata
import zipfile
from html import escape
from io import BytesIO
from urllib.parse import quote

from github_api import REPOSITORY, SERVER, NotNeeded, Refused, ask, get, pages, run

ARTIFACT = "gridatlas-preview-data"
SITE_ARTIFACT = "gridatlas-preview-site"
MARKER = "<!-- gridatlas-preview -->"
BOT = "github-actions[bot]"

FILES = {"diff.json": 1_000_000, "preview.json": 10_000}  # bytes, unpacked
ZIP_BYTES = 2_000_000
# GitHub takes 65,536 characters. Some are kept for what is said at the end.
COMMENT_BYTES, END_BYTES = 65_000, 1_500
TEXT, CELL, TITLE, SUMMARY = 400, 240, 120, 2_000  # characters
SECTIONS, ITEMS, DETAILS, ROWS, COLUMNS = 30, 2_000, 10, 30, 12

RUN_ID = os.environ["RUN_ID"]
RUN = f"{SERVER}/{REPOSITORY}/actions/runs/{RUN_ID}"

# Where a preview has its page of changes, and a picture of them, below its own address.
PAGE = r"[a-z0-9_-]+(/[a-z0-9_-]+){0,5}/"
PICTURE = PAGE + r"[a-z0-9_-]+\.svg"

# How runs end that leave nothing to comment on, in words.
ENDED = {
    "startup_failure": "failed",
    "timed_out": "timed out",
    "cancelled": "cancelled",
}


FAILED = f"\n❌ The checks fail: [the run]({RUN}) shows on what.\n"


class NothingLeft(Refused):
    """The run left no artifact to read."""


# --- GitHub


def download():
    """The newest artifact of the run, as bytes of a zip."""
    found = get(f"actions/runs/{RUN_ID}/artifacts?per_page=100&name={ARTIFACT}")["artifacts"]
    found = [one for one in found if one["name"] == ARTIFACT and not one["expired"]]
    if not found:
        raise NothingLeft(f"the run has no artifact {ARTIFACT}")
    newest = max(found, key=lambda one: one["id"])
    if newest["size_in_bytes"] > ZIP_BYTES:
        raise Refused(f"the artifact has more than {ZIP_BYTES:,} bytes")
    return ask("GET", f"actions/artifacts/{newest['id']}/zip", limit=ZIP_BYTES)


def find_pull_requests():
    """The pull requests of the branch that was built, by number, as GitHub knows them."""
    branch, owner = os.environ["HEAD_BRANCH"], os.environ["HEAD_OWNER"]
    repository = os.environ["HEAD_REPOSITORY_ID"]
    if not (branch and owner and repository):
        raise NotNeeded("the repository or branch that was built is gone")
    where = quote(f"{owner}:{branch}", safe="")
    return {
        one["number"]: one
        for one in pages(f"pulls?state=all&head={where}&")
        # A head that GitHub can't read would give all pull requests.
        if one["head"]["ref"] == branch
        and str((one["head"]["repo"] or {}).get("id")) == repository
        and one["base"]["repo"]["full_name"] == REPOSITORY
    }


def find_pull_request(preview):
    """The open pull request whose head was built; the preview only says which of them."""
    head = os.environ["HEAD_SHA"]
    found = find_pull_requests()
    if preview["head"] != head:
        raise Refused("the preview claims another head than the run was made of")
    number = preview["pull_request"]
    if number not in found:
        raise Refused(f"the preview claims pull request {number}, which isn't of that branch")
    if found[number]["state"] != "open":
        raise NotNeeded(f"pull request {number} is closed")
    if found[number]["head"]["sha"] != head:
        raise NotNeeded(f"pull request {number} has moved on to another commit")
    return number


def write_comment(number, text):
    """Write over our comment, or write the first one."""
    if overwrite(number, text):
        return "updated"
    ask("POST", f"issues/{number}/comments", {"body": text})
    return "created"


def overwrite(number, text):
    """Write over our comment; say whether there is one."""
    for comment in pages(f"issues/{number}/comments?"):
        ours = (comment["user"] or {}).get("login") == BOT
        if ours and (comment["body"] or "").startswith(MARKER):
            ask("PATCH", f"issues/comments/{int(comment['id'])}", {"body": text})
            return True
    return False


def withdraw(ended):
    """Write over what an earlier preview said: it isn't about the newest commit.

    Nothing that the preview left is read. GitHub doesn't say of which pull request of a
    branch the run was; so none of them keeps its comment.
    """
    head = os.environ["HEAD_SHA"]
    at_head = [
        number
        for number, one in sorted(find_pull_requests().items())
        if one["state"] == "open" and one["head"]["sha"] == head
    ]
    if not at_head:
        raise NotNeeded("no open pull request is at the commit that was built")
    written = [number for number in at_head if overwrite(number, no_preview(head, ended))]
    if not written:
        raise NotNeeded("there is none to write over")
    numbers = ", ".join(map(str, written))
    return f"updated the comment on pull request {numbers}: the preview {ended}"


# --- what the preview left


def read_preview(content):
    """What the preview says of itself, and what changes; both have the right form."""
    files = unpack(content)
    check_preview(files["preview.json"])
    check_diff(files["diff.json"])
    return files["preview.json"], files["diff.json"]


def unpack(content):
    """The two files, read from the zip into memory; nothing is written to the disk."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > len(FILES):
                raise Refused(f"the zip has {len(entries):,} entries, not {len(FILES)}")
            names = [entry.orig_filename for entry in entries]
            if sorted(names) != sorted(FILES):
                raise Refused(f"the zip has other files than {' and '.join(FILES)}")
            return {entry.filename: read(archive, entry) for entry in entries}
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise Refused(f"the zip can't be read: {type(error).__name__}") from error


def read(archive, entry):
    name, limit = entry.filename, FILES[entry.filename]
    kind = entry.external_attr >> 16 & 0o170000
    if kind not in (0, 0o100000):
        raise Refused(f"{name} is no plain file")
    if entry.flag_bits & 1 or entry.compress_type not in (0, 8):
        raise Refused(f"{name} is encrypted, or packed in an unusual way")
    if entry.file_size > limit:
        raise Refused(f"{name} has {entry.file_size:,} bytes, more than {limit:,}")
    with archive.open(entry) as file:
        content = file.read(limit + 1)
    if len(content) != entry.file_size:
        raise Refused(f"{name} has another size than the zip says")
    return parse(name, content)


def parse(name, content):
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=no_pair_twice,
            parse_constant=no_constant,
        )
    except RecursionError as error:
        raise Refused(f"{name} is nested too deeply") from error
    except ValueError as error:
        raise Refused(f"{name} isn't JSON: {type(error).__name__}") from error


def no_pair_twice(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def no_constant(_):
    raise ValueError


def expect(right, what):
    if not right:
        raise Refused(f"{what} has the wrong form")


def is_commit(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{40}", value) is not None


def is_count(value):
    return type(value) is int and 0 <= value < 10**9


def check_preview(preview):
    expect(isinstance(preview, dict), "preview.json")
    expect(type(preview.get("format")) is int and preview["format"] == 1, "format")
    expect(is_count(preview.get("pull_request")), "pull_request")
    expect(is_commit(preview.get("head")), "head")
    expect(is_commit(preview.get("base")), "base")
    for key, form in (("changes", PAGE), ("picture", PICTURE)):
        value = preview.get(key, "")
        expect(isinstance(value, str) and (not value or re.fullmatch(form, value)), key)


def check_diff(diff):
    expect(isinstance(diff, dict), "diff.json")
    expect(type(diff.get("format")) is int and diff["format"] == 1, "format")
    expect(type(diff.get("changed")) is bool, "changed")
    for side in ("base", "head"):
        one = diff.get(side)
        expect(isinstance(one, dict) and isinstance(one.get("name"), str), side)
        expect(one.get("commit") is None or is_commit(one["commit"]), f"{side}.commit")
    expect(isinstance(diff.get("summary"), str), "summary")
    expect(diff.get("mark", "❌") in ("❌", "⚠️", "✅", "–"), "mark")
    expect(is_list(diff.get("points", []), list, ITEMS), "points")
    for point in diff.get("points", []):
        expect(is_list(point, str, 2) and len(point) == 2, "a point")
    expect(isinstance(diff.get("more", ""), str), "more")
    expect(is_list(diff.get("leads", []), dict, SECTIONS), "leads")
    for lead in diff.get("leads", []):
        check_lead(lead)
    expect(is_list(diff.get("sections"), dict, SECTIONS), "sections")
    for section in diff["sections"]:
        expect(isinstance(section.get("id"), str), "id of a section")
        expect(isinstance(section.get("title"), str), "title of a section")
        expect(is_count(section.get("more", 0)), "more of a section")
        expect(is_list(section.get("items"), dict, ITEMS), "items of a section")
        for item in section["items"]:
            check_item(item)


def check_item(item):
    expect(isinstance(item.get("text"), str), "text of an item")
    expect(isinstance(item.get("study", ""), str), "study of an item")
    expect(is_list(item.get("details", []), str, ITEMS), "details of an item")
    check_table(item.get("table"))


def check_lead(lead):
    for name in ("title", "text", "page"):
        expect(isinstance(lead.get(name, ""), str), f"{name} of a lead")
    expect(is_list(lead.get("remarks", []), str, ITEMS), "remarks of a lead")
    expect(is_list(lead.get("grids", []), dict, SECTIONS), "grids of a lead")
    for table in [lead.get("table"), *lead.get("grids", [])]:
        check_table(table)


def check_table(table):
    if table is not None:
        expect(isinstance(table, dict), "table")
        expect(is_list(table.get("columns"), str, 100), "columns of a table")
        expect(is_list(table.get("rows"), list, ITEMS), "rows of a table")
        expect(is_list(table.get("links", []), str, ITEMS), "links of a table")
        expect(is_count(table.get("linked", 0)), "linked column of a table")
        for row in table["rows"]:
            expect(
                is_list(row, str, 100) and len(row) == len(table["columns"]),
                "row of a table",
            )


def is_list(value, kind, most):
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(isinstance(one, kind) for one in value)
    )


# --- the comment


def plain(text, limit=TEXT):
    """A text of the data as Markdown that shows it, and does nothing else."""
    text = re.sub(r"[\\`*_\[\]<>#|~&!]", r"\\\g<0>", parted(text, limit))
    # What makes a list at the beginning.
    text = re.sub(r"^[-+]", r"\\\g<0>", text)
    return shown(re.sub(r"^(\d+)([.)])", r"\1\\\2", text))


def in_html(text, limit=TITLE):
    """The same as HTML, in which Markdown means nothing."""
    return shown(escape(parted(text, limit)))


def parted(text, limit):
    r"""A text in which GitHub finds nothing to link; "\0" parts it, "\1" is a dollar sign."""
    text = " ".join(text.split())
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    # Control characters, and those that turn the direction of text round or aren't seen.
    text = "".join("\ufffd" if unicodedata.category(c)[0] == "C" else c for c in text)
    # GitHub looks for mentions, references, addresses and emoji in the text that is shown,
    # so escaping isn't enough: a space without width parts them. "\0" stands for it.
    part = r"[@#](?=\w)|:(?=//|[\w+-]+:)|(?i:\bwww|\bgh|\bmailto|\bxmpp)(?=[-.:])"
    text = re.sub(part, "\\g<0>\0", text)
    # Seven hexadecimal digits may be a commit.
    return re.sub(r"(?i)\b[0-9a-f]{7,}\b", by_six, text).replace("$", "\1")


def shown(text):
    # The way to write a dollar sign that begins no formula.
    return text.replace("\0", "&#8203;").replace("\1", "<span>$</span>")


def by_six(found):
    return "\0".join(re.findall(".{1,6}", found[0]))


def item_block(item):
    of = f"**{plain(item['study'], TITLE)}**: " if item.get("study", "").strip() else ""
    lines = [f"- {of}{plain(item['text'])}"]
    details = item.get("details", [])
    lines += [f"  - {plain(one)}" for one in details[:DETAILS]]
    if len(details) > DETAILS:
        lines.append(f"  - and {len(details) - DETAILS:,} more")
    lines += table_lines(item.get("table"), "  ")
    return "\n".join(lines) + "\n"


def table_lines(table, indent="", site=""):
    """A table after an empty line, with how much of it isn't shown."""
    if not table or not table["columns"]:
        return []
    columns, rows = table["columns"], table["rows"]
    lines = ["", line(map(plain_cell, columns), indent), line(["---"] * len(columns), indent)]
    links = table.get("links", []) if site else []
    linked = table.get("linked", 0)
    for at, row in enumerate(rows[:ROWS]):
        cells = [plain_cell(cell) for cell in row]
        if at < len(links) and links[at] and linked < len(cells):
            cells[linked] = f"[{cells[linked]}]({address(site, links[at])})"
        lines.append(line(cells, indent))
    for hidden, what in ((len(rows) - ROWS, "rows"), (len(columns) - COLUMNS, "columns")):
        lines += ["", f"{indent}and {hidden:,} more {what}"] if hidden > 0 else []
    return [*lines, ""]


def plain_cell(text):
    return plain(text, CELL)


def line(cells, indent):
    return f"{indent}| " + " | ".join(list(cells)[:COLUMNS]) + " |"


def address(site, link):
    """An address below the preview's own; nothing in it ends a link."""
    return site + quote(link.lstrip("/"), safe="/#,.~:+-_", errors="replace")


def lead_block(lead, site):
    """What is read first of a study: its answer, and its changed values."""
    title = plain(lead.get("title", ""), TITLE)
    page = lead.get("page", "")
    lines = [f"### {f'[{title}]({address(site, page)})' if site and page else title}", ""]
    if lead.get("text"):
        lines += [plain(lead["text"]), ""]
    lines += table_lines(lead.get("table"), "", site)
    if lead.get("remarks"):
        lines += ["", plain(" ".join(lead["remarks"]), SUMMARY), ""]
    for table in lead.get("grids", []):
        lines += table_lines(table)
    return "\n".join(lines) + "\n\n"


def comment(diff, preview, site):
    """The comment, the most important first; what doesn't fit is counted.

    Args:
        site: Address of the preview, with a slash at its end; empty without one.
    """
    title = "## – No change of the results"
    if diff["changed"]:
        title = "## " + f"{diff.get('mark', '')} {plain(diff['summary'], SUMMARY)}".strip()
    parts = [
        f"{MARKER}\n{title}\n\n",
        f"Commit `{preview['head'][:12]}` of this pull request, merged into "
        f"`{preview['base'][:12]}` ({plain(diff['base']['name'], TITLE)}).{at_site(preview, site)}"
        "\n\n",
    ]
    for mark, text in diff.get("points", []):
        parts.append(f"- {plain(mark)} {plain(text)}\n")
    parts.append("\n" if diff.get("points") else "")
    if site and preview.get("picture"):
        picture = address(site, preview["picture"])
        parts.append(f"![Differences of the grid that changed most]({picture})\n\n")
    left = COMMENT_BYTES - END_BYTES - sum(map(size, parts))
    hidden = 0
    for lead in diff.get("leads", []):
        text = "" if hidden else lead_block(lead, site)
        if size(text) > left:
            text = ""
        left -= size(text)
        hidden += 0 if text else 1
        parts.append(text)
    if diff.get("more"):
        parts.append(f"{plain(diff['more'])}\n\n")
        left -= size(parts[-1])
    for section in diff["sections"] if diff["changed"] else []:
        text = "" if hidden else section_fold(section, left)
        left -= size(text)
        hidden += 0 if text else len(section["items"]) + section.get("more", 0)
        parts.append(text)
    if hidden:
        parts.append(f"and {hidden:,} more of other kinds\n\n")
    parts.append(
        f"\n---\nThe site with these results is also in [this run]({RUN}#artifacts): download "
        f"`{SITE_ARTIFACT}`, unpack it and open `index.html`. The site, and what is said here, was "
        "made by the code of this pull request.\n"
    )
    return "".join(parts)


def at_site(preview, site):
    """Links to the preview, and to its page of changes."""
    if not site:
        return ""
    changes = preview.get("changes")
    more = f" · [all changes]({address(site, changes)})" if changes else ""
    return f" [Preview]({site}){more}"


def no_preview(head, ended):
    """The comment on a commit whose preview didn't succeed."""
    return (
        f"{MARKER}\n## Preview {ended} for `{head[:12]}`\n\n"
        "There is no preview of this commit, so what it changes in the results is unknown. "
        f"[The run]({RUN}) shows why. The next preview that succeeds replaces this comment.\n"
    )


def section_fold(section, left):
    """A section as a fold, with as many of its items as fit; nothing, if not even one does."""
    items, more = section["items"], section.get("more", 0)
    title = f"<strong>{in_html(section['title'])}</strong> ({len(items) + more:,})"
    text = f"<details><summary>{title}</summary>\n\n"
    left -= size(text) + 80
    shown_items = 0
    for item in items:
        block = item_block(item)
        left -= size(block)
        if left < 0:
            break
        text += block
        shown_items += 1
    if hidden := len(items) + more - shown_items:
        text += f"\nand {hidden:,} more\n"
    return f"{text}\n</details>\n\n" if shown_items else ""


def size(text):
    return len(text.encode())


def main():
    conclusion = os.environ["CONCLUSION"]
    if conclusion in ENDED:
        return withdraw(ENDED[conclusion])
    if conclusion not in ("success", "failure"):
        raise NotNeeded(f"the preview ended with {conclusion}")
    try:
        return write_preview()
    except Refused as reason:
        # A run that fails on problems has kept what it found; one that broke has nothing.
        if conclusion == "failure" and isinstance(reason, NothingLeft):
            return withdraw("failed")
        # An earlier comment would be taken for what is said of this commit.
        try:
            more = withdraw("failed")
        except (NotNeeded, Refused):
            raise reason from None
        raise Refused(f"{reason}; {more}") from reason


def preview_site(number, head):
    """The address of the preview: where it was published, or where another host has it."""
    template = os.environ.get("PREVIEW_URL", "")
    if not template:
        pages_url, published = os.environ.get("PAGES_URL", ""), os.environ.get("PUBLISHED", "")
        if pages_url and str(number) in published.split():
            template = f"{pages_url.rstrip('/')}/pr/{number}/"
    site = template.replace("{number}", str(number)).replace("{commit}", head)
    return site if re.fullmatch(r"https://[\w.:/~-]+/", site) else ""


def write_preview():
    preview, diff = read_preview(download())
    number = find_pull_request(preview)
    text = comment(diff, preview, preview_site(number, preview["head"]))
    if os.environ["CONCLUSION"] == "failure":
        text += FAILED
    if size(text) > COMMENT_BYTES:
        raise Refused(f"the comment has more than {COMMENT_BYTES:,} bytes")
    done = write_comment(number, text)
    return f"{done} the comment on pull request {number}"


if __name__ == "__main__":
    sys.exit(run(main, "comment"))
