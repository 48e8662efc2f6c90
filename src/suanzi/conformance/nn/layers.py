"""PLACEHOLDER layers: cases."""
