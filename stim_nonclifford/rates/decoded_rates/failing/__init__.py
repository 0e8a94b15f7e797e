"""What failing fault sets say beyond the rate.

``sets`` has those that were looked at, ``budget`` finds which noise they come from, and ``failures`` what the
decoder gets wrong. ``lightest`` sums over the lightest ones.
"""
