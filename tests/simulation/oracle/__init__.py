"""A brute-force simulator and random circuits, independent of the package under test."""
