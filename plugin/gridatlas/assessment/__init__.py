"""All that is known of a study: uncertainty, agreement of readings, checks, claims and runs."""
