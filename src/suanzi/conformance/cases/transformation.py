"""7.2.3, transformation."""
