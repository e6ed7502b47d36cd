"""What changed between two states of the studies: found, put in words, and written down."""
