"""Whole sites: which host a project has, and the same two commands for each of them."""
