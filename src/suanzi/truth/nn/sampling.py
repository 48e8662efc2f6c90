"""PLACEHOLDER sampling: definitions."""
