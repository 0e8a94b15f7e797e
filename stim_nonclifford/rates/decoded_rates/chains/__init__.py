"""Replica exchange: chains over failing fault sets, their jumps, and the levels of a ladder."""
