"""What came of a run, and how it is told."""
