"""Circuit texts: of every instruction, changed at random, and large in structure."""
