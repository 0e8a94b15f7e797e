"""Short scripts that show uses of the package; run them with ``python -m examples.NAME``."""
