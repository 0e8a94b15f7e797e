"""What decoders say of fault sets: asked in batches, and once for equal detection events."""
