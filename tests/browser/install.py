"""Makes sure that there is a Chromium for the tests in a browser; quick where there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from chromium import find_chromium

HELP = """\
There is no Chromium, and none could be installed (see above). Either
  - install one yourself: on Debian `apt-get install chromium`, on Fedora `dnf install chromium`,
    on macOS `brew install --cask chromium`; or
  - name the one you have: CHROMIUM=/path/to/chromium make test"""


def main() -> int:
    """Find or install Chromium and say which it is; return the exit status."""
    try:
        path = find_chromium()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    if path is None:
        path = install()
    if path is None:
        print(HELP, file=sys.stderr)
        return 1
    print(f"Tests in a browser use {path}")
    return 0


def install() -> Path | None:
    """Install Chromium with apt-get where we may, else with Playwright."""
    root = os.geteuid() == 0
    apt = shutil.which("apt-get") is not None
    if apt and root:
        # Ubuntu has a snap instead of this package: there, apt-get fails and Playwright goes on.
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        if run("apt-get", "update", env=environment):
            run("apt-get", "install", "-y", "chromium", env=environment)
        if path := find_chromium():
            return path
    # Playwright installs the libraries that its Chromium needs through apt-get, as root.
    dependencies = ["--with-deps"] if apt and (root or sudo_without_password()) else []
    run(sys.executable, "-m", "playwright", "install", *dependencies, "chromium")
    return find_chromium()


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
