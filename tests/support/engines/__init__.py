"""What engines and the native module are given in tests."""
