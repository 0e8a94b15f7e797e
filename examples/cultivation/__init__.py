"""Examples on magic state cultivation."""
