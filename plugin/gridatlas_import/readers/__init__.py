"""One reader for each format that other programs write."""
