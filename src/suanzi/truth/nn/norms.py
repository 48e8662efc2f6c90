"""PLACEHOLDER norms: definitions."""
