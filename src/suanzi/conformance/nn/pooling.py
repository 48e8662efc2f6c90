"""PLACEHOLDER pooling: cases."""
