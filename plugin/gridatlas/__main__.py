"""`python -m gridatlas` is the command `gridatlas`."""

from gridatlas.cli import main

if __name__ == "__main__":
    main()
