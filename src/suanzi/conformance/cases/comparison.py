"""7.2.5, comparison."""
