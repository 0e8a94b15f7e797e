"""From what chains recorded to rates: ratios of neighbouring levels, anchors, counts of kept shots."""
