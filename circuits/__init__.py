"""Generators of the circuits that this project samples, one package per protocol."""
