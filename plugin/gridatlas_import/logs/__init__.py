"""Logs of evaluation tools and of sweeps: cells with the outcomes of their items."""
