"""Gates that are applied if a measurement record is 1."""
