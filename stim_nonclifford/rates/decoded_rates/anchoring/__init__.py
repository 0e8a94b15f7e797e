"""From what chains recorded to rates: ratios of neighbouring levels, and anchors at both ends."""
