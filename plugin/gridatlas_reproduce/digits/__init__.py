"""Arithmetic on numbers of many digits: a small model before and after GRPO.

In the style of the published digit grids, whose paper, operation and model are unknown: a study of
our own, not a reproduction of them.
"""
