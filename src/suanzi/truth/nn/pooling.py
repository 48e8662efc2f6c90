"""PLACEHOLDER pooling: definitions."""
