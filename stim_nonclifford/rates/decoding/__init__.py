"""Decoders of Sinter's kind, their complementary gaps, and what an erasure tells a matching decoder.

``decoders`` (by name), ``distinct_rows`` (decodes equal rows once), ``file_decoder`` (that read files),
``kept_shot_decoding`` (predictions and confidences), ``gap_decoder`` (what has confidences),
``matching_graph``, ``matching_gap``, ``boundary_tile`` and ``chromobius_gap`` (the complementary gap), and
``heralded_matching``.
"""
