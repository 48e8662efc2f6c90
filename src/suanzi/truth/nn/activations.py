"""PLACEHOLDER activations: definitions."""
