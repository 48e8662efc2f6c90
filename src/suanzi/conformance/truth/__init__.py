"""What is true, in exact arithmetic, and how near an answer must be."""
