"""creation_numbers."""
