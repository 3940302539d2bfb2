"""A run beside its prediction, drawn, and the drawing as a file of its own."""
