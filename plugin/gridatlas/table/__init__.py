"""From a checked study to the grids that pages show."""
