"""Measurements of speed. Runs that are compared with each other alternate."""
