"""From files to a checked study, or to problems."""
