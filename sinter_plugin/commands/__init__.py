"""The commands of ``python -m sinter_plugin``, and their arguments."""
