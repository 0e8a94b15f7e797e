"""T gates by lattice surgery: one, a chain of them, and programs; run them with ``python -m``."""
