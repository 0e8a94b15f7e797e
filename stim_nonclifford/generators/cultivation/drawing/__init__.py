"""Drawings of the stages: ``pictures`` of ``panels``, as ``svg``."""
