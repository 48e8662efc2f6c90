"""7.2.6, logical."""
