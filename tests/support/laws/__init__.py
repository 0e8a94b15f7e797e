"""Distributions of outputs, computed without what is tested."""
