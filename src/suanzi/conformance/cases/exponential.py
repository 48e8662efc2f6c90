"""7.2.12, exponential."""
