"""The ways to inject a magic state into the smallest color code; ``injection`` chooses among them."""
