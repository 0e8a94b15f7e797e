"""The tests of the package; ``exact`` and ``oracle`` serve several of them."""
