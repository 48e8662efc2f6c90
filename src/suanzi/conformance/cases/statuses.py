"""statuses."""
