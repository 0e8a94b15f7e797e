"""Small circuits and error models whose logical error rates are known."""
