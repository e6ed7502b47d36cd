"""Runs `gridatlas` for as long, and with as much memory, as a hostile folder may take.

The last line that it says is the most memory that it had, in bytes. Run by test_folders.py.
"""

import resource
import sys

from gridatlas.cli.main import main

SECONDS, RESERVED = 5, 2**31
"""Of the processor; and of memory, most of which V8 and Arrow never write to."""

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (RESERVED, RESERVED))
    sys.argv[0] = "gridatlas"
    try:
        main()
    finally:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
