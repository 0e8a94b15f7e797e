"""What goes wrong: the error mechanisms of a circuit, and what quantum outcomes add to them."""
