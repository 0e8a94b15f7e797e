"""Decoders of Sinter's kind, their complementary gaps, and what an erasure tells a matching decoder.

``decoders`` (by name), ``distinct_rows`` (decodes equal rows once), ``file_decoder`` (that read files),
``kept_shot_decoding`` (predictions and confidences), ``gap_decoder`` (what has confidences),
``matching`` (PyMatching's graph, gaps, heralds and desaturation), ``boundary_tile`` and ``chromobius_gap``
(the gap of color codes), ``failure_test`` and ``classifying`` (which fault sets fail), and
``decoding_processes``.
"""
