"""What one instruction becomes: gates that records control, and channels that are no mixtures of Paulis."""
