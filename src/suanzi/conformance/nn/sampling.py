"""PLACEHOLDER sampling: cases."""
