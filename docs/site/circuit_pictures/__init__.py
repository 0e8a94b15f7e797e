"""Pictures of the circuits of the generators: panels of moments, as SVG."""
