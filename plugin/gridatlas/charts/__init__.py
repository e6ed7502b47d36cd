"""Heatmaps and lines as Vega-Lite specifications and drawings."""
