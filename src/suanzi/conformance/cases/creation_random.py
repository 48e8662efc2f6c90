"""creation_random."""
