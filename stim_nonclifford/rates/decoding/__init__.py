"""Decoders of Sinter's kind, their complementary gaps, and what an erasure tells a matching decoder.

``decoders`` (by name), ``kept_shot_decoding`` (predictions and confidences, checked), ``distinct_rows``
(decodes equal rows once), ``classifying`` (which fault sets fail), ``matching`` (graphs, gaps, heralds and
desaturation), ``boundary_tile`` and ``chromobius_gap`` (the gap of color codes), and ``decoding_processes``.
"""
