"""7.2.7, bitwise."""
