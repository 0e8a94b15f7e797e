"""Rows of bits: packed and unpacked, on the host and on a GPU, in arrays of the caller and in files."""
