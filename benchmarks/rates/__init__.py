"""Comparisons of ways to compute logical error rates."""
