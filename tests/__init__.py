"""The tests of the package; modules whose names do not begin with ``test_`` serve several of them."""
