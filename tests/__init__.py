"""The tests of the package; ``exact``, ``oracle`` and ``sinter_runs`` serve several of them."""
