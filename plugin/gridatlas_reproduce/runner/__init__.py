"""Runs of evaluation scripts: units of work, records, resuming, shards and Ray."""
