"""Modules that serve several tests."""
