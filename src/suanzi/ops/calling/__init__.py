"""Arguments to a checked, promoted, broadcast call, or a StatusError that explains."""
