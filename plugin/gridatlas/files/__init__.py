"""Whole files: staging, atomic writes and one cache."""
