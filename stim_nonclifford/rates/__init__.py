"""Logical error rates that are computed instead of counted, and the decoders that they are about."""
