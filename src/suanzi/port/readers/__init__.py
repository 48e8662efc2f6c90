"""What reads calls that others recorded."""
