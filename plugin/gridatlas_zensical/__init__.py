"""The adapter for Zensical, which runs no plugins: it is given a project that has all in it."""
