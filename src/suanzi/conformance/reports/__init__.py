"""Results of a run and the formats in which they are reported."""
