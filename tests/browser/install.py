"""Makes sure that there is a Chromium for the tests in a browser; quick where there is one.

`--whole` asks for the browser that readers have, in which pages are measured; tests prefer its
headless shell, which is installed beside it where that takes nothing but apt-get.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from chromium import SHELLS, find_chromium

HELP = """\
There is no Chromium, and none could be installed (see above). Either
  - install one yourself: on Debian `apt-get install chromium`, on Fedora `dnf install chromium`,
    on macOS `brew install --cask chromium`; or
  - name the one you have: CHROMIUM=/path/to/chromium make test"""


def main() -> int:
    """Find or install Chromium and say which it is; return the exit status."""
    whole = "--whole" in sys.argv[1:]
    try:
        path = find_chromium(whole=whole)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    wanted = whole or bool(os.environ.get("CHROMIUM"))
    if path is None or not (wanted or "headless" in path.name):
        path = install(path, whole=whole)
    if path is None:
        print(HELP, file=sys.stderr)
        return 1
    print(f"Pages are opened in {path}")
    return 0


def install(found: Path | None, *, whole: bool) -> Path | None:
    """Install Chromium with apt-get where we may, else with Playwright if none is there."""
    root = os.geteuid() == 0
    apt = shutil.which("apt-get") is not None
    if apt and root:
        # Ubuntu has no shell, and a snap instead of Chromium: there, Playwright goes on.
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = ["chromium"] if whole else [SHELLS[0], *([] if found else ["chromium"])]
        if run("apt-get", "update", env=environment):
            any(run("apt-get", "install", "-y", package, env=environment) for package in packages)
        found = find_chromium(whole=whole)
    if found:
        return found
    # Playwright installs the libraries that its Chromium needs through apt-get, as root.
    dependencies = ["--with-deps"] if apt and (root or sudo_without_password()) else []
    run(sys.executable, "-m", "playwright", "install", *dependencies, "chromium")
    return find_chromium(whole=whole)


def sudo_without_password() -> bool:
    """Return whether this user, as on most CI, becomes root without being asked anything."""
    if shutil.which("sudo") is None:
        return False
    return subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0


def run(*command: str, env: dict[str, str] | None = None) -> bool:
    """Run a long step in sight of the user; return whether it worked."""
    print("$", *command, flush=True)
    return subprocess.run(command, env=env, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
