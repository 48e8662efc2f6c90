"""PLACEHOLDER activations: cases."""
