"""PLACEHOLDER losses: definitions."""
