"""PLACEHOLDER convolutions: cases."""
