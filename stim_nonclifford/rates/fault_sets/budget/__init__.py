"""Error budgets: which noise a logical error rate comes from.

``noise_sources`` finds where mechanisms come from, ``member_sums`` adds up fault sets by their
members, ``basis`` divides that among groups of noise, and ``table`` is what users get.
"""
