"""Short scripts that show what the package is for; run them with ``python -m examples.NAME``."""
