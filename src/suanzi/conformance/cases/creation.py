"""7.2.1, creation."""
