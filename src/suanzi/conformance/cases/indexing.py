"""7.2.14, indexing."""
