"""Rates as sums over strata: ``tally``, ``ratios`` with intervals, ``failing_sets`` and ``deadline``."""
