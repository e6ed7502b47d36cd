"""Puts this folder on the path, so that all tests find `amount`."""
