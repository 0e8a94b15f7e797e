"""Estimation of rates as sums over strata: tallies, intervals, and where the next shots go."""
