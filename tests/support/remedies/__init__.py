"""What refusals advise: all remedies in the code, and a table of calls that are refused and calls that work."""
