"""Pages of the results website, from templates."""
