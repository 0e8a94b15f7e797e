"""Samplers of fault sets: how sets of error mechanisms are drawn or enumerated within a stratum."""
