"""Adapters: each translates between one host and the core, which knows none of them."""
