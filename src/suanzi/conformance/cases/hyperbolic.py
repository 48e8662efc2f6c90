"""7.2.11, hyperbolic."""
