"""PLACEHOLDER convolutions: definitions."""
