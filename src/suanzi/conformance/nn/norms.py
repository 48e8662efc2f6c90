"""PLACEHOLDER norms: cases."""
