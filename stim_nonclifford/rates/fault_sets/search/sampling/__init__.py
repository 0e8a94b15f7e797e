"""Samples of fault sets.

``joins`` finds sets out of random ``halves``; ``unions`` of smaller sets are sampled apart; ``forecast``
says what more of both would bring.
"""
