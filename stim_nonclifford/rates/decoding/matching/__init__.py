"""Matching decoders: their graphs, gaps, heralds, and what is known of PyMatching's predictions."""
