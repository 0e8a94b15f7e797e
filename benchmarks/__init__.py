"""Measurements of speed. Every figure is a ratio of runs that alternate in one process."""
