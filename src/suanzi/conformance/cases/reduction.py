"""7.2.13, reduction."""
