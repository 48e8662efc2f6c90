"""PLACEHOLDER losses: cases."""
