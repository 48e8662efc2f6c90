"""PLACEHOLDER layers: definitions."""
