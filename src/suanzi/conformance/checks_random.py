"""checks_random."""
