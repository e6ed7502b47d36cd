"""Measure the cells of a study again: runs that can be stopped at any moment, and their records.

`records`, `runs`, `engine`, `options` and `collect` need nothing but the core; what measures needs
the extra `reproduce` and imports its libraries where it uses them.
"""
