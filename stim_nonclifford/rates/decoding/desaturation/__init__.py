"""Matching in codes that are a color code, at least in part: their detectors, the graph, and the decoder.

Modules: ``detector_kinds``, ``pair_graph`` and ``desaturated_gap``.
"""
