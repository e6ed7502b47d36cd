"""What the scripts of workflows share: GitHub's API, asked with limits."""

import json
import os
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ANSWER_BYTES = 20_000_000
REPOSITORY = os.environ["GITHUB_REPOSITORY"]
SERVER = os.environ["GITHUB_SERVER_URL"]
API = os.environ["GITHUB_API_URL"]


class Refused(Exception):
    """What a run left isn't what it must be, or GitHub doesn't answer: the job fails."""


class NotNeeded(Exception):
    """There is nothing to do any more, and that is fine."""


def ask(method, path, content=None, limit=ANSWER_BYTES):
    """Ask GitHub's API; give the bytes of its answer.

    Raises:
        Refused: Where it doesn't answer, or with too much.
    """
    body = None if content is None else json.dumps(content).encode()
    address = f"{API}/repos/{REPOSITORY}/{path}".rstrip("/")
    request = Request(address, body, method=method)
    request.add_header("Accept", "application/vnd.github+json")
    request.add_header("X-GitHub-Api-Version", "2022-11-28")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    # Artifacts are kept elsewhere; the token isn't sent on to there.
    request.add_unredirected_header("Authorization", f"Bearer {os.environ['GITHUB_TOKEN']}")
    try:
        with urlopen(request, timeout=60) as answer:
            found = answer.read(limit + 1)
    except HTTPError as error:
        place = path.partition("?")[0]
        raise Refused(f"GitHub answered {error.code} to {method} {place}") from error
    except URLError as error:
        raise Refused(f"GitHub can't be reached: {type(error.reason).__name__}") from error
    if len(found) > limit:
        raise Refused(f"an answer of GitHub has more than {limit:,} bytes")
    return found


def get(path):
    """The JSON of an answer."""
    return json.loads(ask("GET", path))


def pages(path):
    """All entries of a list that comes in pages."""
    page = 1
    while entries := get(f"{path}per_page=100&page={page}"):
        yield from entries
        page += 1


def run(main, what):
    """Run a script: print what it did, put it into the summary, and give the exit status.

    Args:
        what: What there is none of where it does nothing.
    """
    try:
        status, said = 0, main()
    except NotNeeded as reason:
        status, said = 0, f"No {what}: {reason}"
        print(f"::notice::{said}")
    except Refused as reason:
        status, said = 1, f"No {what}: {reason}"
        print(f"::error::{said}")
    print(said)
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as summary:
        summary.write(f"{said}\n")
    return status
