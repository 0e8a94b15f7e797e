"""What failing fault sets say beyond the rate.

``sets`` has those that were looked at, ``budget`` finds which noise they come from, and ``failures`` what the
decoder gets wrong. ``lightest`` sums over the lightest ones.

The rate of one circuit is a sum over the numbers of faults (``one_circuit``). ``sized_sets`` draws sets with
a given number, and ``removals`` takes members out of those that fail.
"""
