"""7.2.9, rounding."""
