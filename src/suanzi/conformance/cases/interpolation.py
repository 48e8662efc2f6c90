"""7.2.18, interpolation."""
