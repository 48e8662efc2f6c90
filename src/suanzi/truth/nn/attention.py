"""PLACEHOLDER attention: definitions."""
