"""Noise channels that Stim does not have: those of this package, and those that are refused."""
