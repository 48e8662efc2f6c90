"""7.2.15, complex."""
